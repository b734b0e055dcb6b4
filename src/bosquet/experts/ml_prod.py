"""ML-Prod."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import ExpertRule


class MLProd(ExpertRule):
    r"""ML-Prod: multiplicative weights with a learning rate for each expert.

    It has no parameter, and the scale of the losses does not matter.

    .. math:: w_t(j) = \Bigl(w_{t-1}(j)\,(1 + \eta_{t-1}(j)\, r_t(j))
                       \Bigr)^{\eta_t(j) / \eta_{t-1}(j)}, \qquad
              p_{t+1}(j) \propto \pi(j)\, \eta_t(j)\, w_t(j),

    .. math:: \eta_t(j) = \min\Bigl(\frac1{2B},
              \sqrt{\frac{\ln N}{B^2 + \sum_{s \le t} r_s(j)^2}}\Bigr)

    where r(j) is the loss of the mixture minus that of expert j. B is `loss_range`; without it, B is the
    largest |r| so far, and a step that exceeds it is scaled down to B. If the losses of a step differ by at
    most M and M is known, the regret to expert j is at most C √((M² + Σ r²) / ln N) + 2 C M with
    C = 3 ln N + ln(1 + N/(2e) (1 + ln(n + 1))). `bound_` is the bound of the proof before it is simplified
    to this.

    References
    ----------
    Gaillard, Stoltz and van Erven, A second-order bound with excess losses, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import play
    >>> losses = np.random.default_rng(0).random((1000, 10))
    >>> game = play(losses, "ml-prod", loss_range=1)
    >>> print(f"regret {game.regret_.max():.2f}, at most {game.bound_.max():.2f}")
    regret 6.25, at most 39.37
    """

    name: ClassVar[str] = "ml-prod"

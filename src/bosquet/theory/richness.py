"""The richness of a class of rules: how well it can agree with coin tosses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, integer, number
from bosquet._sklearn import check_random_state
from bosquet.theory._learning import check_estimator_object, seeded
from bosquet.theory._stumps import Stumps
from bosquet.theory._tables import result_text, table

# Up to so many rows all 2^m tosses are taken instead of some.
ALL_TOSSES = 12


@dataclass(frozen=True, repr=False)
class Rademacher:
    """Empirical Rademacher complexity of a class on some rows.

    Attributes
    ----------
    value : float
    standard_error : float
        0 where all tosses were taken.
    massart : float or None
        Massart's bound max_h |h(S)| √(2 ln N) / m, where the number N of rules is known.
    exact_supremum : bool
        False for a learner, which may miss the best rule: the value is then too small.
    n_rows : int
    """

    value: float
    standard_error: float
    massart: float | None
    exact_supremum: bool
    n_rows: int
    values_are_signs: bool

    formula = "R(H) = E_σ sup over h of (1/m) Σ σ_i h(x_i)"

    def __float__(self) -> float:
        return self.value

    def gap(self, delta: float = 0.05) -> float:
        """How far the risk of a rule lies above its training error, with probability 1 - δ.

        R(H) + 3 √(ln(2/δ) / 2m), for all rules with values -1 and +1 at once, under 0-1 loss.
        """
        check_value("delta", delta, number(0, 1, open_low=True))
        if not self.values_are_signs:
            raise ValueError("the bound is for rules with values -1 and +1; these have others")
        return self.value + 3 * math.sqrt(math.log(2 / delta) / (2 * self.n_rows))

    def __repr__(self) -> str:
        rows = [
            ("complexity", self.value),
            ("standard error", self.standard_error),
            ("Massart's bound", self.massart),
        ]
        if self.values_are_signs:
            rows.append(("risk - training error, 95 %", self.gap()))
        note = (
            "" if self.exact_supremum else "a learner in place of the supremum: at least this much"
        )
        title = f"Rademacher complexity on {self.n_rows} rows"
        return result_text(title, self.formula, table(rows), note)


def rademacher(
    hypotheses: Any, X: Any = None, *, n_draws: int = 1000, random_state: Any = None
) -> Rademacher:
    r"""Empirical Rademacher complexity: the mean agreement of a class with random signs.

    .. math:: \hat{\mathfrak R}_S(H) = E_\sigma \sup_{h \in H} \frac1m \sum_i \sigma_i h(x_i)

    It is near 0 for a class that cannot follow noise, and 1 for rules of -1 and +1 that can follow
    any. Up to 12 rows all 2^m signs are taken, else `n_draws`.

    Parameters
    ----------
    hypotheses : "stumps", an array of shape (n_samples, n_rules), or an estimator
        "stumps": all stumps on X, the supremum found exactly in one pass over the sorted columns.
        An array: what each rule of a finite class says of each row; X is not needed.
        An estimator: it is fitted to the signs as labels, and stands in for the supremum. What it
        finds is a lower bound.
    X : table of shape (n_samples, n_features), optional
    n_draws : int, default=1000
    random_state : int, RandomState or None

    Returns
    -------
    Rademacher

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.theory import rademacher
    >>> rademacher(np.array([[1, -1], [1, -1]]))
    Rademacher complexity on 2 rows
      R(H) = E_σ sup over h of (1/m) Σ σ_i h(x_i)
      complexity                      0.5
      standard error                    0
      Massart's bound              0.8326
      risk - training error, 95 %   3.381

    References
    ----------
    Mohri, Rostamizadeh and Talwalkar, *Foundations of Machine Learning*, 2018, chapter 3.
    """
    check_value("n_draws", n_draws, integer(2))
    random = check_random_state(random_state)
    if isinstance(hypotheses, str):
        if hypotheses != "stumps":
            raise ValueError(
                f"hypotheses={hypotheses!r} must be 'stumps', an array or an estimator"
            )
        stumps = Stumps(X)
        rows = stumps.order.shape[1]
        massart = math.sqrt(2 * math.log(stumps.n_rules) / rows)
        return _averaged(lambda s: stumps.best(s)[0], rows, massart, True, True, n_draws, random)
    if hasattr(hypotheses, "fit"):
        check_estimator_object(hypotheses, "hypotheses")
        if X is None:
            raise ValueError("X is missing: a learner needs the rows")
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        follow = _following(hypotheses, X, random)
        return _averaged(follow, rows, None, False, True, n_draws, random)
    said = np.asarray(hypotheses, dtype=float)
    if said.ndim != 2 or said.size == 0 or not np.isfinite(said).all():
        raise ValueError(
            "hypotheses must be an array of shape (n_samples, n_rules) of finite numbers, one column a rule"
        )
    length = float(np.sqrt((said**2).sum(axis=0)).max())
    massart = length * math.sqrt(2 * math.log(said.shape[1])) / said.shape[0]
    signs = bool((np.abs(said) == 1).all())
    return _averaged(
        lambda s: float((s @ said).max()), said.shape[0], massart, True, signs, n_draws, random
    )


def _averaged(
    supremum: Callable[[np.ndarray], float],
    rows: int,
    massart: float | None,
    exact: bool,
    signs: bool,
    n_draws: int,
    random: np.random.RandomState,
) -> Rademacher:
    if rows <= ALL_TOSSES:
        numbers = np.arange(2**rows)[:, None]
        tosses = 1.0 - 2.0 * ((numbers >> np.arange(rows)) & 1)
    else:
        tosses = random.choice([-1.0, 1.0], size=(n_draws, rows))
    agreement = np.array([supremum(toss) for toss in tosses]) / rows
    spread = 0.0
    if rows > ALL_TOSSES:
        spread = float(agreement.std(ddof=1)) / math.sqrt(n_draws)
    # The mean of the largest is no less than the largest mean, which is 0; that of some tosses may be.
    return Rademacher(max(0.0, float(agreement.mean())), spread, massart, exact, rows, signs)


def _following(
    learner: Any, X: Any, random: np.random.RandomState
) -> Callable[[np.ndarray], float]:
    def agreement(signs: np.ndarray) -> float:
        if (signs == signs[0]).all():
            # Many classifiers refuse a single class; the constant rule is right everywhere.
            return float(signs.size)
        fitted = seeded(learner, random).fit(X, signs.astype(int))
        return float(signs @ np.where(np.asarray(fitted.predict(X)) > 0, 1.0, -1.0))

    return agreement

"""Rademacher complexity: how well a class of rules can agree with random signs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._parameters import check_estimator, check_value, integer, number
from bosquet._sklearn import check_random_state
from bosquet.theory._checks import clone_with_seeds
from bosquet.theory._stumps import Stumps
from bosquet.theory._tables import result_text, table

if TYPE_CHECKING:
    from bosquet._types import Estimator, RandomState, TableLike


# With at most this number m of rows, all 2^m sign vectors are used instead of random ones.
MAX_ROWS_FOR_ALL_SIGNS = 12


@dataclass(frozen=True, repr=False)
class Rademacher:
    """Empirical Rademacher complexity of a class of rules on given rows.

    Attributes
    ----------
    value : float
        The complexity.
    standard_error : float
        Standard error of the simulation; 0 if all sign vectors were used.
    massart : float or None
        Massart's bound max_h |h(S)| √(2 ln N) / m, if the number N of rules is known. |h(S)| is the norm of
        the vector of predictions.
    exact_supremum : bool
        False for an estimator, which may miss the best rule; the value is then a lower bound.
    n_rows : int
        Number m of rows.
    values_are_signs : bool
        Whether all predictions are -1 or +1.
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
        """Return a bound on risk - training error that holds for all rules at once with probability 1 - δ.

        It is R(H) + 3 √(ln(2/δ) / 2m), for the 0-1 loss and rules with the values -1 and +1.
        """
        check_value("delta", delta, number(0, 1, open_low=True))
        if not self.values_are_signs:
            raise ValueError(
                "the bound needs rules with the values -1 and +1, but hypotheses contains other values;"
                " pass the predictions of classifiers"
            )
        return self.value + 3 * math.sqrt(math.log(2 / delta) / (2 * self.n_rows))

    def __repr__(self) -> str:
        rows = [
            ("complexity", self.value),
            ("standard error", self.standard_error),
            ("Massart's bound", self.massart),
        ]
        if self.values_are_signs:
            rows.append(("risk - training error, 95 %", self.gap()))
        note = "" if self.exact_supremum else "lower bound: an estimator approximates the supremum"
        title = f"Rademacher complexity on {self.n_rows} rows"
        return result_text(title, self.formula, table(rows), note)


def rademacher(
    hypotheses: Any,
    X: Any = None,
    *,
    n_draws: int = 1000,
    random_state: RandomState = None,
) -> Rademacher:
    r"""Compute the empirical Rademacher complexity: the mean agreement of a class with random signs.

    .. math:: \hat{\mathfrak R}_S(H) = E_\sigma \sup_{h \in H} \frac1m \sum_i \sigma_i h(x_i)

    It is near 0 for a class that cannot fit noise. It is 1 for a class of rules with the values -1 and +1
    that can fit any labels. For m ≤ 12 rows the expectation is over all 2^m sign vectors, else over
    `n_draws` random ones.

    Parameters
    ----------
    hypotheses : "stumps", an array of shape (n_samples, n_rules), or an estimator
        "stumps": all stumps on X, the supremum found exactly in one pass over the sorted columns.
        An array: the predictions of each rule of a finite class for each row; X is not needed.
        An estimator: it is fitted to the signs as labels and approximates the supremum from below.
    X : table of shape (n_samples, n_features), optional
        Rows, for "stumps" and estimators.
    n_draws : int, default=1000
        Number of random sign vectors.
    random_state : int, RandomState or None
        Seed of the signs.

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
    rng = check_random_state(random_state)
    if isinstance(hypotheses, str):
        if hypotheses != "stumps":
            raise ValueError(
                f"hypotheses={hypotheses!r} is not valid: hypotheses must be 'stumps', an array or an"
                " estimator"
            )
        stumps = Stumps(X)
        n_rows = stumps.order.shape[1]
        massart = math.sqrt(2 * math.log(stumps.n_rules) / n_rows)
        return _mean_over_signs(
            lambda s: stumps.best(s)[0], n_rows, massart, True, True, n_draws, rng
        )
    if hasattr(hypotheses, "fit"):
        check_estimator(hypotheses, "hypotheses")
        if X is None:
            raise ValueError("X is missing; an estimator needs the rows to be fitted to")
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        agreement = _estimator_agreement(hypotheses, X, rng)
        return _mean_over_signs(agreement, n_rows, None, False, True, n_draws, rng)
    predictions = np.asarray(hypotheses, dtype=float)
    if predictions.ndim != 2 or predictions.size == 0 or not np.isfinite(predictions).all():
        raise ValueError(
            f"hypotheses is not valid (shape {predictions.shape}); pass finite numbers of shape (n_samples,"
            " n_rules), one column per rule"
        )
    n_rows, rules = predictions.shape
    norm = float(np.sqrt((predictions**2).sum(axis=0)).max())
    massart = norm * math.sqrt(2 * math.log(rules)) / n_rows
    signs = bool((np.abs(predictions) == 1).all())
    return _mean_over_signs(
        lambda s: float((s @ predictions).max()), n_rows, massart, True, signs, n_draws, rng
    )


def _mean_over_signs(
    supremum: Callable[[np.ndarray], float],
    n_rows: int,
    massart: float | None,
    exact: bool,
    signs: bool,
    n_draws: int,
    rng: np.random.RandomState,
) -> Rademacher:
    """Average the supremum of Σ σ_i h(x_i) / m over all sign vectors σ, or over random ones."""
    if n_rows <= MAX_ROWS_FOR_ALL_SIGNS:
        numbers = np.arange(2**n_rows)[:, None]
        sigma = 1.0 - 2.0 * ((numbers >> np.arange(n_rows)) & 1)
    else:
        sigma = rng.choice([-1.0, 1.0], size=(n_draws, n_rows))
    agreement = np.array([supremum(signs_drawn) for signs_drawn in sigma]) / n_rows
    standard_error = 0.0
    if n_rows > MAX_ROWS_FOR_ALL_SIGNS:
        standard_error = float(agreement.std(ddof=1)) / math.sqrt(n_draws)
    # The complexity is never negative, but its estimate from random signs may be.
    value = max(0.0, float(agreement.mean()))
    return Rademacher(value, standard_error, massart, exact, n_rows, signs)


def _estimator_agreement(
    learner: Estimator, X: TableLike, rng: np.random.RandomState
) -> Callable[[np.ndarray], float]:
    """Return the function that fits an estimator to signs and returns its agreement Σ σ_i h(x_i)."""

    def agreement(signs: np.ndarray) -> float:
        if (signs == signs[0]).all():
            # Many classifiers reject a single class; the constant rule agrees with all signs.
            return float(signs.size)
        fitted = clone_with_seeds(learner, rng).fit(X, signs.astype(int))
        return float(signs @ np.where(np.asarray(fitted.predict(X)) > 0, 1.0, -1.0))

    return agreement

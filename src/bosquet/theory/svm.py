"""The margin of a support vector machine, and the numbers that prove it the largest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import check_is_fitted
from bosquet._targets import (
    check_labels,
    check_same_length,
    check_sample_weight,
    class_numbers,
)
from bosquet.theory._svm_kernels import least_eigenvalue
from bosquet.theory._tables import result_text, table

# y f(x) = 1 on the margin, but a solver stops a little before.
_ON_THE_MARGIN = 1e-2
# Relative: what is left of a sum that cancels, and how far solvers leave their bounds.
_ROUNDING = 1e-10


@dataclass(frozen=True, repr=False)
class SVMMargin:
    """What a fitted support vector machine rests on.

    Attributes
    ----------
    margin : float or None
        2/‖w‖, the width of the strip between f(x) = -1 and f(x) = 1, in the space of the kernel: infinite
        if w = 0, where f is constant. None if there is no such space (see `reason`).
    norm : float or None
        ‖w‖.
    support : array of int
        Rows with λ > 0, or y f(x) ≤ 1 where the machine keeps no λ: the frontier depends on them alone.
    multipliers : array of shape (n_support,) or None
        λ of those rows, between 0 and C times the row's weight.
    slacks : array of shape (n_samples,)
        ξ = max(0, 1 - y f(x)).
    n_errors : int
        Rows with y f(x) ≤ 0, on the wrong side or on the frontier: no more than Σ ξ.
    is_hard : bool
        Whether no row is inside the strip.
    primal : float or None
        The least ½‖sw‖² + C Σ ξ over all s and b: an upper bound of the optimum. A solver stops where ξ is
        small, and a large C makes much of little; s w with s next to 1 has no such ξ.
    dual : float or None
        The largest Σ sλ - ½‖sw‖² over all s with sλ ≤ C: a lower bound of the optimum.
    gap : float or None
        primal - dual, at least 0: by so much at most is s w worse than the best machine.
    reason : str or None
        Why there is no margin, or no primal and dual.
    """

    margin: float | None
    norm: float | None
    support: np.ndarray
    multipliers: np.ndarray | None
    slacks: np.ndarray
    n_errors: int
    primal: float | None
    dual: float | None
    reason: str | None = None

    formula = "margin = 2/‖w‖,  w = Σ λ_i y_i φ(x_i),  Σ λ - ½‖w‖² ≤ least ≤ ½‖w‖² + C Σ ξ"

    @property
    def is_hard(self) -> bool:
        return bool((self.slacks <= _ON_THE_MARGIN).all())

    @property
    def gap(self) -> float | None:
        if self.primal is None or self.dual is None:
            return None
        return max(self.primal - self.dual, 0.0)  # but for rounding

    def __repr__(self) -> str:
        rows: list[tuple[Any, ...]] = [
            ("margin 2/‖w‖", self.margin),
            ("‖w‖", self.norm),
            ("support vectors", self.support.size),
            ("rows inside the strip", int((self.slacks > _ON_THE_MARGIN).sum())),
            ("sum of slacks", float(self.slacks.sum())),
            ("rows on the wrong side", self.n_errors),
        ]
        if self.gap is not None:
            rows += [
                ("primal, at most", self.primal),
                ("dual, at least", self.dual),
                ("gap", self.gap),
            ]
        kind = "hard" if self.is_hard else "soft"
        notes = [f"not there: {self.reason}"] if self.reason else []
        if self.norm == 0:
            notes.append("w = 0: f is the same for all rows")
        return result_text(
            f"Support vector machine, {kind} margin", self.formula, table(rows), *notes
        )


def svm_margin(model: Any, X: Any, y: Any, sample_weight: Any = None) -> SVMMargin:
    r"""The margin, support vectors and slacks of a fitted support vector machine of two classes.

    The machine minimises

    .. math:: \tfrac12 \|w\|^2 + C \sum_i \xi_i, \qquad y_i f(x_i) \ge 1 - \xi_i,

    whose dual is the largest :math:`\sum \lambda_i - \tfrac12 \|w\|^2` with 0 ≤ λ_i ≤ C and
    :math:`\sum \lambda_i y_i = 0`; then :math:`w = \sum \lambda_i y_i \phi(x_i)`. The classes lie apart by
    2/‖w‖. (Where a text has 2/‖w‖², the square is a slip.) With a kernel φ need not be known:
    :math:`\|w\|^2 = \sum_i \lambda_i y_i (f(x_i) - b)`. Every machine is above the optimum and every λ below
    it, and at the best machine they meet: the gap between the two is printed, and is the proof.

    A kernel that is not positive semi-definite, such as the sigmoid for most of its parameters, is no
    scalar product in any space: there is no w, no margin, and no proof.

    Parameters
    ----------
    model : fitted support vector machine of two classes
        scikit-learn's `SVC` with any kernel, or a linear machine with `coef_` (`LinearSVC`,
        `SGDClassifier`), which keeps no multipliers. A pipeline that ends in one will do.
    X, y : the rows it was fitted to
    sample_weight : array of shape (n_samples,), optional
        The weights it was fitted with: C is multiplied by them.

    Returns
    -------
    SVMMargin

    Examples
    --------
    The four points of XOR are separated by no line, and by a plane once their product is a third feature:

    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from bosquet.theory import svm_margin
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    >>> svm_margin(SVC(kernel="linear", C=1e6).fit(X, y), X, y).n_errors
    4
    >>> product = np.column_stack([X, X[:, 0] * X[:, 1]])
    >>> found = svm_margin(SVC(kernel="linear", C=1e6).fit(product, y), product, y)
    >>> found.n_errors, found.is_hard, round(found.margin, 3)
    (0, True, 0.408)
    >>> round(found.primal, 4), round(found.dual, 4)
    (12.0, 12.0)

    References
    ----------
    Cortes and Vapnik, "Support-vector networks", Machine Learning 1995. Haasdonk, "Feature space
    interpretation of SVMs with indefinite kernels", IEEE PAMI 2005.
    """
    X, machine = _last_step(model, X)
    check_is_fitted(machine)
    _check_machine(machine)
    signs = 2.0 * class_numbers(check_labels(y), np.asarray(machine.classes_)) - 1
    values = np.asarray(machine.decision_function(X), dtype=float)
    check_same_length(len(values), len(signs))
    weight = check_sample_weight(sample_weight, signs.size)
    slacks = np.maximum(0.0, 1 - signs * values)
    n_errors = int((signs * values <= 0).sum())
    support: np.ndarray | None
    if not hasattr(machine, "dual_coef_"):
        support = np.flatnonzero(signs * values <= 1 + _ON_THE_MARGIN)
        norm = float(np.linalg.norm(machine.coef_))
        told = "a linear machine keeps no multipliers"
        return SVMMargin(_width(norm), norm, support, None, slacks, n_errors, None, None, told)
    signed = np.asarray(machine.dual_coef_, dtype=float).ravel()  # λ y
    support = _support(machine, signs, weight)
    if support is None or (signed * signs[support] < 0).any():
        raise ValueError(
            "X and y must be the rows that the machine was fitted to, and sample_weight their weights"
        )
    multipliers = np.abs(signed)
    least = least_eigenvalue(machine, X, support)
    if least < 0:
        told = (
            f"the kernel is not positive semi-definite (an eigenvalue is {least:.3g}), and has no w"
        )
        return SVMMargin(None, None, support, multipliers, slacks, n_errors, None, None, told)
    terms = signed * (values[support] - machine.intercept_[0])
    squared = float(terms.sum()) if terms.sum() > _ROUNDING * np.abs(terms).sum() else 0.0
    norm = math.sqrt(squared)
    cost = _costs(machine, signs, weight)
    if cost is None:
        told = f"{type(machine).__name__} minimises another sum, without C"
        return SVMMargin(
            _width(norm), norm, support, multipliers, slacks, n_errors, None, None, told
        )
    dual = _dual(multipliers, squared, cost[support])
    without_offset = (values - machine.intercept_[0]) * (squared > 0)
    primal = _primal(signs, without_offset, squared, cost, machine.intercept_[0])
    return SVMMargin(_width(norm), norm, support, multipliers, slacks, n_errors, primal, dual)


def _check_machine(machine: Any) -> None:
    if not hasattr(machine, "decision_function") or not (
        hasattr(machine, "dual_coef_") or hasattr(machine, "coef_")
    ):
        raise ValueError(f"{type(machine).__name__} is no support vector machine: it has no w")
    classes = getattr(machine, "classes_", ())
    if len(classes) != 2:
        raise ValueError(f"a margin is between two classes; the machine has {len(classes)}")


def _support(machine: Any, signs: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
    """Support vectors as rows of X, None if X has too few. The fit did not count rows of weight 0."""
    rows = np.flatnonzero(weight if weight.size else signs)
    fits = signs.size == machine.shape_fit_[0] and rows.size > machine.support_.max(initial=-1)
    return rows[machine.support_] if fits else None


def _width(norm: float) -> float:
    return 2 / norm if norm > 0 else math.inf


def _costs(machine: Any, signs: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
    """C of each row: times the weight of its class and its own; None for a machine without C."""
    if not getattr(machine, "C", 0):
        return None
    by_class = np.asarray(getattr(machine, "class_weight_", np.ones(2)), dtype=float)
    cost = machine.C * by_class[(signs > 0).astype(int)]
    return cost * weight if weight.size else cost


def _dual(multipliers: np.ndarray, squared: float, cost: np.ndarray) -> float:
    """The largest Σ sλ - ½‖sw‖² over the s with sλ ≤ C: a parabola in s."""
    beyond = multipliers > cost * (1 + 1e-6)
    if beyond.any():
        place = int(np.flatnonzero(beyond)[0])
        raise ValueError(
            f"a multiplier of {multipliers[place]:.6g} exceeds its bound C = {cost[place]:.6g}: if the"
            " machine was fitted with sample_weight, give the same weights here"
        )
    total = float(multipliers.sum())
    if total == 0:
        return 0.0
    most = float((cost / multipliers)[multipliers > 0].min())
    scale = most if squared * most <= total else total / squared
    return scale * total - scale**2 * squared / 2


def _primal(
    signs: np.ndarray, values: np.ndarray, squared: float, cost: np.ndarray, intercept: float
) -> float:
    """The least ½s²‖w‖² + Σ C ξ over s ≥ 0 and b, ξ = max(0, 1 - y(s w·φ(x) + b)): convex in s."""

    def slack(scale: float, offset: float) -> float:
        return float(cost @ np.maximum(0.0, 1 - signs * (scale * values + offset)))

    def at(scale: float) -> float:
        return squared * scale**2 / 2 + slack(scale, _best_offset(signs, scale * values, cost))

    high = 2.0
    while at(high) < at(high / 2) and high < 1e9:
        high *= 2
    low, share = 0.0, (math.sqrt(5) - 1) / 2
    left, right = high - share * high, share * high
    at_left, at_right = at(left), at(right)
    best = min(squared / 2 + slack(1.0, intercept), at(0.0), at_left, at_right)
    for _ in range(90):  # the golden section, down to rounding
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - share * (high - low)
            at_left = at(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + share * (high - low)
            at_right = at(right)
        best = min(best, at_left, at_right)
    return best


def _best_offset(signs: np.ndarray, values: np.ndarray, cost: np.ndarray) -> float:
    """The b of the least Σ C max(0, 1 - y(v + b)), which is linear between the places y - v."""
    places = signs - values
    order = np.argsort(places, kind="stable")
    # Left of all places the rows of +1 have slack, right of them those of -1.
    slope = np.cumsum(cost[order]) - cost[signs > 0].sum()
    return float(places[order[min(int(np.searchsorted(slope, 0.0)), order.size - 1)]])


def _last_step(model: Any, X: Any) -> tuple[Any, Any]:
    """Rows as the machine at the end of a pipeline sees them, and the machine."""
    steps = getattr(model, "steps", None)
    if steps is None:
        return X, model
    return (model[:-1].transform(X) if len(steps) > 1 else X), model[-1]

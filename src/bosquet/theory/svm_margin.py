"""The margin of a support vector machine, and the bounds that prove its optimality."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._sklearn import check_is_fitted
from bosquet._targets import check_labels, check_same_length, class_numbers
from bosquet._weights import check_sample_weight
from bosquet.theory._svm_kernels import least_eigenvalue
from bosquet.theory._tables import result_text, table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import TableLike


# Tolerance of y f(x) = 1 on the margin, since solvers stop before convergence.
_MARGIN_TOLERANCE = 1e-2
# Relative rounding error of a sum whose terms cancel.
_ROUNDING = 1e-10


@dataclass(frozen=True, repr=False)
class SVMMargin:
    """Margin, support vectors and optimality bounds of a fitted support vector machine.

    Attributes
    ----------
    margin : float or None
        2/‖w‖, the distance between f(x) = -1 and f(x) = 1 in the feature space of the kernel. Infinite if w
        = 0, i.e. f is constant. None if there is no feature space (see `reason`).
    norm : float or None
        ‖w‖.
    support : array of int
        Support vectors: rows with λ > 0, or with y f(x) ≤ 1 if the model has no λ. f only depends on them.
    multipliers : array of shape (n_support,) or None
        λ of these rows, between 0 and C times the weight of the row.
    slacks : array of shape (n_samples,)
        ξ = max(0, 1 - y f(x)).
    n_errors : int
        Number of rows with y f(x) ≤ 0, which are on the wrong side or on the decision boundary; at most Σ ξ.
    is_hard : bool
        Whether no row is inside the margin.
    primal : float or None
        Smallest ½‖sw‖² + C Σ ξ over all factors s of w and offsets b: an upper bound on the optimum. The
        factor compensates for small slacks that a solver leaves, which a large C would multiply.
    dual : float or None
        Largest Σ sλ - ½‖sw‖² over all s with sλ ≤ C: a lower bound on the optimum.
    gap : float or None
        primal - dual ≥ 0: an upper bound on the difference between the objective of s w and the optimum.
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

    formula = "margin = 2/‖w‖,  w = Σ λ_i y_i φ(x_i),  Σ λ - ½‖w‖² ≤ optimum ≤ ½‖w‖² + C Σ ξ"

    @property
    def is_hard(self) -> bool:
        return bool((self.slacks <= _MARGIN_TOLERANCE).all())

    @property
    def gap(self) -> float | None:
        if self.primal is None or self.dual is None:
            return None
        return max(self.primal - self.dual, 0.0)  # rounding may make the difference negative

    def __repr__(self) -> str:
        rows: list[tuple[object, ...]] = [
            ("margin 2/‖w‖", self.margin),
            ("‖w‖", self.norm),
            ("support vectors", self.support.size),
            ("rows inside the margin", int((self.slacks > _MARGIN_TOLERANCE).sum())),
            ("sum of slacks", float(self.slacks.sum())),
            ("rows on the wrong side", self.n_errors),
        ]
        if self.gap is not None:
            rows += [
                ("primal (upper bound)", self.primal),
                ("dual (lower bound)", self.dual),
                ("gap", self.gap),
            ]
        kind = "hard" if self.is_hard else "soft"
        notes = [f"not available: {self.reason}"] if self.reason else []
        if self.norm == 0:
            notes.append("w = 0: f is constant")
        return result_text(
            f"Support vector machine, {kind} margin", self.formula, table(rows), *notes
        )


def svm_margin(
    model: Any, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> SVMMargin:
    r"""Compute margin, support vectors and slacks of a fitted support vector machine for two classes.

    The support vector machine minimises

    .. math:: \tfrac12 \|w\|^2 + C \sum_i \xi_i, \qquad y_i f(x_i) \ge 1 - \xi_i,

    The dual problem maximises :math:`\sum \lambda_i - \tfrac12 \|w\|^2` with 0 ≤ λ_i ≤ C, :math:`\sum
    \lambda_i y_i = 0` and :math:`w = \sum \lambda_i y_i \phi(x_i)`. The margin is 2/‖w‖. (Some texts give
    2/‖w‖²; the square is an error.) With a kernel, φ need not be known: :math:`\|w\|^2 = \sum_i \lambda_i
    y_i (f(x_i) - b)`. The objective of every w is an upper bound on the optimum, and that of every λ a
    lower bound. At the solution they are equal, so that the gap between them proves how close to optimal
    the model is.

    A kernel that is not positive semi-definite, such as the sigmoid for most of its parameters, is not a
    scalar product in any feature space. It has no w, no margin and no bounds.

    Parameters
    ----------
    model : fitted support vector machine for two classes
        scikit-learn's `SVC` with any kernel, or a linear model with `coef_` (`LinearSVC`, `SGDClassifier`),
        which has no multipliers. A pipeline that ends in such a model is also accepted.
    X : table of shape (n_samples, n_features)
        Training rows of the model.
    y : array of shape (n_samples,)
        Their labels.
    sample_weight : array of shape (n_samples,), optional
        Weights with which the model was fitted; C is multiplied by them.

    Returns
    -------
    SVMMargin

    Examples -------- No line separates the four points of XOR. With the product of the features as a third
    feature, a plane does:

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
    X, machine = _split_last_step(model, X)
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
        support = np.flatnonzero(signs * values <= 1 + _MARGIN_TOLERANCE)
        norm = float(np.linalg.norm(machine.coef_))
        reason = "a linear model has no multipliers"
        return SVMMargin(
            _margin_of_norm(norm), norm, support, None, slacks, n_errors, None, None, reason
        )
    signed = np.asarray(machine.dual_coef_, dtype=float).ravel()  # λ y
    support = _support_vectors(machine, signs, weight)
    if support is None or (signed * signs[support] < 0).any():
        raise ValueError(
            "X, y or sample_weight differ from those of the fit; pass the training rows of the model with"
            " their labels and weights"
        )
    multipliers = np.abs(signed)
    least = least_eigenvalue(machine, X, support)
    if least < 0:
        reason = (
            "the kernel is not positive semi-definite, so that there is no w"
            f" (smallest eigenvalue {least:.3g})"
        )
        return SVMMargin(None, None, support, multipliers, slacks, n_errors, None, None, reason)
    terms = signed * (values[support] - machine.intercept_[0])
    squared = float(terms.sum()) if terms.sum() > _ROUNDING * np.abs(terms).sum() else 0.0
    norm = math.sqrt(squared)
    cost = _cost_of_rows(machine, signs, weight)
    if cost is None:
        reason = f"{type(machine).__name__} has another objective, without C"
        return SVMMargin(
            _margin_of_norm(norm), norm, support, multipliers, slacks, n_errors, None, None, reason
        )
    dual = _dual_value(multipliers, squared, cost[support])
    without_offset = (values - machine.intercept_[0]) * (squared > 0)
    primal = _primal_value(signs, without_offset, squared, cost, machine.intercept_[0])
    return SVMMargin(
        _margin_of_norm(norm), norm, support, multipliers, slacks, n_errors, primal, dual
    )


def _check_machine(machine: Any) -> None:
    """Raise a ValueError unless `machine` is a support vector machine for two classes."""
    if not hasattr(machine, "decision_function") or not (
        hasattr(machine, "dual_coef_") or hasattr(machine, "coef_")
    ):
        raise ValueError(
            f"{type(machine).__name__} is not a support vector machine; pass a model with decision_function"
            " and dual_coef_ or coef_"
        )
    classes = getattr(machine, "classes_", ())
    if len(classes) != 2:
        raise ValueError(f"the model has {len(classes)} classes; a margin needs two")


def _support_vectors(machine: Any, signs: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
    """Return the support vectors as rows of X, without rows of weight 0; None if X has too few rows."""
    rows = np.flatnonzero(weight if weight.size else signs)
    fits = signs.size == machine.shape_fit_[0] and rows.size > machine.support_.max(initial=-1)
    return rows[machine.support_] if fits else None


def _margin_of_norm(norm: float) -> float:
    """Return the margin 2/‖w‖."""
    return 2 / norm if norm > 0 else math.inf


def _cost_of_rows(machine: Any, signs: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
    """Return C of each row, times the weights of its class and of the row; None for a model without C."""
    if not getattr(machine, "C", 0):
        return None
    by_class = np.asarray(getattr(machine, "class_weight_", np.ones(2)), dtype=float)
    cost = machine.C * by_class[(signs > 0).astype(int)]
    return cost * weight if weight.size else cost


def _dual_value(multipliers: np.ndarray, squared: float, cost: np.ndarray) -> float:
    """Return the largest Σ sλ - ½‖sw‖² over the s with sλ ≤ C; it is a parabola in s."""
    exceeds = multipliers > cost * (1 + 1e-6)
    if exceeds.any():
        index = int(np.flatnonzero(exceeds)[0])
        raise ValueError(
            f"a multiplier of {multipliers[index]:.6g} exceeds its bound C = {cost[index]:.6g}; if the"
            " model was fitted with sample_weight, pass the same weights here"
        )
    total = float(multipliers.sum())
    if total == 0:
        return 0.0
    largest = float((cost / multipliers)[multipliers > 0].min())
    scale = largest if squared * largest <= total else total / squared
    return scale * total - scale**2 * squared / 2


def _primal_value(
    signs: np.ndarray, values: np.ndarray, squared: float, cost: np.ndarray, intercept: float
) -> float:
    """Return the smallest ½s²‖w‖² + Σ C ξ over s ≥ 0 and b, ξ = max(0, 1 - y(s w·φ(x) + b)); convex in s."""

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
    for _ in range(90):  # golden-section search
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
    """Return the b with the smallest Σ C max(0, 1 - y(v + b)), which is piecewise linear with knots y - v."""
    knots = signs - values
    order = np.argsort(knots, kind="stable")
    # Left of its knot a row with y = 1 has slack, right of its knot a row with y = -1.
    slope = np.cumsum(cost[order]) - cost[signs > 0].sum()
    return float(knots[order[min(int(np.searchsorted(slope, 0.0)), order.size - 1)]])


def _split_last_step(model: Any, X: TableLike) -> tuple[Any, Any]:
    """Return the transformed rows and the last step of a pipeline; X and the model if it is not one."""
    steps = getattr(model, "steps", None)
    if steps is None:
        return X, model
    return (model[:-1].transform(X) if len(steps) > 1 else X), model[-1]

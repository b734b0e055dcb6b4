"""The margin of a support vector machine, and the numbers that prove it the largest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import check_is_fitted
from bosquet._targets import check_labels, check_same_length, class_numbers
from bosquet.theory._tables import result_text, table

# y f(x) = 1 on the margin, but a solver stops a little before.
_ON_THE_MARGIN = 1e-2


@dataclass(frozen=True, repr=False)
class SVMMargin:
    """What a fitted support vector machine rests on.

    Attributes
    ----------
    margin : float
        2/‖w‖, the width of the strip between f(x) = -1 and f(x) = 1, in the space of the kernel.
    norm : float
        ‖w‖.
    support : array of int
        Rows with λ > 0, or y f(x) ≤ 1 where the machine keeps no λ: the frontier hangs on them alone.
    multipliers : array of shape (n_support,) or None
        λ of those rows, between 0 and C times the row's weight.
    slacks : array of shape (n_samples,)
        ξ = max(0, 1 - y f(x)).
    n_errors : int
        Rows with y f(x) ≤ 0, on the wrong side or on the frontier: no more than Σ ξ.
    is_hard : bool
        Whether no row is inside the strip.
    primal, dual : float or None
        ½‖w‖² + C Σ ξ, and Σ λ - ½‖w‖², which no f can be below.
    """

    margin: float
    norm: float
    support: np.ndarray
    multipliers: np.ndarray | None
    slacks: np.ndarray
    n_errors: int
    primal: float | None
    dual: float | None

    formula = "margin = 2/‖w‖,  w = Σ λ_i y_i φ(x_i),  Σ λ - ½‖w‖² ≤ least ≤ ½‖w‖² + C Σ ξ"

    @property
    def is_hard(self) -> bool:
        return bool((self.slacks <= _ON_THE_MARGIN).all())

    @property
    def gap(self) -> float | None:
        """By how much the machine may miss the best one: primal - dual, at least 0."""
        if self.primal is None or self.dual is None:
            return None
        return self.primal - self.dual

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
            rows += [("primal", self.primal), ("dual", self.dual)]
        kind = "hard" if self.is_hard else "soft"
        return result_text(f"Support vector machine, {kind} margin", self.formula, table(rows))


def svm_margin(model: Any, X: Any, y: Any) -> SVMMargin:
    r"""The margin, support vectors and slacks of a fitted support vector machine of two classes.

    The machine minimises

    .. math:: \tfrac12 \|w\|^2 + C \sum_i \xi_i, \qquad y_i f(x_i) \ge 1 - \xi_i,

    whose dual is the largest :math:`\sum \lambda_i - \tfrac12 \|w\|^2` with 0 ≤ λ_i ≤ C and
    :math:`\sum \lambda_i y_i = 0`; then :math:`w = \sum \lambda_i y_i \phi(x_i)`. The classes lie apart by
    2/‖w‖. (Where a text has 2/‖w‖², the square is a slip.) With a kernel φ need not be known:
    :math:`\|w\|^2 = \sum_i \lambda_i y_i (f(x_i) - b)`. Dual and primal meet at the best machine: their gap
    is printed, and is the proof.

    Parameters
    ----------
    model : fitted support vector machine of two classes
        scikit-learn's `SVC` with any kernel, or a linear machine with `coef_` (`LinearSVC`,
        `SGDClassifier`), which keeps no multipliers. A pipeline that ends in one will do.
    X, y : the rows it was fitted to

    Returns
    -------
    SVMMargin

    Examples
    --------
    The four points of XOR are parted by no line, and by a plane once their product is a third feature:

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

    References
    ----------
    Cortes and Vapnik, "Support-vector networks", Machine Learning 1995.
    """
    X, machine = _last_step(model, X)
    check_is_fitted(machine)
    if not hasattr(machine, "decision_function") or not (
        hasattr(machine, "dual_coef_") or hasattr(machine, "coef_")
    ):
        raise ValueError(f"{type(machine).__name__} is no support vector machine: it has no w")
    labels = check_labels(y)
    if len(machine.classes_) != 2:
        raise ValueError(
            f"a margin is between two classes; the machine has {len(machine.classes_)}"
        )
    signs = 2.0 * class_numbers(labels, np.asarray(machine.classes_)) - 1
    values = np.asarray(machine.decision_function(X), dtype=float)
    check_same_length(len(values), len(signs))
    slacks = np.maximum(0.0, 1 - signs * values)
    n_errors = int((signs * values <= 0).sum())
    if hasattr(machine, "dual_coef_"):
        support = np.asarray(machine.support_)
        signed = np.asarray(machine.dual_coef_, dtype=float).ravel()  # λ y
        if support.size and support.max() >= len(signs):
            raise ValueError("X must be the rows that the machine was fitted to")
        squared = float(signed @ (values[support] - machine.intercept_[0]))
        norm = np.sqrt(max(squared, 0.0))
        multipliers = np.abs(signed)
        cost = machine.C * getattr(machine, "class_weight_", np.ones(2))[(signs > 0).astype(int)]
        primal = norm**2 / 2 + float((cost * slacks).sum())
        dual = float(multipliers.sum()) - norm**2 / 2
    else:
        support, multipliers = np.flatnonzero(signs * values <= 1 + _ON_THE_MARGIN), None
        norm, primal, dual = float(np.linalg.norm(machine.coef_)), None, None
    margin = float(2 / norm) if norm > 0 else np.inf
    return SVMMargin(margin, float(norm), support, multipliers, slacks, n_errors, primal, dual)


def _last_step(model: Any, X: Any) -> tuple[Any, Any]:
    """Rows as the machine at the end of a pipeline sees them, and the machine."""
    steps = getattr(model, "steps", None)
    if steps is None:
        return X, model
    return (model[:-1].transform(X) if len(steps) > 1 else X), model[-1]

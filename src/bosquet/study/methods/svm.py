"""Support vector machines for classification and regression, one method per kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.multiclass import OneVsOneClassifier, OutputCodeClassifier
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from bosquet.study.methods._svm_properties import PROPERTIES
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.methods.pipelines import ScaledTarget, model_of, with_numeric_inputs
from bosquet.trust import CalibratedModel

COSTS = {
    "polynomial": (0.01, 0.1, 1.0),
    "gaussian": (0.3, 3.0, 30.0),
    "laplacian": (0.3, 3.0, 30.0),
    "sigmoid": (0.1, 1.0, 10.0),
}
LINEAR_COSTS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
# Maximum iterations of libsvm, which then stops with a warning; a large C can make it very slow.
MAX_STEPS = 300_000
# Cross-validation folds of Platt scaling, the map from margins to probabilities.
PLATT_FOLDS = 3
# Kernel cache of libsvm in megabytes; its default of 200 is more than many tables take.
KERNEL_CACHE = 32
# A custom kernel needs the full matrix of (rows x rows) kernel values.
MAX_ROWS_FULL_KERNEL = 3_000


class LinearSVM(LinearSVC):
    """LinearSVC of scikit-learn (squared hinge loss), which also counts its support vectors.

    `n_support_vectors_` is the number of rows inside the margin or misclassified, y f(x) < 1, on which the
    decision boundary depends. With several classes, a row counts if it is a support vector of any of them.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVM:
        """Fit the model and count its support vectors."""
        super().fit(X, y, sample_weight)
        values = self.decision_function(X)
        if values.ndim == 1:
            signs = np.where(np.asarray(y) == self.classes_[1], 1, -1)
            inside = signs * values < 1
        else:
            signs = np.where(np.asarray(y)[:, None] == self.classes_, 1, -1)
            inside = (signs * values < 1).any(axis=1)
        self.n_support_vectors_ = int(inside.sum())
        return self


class LinearSVMRegressor(LinearSVR):
    """LinearSVR of scikit-learn, which also counts the rows outside its epsilon tube."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVMRegressor:
        """Fit the model and count its support vectors."""
        super().fit(X, y, sample_weight)
        outside = np.abs(np.asarray(y, dtype=float) - self.predict(X)) > self.epsilon
        self.n_support_vectors_ = int(outside.sum())
        return self


class CodedClassifier(OutputCodeClassifier):
    """OutputCodeClassifier of scikit-learn, with a decision function: the negative distance to each code."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return minus the distance of the binary scores to each code, (n_samples, n_classes)."""
        scores = np.column_stack([machine.decision_function(X) for machine in self.estimators_])
        return -euclidean_distances(scores, self.code_book_)


class KernelSVM(SVC):
    """SVC of scikit-learn, which also stores its support vectors for custom kernels."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelSVM:
        """Fit the model."""
        super().fit(X, y, sample_weight)
        self.support_rows_ = X[self.support_] if callable(self.kernel) else self.support_vectors_
        return self


def laplacian_kernel(X: Any, Y: Any, gamma: float) -> np.ndarray:
    """Return exp(-γ ‖x - y‖₁), computed in place; scikit-learn's function holds the matrix twice."""
    kernel = manhattan_distances(X, Y)
    kernel *= -gamma
    return np.exp(kernel, out=kernel)


def _default_gamma(shape: TableShape) -> float:
    """Return the default 1/σ², with σ² proportional to the mean squared distance of rows.

    A scaled number contributes 2 to this distance, a category less.
    """
    return 1 / max(shape.n_numbers + 0.6 * shape.n_categories, 1.0)


def _kernel_parameters(kernel: str, shape: TableShape, width: float) -> dict[str, Any]:
    """Return the kernel parameters of scikit-learn; `width` multiplies the default 1/σ²."""
    gamma = width * _default_gamma(shape)
    if kernel == "polynomial":
        return {"kernel": "poly", "degree": 2 if width < 1 else 3, "gamma": gamma, "coef0": 1.0}
    if kernel == "gaussian":
        return {"kernel": "rbf", "gamma": gamma}
    if kernel == "laplacian":
        return {"kernel": partial(laplacian_kernel, gamma=gamma)}
    return {"kernel": "sigmoid", "gamma": gamma / 4, "coef0": 0.0}


def _make_classifier(kernel_arguments: dict[str, Any], C: float, weight: Any, seed: int) -> Any:
    machine = KernelSVM(
        C=C, class_weight=weight, max_iter=MAX_STEPS, cache_size=KERNEL_CACHE, **kernel_arguments
    )
    return with_numeric_inputs(CalibratedModel(machine, "platt", cv=PLATT_FOLDS))


def _make_linear(C: float, weight: Any, multiclass: str, seed: int) -> Any:
    machine: Any = LinearSVM(C=C, class_weight=weight, dual="auto", random_state=seed)
    if multiclass == "one-vs-one":
        machine = OneVsOneClassifier(machine)
    elif multiclass == "codes":
        machine = CodedClassifier(machine, code_size=2.0, random_state=seed)
    return with_numeric_inputs(CalibratedModel(machine, "platt", cv=PLATT_FOLDS), dense=False)


def _make_regressor(kernel_arguments: dict[str, Any], C: float, seed: int) -> Any:
    return with_numeric_inputs(
        ScaledTarget(
            SVR(C=C, epsilon=0.1, max_iter=MAX_STEPS, cache_size=KERNEL_CACHE, **kernel_arguments)
        )
    )


def _make_linear_regressor(C: float, seed: int) -> Any:
    machine = LinearSVMRegressor(
        C=C,
        epsilon=0.1,
        loss="squared_epsilon_insensitive",
        dual="auto",
        random_state=seed,
    )
    return with_numeric_inputs(ScaledTarget(machine), dense=False)


def _class_weights(shape: TableShape) -> tuple[Any, ...]:
    return (None, "balanced") if shape.rarest_share < 0.1 else (None,)


def _linear_candidates(shape: TableShape) -> Sequence[Candidate]:
    candidates = [
        Candidate(
            complexity=C,
            label=f"C = {C:g}" + (", balanced class weights" if weight else ""),
            setting={"C": C, "class_weight": weight}
            | ({"multiclass": "one-vs-rest"} if shape.n_classes > 2 else {}),
            make=partial(_make_linear, C, weight, "one-vs-rest"),
        )
        for C in LINEAR_COSTS
        for weight in _class_weights(shape)
    ]
    schemes = ("one-vs-one", "codes") if 2 < shape.n_classes <= 10 else ()
    candidates += [
        Candidate(
            complexity=0.1,
            label=f"C = 0.1, {scheme}",
            setting={"C": 0.1, "class_weight": None, "multiclass": scheme},
            make=partial(_make_linear, 0.1, None, scheme),
        )
        for scheme in schemes
    ]
    return sorted(candidates, key=lambda candidate: candidate.complexity)


def _kernel_candidates(kernel: str, shape: TableShape) -> Sequence[Candidate]:
    widths = (1.0,) if kernel == "sigmoid" else (0.3, 1.0)
    candidates = []
    for C in COSTS[kernel]:
        for width in widths:
            kernel_arguments = _kernel_parameters(kernel, shape, width)
            name, setting = _label_and_setting(kernel, kernel_arguments, C)
            if shape.task == "regression":
                candidates.append(
                    Candidate(C, name, setting, partial(_make_regressor, kernel_arguments, C))
                )
                continue
            if shape.n_classes > 2:
                setting["multiclass"] = "one-vs-one"
            for weight in _class_weights(shape):
                label = name + (", balanced class weights" if weight else "")
                make = partial(_make_classifier, kernel_arguments, C, weight)
                candidates.append(Candidate(C, label, {**setting, "class_weight": weight}, make))
    return candidates


def _label_and_setting(
    kernel: str, kernel_arguments: dict[str, Any], C: float
) -> tuple[str, dict[str, Any]]:
    """Return the label and the setting of a kernel and its C."""
    setting: dict[str, Any] = {"kernel": kernel, "C": C}
    if kernel == "polynomial":
        return f"C = {C:g}, degree {kernel_arguments['degree']}", {
            **setting,
            "degree": kernel_arguments["degree"],
        }
    gamma = (
        kernel_arguments["gamma"]
        if "gamma" in kernel_arguments
        else kernel_arguments["kernel"].keywords["gamma"]
    )
    return f"C = {C:g}, γ = {gamma:.3g}", {**setting, "gamma": gamma}


def _linear_regression_candidates(shape: TableShape) -> Sequence[Candidate]:
    return [
        Candidate(C, f"C = {C:g}", {"C": C, "epsilon": 0.1}, partial(_make_linear_regressor, C))
        for C in LINEAR_COSTS
    ]


def _details(fitted: Any) -> dict[str, Any]:
    model = model_of(fitted)
    machine: Any = model.members_[0].model if isinstance(model, CalibratedModel) else model
    details: dict[str, Any] = {}
    if hasattr(machine, "n_support_vectors_"):
        details["support vectors"] = machine.n_support_vectors_
    elif hasattr(machine, "support_"):
        details["support vectors"] = len(machine.support_)
    else:  # one-vs-one or output codes
        details["machines"] = len(machine.estimators_)
        return details
    margin = margin_of(machine)
    return details if margin is None else {**details, "margin 2/‖w‖": margin}


def margin_of(machine: Any) -> float | None:
    """Return the margin 2/‖w‖ of a binary SVM; None for others.

    With a kernel, ‖w‖² = Σ αᵢ yᵢ (f(xᵢ) - b) over the support vectors.
    """
    if len(getattr(machine, "classes_", ())) != 2:
        return None
    if isinstance(machine, LinearSVM):
        return float(2 / np.linalg.norm(machine.coef_))
    duals = np.asarray(machine.dual_coef_.todense() if hasattr(machine.dual_coef_, "todense")
                       else machine.dual_coef_).ravel()  # fmt: skip
    values = machine.decision_function(machine.support_rows_) - machine.intercept_[0]
    square = abs(float(duals @ values))
    return 2 / np.sqrt(square) if square > 0 else None


def too_few_rows(shape: TableShape) -> bool:
    """Return whether a class may have too few rows in a fold for the inner folds of Platt scaling."""
    return shape.task != "regression" and shape.rarest_share * shape.n_rows < 2 * PLATT_FOLDS


def _why_unsuited(shape: TableShape) -> str:
    if not too_few_rows(shape):
        return ""
    rows = round(shape.rarest_share * shape.n_rows)
    return (
        f"the rarest class has {rows} training rows, too few to calibrate probabilities by"
        " cross-validation"
    )


_TITLES = {
    "linear": "linear",
    "polynomial": "polynomial kernel",
    "gaussian": "Gaussian kernel",
    "laplacian": "Laplacian kernel",
    "sigmoid": "sigmoid kernel",
}
_FITS = {
    "linear": FitCost(0.0016, classes_exponent=0.8, fixed=0.02),
    "polynomial": FitCost(0.014, rows_exponent=2.2, columns_exponent=0.5, fixed=0.01),
    "gaussian": FitCost(0.018, rows_exponent=2.2, columns_exponent=0.5, fixed=0.01),
    "laplacian": FitCost(
        0.025, rows_exponent=2.2, columns_exponent=0.8, fixed=0.01, max_rows=MAX_ROWS_FULL_KERNEL
    ),
    "sigmoid": FitCost(0.02, rows_exponent=2.2, columns_exponent=0.5, fixed=0.01),
}


def _method(kernel: str, regression: bool) -> Method:
    if kernel == "linear":
        candidates: Any = _linear_regression_candidates if regression else _linear_candidates
    else:
        candidates = partial(_kernel_candidates, kernel)
    return Method(
        name=f"{'svr' if regression else 'svm'}-{kernel}",
        title=f"{'SVR' if regression else 'SVM'}, {_TITLES[kernel]}",
        tasks=frozenset({"regression"} if regression else {"binary", "multiclass"}),
        parameter="C, cost of a row inside the margin",
        log_axis=True,
        candidates=candidates,
        properties=PROPERTIES[kernel],
        rows_affordable=_FITS[kernel],
        details=_details,
        why_unsuited=_why_unsuited,
    )


METHODS = [_method(kernel, regression) for regression in (False, True) for kernel in _TITLES]

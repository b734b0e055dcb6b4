"""Margins of support vector machines agree with their geometric definition."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from bosquet.theory import svm_margin

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


def distance_of_hulls(A, B):
    """The least distance between convex combinations of the rows of A and of B."""

    def squared(weights):
        difference = weights[: len(A)] @ A - weights[len(A) :] @ B
        return difference @ difference

    start = np.concatenate([np.full(len(A), 1 / len(A)), np.full(len(B), 1 / len(B))])
    sums = [
        {"type": "eq", "fun": lambda w: w[: len(A)].sum() - 1},
        {"type": "eq", "fun": lambda w: w[len(A) :].sum() - 1},
    ]
    bounds = [(0, 1)] * len(start)
    options = {"maxiter": 500, "ftol": 1e-14}
    found = minimize(squared, start, bounds=bounds, constraints=sums, options=options)
    return np.sqrt(found.fun)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**16), st.integers(2, 3), st.floats(4, 10))
def test_the_margin_is_the_distance_of_the_convex_hulls(seed, features, apart):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(6, features)), rng.normal(size=(5, features))
    B[:, 0] += apart
    assume(A[:, 0].max() < B[:, 0].min())
    X, y = np.vstack([A, B]), np.repeat([0, 1], [6, 5])
    found = svm_margin(SVC(kernel="linear", C=1e5, tol=1e-6).fit(X, y), X, y)
    assert found.is_hard
    assert found.margin == pytest.approx(distance_of_hulls(A, B), rel=1e-3)
    assert found.norm == pytest.approx(2 / found.margin)


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": 0.7},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 1.0},
        {"kernel": laplacian_kernel},
    ],
)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_dual_and_primal_meet_and_complementarity_holds(kernel, C):
    X, y = make_blobs(60, centers=2, cluster_std=3.0, random_state=0)
    model = SVC(C=C, tol=1e-8, **kernel).fit(X, y)
    found = svm_margin(model, X, y)
    assert 0 <= found.gap <= 1e-4 * found.primal
    signs = np.where(y == 1, 1.0, -1.0)
    lagrange = np.zeros(60)
    lagrange[found.support] = found.multipliers
    assert lagrange @ signs == pytest.approx(0, abs=1e-6)
    assert (lagrange <= C + 1e-9).all()
    inside = (lagrange > 1e-6 * C) & (lagrange < C * (1 - 1e-6))
    values = signs * model.decision_function(X)
    assert values[inside] == pytest.approx(1, abs=1e-2)  # on the margin
    assert (values[lagrange == 0] >= 1 - 1e-2).all()  # beyond it


def test_the_norm_in_the_space_of_the_kernel_is_that_of_its_features():
    X, y = make_blobs(40, centers=2, cluster_std=2.0, random_state=1)
    # (1 + x·z)² is a product of these features.
    a, b = X.T
    features = np.column_stack([np.ones(40), *(np.sqrt(2) * X.T), a**2, b**2, np.sqrt(2) * a * b])
    hidden = SVC(kernel="poly", degree=2, gamma=1, coef0=1, C=1, tol=1e-8).fit(X, y)
    open_ = SVC(kernel="linear", C=1, tol=1e-8).fit(features, y)
    shown = svm_margin(open_, features, y)
    assert svm_margin(hidden, X, y).margin == pytest.approx(shown.margin, rel=1e-3)
    assert shown.norm == pytest.approx(np.linalg.norm(open_.coef_), rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**16), st.floats(0.05, 20))
def test_the_sum_of_slacks_bounds_the_errors(seed, C):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    assume(0 < y.sum() < 30)
    model = SVC(kernel="linear", C=C).fit(X, y)
    found = svm_margin(model, X, y)
    assert found.n_errors <= found.slacks.sum() + 1e-9
    assert (model.predict(X) != y).sum() <= found.n_errors


def test_only_support_vectors_matter():
    X, y = make_blobs(80, centers=2, random_state=3)
    found = svm_margin(SVC(kernel="linear", C=100).fit(X, y), X, y)
    few = X[found.support], y[found.support]
    assert found.support.size < 10
    again = svm_margin(SVC(kernel="linear", C=100).fit(*few), *few)
    assert again.margin == pytest.approx(found.margin, rel=1e-3)


def test_a_larger_cost_makes_a_narrower_margin():
    X, y = make_blobs(80, centers=2, cluster_std=3.0, random_state=0)
    margins = [
        svm_margin(SVC(kernel="linear", C=C).fit(X, y), X, y).margin for C in (0.0001, 0.001, 0.01)
    ]
    assert margins == sorted(margins, reverse=True)


def test_xor_is_separated_by_a_product_feature():
    X, y = XOR
    assert svm_margin(SVC(kernel="linear", C=1e6).fit(X, y), X, y).n_errors >= 1
    product = np.column_stack([X, X.prod(axis=1)])
    found = svm_margin(SVC(kernel="linear", C=1e6).fit(product, y), product, y)
    assert found.is_hard
    assert found.n_errors == 0
    # f = 2a + 2b - 4ab - 1 is -1 or 1 at all four points: ‖w‖² = 4 + 4 + 16.
    assert found.margin == pytest.approx(2 / np.sqrt(24), rel=1e-3)
    assert found.margin == pytest.approx(
        distance_of_hulls(product[y == 0], product[y == 1]), rel=1e-3
    )


def test_linear_models_and_pipelines_are_accepted():
    X, y = make_blobs(80, centers=2, cluster_std=2.0, random_state=0)
    linear = LinearSVC(C=1.0).fit(X, y)
    found = svm_margin(linear, X, y)
    assert found.margin == pytest.approx(2 / np.linalg.norm(linear.coef_))
    assert found.gap is None
    assert found.multipliers is None
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X, y)
    inner = svm_margin(pipeline[-1], pipeline[0].transform(X), y)
    assert svm_margin(pipeline, X, y).margin == inner.margin


def test_class_weights_are_in_the_primal():
    X, y = make_blobs([50, 10], cluster_std=3.0, random_state=0)
    found = svm_margin(SVC(kernel="linear", class_weight={1: 5.0}, tol=1e-8).fit(X, y), X, y)
    assert 0 <= found.gap <= 1e-4 * found.primal


@pytest.mark.parametrize("C", [1e2, 1e4, 1e6, 1e8])
def test_primal_and_dual_of_xor_are_its_optimum(C):
    X, y = XOR
    product = np.column_stack([X, X.prod(axis=1)])
    found = svm_margin(SVC(kernel="linear", C=C).fit(product, y), product, y)
    # ½‖w‖² = 12 for f = 2a + 2b - 4ab - 1, which has no slack.
    assert found.primal == pytest.approx(12, rel=1e-6)
    assert found.dual == pytest.approx(12, rel=1e-6)
    assert "12" in repr(found)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**16), st.sampled_from([0.01, 1.0, 100.0]), st.booleans())
def test_the_optimum_lies_between_dual_and_primal_for_any_tolerance(seed, C, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 2)), rng.integers(0, 2, 25)
    assume(2 < y.sum() < 23)
    X[y == 1] += 3
    weight = rng.uniform(0.2, 3, 25) if weighted else None
    rough, fine = (
        svm_margin(SVC(kernel="rbf", C=C, tol=tol).fit(X, y, sample_weight=weight), X, y, weight)
        for tol in (1e-3, 1e-8)
    )
    assert rough.dual <= fine.primal * (1 + 1e-9)
    assert rough.primal >= fine.dual * (1 - 1e-9)
    assert 0 <= fine.gap <= 1e-5 * fine.primal
    assert 0 <= rough.gap <= 0.05 * rough.primal


def test_the_bounds_use_the_sample_weights():
    X, y = make_blobs(60, centers=2, cluster_std=3.0, random_state=0)
    weight = np.linspace(0, 3, 60)
    model = SVC(C=5, tol=1e-8).fit(X, y, sample_weight=weight)
    found = svm_margin(model, X, y, weight)
    assert 0 <= found.gap <= 1e-4 * found.primal
    with pytest.raises(ValueError, match="sample_weight differ from those of the fit"):
        svm_margin(model, X, y)  # the fit ignored the row of weight 0, so that indices differ
    model = SVC(C=5).fit(X, y, sample_weight=weight + 1)
    with pytest.raises(ValueError, match=r"exceeds its bound C = 5; .*sample_weight"):
        svm_margin(model, X, y)


def indefinite(A, B):
    return (A @ B.T) - 2.0 * np.abs(A[:, None, 0] - B[None, :, 0])


@pytest.mark.parametrize("kernel", ["sigmoid", "poly", indefinite, "precomputed"])
def test_an_indefinite_kernel_has_no_margin_and_no_bounds(kernel):
    X, y = make_blobs(40, centers=2, cluster_std=3.0, random_state=0)
    rows = -np.abs(X[:, :1] - X[:, 0]) if kernel == "precomputed" else X
    model = SVC(kernel=kernel, gamma=1, coef0=-1, C=1e3, max_iter=20_000).fit(rows, y)
    found = svm_margin(model, rows, y)
    assert (found.margin, found.norm, found.primal, found.dual) == (None,) * 4
    assert "not positive semi-definite" in found.reason
    assert found.support.size
    assert "inf" not in repr(found)
    assert "not positive semi-definite" in repr(found)


def test_a_positive_custom_kernel_has_a_margin():
    X, y = make_blobs(40, centers=2, cluster_std=3.0, random_state=0)
    own = svm_margin(SVC(kernel=lambda A, B: A @ B.T, tol=1e-6).fit(X, y), X, y)
    table = svm_margin(SVC(kernel="precomputed", tol=1e-6).fit(X @ X.T, y), X @ X.T, y)
    linear = svm_margin(SVC(kernel="linear", tol=1e-6).fit(X, y), X, y)
    assert own.margin == pytest.approx(linear.margin, rel=1e-6)
    assert table.margin == pytest.approx(linear.margin, rel=1e-6)


def test_a_constant_model_is_noted():
    X, y = XOR
    found = svm_margin(SVC(kernel="linear").fit(X, y), X, y)
    assert (found.norm, found.margin) == (0, np.inf)
    assert "w = 0: f is constant" in repr(found)


def test_a_machine_without_a_cost_has_no_bounds():
    X, y = make_blobs(40, centers=2, cluster_std=3.0, random_state=0)
    found = svm_margin(NuSVC(nu=0.3).fit(X, y), X, y)
    assert (found.primal, found.dual, found.gap) == (None, None, None)
    assert found.margin > 0
    assert "NuSVC has another objective" in repr(found)


def test_models_and_rows_without_a_margin_raise_an_error():
    X, y = make_blobs(60, centers=3, random_state=0)
    with pytest.raises(ValueError, match="the model has 3 classes"):
        svm_margin(SVC().fit(X, y), X, y)
    two = y < 2
    with pytest.raises(ValueError, match="differ from those of the fit"):
        svm_margin(SVC().fit(X[two], y[two]), X[two][:5], y[two][:5])
    with pytest.raises(ValueError, match="differ from those of the fit"):
        svm_margin(SVC().fit(X[two], y[two]), X[two], 1 - y[two])
    with pytest.raises(ValueError, match="the model has 0 classes"):
        svm_margin(OneClassSVM().fit(X), X, y)
    with pytest.raises(ValueError, match="DecisionTreeClassifier is not a support vector machine"):
        svm_margin(DecisionTreeClassifier().fit(X[two], y[two]), X[two], y[two])


def test_the_result_prints_its_formula():
    X, y = XOR
    text = repr(svm_margin(SVC(kernel="rbf", C=10).fit(X, y), X, y))
    assert "2/‖w‖" in text
    assert "support vectors" in text

"""Sparse matrices of every format, in every estimator that accepts them; invalid ones are rejected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier as ScikitClasses
from sklearn.tree import DecisionTreeRegressor as ScikitTree

import bosquet
from bosquet._sparse import check_sparse
from bosquet.data import TableEncoder

FORMATS = ["csr", "csc", "coo", "dok", "lil", "bsr", "dia"]
TREE = ScikitTree(max_depth=2, random_state=0)
OWN_TREE = bosquet.DecisionTreeRegressor(max_depth=2, random_state=0)
STOPPING = {"n_estimators": 3, "early_stopping": True, "random_state": 0}
ROUNDS = {"n_estimators": 3, "random_state": 0}
REGRESSORS = [
    bosquet.DecisionTreeRegressor(max_depth=3),
    bosquet.RandomForestRegressor(**ROUNDS),
    bosquet.ExtraTreesRegressor(**ROUNDS),
    bosquet.GradientBoostingRegressor(**STOPPING),
    bosquet.GradientBoostingRegressor(scoring="r2", **STOPPING),
    bosquet.GradientBoostingRegressor(estimator=TREE, **STOPPING),
    bosquet.GradientBoostingRegressor(estimator=TREE, subsample=0.5, scoring="r2", **STOPPING),
    bosquet.AdaBoostRegressor(**ROUNDS),
    bosquet.AdaBoostRegressor(TREE, **ROUNDS),
    bosquet.BaggingRegressor(OWN_TREE, **ROUNDS),
    bosquet.BaggingRegressor(TREE, max_features=0.5, **ROUNDS),
    bosquet.VotingRegressor([("tree", TREE), ("line", Ridge(solver="lsqr"))]),
    bosquet.SuperLearnerRegressor([("tree", OWN_TREE), ("other", TREE)], random_state=0),
    bosquet.ConformalModel(TREE, random_state=0),
]
CLASSIFIERS = [
    bosquet.DecisionTreeClassifier(max_depth=3),
    bosquet.RandomForestClassifier(**ROUNDS),
    bosquet.ExtraTreesClassifier(**ROUNDS),
    bosquet.GradientBoostingClassifier(**STOPPING),
    bosquet.GradientBoostingClassifier(estimator=TREE, **STOPPING),
    bosquet.AdaBoostClassifier(**ROUNDS),
    bosquet.AdaBoostClassifier(ScikitClasses(max_depth=1), **STOPPING),
    bosquet.AnyBoostClassifier(estimator=TREE, **ROUNDS),
    bosquet.BrownBoostClassifier(c=1.0, **ROUNDS),
    bosquet.LPBoostClassifier(**ROUNDS),
    bosquet.BaggingClassifier(**ROUNDS),
    bosquet.CalibratedModel(bosquet.DecisionTreeClassifier(max_depth=2, random_state=0)),
]


def make_table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = (rng.random((80, 4)) < 0.4) * rng.integers(1, 5, size=(80, 4)).astype(float)
    return X, X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=80)


def every_format(X: np.ndarray) -> list[Any]:
    return [sp.coo_matrix(X), *(sp.csr_array(X).asformat(name) for name in FORMATS)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=str)
def test_the_format_of_a_sparse_matrix_changes_nothing(model: Any) -> None:
    X, y = make_table()
    if any(model is one for one in CLASSIFIERS):
        y = (y > 0).astype(int)
    expected = model.fit(X, y).predict(X)
    for matrix in every_format(X):
        np.testing.assert_allclose(model.fit(matrix, y).predict(matrix), expected, atol=1e-9)


def broken(name: str) -> Any:
    """Build a matrix from its arrays, with one index outside its shape."""
    X = sp.csr_array(make_table()[0]).asformat(name.split()[0])
    if name == "lil":
        X.rows[3], X.data[3] = [10**7], [1.0]
    elif name == "coo":
        X.row[5] = 10**7
    elif name == "csr indptr":
        X.indptr[7] = 10**7
    elif name == "csr data":
        X.data = X.data[:10]
    elif name == "csr below 0":
        X.indices[5] = -(10**7)
    else:
        X.indices[5] = 10**7
    return X


BROKEN = ["csr", "csr below 0", "csr indptr", "csr data", "csc", "bsr", "coo", "lil"]


@pytest.mark.parametrize("name", BROKEN)
def test_an_index_outside_of_the_matrix_is_an_error(name: str) -> None:
    before = broken(name)
    with pytest.raises(ValueError, match=r"whose indices are invalid.*rebuild the matrix"):
        check_sparse(before)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=str)
def test_every_estimator_rejects_a_broken_matrix(model: Any) -> None:
    y = (make_table()[1] > 0).astype(int)
    for name in ("csr", "coo"):
        with pytest.raises(ValueError, match="whose indices are invalid"):
            model.fit(broken(name), y)


def test_a_broken_matrix_is_rejected_at_prediction_and_explanation() -> None:
    X, y = make_table()
    encoder, _ = TableEncoder.fit_encode(X)
    model = bosquet.GradientBoostingRegressor(n_estimators=2).fit(X, y)
    for use in (encoder.transform, model.predict, model.explain):
        with pytest.raises(ValueError, match="whose indices are invalid"):
            use(broken("csr"))


def test_the_check_does_not_change_the_matrix() -> None:
    X = sp.csr_array(make_table()[0])
    X.data, X.indices = np.append(X.data, 9.0), np.append(X.indices, 0)  # beyond the last row
    parts = X.data, X.indices, X.indptr
    check_sparse(X)
    assert all(now is then for now, then in zip((X.data, X.indices, X.indptr), parts, strict=True))

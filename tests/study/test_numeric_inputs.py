"""Tables as matrices: scaling, missing values, levels, too many columns."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from bosquet.study.methods.pipelines import (
    ScaledTarget,
    fit_weighted,
    model_of,
    with_numeric_inputs,
)
from bosquet.study.methods.polynomial import PolynomialTerms
from bosquet.study.methods.shapes import table_shape
from bosquet.study.table import numeric_inputs
from bosquet.study.table.numeric_inputs import NumericInputs


@parametrize_with_checks([NumericInputs(), PolynomialTerms(), ScaledTarget(Ridge())])
def test_passes_check_estimator(estimator, check):
    check(estimator)


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [20.0, 40.0, np.nan, 60.0],
            "town": ["rome", "oslo", "rome", None],
            "same": [1, 1, 1, 1],
            "grade": pd.Categorical(["a", "b", "b", "c"], categories=["a", "b", "c", "d"]),
        }
    )


def test_numbers_are_scaled_missing_values_marked_and_levels_one_hot_encoded(frame):
    inputs = NumericInputs(min_rows=1)
    matrix = inputs.fit_transform(frame)
    names = list(inputs.get_feature_names_out())
    assert names == [
        "age", "age (missing)", "town=oslo", "town=rome", "town=(missing)",
        "grade=a", "grade=b", "grade=c",
    ]  # fmt: skip
    age = np.array([-20, 0, 0, 20]) / np.std([20, 40, 60])
    assert np.allclose(matrix[:, 0], age)
    assert matrix[:, 1].tolist() == [0, 0, 1, 0]
    assert matrix[:, 4].tolist() == [0, 0, 0, 1]
    assert np.array_equal(matrix, inputs.transform(frame))


def test_unit_scale_goes_from_the_least_to_the_greatest_value(frame):
    column = NumericInputs(scale="unit").fit_transform(frame[["age"]])[:, 0]
    assert column.tolist() == [0, 0.5, 0.5, 1]


def test_rare_levels_share_a_column_and_unknown_ones_count_as_missing():
    towns = ["rome"] * 12 + ["oslo"] * 11 + ["bern", "cork"]
    inputs = NumericInputs().fit(pd.DataFrame({"town": towns}))
    assert list(inputs.get_feature_names_out()) == ["town=oslo", "town=rome", "town=(others)"]
    predicted = inputs.transform(pd.DataFrame({"town": ["bern", "paris", None]}))
    assert predicted.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]


def test_the_most_frequent_level_can_be_the_baseline(frame):
    names = NumericInputs(min_rows=1, baseline=True).fit(frame).get_feature_names_out()
    assert "grade=b" not in names
    assert "town=rome" not in names
    assert "town=oslo" in names


def test_infinite_values_count_as_missing():
    inputs = NumericInputs()
    matrix = inputs.fit_transform(np.array([[1.0], [3.0], [np.inf], [-np.inf]]))
    assert matrix.tolist() == [[-1, 0], [1, 0], [0, 1], [0, 1]]


def test_a_table_of_constant_columns_raises():
    with pytest.raises(ValueError, match="every column of X is constant over its 5"):
        NumericInputs().fit(np.ones((5, 2)))


def test_sparse_matrices_hold_what_dense_ones_do():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "level": random.choice([f"l{i}" for i in range(80)], size=4000),
            "x": np.where(random.random(4000) < 0.1, np.nan, random.normal(size=4000)),
        }
    )
    dense, thin = NumericInputs().fit(frame), NumericInputs(dense=False).fit(frame)
    assert thin.is_sparse_
    matrix = thin.transform(frame)
    assert sparse.issparse(matrix)
    assert np.allclose(matrix.toarray(), dense.transform(frame))


def test_of_too_many_columns_those_that_explain_the_target_are_kept():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3000)).astype(np.float32)
    X[::7, 5] = np.nan
    level = random.choice(["u", "v", "w"], size=120)
    frame = pd.DataFrame(X).add_prefix("x").assign(level=level)
    y = np.where(X[:, 17] + 2 * (level == "u") > 0.7, "yes", "no")
    inputs = NumericInputs(max_columns=40)
    matrix = inputs.fit_transform(frame, y)
    names = list(inputs.get_feature_names_out())
    assert matrix.shape == (120, 40)
    assert "x17" in names
    assert "level=u" in names
    assert np.allclose(matrix[:, names.index("level=u")], level == "u")
    assert np.array_equal(matrix, inputs.transform(frame))


def test_levels_are_chosen_by_what_they_explain_without_a_column_for_each():
    random = np.random.default_rng(0)
    rows, levels = 4000, 1500
    place = random.integers(0, levels, rows)
    frame = pd.DataFrame({"level": pd.Categorical([f"l{k:04}" for k in place])})
    y = random.normal(size=rows) + np.where(place % 50 == 0, 3.0, 0.0)
    inputs = NumericInputs(min_rows=1, max_columns=40)
    tracemalloc.start()
    try:
        matrix = inputs.fit_transform(frame, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < rows * levels * 8 / 10
    flags = place[:, None] == np.unique(place)
    related = [abs(np.corrcoef(flag, y)[0, 1]) for flag in flags.T]
    best = np.sort(np.argsort(related)[-40:])
    expected = [f"level=l{k:04}" for k in np.unique(place)[best]]
    assert list(inputs.get_feature_names_out()) == expected
    assert matrix.shape == (rows, 40)
    assert np.array_equal(matrix, flags[:, best])


@pytest.mark.parametrize("values", [1, 7, 10**6])
def test_the_matrix_does_not_depend_on_how_many_values_are_converted_at_a_time(
    frame, values, monkeypatch
):
    frame = pd.concat([frame.assign(more=np.arange(4.0) ** 2)] * 3, ignore_index=True)
    expected = NumericInputs(min_rows=1).fit_transform(frame)
    monkeypatch.setattr(numeric_inputs, "BLOCK_VALUES", values)
    assert np.allclose(NumericInputs(min_rows=1).fit_transform(frame), expected, rtol=1e-14)


def test_any_container_gives_the_same_matrix(frame):
    again = pl.from_pandas(frame.astype({"grade": str}))
    first = NumericInputs(min_rows=1).fit_transform(frame)
    assert np.allclose(first, NumericInputs(min_rows=1).fit_transform(again))


def test_inputs_survive_clones_and_pickles(frame):
    inputs = NumericInputs(min_rows=1, scale="unit").fit(frame)
    again = pickle.loads(pickle.dumps(inputs))
    assert np.array_equal(again.transform(frame), inputs.transform(frame))
    assert clone(inputs).get_params() == inputs.get_params()


def test_weights_go_to_the_model_at_the_end_of_a_pipeline():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 2)), random.normal(size=80) * 100 + 500
    weight = np.r_[np.ones(40), np.zeros(40)]
    weighed = fit_weighted(with_numeric_inputs(ScaledTarget(SVR(C=10))), X, y, weight)
    assert model_of(weighed).support_.max() < 40
    assert weighed[-1].mean_ == pytest.approx(y[:40].mean())


def test_terms_of_a_degree_span_the_powers_and_products_of_columns():
    random = np.random.default_rng(0)
    X = np.c_[random.normal(size=(50, 2)), random.integers(2, size=50)]
    terms = PolynomialTerms(3, products=True).fit(X)
    matrix = terms.transform(X)
    names = list(terms.get_feature_names_out(["a", "b", "s"]))
    assert names[:7] == ["a", "b", "s", "a^2", "b^2", "a^3", "b^3"]
    assert set(names[7:]) == {"a*b", "a*s", "b*s", "a^2*b", "a*b^2", "a^2*s", "b^2*s", "a*b*s"}
    a, b, s = X.T
    wanted = np.c_[a**3, a**2 * b, a * b * s, b**2 * s]
    basis = np.c_[np.ones(50), matrix]
    assert np.allclose(basis @ np.linalg.lstsq(basis, wanted, rcond=None)[0], wanted)
    beyond = np.array([[1e6, 0, 0], [a.max(), 0, 0]])
    assert np.allclose(*terms.transform(beyond))


def test_the_shape_of_a_table_counts_columns_levels_and_classes(frame):
    shape = table_shape(frame, ["a", "b", "b", "b"], "binary")
    assert (shape.n_rows, shape.n_numbers, shape.n_categories) == (4, 2, 2)
    assert (shape.n_indicators, shape.n_classes, shape.rarest_share) == (7, 2, 0.25)
    assert table_shape(frame, [0, 1, 5, 2], "regression").target_is_count
    assert not table_shape(frame, [0, 1, 5, -2], "regression").target_is_count
    assert not table_shape(frame, [0, 1, 5, 0.5], "regression").target_is_count

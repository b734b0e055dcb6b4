"""Files of calibrated and conformal models: round trips, and errors for invalid files."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import bosquet
from bosquet import (
    BaggingRegressor,
    CalibratedModel,
    ConformalModel,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ModelFileError,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bosquet.io.container import pack_members, unpack_members
from bosquet.io.models import model_bytes, model_from_bytes

BOOSTED = GradientBoostingRegressor(n_estimators=5, random_state=0)
OF_CLASSES = GradientBoostingClassifier(n_estimators=5, random_state=0)
FOREST = RandomForestRegressor(n_estimators=30, random_state=0)


def saved(model, tmp_path):
    path = tmp_path / "model.bosquet"
    model.save(path)
    return bosquet.load(path)


@pytest.mark.parametrize("method", ["isotonic", "platt", "beta"])
@pytest.mark.parametrize("data", ["two_classes", "three_classes"])
def test_a_loaded_calibrated_model_predicts_the_same(method, data, tmp_path, request):
    X, y = request.getfixturevalue(data)
    labels = np.array(["a", "b", "c"])[y]
    model = CalibratedModel(OF_CLASSES, method, cv=3).fit(X, labels)
    again = saved(model, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.get_params()["method"] == method
    np.testing.assert_allclose(again.fit(X, labels).predict_proba(X), model.predict_proba(X))


def test_files_keep_folds_bags_and_costs(two_classes, tmp_path):
    X, y = two_classes
    costs = [[0, 1], [5, 0]]
    forest = RandomForestClassifier(n_estimators=30, random_state=0)
    for model in (
        CalibratedModel(OF_CLASSES, cv=2, ensemble=True, costs=costs),
        CalibratedModel(forest, "beta", cv="oob", costs=costs),
        CalibratedModel(OF_CLASSES.fit(X, y), cv="prefit"),
    ):
        again = saved(model.fit(X, y), tmp_path)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        ConformalModel(BOOSTED, random_state=0),
        ConformalModel(BOOSTED, "cv+", cv=3, random_state=0),
        ConformalModel(FOREST, "oob"),
        ConformalModel(BaggingRegressor(DecisionTreeRegressor(), 20, random_state=0), "oob"),
        ConformalModel(
            GradientBoostingRegressor("quantile", quantile=[0.1, 0.9], n_estimators=5), "cqr"
        ),
        ConformalModel(GradientBoostingRegressor("quantile", n_estimators=5), "cqr"),
    ],
    ids=["split", "cv+", "forest", "bagging", "levels", "level by level"],
)
def test_a_loaded_model_predicts_identical_intervals(numbers, model, tmp_path):
    X, y = numbers
    for groups in (None, np.where(X[:, 0] < 0.5, "low", "high")):
        model.fit(X, y, groups=groups)
        again = saved(model, tmp_path)
        for coverage in (0.5, 0.9):
            np.testing.assert_array_equal(
                again.predict_interval(X, coverage, groups),
                model.predict_interval(X, coverage, groups),
            )
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.n_calibration_ == model.n_calibration_


@pytest.mark.parametrize(
    "model",
    [
        ConformalModel(OF_CLASSES, random_state=0),
        ConformalModel(OF_CLASSES, "cv+", cv=3, per_class=True, random_state=0),
        ConformalModel(RandomForestClassifier(30, random_state=0), "oob", random_state=0),
    ],
    ids=["split", "cv+", "oob"],
)
def test_a_loaded_model_predicts_identical_sets(three_classes, model, tmp_path):
    X, y = three_classes
    again = saved(model.fit(X, y), tmp_path)
    np.testing.assert_array_equal(again.predict_set(X), model.predict_set(X))


def test_models_of_other_libraries_cannot_be_saved(numbers, two_classes, tmp_path):
    with pytest.raises(ValueError, match=r"the wrapped model .* a sklearn.*use pickle"):
        ConformalModel(LinearRegression()).fit(*numbers).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"the wrapped model .* a sklearn.*use pickle"):
        CalibratedModel(GaussianNB()).fit(*two_classes).save(tmp_path / "model")
    with pytest.raises(ValueError, match="keep_rows=True"):
        ConformalModel(FOREST, "cqr").fit(*numbers).save(tmp_path / "model")


def tampered(model, **changes):
    parts, metadata = unpack_members(model_bytes(model))
    return pack_members(parts, json.loads(json.dumps(metadata)) | changes)


def test_inconsistent_metadata_raise(numbers, two_classes):
    X, y = numbers
    split = ConformalModel(BOOSTED, random_state=0).fit(X, y)
    plus = ConformalModel(BOOSTED, "cv+", cv=3, random_state=0).fit(X, y)
    bags = ConformalModel(FOREST, "oob").fit(X, y)
    sets = ConformalModel(OF_CLASSES, random_state=0).fit(*two_classes)
    calibrated = CalibratedModel(OF_CLASSES, cv=2).fit(*two_classes)
    assert model_from_bytes(tampered(split)).predict_interval(X).shape == (500, 2)
    levels = GradientBoostingRegressor("quantile", n_estimators=3, random_state=0)
    quantiles = ConformalModel(levels, "cqr", quantiles=(0.1, 0.9), random_state=0).fit(X, y)
    cases = [
        (quantiles, {"level_kind": "forest"}),
        (quantiles, {"levels": [0.9, 0.1]}),
        (quantiles, {"levels": [0.1, 0.5, 0.9]}),
        (split, {"kind": "SplitSets"}),
        (split, {"kind": "__init__"}),
        (split, {"residual": []}),
        (split, {"residual": ["nan"]}),
        (split, {"groups": {"dtype": "i8", "values": [1, 2]}}),
        (split, {"seed": -1}),
        (split, {"parameters": {"model": 3}}),
        (split, {"parameters": {"method": "loo"}}),
        (plus, {"fold": [0] * 499}),
        (plus, {"fold": [3] * 500}),
        (bags, {"rows": 10}),
        (bags, {"rows": 10**12}),
        (sets, {"class_numbers": [2] * 300}),
        (sets, {"score": [0.5]}),
        (sets, {"classes": None}),
        (calibrated, {"classes": {"dtype": "i8", "values": [1, 0]}}),
        (calibrated, {"members": []}),
        (calibrated, {"members": [{"floor": 0.7, "calibrators": []}]}),
    ]
    for model, changes in cases:
        with pytest.raises(ModelFileError):
            model_from_bytes(tampered(model, **changes))


@pytest.mark.parametrize("model", [FOREST, BaggingRegressor(n_estimators=30, random_state=0)])
def test_out_of_bag_rows_are_the_rows_of_the_bags(numbers, model):
    X, y = numbers
    bags = ConformalModel(model, "oob").fit(X, y)
    held_out = {"n_rows": 501, "rows": list(range(500))}
    with pytest.raises(ModelFileError, match="does not draw bags of 501 rows"):
        model_from_bytes(tampered(bags, held_out=held_out))

"""The scale of sample weights has no effect if possible, and otherwise gives a warning or an error."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier as ScikitClasses
from sklearn.tree import DecisionTreeRegressor as ScikitTree

import bosquet

ROWS = 120
ROUNDS = {"n_estimators": 5, "random_state": 0}
FREE = {"l2_regularization": 0.0, "min_child_weight": 0.0, **ROUNDS}
TREE = bosquet.DecisionTreeRegressor(max_depth=3, random_state=0)
CLASSES = bosquet.DecisionTreeClassifier(max_depth=3, random_state=0)
# Multiplying by a power of two changes no digit of a weight, so that models must be the same to the bit.
POWERS = [2.0**k for k in (-1020, -300, -100, -33, 33, 100, 300, 990)]
SCALES = [1e-300, 1e-38, 1e-10, 1 / ROWS, 1.0, 1e10, 1e38, 1e300]

SCALE_FREE = {
    "tree": (TREE, "numbers"),
    "tree of medians": (clone(TREE).set_params(criterion="absolute_error"), "numbers"),
    "tree of counts": (clone(TREE).set_params(criterion="poisson"), "counts"),
    "pruned tree": (clone(TREE).set_params(min_impurity_decrease=0.01), "numbers"),
    "classes": (CLASSES, "classes"),
    "classes by entropy": (clone(CLASSES).set_params(criterion="entropy"), "classes"),
    "random forest": (bosquet.RandomForestRegressor(**ROUNDS), "numbers"),
    "extra trees": (bosquet.ExtraTreesClassifier(**ROUNDS), "classes"),
    "AdaBoost": (bosquet.AdaBoostClassifier(**ROUNDS), "two"),
    "SAMME": (bosquet.AdaBoostClassifier(**ROUNDS), "classes"),
    "Real AdaBoost": (bosquet.AdaBoostClassifier(variant="real", **ROUNDS), "two"),
    "LogitBoost": (bosquet.AdaBoostClassifier(variant="logit", **ROUNDS), "two"),
    "AdaBoost of others": (bosquet.AdaBoostClassifier(ScikitClasses(max_depth=1), **ROUNDS), "two"),
    "AnyBoost": (bosquet.AnyBoostClassifier(**ROUNDS), "two"),
    "BrownBoost": (bosquet.BrownBoostClassifier(c=1.0, **ROUNDS), "two"),
    "LPBoost": (bosquet.LPBoostClassifier(**ROUNDS), "two"),
    "AdaBoost.R2": (bosquet.AdaBoostRegressor(**ROUNDS), "numbers"),
    "boosting without penalties": (bosquet.GradientBoostingRegressor(**FREE), "numbers"),
    "boosted classes": (bosquet.GradientBoostingClassifier(**FREE), "classes"),
    "boosted medians": (bosquet.GradientBoostingRegressor("absolute_error", **FREE), "numbers"),
    "boosted with Huber's loss": (bosquet.GradientBoostingRegressor("huber", **FREE), "numbers"),
    "stopped early": (
        bosquet.GradientBoostingRegressor(early_stopping=True, n_iter_no_change=2, **FREE),
        "numbers",
    ),
}
# Estimators that pass the weights to learners with unknown scale.
PASSED_ON = {
    "boosting of others": (
        bosquet.GradientBoostingRegressor(estimator=ScikitTree(max_depth=2), **ROUNDS),
        "numbers",
    ),
    "bagging": (bosquet.BaggingRegressor(TREE, **ROUNDS), "numbers"),
    "voting": (bosquet.VotingClassifier([("tree", CLASSES)]), "classes"),
    "super learner": (
        bosquet.SuperLearnerRegressor([("tree", TREE), ("line", Ridge())], random_state=0),
        "numbers",
    ),
    "calibrated": (bosquet.CalibratedModel(CLASSES), "two"),
    "conformal": (bosquet.ConformalModel(TREE, random_state=0), "numbers"),
}
PENALISED = {
    "boosting": (bosquet.GradientBoostingRegressor(**ROUNDS), "numbers"),
    "boosted classes": (bosquet.GradientBoostingClassifier(**ROUNDS), "classes"),
    "gradient step": (bosquet.GradientBoostingRegressor(step="gradient", **ROUNDS), "numbers"),
    "Poisson": (bosquet.GradientBoostingRegressor("poisson", **ROUNDS), "counts"),
    "smoothed tree": (clone(CLASSES).set_params(smoothing=2.0), "classes"),
    "Platt": (bosquet.CalibratedModel(CLASSES, method="platt"), "two"),
    "ridge": (bosquet.BaggingRegressor(Ridge(), **ROUNDS), "numbers"),
}


def make_table(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 3))
    y = X[:, 0] - X[:, 1] ** 2 + 0.3 * rng.normal(size=ROWS)
    made = {
        "numbers": y,
        "counts": np.round(np.exp(y / 2)) + 1,
        "two": (y > -0.5).astype(int),
        "classes": np.digitize(y, [-1.0, 0.3]),
    }
    return X, made[kind], rng.choice([0.5, 1.0, 1.5], size=ROWS)


def fit_and_predict(model: Any, kind: str, scale: float) -> tuple[np.ndarray, list[str]]:
    """Return the predictions of a fit with weights of this scale, and the warnings about weights."""
    X, y, weight = make_table(kind)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = clone(model).fit(X, y, sample_weight=scale * weight)
    predict = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    if hasattr(model, "feature_importances_"):
        assert np.isfinite(model.feature_importances_).all()
    messages = [str(one.message) for one in caught]
    return predict(X), [message for message in messages if "sample weight" in message]


@pytest.mark.parametrize("name", SCALE_FREE)
def test_a_model_without_penalties_does_not_depend_on_the_scale(name: str) -> None:
    expected, _ = fit_and_predict(*SCALE_FREE[name], 1.0)
    for power in POWERS:
        predictions, warned = fit_and_predict(*SCALE_FREE[name], power)
        np.testing.assert_array_equal(predictions, expected, str(power))
        assert not warned


@pytest.mark.parametrize("name", PASSED_ON)
def test_a_composite_model_rescales_extreme_weights_and_warns(name: str) -> None:
    expected, warned = fit_and_predict(*PASSED_ON[name], 1.0)
    assert not warned
    for power in (2.0**-1020, 2.0**990):
        predictions, warned = fit_and_predict(*PASSED_ON[name], power)
        np.testing.assert_array_equal(predictions, expected)
        assert any("the weights were multiplied by 2**" in message for message in warned)


@pytest.mark.parametrize("name", PENALISED)
def test_a_model_with_penalties_warns_and_stays_finite(name: str) -> None:
    for scale in SCALES:
        predictions, warned = fit_and_predict(*PENALISED[name], scale)
        assert np.isfinite(predictions).all(), scale
        silent = {"Platt": (1.0, 1e10), "ridge": (1e-10, 1 / ROWS, 1.0, 1e10)}.get(name, (1.0,))
        assert bool(warned) == (scale not in silent), scale


def test_the_warning_names_the_parameters_and_their_effect() -> None:
    X, y, _ = make_table("numbers")
    model = bosquet.GradientBoostingRegressor(n_estimators=2)
    with pytest.warns(UserWarning, match="sample weights have mean") as caught:
        model.fit(X, y, sample_weight=np.full(ROWS, 1e-4))
    (message,) = [str(one.message) for one in caught]
    for part in (
        "mean 0.0001,",
        "l2_regularization=1, min_child_weight=0.001: ",
        "l2_regularization=1e+04, min_child_weight=10 ",
        "sample_weight / np.mean(sample_weight)",
    ):
        assert part in message
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("parameters", "mean"),
    [
        ({}, 0.2),
        ({}, 50.0),
        ({"l2_regularization": 0.0, "min_child_weight": 0.0}, 1e-6),
        ({"l2_regularization": 0.0}, 0.01),  # min_child_weight is too small to have an effect
        ({"l2_regularization": 1e-9}, 0.01),
        ({"min_samples_leaf": 40}, 1000.0),  # the penalty is negligible
    ],
)
def test_parameters_without_effect_give_no_warning(
    parameters: dict[str, float], mean: float
) -> None:
    X, y, _ = make_table("numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = bosquet.GradientBoostingRegressor(n_estimators=2, **parameters)
        model.fit(X, y, sample_weight=np.full(ROWS, mean))


@pytest.mark.filterwarnings("ignore:the positive sample weights")
@pytest.mark.parametrize("power", [8.0, 2.0**40, 2.0**300])
def test_penalties_of_the_same_scale_as_the_weights_give_the_same_model(power: float) -> None:
    X, y, weight = make_table("numbers")
    X[:, 2] = X[:, 2] > 0
    names = ("l2_regularization", "min_child_weight", "min_split_gain", "cat_l2")
    penalties = dict(zip(names, (3.0, 20.0, 0.5, 2.0), strict=True))
    options = {"categorical_features": [2], "min_samples_category": 1, "cat_smooth": 5.0, **ROUNDS}
    expected = bosquet.GradientBoostingRegressor(**options, **penalties).fit(X, y, weight)
    large = {name: power * value for name, value in penalties.items()}
    model = bosquet.GradientBoostingRegressor(**options, **large).fit(X, y, power * weight)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


def test_class_weights_give_the_same_warning_as_sample_weights() -> None:
    X, y, _ = make_table("two")
    for model in (bosquet.GradientBoostingClassifier(), clone(CLASSES).set_params(smoothing=1.0)):
        with pytest.warns(UserWarning, match="have mean 0.001"):
            model.set_params(class_weight={0: 1e-3, 1: 1e-3}).fit(X, y)


def test_extreme_weights_of_classes_scale_like_those_of_rows() -> None:
    X, y, _ = make_table("two")
    expected = clone(CLASSES).set_params(class_weight={0: 1, 1: 2}).fit(X, y).predict_proba(X)
    large = {0: 2.0**900, 1: 2.0**901}
    model = clone(CLASSES).set_params(class_weight=large).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_explanations_of_a_model_with_extreme_weights_are_finite() -> None:
    X, y, weight = make_table("numbers")
    for scale in (1e-300, 1e38, 1e300):
        for model in (clone(TREE), bosquet.RandomForestRegressor(**ROUNDS)):
            explained = model.fit(X, y, sample_weight=scale * weight).explain(X[:3])
            np.testing.assert_allclose(
                explained.values.sum(axis=1) + explained.base, model.predict(X[:3])
            )


def test_importances_for_huge_targets_are_finite() -> None:
    X, y, _ = make_table("numbers")
    for model in (clone(TREE), bosquet.GradientBoostingRegressor(**ROUNDS)):
        importances = model.fit(X, 1e25 * y).feature_importances_
        assert importances.sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", ["two", "counts"])
def test_regressions_count_rows_by_their_weights(kind: str) -> None:
    X, y, weight = make_table(kind)
    model = bosquet.BinomialRegression() if kind == "two" else bosquet.PoissonRegression()
    expected = clone(model).fit(X, y, sample_weight=weight)
    with pytest.warns(UserWarning, match=f"sums to .* for {ROWS} rows"):
        small = clone(model).fit(X, y, sample_weight=1e-10 * weight)
    np.testing.assert_allclose(small.params_, expected.params_, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-38, 1e38, 1e300])
@pytest.mark.parametrize("kind", ["numbers", "two", "counts"])
def test_regressions_reject_weights_whose_sums_overflow(kind: str, scale: float) -> None:
    X, y, weight = make_table(kind)
    models = {
        "numbers": bosquet.LinearModel(),
        "two": bosquet.BinomialRegression(),
        "counts": bosquet.PoissonRegression(),
    }
    with pytest.raises(ValueError, match="the largest sample_weight is"):
        models[kind].fit(X, y, sample_weight=scale * weight)


def test_weights_that_are_not_numbers_are_named() -> None:
    X, y, _ = make_table("numbers")
    with pytest.raises(
        ValueError, match=r"sample_weight must contain numbers .*'heavy'.*; pass one finite number"
    ):
        bosquet.DecisionTreeRegressor().fit(X, y, sample_weight=["heavy"] * ROWS)

"""Offsets and exposures of gradient boosting."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score

import bosquet
from bosquet import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.boosting.gradient._offsets import WithOffset
from bosquet.boosting.rounds import split_rows
from bosquet.reference.binning import bin_table
from bosquet.reference.gradient_boosting import BoostOptions, boost
from bosquet.reference.gradient_trees import TreeOptions
from bosquet.reference.losses import loss_named

FEW = {"n_estimators": 20, "max_leaf_nodes": 6, "min_samples_leaf": 5, "random_state": 0}
WITHOUT_STOPPING = {**FEW, "early_stopping": False}
LOG_LINK = {"poisson": 1.0, "tweedie": 1.5, "gamma": 2.0}


def counts(rows=400, seed=0):
    """A table of few distinct values, counts, exposures and rates."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 8, size=(rows, 3)).astype(float)
    rate = np.exp(0.3 * X[:, 0] - 0.2 * X[:, 1] - 0.5)
    exposure = random.uniform(0.1, 5, rows)
    return X, random.poisson(rate * exposure).astype(float), exposure, rate


def positive(y, loss):
    return y + 0.5 if loss == "gamma" else y


# ------------------------------------------------------------------- what the model is
# A gradient step fits the residuals by least squares, with other weights of the rows if the powers differ.
@pytest.mark.parametrize(
    ("loss", "step"), [*((loss, "newton") for loss in LOG_LINK), ("gamma", "gradient")]
)
def test_an_exposure_equals_rates_with_a_power_of_the_exposure_as_weight(loss, step):
    X, y, exposure, _ = counts()
    y, power = positive(y, loss), LOG_LINK[loss]
    model = GradientBoostingRegressor(loss, step=step, **WITHOUT_STOPPING)
    found = model.fit(X, y, exposure=exposure).predict(X)
    rates = GradientBoostingRegressor(loss, step=step, **WITHOUT_STOPPING)
    rates.fit(X, y / exposure, sample_weight=exposure ** (2 - power))
    np.testing.assert_allclose(found, rates.predict(X), rtol=1e-6)
    mean = exposure * found
    total = loss_named(loss, power).value(y, np.log(mean)).mean()
    assert model.train_score_[-1] == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("loss", LOG_LINK)
def test_predictions_are_rates_times_the_exposure(loss):
    X, y, exposure, _ = counts()
    model = GradientBoostingRegressor(loss, **FEW).fit(X, positive(y, loss), exposure=exposure)
    rate = model.predict(X)
    np.testing.assert_allclose(model.predict(X, exposure=exposure), exposure * rate)
    np.testing.assert_allclose(model.predict(X, exposure=2.0), 2 * rate)
    np.testing.assert_allclose(model.predict(X, offset=np.log(exposure)), exposure * rate)
    both = model.predict(X, offset=np.full(len(X), np.log(3)), exposure=exposure)
    np.testing.assert_allclose(both, 3 * exposure * rate)
    stages = list(model.staged_predict(X, exposure=exposure))
    np.testing.assert_allclose(stages[-1], exposure * rate)
    assert len(stages) == model.n_iter_


def test_the_exposure_is_the_offset_of_its_logarithm():
    X, y, exposure, _ = counts()
    one, other = (GradientBoostingRegressor("poisson", **FEW) for _ in range(2))
    one.fit(X, y, exposure=exposure)
    other.fit(X, y, offset=np.log(exposure))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_a_constant_table_predicts_the_total_count_by_the_total_exposure():
    _, y, exposure, _ = counts()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    X = np.zeros((len(y), 1))
    model = GradientBoostingRegressor("poisson", **FEW).fit(X, y, weight, exposure=exposure)
    expected = np.sum(weight * y) / np.sum(weight * exposure)
    np.testing.assert_allclose(model.predict(X[:1]), expected, rtol=1e-8)


def test_the_rate_is_better_with_the_exposure():
    X, _, _, rate = counts(2000)
    random = np.random.default_rng(1)
    exposure = random.choice([0.02, 5], 2000)
    y = random.poisson(rate * exposure)
    fitted, without = (
        GradientBoostingRegressor("poisson", learning_rate=0.2, **WITHOUT_STOPPING)
        for _ in range(2)
    )
    fitted.fit(X, y, exposure=exposure)
    without.fit(X, y / exposure)
    error = [np.mean((np.log(model.predict(X)) - np.log(rate)) ** 2) for model in (fitted, without)]
    assert error[0] < 0.8 * error[1]


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile", "expectile"]
)
def test_an_offset_on_the_scale_of_the_target_is_subtracted_from_it(loss):
    X, y, exposure, _ = counts()
    offset = 16 * np.round(exposure)  # differences of multiples of 1/16 have no rounding error
    target = y + np.round(64 * exposure) / 64
    found = GradientBoostingRegressor(loss, **FEW).fit(X, target, offset=offset)
    expected = GradientBoostingRegressor(loss, **FEW).fit(X, target - offset)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.predict(X, offset=offset), found.predict(X) + offset)


@pytest.mark.parametrize("name", ["poisson", "gamma", "log_loss", "squared_error"])
def test_the_rounds_agree_with_the_reference(name):
    X, y, exposure, _ = counts(200)
    y = (y > 2).astype(float) if name == "log_loss" else positive(y, name)
    offset = np.log(exposure)
    options = {"learning_rate": 0.3, "max_leaf_nodes": 6, "min_samples_leaf": 5}
    tree = TreeOptions(max_leaf_nodes=6, min_samples_leaf=5)
    _, raw = boost(
        bin_table(X), y, loss_named(name), 5, BoostOptions(tree, learning_rate=0.3), offset=offset
    )
    kind = GradientBoostingClassifier if name == "log_loss" else GradientBoostingRegressor
    model = kind(
        name, n_estimators=5, max_features=None, l2_regularization=0, min_child_weight=0, **options
    ).fit(X, y, offset=offset)
    np.testing.assert_allclose(model._raw(X, offset)[:, 0], raw, rtol=1e-5, atol=1e-6)


def test_log_odds_that_are_known_are_not_fitted_again():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 2))
    known = 2 * X[:, 0]
    y = random.random(3000) < 1 / (1 + np.exp(-(known + X[:, 1])))
    model = GradientBoostingClassifier(**FEW).fit(X, y, offset=known)
    by_feature = model.importance("gain")
    assert by_feature[1] > 4 * by_feature[0]
    with_known = log_loss(y, model.predict_proba(X, offset=known))
    assert with_known < log_loss(y, model.predict_proba(X)) - 0.1


def test_offsets_of_several_classes_have_a_column_per_class():
    random = np.random.default_rng(0)
    X, offset = random.normal(size=(500, 2)), random.normal(size=(500, 3))
    y = (offset + np.c_[X, np.zeros(500)] + random.gumbel(size=(500, 3))).argmax(axis=1)
    model = GradientBoostingClassifier(**FEW).fit(X, y, offset=offset)
    np.testing.assert_allclose(
        model.decision_function(X, offset=offset), model.decision_function(X) + offset
    )
    assert model.score(X, y, offset=offset) > model.score(X, y)
    assert (
        model.predict(X, offset=offset) == model.predict_proba(X, offset=offset).argmax(axis=1)
    ).all()
    for stage in (model.staged_predict_proba, model.staged_decision_function, model.staged_predict):
        assert len(list(stage(X, offset=offset))) == model.n_iter_
    last = list(model.staged_predict_proba(X, offset=offset))[-1]
    np.testing.assert_allclose(last, model.predict_proba(X, offset=offset), atol=1e-12)
    np.testing.assert_allclose(
        model.predict_log_proba(X, offset=offset), np.log(model.predict_proba(X, offset=offset))
    )


def test_several_targets_and_levels_take_one_offset_or_one_column_each():
    X, y, exposure, _ = counts()
    both = GradientBoostingRegressor("poisson", **FEW)
    both.fit(X, np.c_[y, 2 * y], exposure=np.c_[exposure, 2 * exposure])
    rates = both.predict(X)
    np.testing.assert_allclose(rates[:, 0], rates[:, 1], rtol=0.2)
    np.testing.assert_allclose(both.predict(X, exposure=exposure), rates * exposure[:, None])
    levels = GradientBoostingRegressor("quantile", quantile=[0.1, 0.9], **FEW)
    levels.fit(X, y, offset=exposure)
    np.testing.assert_allclose(
        levels.predict(X, offset=exposure), levels.predict(X) + exposure[:, None]
    )


def test_an_offset_of_zeros_gives_the_same_bits_as_none():
    X, y, _, _ = counts()
    for loss in ("poisson", "squared_error"):
        without = GradientBoostingRegressor(loss, **FEW).fit(X, y)
        zeros = GradientBoostingRegressor(loss, **FEW).fit(X, y, offset=np.zeros(len(y)))
        np.testing.assert_array_equal(without.predict(X), zeros.predict(X))
    ones = GradientBoostingRegressor("poisson", **FEW).fit(X, y, exposure=np.ones(len(y)))
    poisson = GradientBoostingRegressor("poisson", **FEW).fit(X, y)
    np.testing.assert_array_equal(ones.predict(X, exposure=1), poisson.predict(X))


# ------------------------------------------------------- every way to divide the rows
def deviance(y, mean):
    return np.mean(mean - y * np.log(mean))


def test_a_validation_set_that_is_split_off_takes_its_offsets_along():
    X, y, exposure, _ = counts(1500)
    model = GradientBoostingRegressor("poisson", early_stopping=True, refit=False, **FEW)
    model.fit(X, y, exposure=exposure)
    kept, held = split_rows(1500, 0.1, model._seed, None)
    mean = model.predict(X[held], exposure=exposure[held])
    best = model.validation_loss_[model.n_iter_ - 1]
    assert best == pytest.approx(deviance(y[held], mean), rel=1e-9)
    again = GradientBoostingRegressor("poisson", **FEW).fit(
        X[kept], y[kept], exposure=exposure[kept],
        eval_set=(X[held], y[held], None, np.log(exposure[held])),
    )  # fmt: skip
    np.testing.assert_allclose(again.validation_loss_, model.validation_loss_, rtol=1e-9)


def test_folds_take_their_offsets_along():
    X, y, exposure, _ = counts(300)
    options = {**FEW, "n_estimators": 60, "n_iter_no_change": 5}
    model = GradientBoostingRegressor("poisson", early_stopping="cv", cv=3, **options)
    model.fit(X, y, exposure=exposure)
    whole = GradientBoostingRegressor(
        "poisson", **{**WITHOUT_STOPPING, "n_estimators": model.n_iter_}
    )
    np.testing.assert_array_equal(model.predict(X), whole.fit(X, y, exposure=exposure).predict(X))
    assert model.validation_loss_.min() < deviance(y, exposure * y.sum() / exposure.sum())


def test_a_refit_and_several_runs_use_the_offsets():
    X, y, exposure, _ = counts(1200)
    model = GradientBoostingRegressor(
        "poisson", early_stopping=True, n_runs=2, subsample=0.7, **FEW
    )
    model.fit(X, y, exposure=exposure)
    expected = GradientBoostingRegressor(
        "poisson", n_runs=2, subsample=0.7, **{**WITHOUT_STOPPING, "n_estimators": model.n_iter_}
    ).fit(X, y, exposure=exposure)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("stopping", [False, True])
def test_a_warm_start_continues_with_the_offsets(stopping):
    X, y, exposure, _ = counts(1200)
    options = {**FEW, "early_stopping": stopping}
    whole = GradientBoostingRegressor("poisson", **options).fit(X, y, exposure=exposure)
    parts = GradientBoostingRegressor("poisson", warm_start=True, **{**options, "n_estimators": 7})
    parts.fit(X, y, exposure=exposure)
    parts.set_params(n_estimators=20).fit(X, y, exposure=exposure)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-9)


def test_rows_of_weight_zero_have_no_effect():
    X, y, exposure, _ = counts()
    weight = np.where(np.arange(400) % 4 == 0, 0.0, 1.0)
    used = weight > 0
    exposure[~used] = 1e6
    found = GradientBoostingRegressor("poisson", **FEW).fit(X, y, weight, exposure=exposure)
    expected = GradientBoostingRegressor("poisson", **FEW).fit(
        X[used], y[used], exposure=exposure[used]
    )
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_any_learner_and_custom_losses_take_an_offset():
    X, y, exposure, _ = counts()
    offset = np.log(exposure)

    class Poisson:
        def value(self, y, raw):
            return np.exp(raw) - y * raw

        def gradient_hessian(self, y, raw):
            return np.exp(raw) - y, np.exp(raw)

        def best_constant(self, y, sample_weight):
            return np.log(np.average(y, weights=sample_weight))

        def inverse_link(self, raw):
            return np.exp(raw)

    native = GradientBoostingRegressor("poisson", **FEW).fit(X, y, offset=offset)
    custom = GradientBoostingRegressor(Poisson(), **FEW).fit(X, y, offset=offset)
    np.testing.assert_allclose(
        custom.predict(X, offset=offset), native.predict(X, offset=offset), rtol=1e-4
    )
    learner = GradientBoostingRegressor("poisson", estimator=LinearRegression(), **FEW)
    learner.fit(X, y, offset=offset)
    mean = learner.predict(X, offset=offset)
    assert deviance(y, mean) < deviance(y, exposure * y.sum() / exposure.sum())
    assert learner.train_score_[-1] == pytest.approx(deviance(y, mean), rel=1e-9)


@pytest.mark.parametrize("given", [True, False])
def test_a_scorer_sees_predictions_with_the_offset(given):
    X, y, exposure, _ = counts(1500)
    seen = []

    def scorer(model, X, y):
        seen.append(deviance(y, model.predict(X)))
        return -seen[-1]

    model = GradientBoostingRegressor("poisson", scoring=scorer, refit=False, **FEW)
    eval_set = (X[:300], y[:300], None, np.log(exposure[:300])) if given else None
    model.fit(X, y, exposure=exposure, eval_set=eval_set)
    np.testing.assert_allclose(seen, model.validation_loss_, rtol=1e-9)
    named = GradientBoostingRegressor("poisson", scoring="neg_mean_poisson_deviance", **FEW)
    named.fit(X, y, exposure=exposure, eval_set=eval_set)
    assert named.validation_score_[-1] > named.validation_score_[0]


def test_a_scorer_of_probabilities_sees_the_offset():
    X, y, exposure, _ = counts()
    labels, offset = np.where(y > 2, "many", "few"), np.log(exposure)
    model = GradientBoostingClassifier(scoring="neg_log_loss", **FEW)
    model.fit(X, labels, offset=offset, eval_set=(X, labels, None, offset))
    np.testing.assert_allclose(-model.validation_score_, model.validation_loss_, rtol=1e-9)
    assert WithOffset(model, offset[None]).classes_.tolist() == ["few", "many"]


# --------------------------------------------------------------- around the estimator
def test_a_model_file_predicts_with_an_exposure(tmp_path):
    X, y, exposure, _ = counts()
    model = GradientBoostingRegressor("poisson", **FEW).fit(X, y, exposure=exposure)
    model.save(tmp_path / "model.bosquet")
    loaded = bosquet.load(tmp_path / "model.bosquet")
    np.testing.assert_array_equal(
        loaded.predict(X, exposure=exposure), model.predict(X, exposure=exposure)
    )


def test_a_predictor_takes_an_offset():
    X, y, exposure, _ = counts()
    model = GradientBoostingRegressor("poisson", **FEW).fit(X, y, exposure=exposure)
    predictor, offset = model.predictor(), np.log(exposure)
    expected = model.predict(X, offset=offset)
    np.testing.assert_allclose(predictor(X, offset[:, None]), expected, rtol=1e-15)
    assert predictor(X[3], offset[3]) == pytest.approx(expected[3], rel=1e-15)


def test_shapley_values_do_not_include_the_offset():
    X, y, exposure, _ = counts()
    model = GradientBoostingRegressor("poisson", **FEW).fit(X, y, exposure=exposure)
    np.testing.assert_allclose(model.explain(X).prediction, np.log(model.predict(X)), atol=1e-9)


def test_score_takes_an_exposure():
    X, y, exposure, _ = counts()
    model = GradientBoostingRegressor("poisson", **FEW).fit(X, y, exposure=exposure)
    assert model.score(X, y, exposure=exposure) > model.score(X, y) + 0.1


def test_a_shuffled_series_of_exposures_is_reported():
    X, y, exposure, _ = counts()
    frame, series = pd.DataFrame(X), pd.Series(exposure)
    shuffled = series.sample(frac=1, random_state=0)
    with pytest.warns(UserWarning, match="exposure have the same row labels in different orders"):
        GradientBoostingRegressor("poisson", **FEW).fit(frame, y, exposure=shuffled)


def test_a_grid_search_divides_the_exposures():
    X, y, exposure, _ = counts()
    model = GradientBoostingRegressor("poisson", **FEW)
    search = GridSearchCV(model, {"max_leaf_nodes": [2, 4]}, cv=2).fit(X, y, exposure=exposure)
    whole = model.set_params(**search.best_params_).fit(X, y, exposure=exposure)
    np.testing.assert_array_equal(search.predict(X), whole.predict(X))


def test_metadata_routing_passes_exposures_to_fit_and_score():
    X, y, exposure, _ = counts()
    with config_context(enable_metadata_routing=True):
        model = GradientBoostingRegressor("poisson", **FEW)
        model.set_fit_request(exposure=True, offset=False).set_score_request(exposure=True)
        model.set_predict_request(exposure=True)
        found = cross_val_score(model, X, y, cv=2, params={"exposure": exposure})
        classifier = GradientBoostingClassifier(**FEW).set_fit_request(offset=True)
        assert classifier.get_metadata_routing().fit.requests["offset"] is True
    halves = [np.arange(200), np.arange(200, 400)]
    plain = GradientBoostingRegressor("poisson", **FEW)
    expected = [
        plain.fit(X[train], y[train], exposure=exposure[train]).score(
            X[held], y[held], exposure=exposure[held]
        )
        for held, train in (halves, halves[::-1])
    ]
    np.testing.assert_allclose(found, expected)


# ------------------------------------------------------------------------------ errors
def assert_raises(message, method="fit", model=None, **given):
    X, y, _, _ = counts(60)
    model = GradientBoostingRegressor("poisson", **FEW) if model is None else model
    if method == "fit":
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, **given)
        assert not hasattr(model, "_terms")
    else:
        model.fit(X, y)
        with pytest.raises(ValueError, match=message):
            model.predict(X, **given)


def ones_except_two_rows(value, rows=60):
    numbers = np.ones(rows)
    numbers[[17, 30]] = value
    return numbers


@pytest.mark.parametrize("method", ["fit", "predict"])
def test_invalid_offsets_and_exposures_name_the_row_and_the_value(method):
    assert_raises(
        r"exposure\[17\] is -2 \(2 such rows\); exposures must be positive",
        method,
        exposure=ones_except_two_rows(-2),
    )
    assert_raises(r"exposure\[17\] is 0 ", method, exposure=ones_except_two_rows(0))
    assert_raises(r"exposure\[17\] is nan", method, exposure=ones_except_two_rows(np.nan))
    assert_raises(r"exposure\[17\] is inf", method, exposure=ones_except_two_rows(np.inf))
    assert_raises(
        r"offset\[17\] is nan; offsets must be finite", method, offset=ones_except_two_rows(np.nan)
    )
    assert_raises(
        r"offset\[17\] is -inf; offsets must be finite",
        method,
        offset=ones_except_two_rows(-np.inf),
    )
    assert_raises(
        r"offset\[17\] is 1e\+40; offsets must be at most 1e\+30",
        method,
        offset=ones_except_two_rows(1e40),
    )
    assert_raises(r"offset has shape \(59,\), but X has 60 rows", method, offset=np.ones(59))
    assert_raises(r"exposure has shape \(61,\), but X has 60 rows", method, exposure=np.ones(61))
    assert_raises(r"shape \(60, 2\), but the model has 1 output", method, offset=np.ones((60, 2)))
    assert_raises("exposure must contain numbers", method, exposure=["a year"] * 60)
    masked = np.ma.masked_array(np.ones(60), mask=np.arange(60) == 17)
    assert_raises(r"exposure\[17\] is nan", method, exposure=masked)


@pytest.mark.parametrize("loss", ["squared_error", "quantile"])
def test_an_exposure_needs_a_logarithmic_link(loss):
    model = GradientBoostingRegressor(loss, **FEW)
    assert_raises(
        f"poisson, gamma, tweedie.*loss='{loss}'.*pass an offset",
        model=model,
        exposure=ones_except_two_rows(2),
    )
    assert_raises("logarithmic link", "predict", model, exposure=ones_except_two_rows(2))


def test_an_offset_of_several_classes_needs_a_column_per_class():
    X = counts(60)[0]
    model = GradientBoostingClassifier(**FEW)
    with pytest.raises(ValueError, match=r"there are 3 classes.*shape \(60, 3\)"):
        model.fit(X, np.arange(60) % 3, offset=np.ones(60))


def test_an_eval_set_needs_an_offset_if_the_rows_have_one():
    X, y, exposure, _ = counts(60)
    assert_raises("eval_set has no offset", exposure=exposure, eval_set=(X, y))
    assert_raises("eval_set has no offset", exposure=exposure, eval_set=(X, y, None, None))
    assert_raises(
        r"eval_set\[3\]\[17\] is nan", eval_set=(X, y, None, ones_except_two_rows(np.nan))
    )
    assert_raises(r"eval_set\[3\] has shape \(5,\)", eval_set=(X, y, None, np.ones(5)))
    assert_raises(r"eval_set must be a tuple \(X, y\)", eval_set=(X, y, None, None, None))

"""AdaBoost.R2: samples, losses, weights, stopping or restarting, median or mean."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.ensemble import AdaBoostRegressor as Theirs
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor as TheirTree
from sklearn.utils.estimator_checks import parametrize_with_checks

import bosquet
from bosquet import AdaBoostRegressor, DecisionTreeRegressor
from bosquet._sklearn import seed_from
from bosquet.boosting.adaboost._mean_loss import staged_medians, weighted_median
from bosquet.boosting.adaboost._weak_learners import Reweighting
from bosquet.reference import adaboost_r2 as reference

LOSSES = ["linear", "square", "exponential"]


@pytest.fixture(scope="module")
def friedman():
    X, y = make_friedman1(300, noise=1.0, random_state=0)
    return X[:200], y[:200], X[200:], y[200:]


def run_reference(X, y, *, depth=2, seed=0, unit=1.0, n_rounds=12, **options):
    """Run the reference implementation on the samples and trees of Bosquet."""
    drawn = Reweighting(seed_from(seed), resample=True)

    def fit(counts):
        tree = DecisionTreeRegressor(max_depth=depth).fit(X, y, sample_weight=counts)
        return tree.predict(X)

    return reference.adaboost_r2(y, fit, lambda t, p: drawn(p, t), n_rounds, unit=unit, **options)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learning_rate", [1.0, 0.4])
def test_learners_weights_and_predictions_agree_with_the_reference(friedman, loss, learning_rate):
    X, y, *_ = friedman
    model = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=2),
        12,
        loss=loss,
        learning_rate=learning_rate,
        error_unit=8.0,
        random_state=0,
    ).fit(X, y)
    each, weights, shares = run_reference(X, y, loss=loss, learning_rate=learning_rate, unit=8.0)
    assert len(weights) == 12
    np.testing.assert_allclose(model.estimator_weights_, weights, rtol=1e-9)
    np.testing.assert_allclose(model.estimator_errors_, shares, rtol=1e-9)
    medians = [reference.weighted_median(each[:, i], weights) for i in range(len(y))]
    np.testing.assert_allclose(model.predict(X), medians, rtol=1e-12)
    mean = model.set_params(combine="mean").predict(X)
    by_hand = [reference.weighted_mean(each[:, i], weights) for i in range(len(y))]
    np.testing.assert_allclose(mean, by_hand, rtol=1e-9)


def target_of_equal_errors(random, rows=120):
    """Rows for which a stump has equal errors: the mean loss is close to the largest loss."""
    X = random.normal(size=(rows, 2))
    return X, np.where(random.random(rows) < 0.5, -1.0, 1.0) + 0.3 * X[:, 0]


def test_a_mean_loss_of_half_the_largest_ends_the_rounds():
    X, y = target_of_equal_errors(np.random.default_rng(0))
    model = AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), 30, random_state=0)
    with pytest.warns(
        UserWarning, match=r"the mean loss of the first learner is 0\.\d+ of its largest"
    ):
        model.fit(X, y)
    assert len(model.estimators_) == 1
    assert model.n_iter_ == 1
    assert model.estimator_errors_[0] >= 0.5
    assert model.restarts_ == []
    np.testing.assert_array_equal(model.predict(X), model.estimators_[0].predict(X))


@pytest.mark.parametrize("seed", range(3))
def test_with_restart_the_rounds_start_again_with_equal_weights(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(150, 2))
    y = np.sign(X[:, 0]) + 0.2 * random.standard_t(3, size=150)
    options = {"loss": "linear", "n_rounds": 40, "depth": 1, "seed": seed}
    weights = run_reference(X, y, restart=True, **options)[1]
    stopped = run_reference(X, y, restart=False, **options)[1]
    model = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=1), 40, on_large_error="restart", random_state=seed
    ).fit(X, y)
    np.testing.assert_allclose(model.estimator_weights_, weights, rtol=1e-9)
    assert len(model.restarts_) == 40 - len(weights)
    assert model.n_iter_ == 40
    if model.restarts_:
        assert model.restarts_[0] == len(stopped) + 1
    model.set_params(on_large_error="stop").fit(X, y)
    np.testing.assert_allclose(model.estimator_weights_, stopped, rtol=1e-9)


def test_a_learner_without_a_mistake_is_the_model():
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] < 20, 1.0, 5.0)
    model = AdaBoostRegressor(n_estimators=10, combine="mean", random_state=0).fit(X, y)
    assert len(model.estimators_) == 1
    np.testing.assert_array_equal(model.predict(X), y)
    assert AdaBoostRegressor(loss="exponential").fit(X, np.full(40, 3.0)).predict(X[:1]) == 3.0


def test_the_exponential_loss_does_not_depend_on_the_unit_of_y(friedman):
    X, y, X_test, _ = friedman
    model = AdaBoostRegressor(loss="exponential", random_state=0)
    metres = clone(model).fit(X, y).predict(X_test)
    millimetres = clone(model).fit(X, 1024 * y).predict(X_test)
    np.testing.assert_allclose(millimetres, 1024 * metres, rtol=1e-9)
    with pytest.warns(UserWarning, match="error_unit"):
        clone(model).set_params(error_unit=1e-3).fit(X, y)


def test_linear_and_square_reweight_as_scikit_learn_does_and_exponential_does_not(friedman):
    X, y, *_ = friedman
    p = np.full(200, 1 / 200)
    errors = y - TheirTree(max_depth=3, random_state=0).fit(X, y).predict(X)
    for loss in LOSSES:
        quotient = np.abs(errors) / np.abs(errors).max()
        theirs = {"linear": quotient, "square": quotient**2, "exponential": 1 - np.exp(-quotient)}
        ours = reference.losses(errors, loss, np.abs(errors).max())
        same = np.allclose(ours / ours.max(), theirs[loss])
        assert same == (loss != "exponential")
        assert p @ ours / ours.max() < 0.5


def test_weighted_medians_by_row_and_by_stage_agree_with_the_reference():
    random = np.random.default_rng(0)
    values = random.integers(0, 4, size=(30, 7)).astype(float)
    weights = random.uniform(0.1, 2, size=7)
    staged = list(staged_medians(values, weights))
    for n in range(1, 8):
        by_hand = [reference.weighted_median(row[:n], weights[:n]) for row in values]
        np.testing.assert_array_equal(staged[n - 1], by_hand)
    np.testing.assert_array_equal(weighted_median(values, weights), staged[-1])


@pytest.mark.parametrize("combine", ["median", "mean"])
@pytest.mark.parametrize("estimator", [None, Ridge()])
def test_the_last_stage_is_the_prediction(friedman, combine, estimator):
    X, y, X_test, _ = friedman
    model = AdaBoostRegressor(estimator, 8, combine=combine, random_state=0).fit(X, y)
    stages = list(model.staged_predict(X_test))
    assert len(stages) == len(model.estimators_)
    np.testing.assert_allclose(stages[0], model.estimators_[0].predict(X_test))
    np.testing.assert_allclose(stages[-1], model.predict(X_test))


def test_predicts_as_well_as_scikit_learn(friedman):
    X, y, X_test, y_test = friedman
    ours = np.mean(
        [AdaBoostRegressor(random_state=s).fit(X, y).score(X_test, y_test) for s in range(3)]
    )
    theirs = np.mean([Theirs(random_state=s).fit(X, y).score(X_test, y_test) for s in range(3)])
    assert ours > 0.6
    assert ours == pytest.approx(theirs, abs=0.04)


def test_any_regressor_can_be_boosted_with_or_without_sample_weight(friedman):
    X, y, X_test, y_test = friedman
    for learner in (Ridge(), KNeighborsRegressor(3), TheirTree(max_depth=3)):
        model = AdaBoostRegressor(learner, 10, random_state=0).fit(X, y)
        assert model.score(X_test, y_test) > 0.4
        assert type(model.estimators_[0]) is type(learner)


def test_importances_are_means_over_the_learners_by_their_weights(friedman):
    X, y, *_ = friedman
    model = AdaBoostRegressor(n_estimators=10, random_state=0).fit(X, y)
    each = np.array([tree.feature_importances_ for tree in model.estimators_])
    by_hand = np.average(each, axis=0, weights=model.estimator_weights_)
    np.testing.assert_allclose(model.feature_importances_, by_hand)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert set(np.argsort(model.feature_importances_)[-4:]) <= {0, 1, 2, 3, 4}
    with pytest.raises(AttributeError):
        AdaBoostRegressor(Ridge(), 3).fit(X, y).feature_importances_  # noqa: B018


def test_the_same_seed_gives_the_same_model_for_any_number_of_threads(friedman):
    X, y, X_test, _ = friedman
    predictions = [
        AdaBoostRegressor(n_jobs=n, random_state=3).fit(X, y).predict(X_test) for n in (1, 1, 2)
    ]
    assert np.array_equal(predictions[0], predictions[1])
    assert np.array_equal(predictions[0], predictions[2])
    other = AdaBoostRegressor(random_state=4).fit(X, y).predict(X_test)
    assert not np.array_equal(predictions[0], other)


def test_rows_of_weight_zero_have_no_effect_and_heavy_ones_do(friedman):
    X, y, X_test, _ = friedman
    weight = np.ones(200)
    weight[150:] = 0
    some = AdaBoostRegressor(random_state=0).fit(X[:150], y[:150]).predict(X_test)
    zeros = AdaBoostRegressor(random_state=0).fit(X, y, sample_weight=weight).predict(X_test)
    np.testing.assert_array_equal(zeros, some)
    # If no feature separates the rows, a tree predicts the mean of its sample; one in ten targets is 1.
    alike, y = np.zeros((1000, 1)), np.repeat([0.0, 1.0], 500)
    weight = np.repeat([9.0, 1.0], 500)
    heavy = AdaBoostRegressor(n_estimators=1, random_state=0).fit(alike, y, sample_weight=weight)
    assert heavy.predict(alike)[0] == pytest.approx(0.1, abs=0.03)


def test_binned_values_predict_equally_well(friedman):
    X, y, X_test, y_test = friedman
    exact = AdaBoostRegressor(random_state=0).fit(X, y).score(X_test, y_test)
    bins = AdaBoostRegressor(split="histogram", max_bins=40, random_state=0).fit(X, y)
    assert bins.score(X_test, y_test) == pytest.approx(exact, abs=0.05)
    assert len(np.unique(bins.estimators_[0].arrays["threshold"])) > 2


def test_missing_values_and_categories_reach_the_native_trees():
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    kind = random.choice(["a", "b", "c"], 300)
    frame = pd.DataFrame({"x": random.normal(size=300), "kind": pd.Categorical(kind)})
    frame.loc[::7, "x"] = np.nan
    y = np.nan_to_num(frame["x"]) + 3 * (kind == "b") + 0.1 * random.normal(size=300)
    model = AdaBoostRegressor(random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert list(model.feature_names_in_) == ["x", "kind"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0 is not valid"),
        ({"loss": "cubic"}, "one of 'linear', 'square', 'exponential'"),
        ({"combine": "mode"}, "one of 'median', 'mean'"),
        ({"on_large_error": "ignore"}, "one of 'stop', 'restart'"),
        ({"learning_rate": 0}, "learning_rate=0 is not valid"),
        ({"error_unit": "metre"}, "a number above 0 or 'std'"),
    ],
)
def test_parameters_out_of_range_are_named(parameters, message, friedman):
    with pytest.raises(ValueError, match=message):
        AdaBoostRegressor(**parameters).fit(*friedman[:2])


def test_invalid_input_raises_and_leaves_the_model_unchanged(friedman):
    X, y, X_test, _ = friedman
    model = AdaBoostRegressor(n_estimators=5, random_state=0).fit(X, y)
    before = model.predict(X_test)
    with pytest.raises(ValueError, match="2 columns, but AdaBoost"):
        model.fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(X, np.r_[np.nan, y[1:]])
    with pytest.raises(TypeError, match="is not an estimator"):
        model.set_params(estimator=Ridge).fit(X, y)
    with pytest.raises(TypeError, match="is a classifier"):
        model.set_params(estimator=GaussianNB()).fit(X, y)
    np.testing.assert_array_equal(model.predict(X_test), before)


class Failing(Ridge):
    fits = 0

    def fit(self, X, y, sample_weight=None):
        Failing.fits += 1
        if Failing.fits == 3:
            raise ValueError("out of luck")
        return super().fit(X, y, sample_weight)


def test_the_error_of_a_learner_names_its_round(friedman):
    X, y, *_ = friedman
    Failing.fits = 0
    with pytest.raises(ValueError, match="Failing failed at round 3: out of luck"):
        AdaBoostRegressor(Failing(), 5).fit(X, y)


def test_saved_and_pickled_models_predict_the_same(friedman, tmp_path):
    X, y, X_test, _ = friedman
    model = AdaBoostRegressor(n_estimators=7, combine="mean", random_state=0).fit(X, y)
    model.save(tmp_path / "model.bosquet")
    for again in (bosquet.load(tmp_path / "model.bosquet"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict(X_test), model.predict(X_test))
        np.testing.assert_array_equal(again.estimator_weights_, model.estimator_weights_)
        np.testing.assert_array_equal(again.estimator_errors_, model.estimator_errors_)
        np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
        assert again.combine == "mean"
    with pytest.raises(ValueError, match="use pickle or joblib"):
        AdaBoostRegressor(Ridge(), 2).fit(X, y).save(tmp_path / "model.bosquet")


def test_works_in_a_pipeline_and_in_a_grid_search(friedman):
    X, y, *_ = friedman
    pipeline = make_pipeline(StandardScaler(), AdaBoostRegressor(n_estimators=5, random_state=0))
    grid = {"adaboostregressor__loss": LOSSES, "adaboostregressor__learning_rate": [0.5, 1]}
    assert GridSearchCV(pipeline, grid, cv=2).fit(X, y).best_score_ > 0.4


DRAWN = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "a row of weight 2 is drawn as one, two rows are drawn separately: equal in distribution, not in bits",
)


@parametrize_with_checks(
    [
        AdaBoostRegressor(n_estimators=5),
        AdaBoostRegressor(Ridge(), 5, combine="mean", on_large_error="restart"),
    ],
    expected_failed_checks=lambda estimator: DRAWN,
)
def test_passes_check_estimator(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the mean loss of the first learner")
        check(estimator)

"""Bagging: kinds of learners, bags, hard and soft votes, warm starts."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bosquet import BaggingClassifier, BaggingRegressor, GradientBoostingClassifier

CART = {
    "full": DecisionTreeClassifier(),
    "at most d leaves": DecisionTreeClassifier(max_leaf_nodes=4),
    "pruned by cross-validation": GridSearchCV(
        DecisionTreeClassifier(), {"ccp_alpha": [0.0, 0.02, 0.1]}, cv=3
    ),
}


@pytest.mark.parametrize("way", CART)
def test_trees_can_be_bagged_in_three_ways(way, two_classes):
    X, y = two_classes
    model = BaggingClassifier(CART[way], n_estimators=8, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    if way == "at most d leaves":
        assert all(tree.get_n_leaves() <= 4 for tree in model.estimators_)


@pytest.mark.parametrize(
    "learner",
    [
        SVC(),
        KNeighborsClassifier(),
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GradientBoostingClassifier(n_estimators=20, learning_rate=0.3),
    ],
)
def test_any_classifier_can_be_bagged(learner, two_classes):
    X, y = two_classes
    model = BaggingClassifier(learner, n_estimators=5, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.65
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_pipeline_may_impute_missing_values_and_encode_text(two_classes):
    X, y = two_classes
    holes = np.where(np.abs(X) > 2, np.nan, X)
    filled = make_pipeline(SimpleImputer(), LogisticRegression())
    model = BaggingClassifier(filled, random_state=0).fit(holes, y)
    assert np.isfinite(model.predict_proba(holes)).all()
    with pytest.raises(ValueError, match="NaN"):
        BaggingClassifier(LogisticRegression(), random_state=0).fit(holes, y)
    text = np.where(X[:, :2] > 0, "up", "down").astype(object)
    coded = make_pipeline(OneHotEncoder(), LogisticRegression())
    assert BaggingClassifier(coded, random_state=0).fit(text, y).score(text, y) > 0.6


def test_an_invalid_row_raises_whether_it_is_drawn_or_not():
    X = np.random.default_rng(0).normal(size=(40, 2)).astype(object)
    X[7, 1] = {"not": "a number"}
    for seed in range(20):
        with pytest.raises(TypeError, match="number"):
            BaggingRegressor(Ridge(), n_estimators=1, random_state=seed).fit(X, np.arange(40.0))


def test_a_prediction_is_the_mean_of_the_learners(regression):
    X, y = regression
    model = BaggingRegressor(Ridge(), n_estimators=7, max_features=2, random_state=0).fit(X, y)
    predictions = [
        learner.predict(X[:, features])
        for learner, features in zip(model.estimators_, model.estimators_features_, strict=True)
    ]
    np.testing.assert_allclose(model.predict(X), np.mean(predictions, axis=0))
    np.testing.assert_allclose(model.votes(X), np.transpose(predictions))


def test_each_learner_is_fitted_to_its_rows(regression):
    X, y = regression
    for learner in (KNeighborsRegressor(), Ridge(), DecisionTreeRegressor(max_depth=3)):
        model = BaggingRegressor(learner, n_estimators=3, random_state=0).fit(X, y)
        for fitted, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
            by_hand = type(learner)(**fitted.get_params()).fit(X[rows], y[rows])
            np.testing.assert_allclose(fitted.predict(X), by_hand.predict(X))


class ClassFrequencies(ClassifierMixin, BaseEstimator):
    """Predicts for every row the frequency of "b" in the training targets."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.p_ = np.mean(np.asarray(y) == "b")
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.p_, self.p_], (len(X), 1))

    def predict(self, X):
        return np.repeat("b" if self.p_ > 0.5 else "a", len(X))


def test_hard_and_soft_votes_agree_with_a_calculation_by_hand():
    # The probability of "b" is the fraction of "b" in a bag. The soft vote is the mean of these, the
    # hard vote the fraction of bags in which "b" is the majority.
    X, y = np.zeros((5, 1)), np.array(["a", "a", "a", "b", "b"])
    soft = BaggingClassifier(ClassFrequencies(), 9, voting="soft", random_state=3).fit(X, y)
    hard = BaggingClassifier(ClassFrequencies(), 9, voting="hard", random_state=3).fit(X, y)
    shares = np.array([np.mean(y[rows] == "b") for rows in soft.estimators_samples_])
    assert len(np.unique(shares)) > 2
    assert soft.predict_proba(X)[0] == pytest.approx([1 - shares.mean(), shares.mean()])
    assert hard.predict_proba(X)[0] == pytest.approx([(shares < 0.5).mean(), (shares > 0.5).mean()])
    assert hard.votes(X)[0].tolist() == ["b" if share > 0.5 else "a" for share in shares]
    assert soft.votes(X)[0, :, 1] == pytest.approx(shares)


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(), SVC(), LogisticRegression()])
def test_a_bag_of_one_class_votes_for_that_class(learner):
    X, y = np.arange(12.0)[:, None], np.array(["common"] * 10 + ["rare", "rarest"])
    model = BaggingClassifier(learner, n_estimators=60, random_state=0).fit(X, y)
    drawn = [np.unique(y[rows]) for rows in model.estimators_samples_]
    alone = [t for t, classes in enumerate(drawn) if classes.size == 1]
    assert alone, "no bag drew one class only: choose another seed"
    votes = model.votes(X)
    assert votes.shape == (12, 60, 3)
    for t in alone:
        assert (votes[:, t, list(model.classes_).index(drawn[t][0])] == 1).all()
    # A learner gives no vote to a class that its bag lacks.
    for t, classes in enumerate(drawn):
        for k, label in enumerate(model.classes_):
            assert label in classes or (votes[:, t, k] == 0).all()


def test_balanced_bags_hold_as_many_rows_of_every_class_as_the_smallest_has():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = np.repeat([0, 1, 2], [250, 38, 12])
    for bootstrap in (True, False):
        model = BaggingClassifier(balanced=True, bootstrap=bootstrap, random_state=0).fit(X, y)
        for rows in model.estimators_samples_:
            assert np.bincount(y[rows]).tolist() == [12, 12, 12]


def test_balanced_bags_find_more_of_a_rare_class():
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 2))
    y = (X[:, 0] + X[:, 1] + random.normal(size=2000) > 3.5).astype(int)
    found = [
        BaggingClassifier(balanced=balanced, n_estimators=30, random_state=0)
        .fit(X[:1000], y[:1000])
        .predict(X[1000:])[y[1000:] == 1]
        .mean()
        for balanced in (False, True)
    ]
    assert found[1] > found[0] + 0.3


def test_bags_have_the_size_given_by_max_samples_and_max_features(regression):
    X, y = regression
    for max_samples, size in [(0.5, 75), (20, 20), (1.0, 150), (1, 1)]:
        model = BaggingRegressor(max_samples=max_samples, bootstrap=False, random_state=0).fit(X, y)
        for rows in model.estimators_samples_:
            assert rows.size == np.unique(rows).size == size
    model = BaggingRegressor(max_features=2, random_state=0).fit(X, y)
    assert {features.size for features in model.estimators_features_} == {2}
    assert len({tuple(features) for features in model.estimators_features_}) == 3
    # Fractions are rounded down, as in scikit-learn.
    for max_features, size in [(0.6, 1), (0.1, 1), ("sqrt", 1), (None, 3)]:
        model = BaggingRegressor(max_features=max_features, random_state=0).fit(X, y)
        assert {features.size for features in model.estimators_features_} == {size}
    twice = BaggingRegressor(bootstrap_features=True, n_estimators=20, random_state=0).fit(X, y)
    assert any(np.unique(features).size < 3 for features in twice.estimators_features_)
    assert twice.score(X, y) > 0.5


def test_a_warm_start_gives_the_same_model_as_one_fit(two_classes):
    X, y = two_classes
    grown = BaggingClassifier(n_estimators=4, warm_start=True, oob_score=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few learners leave rows in every bag
        grown.fit(X, y)
    first = grown.estimators_[0]
    grown.set_params(n_estimators=30).fit(X, y)
    once = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    assert grown.estimators_[0] is first
    assert np.array_equal(grown.predict_proba(X), once.predict_proba(X))
    assert np.array_equal(grown.oob_curve_, once.oob_curve_)
    assert grown.oob_learner_error_ == once.oob_learner_error_


def test_oob_score_can_be_enabled_after_the_first_fit(regression):
    X, y = regression
    late = BaggingRegressor(n_estimators=15, warm_start=True, random_state=0).fit(X, y)
    late.set_params(oob_score=True, n_estimators=30).fit(X, y)
    once = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    assert np.array_equal(late.oob_curve_, once.oob_curve_)


def test_a_new_fit_deletes_the_attributes_of_the_old_one(regression):
    X, y = regression
    model = BaggingRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    model.set_params(oob_score=False).fit(X, y)
    assert not hasattr(model, "oob_error_")
    assert model.oob_score is False


def test_a_failed_fit_does_not_change_the_model(regression):
    X, y = regression
    model = BaggingRegressor(Ridge(), n_estimators=5, random_state=0).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 0.9, np.nan, X), y)
    assert np.array_equal(model.predict(X), before)


def test_staged_predictions_end_at_the_prediction(two_classes):
    X, y = two_classes
    model = BaggingClassifier(n_estimators=20, random_state=0).fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == 20
    np.testing.assert_allclose(stages[-1], model.predict_proba(X))
    np.testing.assert_allclose(stages[4], model.votes(X)[:, :5].mean(axis=1))
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))


@pytest.mark.parametrize("learner", [DecisionTreeRegressor(), KNeighborsRegressor()])
def test_rows_of_weight_zero_have_no_effect(learner, regression):
    X, y = regression
    weight = np.where(np.arange(150) % 3 == 0, 0.0, 1.5)
    kept = weight > 0
    model = BaggingRegressor(learner, random_state=0).fit(X, y, weight)
    without = BaggingRegressor(learner, random_state=0).fit(X[kept], y[kept], weight[kept])
    assert np.array_equal(model.predict(X), without.predict(X))


def test_sample_weight_goes_to_learners_that_accept_it_and_to_the_sampling_otherwise(regression):
    X, y = regression
    weight = np.where(np.arange(150) < 75, 9.0, 1.0)
    model = BaggingRegressor(Ridge(), n_estimators=3, random_state=0).fit(X, y, weight)
    for learner, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        np.testing.assert_allclose(
            learner.predict(X), Ridge().fit(X[rows], y[rows], weight[rows]).predict(X)
        )
    drawn = BaggingRegressor(KNeighborsRegressor(), n_estimators=50, random_state=0)
    rows = np.concatenate(drawn.fit(X, y, weight).estimators_samples_)
    assert np.mean(rows < 75) == pytest.approx(0.9, abs=0.02)


def test_several_targets_give_the_predictions_of_single_targets(regression):
    X, y = regression
    both = BaggingRegressor(Ridge(), oob_score=True, n_estimators=30, random_state=0)
    both.fit(X, np.c_[y, -2 * y])
    assert both.predict(X).shape == both.oob_prediction_.shape == (150, 2)
    assert both.votes(X).shape == (150, 30, 2)
    single = BaggingRegressor(Ridge(), oob_score=True, n_estimators=30, random_state=0).fit(X, y)
    np.testing.assert_allclose(both.predict(X)[:, 0], single.predict(X))
    np.testing.assert_allclose(both.oob_prediction_[:, 1], -2 * single.oob_prediction_)
    assert both.oob_error_ == pytest.approx(2.5 * single.oob_error_)


def test_learners_get_data_frames_with_their_column_names(two_classes):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = two_classes
    names = ["a", "b", "c", "d"]
    by_name = make_pipeline(
        make_column_transformer((StandardScaler(), ["a", "b"])), DecisionTreeClassifier()
    )
    frame = pandas.DataFrame(X, columns=names)
    model = BaggingClassifier(by_name, random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == names
    assert model.score(frame, y) > 0.8
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[names[::-1]])
    tables = [X, frame, polars.DataFrame(dict(zip(names, X.T, strict=True)))]
    probabilities = [
        BaggingClassifier(max_features=3, random_state=0).fit(table, y).predict_proba(table)
        for table in tables
    ]
    assert np.array_equal(probabilities[0], probabilities[1])
    assert np.array_equal(probabilities[0], probabilities[2])


@pytest.mark.parametrize("threads", [2, 3])
def test_the_model_does_not_depend_on_n_jobs(threads, two_classes, regression):
    X, y = two_classes
    models = [
        BaggingClassifier(n_estimators=40, oob_score=True, n_jobs=n, random_state=0).fit(X, y)
        for n in (1, threads)
    ]
    assert np.array_equal(models[0].predict_proba(X), models[1].predict_proba(X))
    assert np.array_equal(models[0].oob_curve_, models[1].oob_curve_)
    X, y = regression
    numbers = [
        BaggingRegressor(n_estimators=40, max_features=2, n_jobs=n, random_state=0).fit(X, y)
        for n in (1, threads)
    ]
    assert np.array_equal(numbers[0].predict(X), numbers[1].predict(X))

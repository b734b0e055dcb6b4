"""AdaBoost: first round, stopping, weights, sampling, fitted attributes."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier as Theirs
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from bosquet import AdaBoostClassifier, DecisionTreeClassifier, DecisionTreeRegressor

VARIANTS = ["discrete", "real", "gentle", "logit", "mada"]


@pytest.fixture
def easy_table():
    return make_classification(400, 6, n_informative=4, class_sep=1.2, random_state=0)


# ------------------------------------------------------------------ special cases
def line_and_ends():
    """Three learners that misclassify the first row and some others, then one without errors."""

    class ThenPerfect(ClassifierMixin, BaseEstimator):
        fitted = 0

        def fit(self, X, y, sample_weight):
            self.classes_ = np.unique(y)
            self.number_ = type(self).fitted
            type(self).fitted += 1
            return self

        def predict(self, X):
            predictions = (X[:, 0] > 0).astype(int)
            if self.number_ < 3:
                place = np.arange(len(X))
                missed = (place == 0) | (place // 4 == 1 + self.number_)
                predictions = np.where(missed, 1 - predictions, predictions)
            return predictions

    X = np.linspace(-2, 2, 40)[:, None]
    return ThenPerfect, X, (X[:, 0] > 0).astype(int)


def test_a_perfect_learner_decides_the_vote_and_ends_the_rounds():
    learner, X, y = line_and_ends()
    model = AdaBoostClassifier(learner(), 10).fit(X, y)
    assert model.n_estimators_ == 4
    assert model.estimator_errors_[-1] == 0
    assert model.estimator_weights_[-1] > model.estimator_weights_[:-1].sum()
    assert model.score(X, y) == 1
    assert np.isfinite(model.decision_function(X)).all()
    # In scikit-learn it has weight 1 and is outvoted.
    learner.fitted = 0
    theirs = Theirs(learner(), n_estimators=10).fit(X, y)
    assert theirs.score(X, y) < 1


def test_shrinkage_does_not_make_a_perfect_learner_lose():
    learner, X, y = line_and_ends()
    model = AdaBoostClassifier(learner(), 10, learning_rate=0.1).fit(X, y)
    assert model.score(X, y) == 1


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(), TheirTree(random_state=0)])
@pytest.mark.parametrize("variant", VARIANTS[:-1])
def test_separable_rows_need_one_round(estimator, variant):
    if variant == "logit" and estimator is not None:
        estimator = DecisionTreeRegressor()
    X = np.arange(12.0)[:, None]
    y = np.where(X[:, 0] > 4, "yes", "no")
    model = AdaBoostClassifier(estimator, 5, variant=variant).fit(X, y)
    assert model.score(X, y) == 1
    assert model.n_estimators_ == 1 or variant in ("gentle", "logit", "real")
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_a_first_learner_worse_than_chance_raises_with_its_error():
    class Contrary(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return (X[:, 0] > 0.6).astype(int)

    X = np.linspace(0, 1, 10)[:, None]
    y = (X[:, 0] < 0.5).astype(int)
    with pytest.raises(ValueError, match=r"no better than chance: at round 1 .* ε = 0.9"):
        AdaBoostClassifier(Contrary()).fit(X, y)


@pytest.mark.parametrize("variant", VARIANTS)
def test_stumps_have_no_edge_on_xor(variant):
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    y = (X[:, 0] != X[:, 1]).astype(int)
    with pytest.raises(ValueError, match=r"ε = 0\.5"):
        AdaBoostClassifier(variant=variant).fit(X, y)


def test_the_loop_ends_when_the_learner_loses_its_edge():
    class Constant(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.ones(len(X), dtype=int)

    X, y = np.zeros((10, 1)), np.array([0] * 3 + [1] * 7)
    model = AdaBoostClassifier(Constant(), 10).fit(X, y)
    assert model.n_estimators_ == 1  # afterwards its error is ½ to the last digit
    np.testing.assert_allclose(model.estimator_weights_, [np.log(7 / 3)])
    assert AdaBoostClassifier().fit(X, y).n_estimators_ == 1


def test_samme_needs_learners_better_than_random_guessing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.digitize(X[:, 0], [-0.4, 0.4])
    # A stump has an error of about a third for three classes, where chance is two thirds, not one half.
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    assert (model.estimator_errors_ < 2 / 3).all()
    assert (model.estimator_errors_ > 1 / 2).any() or model.estimator_errors_[0] > 1 / 4
    errors = model.estimator_errors_[:-1] if model.estimator_errors_[-1] == 0 else None
    errors = model.estimator_errors_ if errors is None else errors
    expected = np.log((1 - errors) / errors) + np.log(2)
    np.testing.assert_allclose(model.estimator_weights_[: errors.size], expected)


# ------------------------------------------------------------------ against scikit-learn
@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
def test_trees_of_scikit_learn_get_the_same_weights_as_in_scikit_learn(easy_table, learning_rate):
    X, y = easy_table
    tree = TheirTree(max_depth=1, random_state=0)
    ours = AdaBoostClassifier(tree, 6, learning_rate=learning_rate, random_state=0).fit(X, y)
    theirs = Theirs(tree, n_estimators=6, learning_rate=learning_rate, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-6)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-6)
    f, scaled = ours.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(4 * f / ours.estimator_weights_.sum(), scaled, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-6)


def test_several_classes_agree_with_scikit_learn():
    X, y = load_iris(return_X_y=True)
    tree = TheirTree(max_depth=1, random_state=0)
    ours = AdaBoostClassifier(tree, 10, random_state=0).fit(X, y)
    theirs = Theirs(tree, n_estimators=10, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-6)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_weights_reach_the_learner_with_mean_one():
    seen = []

    class Listening(TheirTree):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight.mean())
            return super().fit(X, y, sample_weight)

    X, y = make_classification(100, random_state=0)
    AdaBoostClassifier(Listening(max_depth=1), 5).fit(X, y)
    np.testing.assert_allclose(seen, np.ones(5))


def test_a_support_vector_machine_can_be_boosted_unlike_in_scikit_learn():
    X, y = make_classification(
        n_samples=100, n_features=4, n_informative=2, n_redundant=0, random_state=0, shuffle=False
    )
    assert AdaBoostClassifier(SVC(), 10, random_state=0).fit(X, y).score(X, y) > 0.9
    assert Theirs(SVC(), n_estimators=10, random_state=0).fit(X, y).score(X, y) < 0.6


# ------------------------------------------------------------------ learners and samples
@pytest.mark.parametrize(
    ("variant", "learner"),
    [
        ("discrete", SVC()),
        ("discrete", Ridge()),
        ("mada", TheirTree(max_depth=1)),
        ("real", GaussianNB()),
        ("real", LogisticRegression()),
        ("gentle", TheirTree(max_depth=2)),
        ("gentle", TheirRegressor(max_depth=2)),
        ("gentle", Ridge()),
        ("logit", TheirRegressor(max_depth=2)),
        ("gentle", DecisionTreeClassifier(max_depth=2)),
        ("logit", DecisionTreeRegressor(max_depth=2)),
        ("real", DecisionTreeClassifier(max_depth=2)),
    ],
)
def test_any_learner_can_be_boosted(easy_table, variant, learner):
    X, y = easy_table
    labels = np.array(["low", "high"])[y]
    model = AdaBoostClassifier(learner, 10, variant=variant, random_state=0).fit(X, labels)
    assert model.score(X, labels) > 0.74
    assert set(model.predict(X)) == {"low", "high"}
    assert len(model.estimators_) == model.n_estimators_


def test_learners_without_sample_weight_get_resampled_rows_and_a_warning(easy_table):
    X, y = easy_table
    with pytest.warns(UserWarning, match="KNeighborsClassifier.fit has no sample_weight"):
        model = AdaBoostClassifier(KNeighborsClassifier(3), 5, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.warns(UserWarning, match="has no sample_weight"):
        again = AdaBoostClassifier(KNeighborsClassifier(3), 5, random_state=0).fit(X, y)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    "learner", [None, DecisionTreeClassifier(max_depth=1), TheirTree(max_depth=1)]
)
def test_with_resampling_the_error_is_computed_on_all_rows(easy_table, learner):
    X, y = easy_table
    model = AdaBoostClassifier(learner, 8, reweight="resample", random_state=3).fit(X, y)
    signs, w = 2 * y - 1, np.full(y.size, 1 / y.size)
    for voter, weight, error in zip(
        model.estimators_, model.estimator_weights_, model.estimator_errors_, strict=True
    ):
        missed = voter.predict(X) != y
        assert error == pytest.approx(w[missed].sum())
        w = w * np.exp(-0.5 * weight * signs * np.where(missed, -signs, signs))
        w /= w.sum()
    other = AdaBoostClassifier(learner, 8, reweight="resample", random_state=4).fit(X, y)
    assert not np.array_equal(other.estimator_errors_, model.estimator_errors_)


def test_full_trees_fitted_to_samples_do_not_end_the_rounds(easy_table):
    X, y = easy_table
    model = AdaBoostClassifier(DecisionTreeClassifier(), 20, reweight="resample", random_state=0)
    assert model.fit(X, y).n_estimators_ == 20
    assert model.score(X, y) == 1


def test_under_sampling_finds_a_rare_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    rare = (X[:, 0] + X[:, 1] + rng.logistic(size=4000) > 5.2).astype(int)
    assert rare.mean() < 0.05

    def recall(model):
        return model.fit(X, rare).predict(X)[rare == 1].mean()

    plain = recall(AdaBoostClassifier(n_estimators=30))
    for learner in (None, DecisionTreeClassifier(max_depth=1), TheirTree(max_depth=1)):
        under = AdaBoostClassifier(learner, 30, sampling="under", random_state=0)
        assert recall(under) > plain + 0.15


def test_under_sampling_draws_equally_many_rows_of_each_class():
    seen = []

    class Counting(TheirTree):
        def fit(self, X, y, sample_weight=None):
            seen.append(np.bincount(y))
            assert sample_weight.mean() == pytest.approx(1)
            return super().fit(X, y, sample_weight)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 1.2).astype(int)
    AdaBoostClassifier(Counting(max_depth=1), 4, sampling="under", random_state=0).fit(X, y)
    assert all(np.array_equal(counts, [y.sum(), y.sum()]) for counts in seen)


# ------------------------------------------------------------------ several classes
@pytest.mark.parametrize("multiclass", ["samme", "mh", "one-vs-rest", "one-vs-one", "ecoc"])
@pytest.mark.parametrize(
    "learner", [None, DecisionTreeClassifier(max_depth=2), TheirTree(max_depth=2)]
)
def test_every_multiclass_scheme_classifies_several_classes(multiclass, learner):
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    model = AdaBoostClassifier(learner, 15, multiclass=multiclass, random_state=0).fit(X, labels)
    assert model.score(X, labels) > 0.94
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert np.array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    assert model.decision_function(X).shape == (150, 3)
    assert model.train_score_[-1] == pytest.approx(1 - model.score(X, labels))
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, proba, atol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_variants_accept_several_classes(variant, three_classes):
    X, y = three_classes
    model = AdaBoostClassifier(n_estimators=20, variant=variant).fit(X, y)
    assert model.score(X, y) > 0.75


# ------------------------------------------------------------------ number of rounds
def test_early_stopping_keeps_the_best_number_of_rounds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] + rng.logistic(size=600) > 0).astype(int)
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=4), 200, early_stopping=True, random_state=0
    ).fit(X, y)
    assert model.n_estimators_ < 100
    assert model.n_estimators_ == model.validation_score_.argmin() + 1
    assert len(model.validation_score_) == model.n_estimators_ + model.n_iter_no_change
    assert len(model.estimator_weights_) == model.n_estimators_


@pytest.mark.parametrize(
    "learner", [None, DecisionTreeClassifier(max_depth=2), TheirTree(max_depth=2)]
)
@pytest.mark.parametrize("multiclass", ["samme", "one-vs-rest"])
def test_a_warm_start_continues_the_rounds(three_classes, learner, multiclass):
    for X, y in (three_classes, (three_classes[0], three_classes[1] > 0)):
        options = {"estimator": learner, "multiclass": multiclass, "random_state": 0}
        whole = AdaBoostClassifier(n_estimators=12, **options).fit(X, y)
        parts = AdaBoostClassifier(n_estimators=5, warm_start=True, **options).fit(X, y)
        parts.set_params(n_estimators=12).fit(X, y)
        assert parts.n_estimators_ == 12
        np.testing.assert_allclose(
            parts.decision_function(X), whole.decision_function(X), rtol=1e-6
        )
        np.testing.assert_allclose(parts.estimator_errors_, whole.estimator_errors_, rtol=1e-6)
    with pytest.raises(ValueError, match="is smaller than the number of rounds in the model"):
        parts.set_params(n_estimators=3).fit(X, y)


def test_callbacks_see_every_round_and_can_stop(easy_table):
    X, y = easy_table
    seen = []

    def stop_at_four(info):
        seen.append((info.iteration, info.train_loss, info.model.score(X, y)))
        return info.iteration == 4

    model = AdaBoostClassifier(n_estimators=30, callbacks=[stop_at_four]).fit(X, y)
    assert model.n_estimators_ == 4
    for t, (iteration, error, score) in enumerate(seen):
        assert iteration == t + 1
        assert error == pytest.approx(1 - score)


# ------------------------------------------------------------------ attributes
def test_the_last_stage_is_the_prediction(easy_table):
    X, y = easy_table
    model = AdaBoostClassifier(n_estimators=12).fit(X, y)
    scores = list(model.staged_score(X, y))
    np.testing.assert_allclose(1 - np.array(scores), model.train_score_)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X), rtol=1e-12)
    *_, predictions = model.staged_predict(X)
    assert np.array_equal(predictions, model.predict(X))


def test_native_learners_can_predict_one_by_one(easy_table):
    X, y = easy_table
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    votes = [
        0.5 * weight * np.where(voter.predict(X) == 1, 1, -1)
        for voter, weight in zip(model.estimators_, model.estimator_weights_, strict=True)
    ]
    np.testing.assert_allclose(np.sum(votes, axis=0), model.decision_function(X), rtol=1e-9)
    first = model.estimators_[0].arrays
    assert repr(model[0]).startswith(
        f"Stump(x{first['feature'][0]} <= {first['threshold'][0]:.4g}: "
    )
    used = {int(voter.arrays["feature"][0]) for voter in model.estimators_}
    assert set(np.flatnonzero(model.feature_importances_)) == used
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_rows_of_weight_zero_have_no_effect(easy_table):
    X, y = easy_table
    weight = np.where(np.arange(y.size) % 3 == 0, 0.0, 1.0)
    weighted = AdaBoostClassifier(n_estimators=10).fit(X, y, sample_weight=weight)
    without = AdaBoostClassifier(n_estimators=10).fit(X[weight > 0], y[weight > 0])
    assert np.array_equal(weighted.decision_function(X), without.decision_function(X))


def test_weights_survive_margins_of_thousands():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = (X[:, 0] > 0).astype(int)
    y[0] = 1 - y[0]
    for variant in VARIANTS:
        estimator = DecisionTreeRegressor(max_depth=1) if variant == "logit" else None
        model = AdaBoostClassifier(estimator, 300, variant=variant, learning_rate=20.0).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.predict_proba(X)).all()


def test_text_missing_values_and_frames_work_as_in_any_native_model():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300).astype(object)
    colour[rng.random(300) < 0.1] = None
    size = np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300))
    y = np.where((colour == "red") | (np.nan_to_num(size) > 1), "buy", "leave")
    frame = pandas.DataFrame({"colour": colour, "size": size})
    for learner in (None, DecisionTreeClassifier(max_depth=2)):
        for split in ("exact", "histogram"):
            model = AdaBoostClassifier(learner, 20, split=split).fit(frame, y)
            assert model.score(frame, y) > 0.98
            assert list(model.feature_names_in_) == ["colour", "size"]


@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier(max_depth=2)])
def test_the_number_of_threads_does_not_change_the_model(learner):
    X, y = make_classification(6000, 20, random_state=0)
    one = AdaBoostClassifier(learner, 5, n_jobs=1).fit(X, y)
    two = AdaBoostClassifier(learner, 5, n_jobs=2).fit(X, y)
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


def test_a_pickle_makes_the_same_predictions(easy_table):
    X, y = easy_table
    for learner in (None, SVC(), DecisionTreeClassifier(max_depth=2)):
        model = AdaBoostClassifier(learner, 5, random_state=0).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
        assert len(pickle.dumps(model)) < 100_000 or learner is not None  # and stores no rows

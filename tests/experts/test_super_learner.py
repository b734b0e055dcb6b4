"""Super learners: weights by cross-validation, and the optimism of `cv_table_`."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

import bosquet
from bosquet import SuperLearnerClassifier, SuperLearnerRegressor
from bosquet.io import ModelFileError, model_from_bytes
from bosquet.io.container import pack_members, unpack_members


def regression(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, X[:, 0] + np.abs(X[:, 1]) + rng.normal(scale=0.3, size=rows)


def classification(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, np.array(["no", "yes"])[(X[:, 0] + rng.normal(size=rows) > 0).astype(int)]


LEARNERS = [
    ("line", LinearRegression()),
    ("near", KNeighborsRegressor(10)),
    ("mean", DummyRegressor()),
]


def test_predictions_of_the_folds_agree_with_scikit_learn():
    X, y = regression()
    cv = KFold(4)
    model = SuperLearnerRegressor(LEARNERS, cv=cv).fit(X, y)
    for k, (_, learner) in enumerate(LEARNERS):
        expected = cross_val_predict(learner, X, y, cv=cv)
        np.testing.assert_allclose(model.cv_predictions_[:, k], expected, rtol=1e-12)
    table = model.cv_table_
    losses = (model.cv_predictions_ - y[:, None]) ** 2
    np.testing.assert_allclose(table.loss[:3], losses.mean(axis=0))
    np.testing.assert_allclose(table.standard_error[:3], losses.std(axis=0, ddof=1) / np.sqrt(200))
    np.testing.assert_allclose(table.weights[:3], model.weights_)


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_no_other_weights_have_a_smaller_cross_validation_loss(loss):
    X, y = regression()
    model = SuperLearnerRegressor(LEARNERS, loss=loss, random_state=0).fit(X, y)
    assert model.weights_.sum() == pytest.approx(1)
    assert (model.weights_ >= 0).all()
    Z = model.cv_predictions_

    def risk(w):
        error = Z @ w - y
        return (error**2 if loss == "square" else np.abs(error)).mean()

    assert model.cv_table_.loss[-1] == pytest.approx(risk(model.weights_))
    for w in np.random.default_rng(0).dirichlet(np.ones(3), size=300):
        assert risk(model.weights_) <= risk(w) + 1e-12
    assert (
        risk(model.weights_) < model.cv_table_.loss[:3].min()
    )  # the combination is better than each learner


def test_prediction_is_the_weighted_mean_of_learners_fitted_on_all_rows():
    X, y = regression()
    model = SuperLearnerRegressor(LEARNERS, random_state=0).fit(X, y)
    votes = np.column_stack([learner.fit(X, y).predict(X[:9]) for _, learner in LEARNERS])
    np.testing.assert_allclose(model.votes(X[:9]), votes, rtol=1e-12)
    np.testing.assert_allclose(model.predict(X[:9]), votes @ model.weights_, rtol=1e-12)
    assert list(model.named_estimators_) == ["line", "near", "mean"]


def test_the_discrete_super_learner_takes_the_best():
    X, y = regression()
    model = SuperLearnerRegressor(LEARNERS, combination="best", random_state=0).fit(X, y)
    assert sorted(model.weights_) == [0, 0, 1]
    assert model.weights_.argmax() == model.cv_table_.loss[:3].argmin()


@pytest.mark.parametrize("loss", ["log", "square"])
def test_probabilities_are_mixed_by_the_best_shares(loss):
    X, y = classification()
    learners = [
        ("line", LogisticRegression()),
        ("near", KNeighborsClassifier(15)),
        ("prior", DummyClassifier()),
    ]
    model = SuperLearnerClassifier(learners, loss=loss, random_state=0).fit(X, y)
    Z, truth = model.cv_predictions_, (y == "yes").astype(int)
    assert Z.shape == (200, 3, 2)

    def risk(w):
        p = np.tensordot(Z, w, axes=(1, 0))
        if loss == "log":
            return -np.log(np.maximum(p[np.arange(200), truth], 2**-52)).mean()
        return ((p - np.eye(2)[truth]) ** 2).sum(axis=1).mean()

    for w in np.random.default_rng(0).dirichlet(np.ones(3), size=300):
        assert risk(model.weights_) <= risk(w) + 1e-9
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert np.array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    assert model.score(X, y) > 0.7


def test_every_fold_has_rows_of_a_rare_class():
    X, y = classification(60)
    y = np.where(np.arange(60) < 5, "rare", y)
    model = SuperLearnerClassifier([("bayes", GaussianNB())], cv=5, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["no", "rare", "yes"]
    # One row of the rare class in each fold, so that it is in every training set.
    assert (model.cv_predictions_[:, 0, 1] > 0).any()
    assert model.cv_predictions_.shape == (60, 1, 3)


class Guess(RegressorMixin, BaseEstimator):
    """Predict a pseudo-random number of the row, the same for every fit."""

    def __init__(self, parameter=1):
        self.parameter = parameter

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.sin(1000.0 * self.parameter * X[:, 0])


def test_the_score_of_the_best_of_many_learners_is_optimistic_without_an_outer_fold():
    # One method with many values of its hyper-parameter, all equally useless: the smallest of their
    # cross-validated errors is below the true error of each. Nested cross-validation, which repeats the
    # choice in every outer fold, has no such optimism.
    learners = [(f"guess {k}", Guess(k)) for k in range(1, 21)]
    seen, honest = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 1)), rng.normal(size=60)
        model = SuperLearnerRegressor(learners, combination="best", cv=3, random_state=seed)
        seen.append(model.fit(X, y).cv_table_.loss[:-1].min())
        predictions = cross_val_predict(model, X, y, cv=KFold(3))
        honest.append(((predictions - y) ** 2).mean())
    true_error = 1 + 0.5  # variance of the noise and of the prediction
    error = np.std(honest) / np.sqrt(len(honest))
    assert abs(np.mean(honest) - true_error) < 3 * error
    assert np.mean(seen) < true_error - 3 * error


def test_frames_reach_the_learners_as_frames():
    X, y = regression()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])

    class Picky(LinearRegression):
        def fit(self, X, y):
            assert list(X.columns) == ["a", "b", "c"]
            return super().fit(X[["a"]], y)

        def predict(self, X):
            return super().predict(X[["a"]])

    model = SuperLearnerRegressor([("picky", Picky())], cv=3).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.predict(frame).shape == (200,)


BAD = {
    "no learners": ({"estimators": []}, "non-empty list"),
    "no pairs": ({"estimators": [LinearRegression()]}, "pairs"),
    "same names": ({"estimators": [LEARNERS[0], LEARNERS[0]]}, "more than once"),
    "a parameter's name": ({"estimators": [("cv", LinearRegression())]}, "named 'cv'"),
    "no learner": ({"estimators": [("x", 3)]}, "no fit or no predict"),
    "loss": ({"loss": "log"}, "loss='log'"),
    "combination": ({"combination": "linear"}, "combination='linear'"),
    "one fold": ({"cv": 1}, "cv=1"),
    "overlapping folds": ({"cv": ShuffleSplit(3, random_state=0)}, "exactly one test set"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_parameters_are_named_and_leave_the_model_unchanged(name):
    given, message = BAD[name]
    X, y = regression(40)
    model = SuperLearnerRegressor(**{"estimators": LEARNERS, **given})
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "weights_")


def test_parameters_set_after_a_fit_do_not_change_what_is_accepted_at_predict():
    X = np.array([["u", 1.0], ["v", 2.0], ["u", 3.0], ["v", 4.0]] * 5, dtype=object)
    y = np.arange(20.0)
    tree = bosquet.DecisionTreeRegressor
    trees = [("a", tree(max_depth=1)), ("b", tree(max_depth=2))]
    model = SuperLearnerRegressor(trees, cv=2, random_state=0).fit(X, y)
    expected = model.predict(X)
    model.set_params(b=LinearRegression())  # which does not accept strings
    np.testing.assert_array_equal(model.predict(X), expected)


def test_the_error_names_learners_without_probabilities():
    X, y = classification(40)
    with pytest.raises(ValueError, match=r"'svm' .* has no predict_proba"):
        SuperLearnerClassifier([("svm", LinearSVC())]).fit(X, y)
    with pytest.raises(ValueError, match="targets"):
        SuperLearnerRegressor(LEARNERS).fit(X, np.ones((40, 2)))


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_a_row_of_weight_two_counts_as_two(loss):
    X, y = regression(60)
    twice = np.r_[np.arange(60), np.arange(20)]
    folds = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    repeated = [
        (np.flatnonzero(twice >= 30), np.flatnonzero(twice < 30)),
        (np.flatnonzero(twice < 30), np.flatnonzero(twice >= 30)),
    ]
    learners = [("line", LinearRegression()), ("mean", DummyRegressor())]
    weighted = SuperLearnerRegressor(learners, loss=loss, cv=folds)
    weighted.fit(X, y, sample_weight=1.0 + (np.arange(60) < 20))
    plain = SuperLearnerRegressor(learners, loss=loss, cv=repeated).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.weights_, plain.weights_, atol=1e-6)
    np.testing.assert_allclose(weighted.cv_table_.loss, plain.cv_table_.loss)


def test_sample_weight_is_used_in_the_log_loss():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = X[:, 0] + random.normal(size=200) > 0
    share = 1.0 + (np.arange(200) % 3 == 0)
    learners = [("bayes", GaussianNB()), ("share", DummyClassifier(strategy="prior"))]
    model = SuperLearnerClassifier(learners, random_state=0).fit(X, y, sample_weight=share)
    predictions = model.cv_predictions_[np.arange(200), :, y.astype(int)]

    def loss(w):
        return -(share @ np.log(predictions @ [w, 1 - w]))

    assert loss(model.weights_[0]) <= min(loss(w) for w in np.linspace(0.01, 1, 100)) + 1e-6


def test_random_state_fixes_learners_without_a_seed_and_leaves_seeds_that_are_set():
    X, y = regression()
    learners = [
        ("forest", bosquet.RandomForestRegressor(5)),
        ("tree", make_pipeline(StandardScaler(), DecisionTreeRegressor(max_features=1))),
        ("seeded", DecisionTreeRegressor(max_features=1, random_state=7)),
    ]
    one, two, other = (
        SuperLearnerRegressor(learners, cv=3, random_state=seed).fit(X, y) for seed in (0, 0, 1)
    )
    assert np.array_equal(one.cv_predictions_, two.cv_predictions_)
    assert np.array_equal(one.predict(X), two.predict(X))
    assert not np.array_equal(
        one.named_estimators_["forest"].predict(X), other.named_estimators_["forest"].predict(X)
    )
    assert one.named_estimators_["seeded"].random_state == 7
    assert learners[0][1].random_state is None


def test_groups_are_respected_and_learners_must_accept_weights():
    from sklearn.model_selection import GroupKFold

    X, y = regression(60)
    groups = np.repeat(np.arange(6), 10)
    model = SuperLearnerRegressor([("line", LinearRegression())], cv=GroupKFold(3))
    assert np.isfinite(model.fit(X, y, groups=groups).cv_predictions_).all()
    model = SuperLearnerRegressor([("near", KNeighborsRegressor())])
    with pytest.raises(
        ValueError, match=r"'near' \(KNeighborsRegressor\) does not accept sample_weight"
    ):
        model.fit(X, y, sample_weight=np.arange(1, 61))


def test_an_error_of_a_learner_names_it():
    X, y = regression(60)

    class Broken(BaseEstimator, RegressorMixin):
        def fit(self, X, y):
            raise RuntimeError("boom")

        def predict(self, X):
            return np.zeros(len(X))

    with pytest.raises(RuntimeError, match="boom") as caught:
        SuperLearnerRegressor([("line", LinearRegression()), ("odd", Broken())]).fit(X, y)
    assert any("'odd', Broken" in note for note in caught.value.__notes__)


def test_leave_one_out_works_as_cv():
    X, y = regression(25)
    model = SuperLearnerRegressor(LEARNERS[:2], cv=LeaveOneOut()).fit(X, y)
    assert model.cv_predictions_.shape == (25, 2)


# ------------------------------------------------------------------------------ files
def saved(kind, tmp_path):
    if kind == "classes":
        X, y = classification()
        learners = [
            ("tree", bosquet.DecisionTreeClassifier(max_depth=2)),
            ("forest", bosquet.RandomForestClassifier(5, random_state=0)),
        ]
        model = SuperLearnerClassifier(learners, cv=3, random_state=0).fit(X, y)
    else:
        X, y = regression()
        learners = [
            ("tree", bosquet.DecisionTreeRegressor(max_depth=2)),
            ("boosted", bosquet.GradientBoostingRegressor(n_estimators=5)),
        ]
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        X, model = frame, SuperLearnerRegressor(learners, cv=3, random_state=0).fit(frame, y)
    path = tmp_path / "super.bosquet"
    model.save(path)
    return model, X, path


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_super_learner_of_bosquet_models_is_saved_completely(kind, tmp_path):
    model, X, path = saved(kind, tmp_path)
    again = bosquet.load(path)
    method = "predict_proba" if kind == "classes" else "predict"
    assert np.array_equal(getattr(again, method)(X), getattr(model, method)(X))
    assert str(again.cv_table_) == str(model.cv_table_)
    assert [name for name, _ in again.estimators] == [name for name, _ in model.estimators]
    assert getattr(again, "feature_names_in_", 0) is not None


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("weights", [0.5, 0.6]),
        ("weights", [1.5, -0.5]),
        ("weights", [1.0]),
        ("cv_loss", [1.0]),
        ("cv_loss", "abc"),
        ("names", ["a"]),
        ("names", ["b", "b"]),
        ("n_features", 7),
        ("feature_names", ["a"]),
        ("estimator", "SuperLearner"),
        ("parameters", {"combination": "other"}),
        ("classes", {"type": "str", "values": ["b", "a"]}),
    ],
)
def test_an_invalid_file_of_a_super_learner_is_rejected(kind, key, value, tmp_path):
    if kind == "numbers" and key == "classes":
        pytest.skip("numbers have no classes")
    _, _, path = saved(kind, tmp_path)
    parts, metadata = unpack_members(path.read_bytes())
    metadata[key] = value
    with pytest.raises(ModelFileError):
        model_from_bytes(pack_members(parts, metadata))


def test_learners_of_other_libraries_are_not_saved():
    X, y = regression()
    model = SuperLearnerRegressor(LEARNERS, cv=3).fit(X, y)
    with pytest.raises(ValueError, match=r"'line' .* a sklearn"):
        model.save("nowhere")

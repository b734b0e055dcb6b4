"""Online mixtures: models are weighted by their predictions of rows before they are trained on them."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from bosquet import Mixture
from bosquet.experts import OnlineMixtureClassifier, OnlineMixtureRegressor


def drifting(rows=1200, seed=0):
    """Return data whose slope changes its sign in the middle."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    slope = np.where(np.arange(rows) < rows // 2, 2.0, -2.0)
    return X, slope * X[:, 0] + rng.normal(scale=0.1, size=rows)


def models():
    return [
        ("fixed", LinearRegression()),
        ("learns", SGDRegressor(learning_rate="constant", eta0=0.05, random_state=0)),
    ]


def test_the_weight_moves_to_the_model_that_continues_to_improve():
    X, y = drifting()
    model = OnlineMixtureRegressor(models(), warmup=0.25, batch_size=20, refit=False).fit(X, y)
    assert model.final_weights_[1] > 0.9
    assert model.mixture_.n_rows_ == 900
    assert model.predict(X[-50:]) == pytest.approx(y[-50:], abs=1.0)


def test_every_scored_forecast_was_made_before_training_on_its_row():
    X, y = drifting(200)
    model = OnlineMixtureRegressor(
        models(), warmup=0.5, batch_size=10, refit=False, random_state=0
    ).fit(X, y)
    fixed = LinearRegression().fit(X[:100], y[:100])
    learns = SGDRegressor(learning_rate="constant", eta0=0.05, random_state=0)
    learns.partial_fit(X[:100], y[:100])
    mixture = Mixture("boa")
    for start in range(100, 200, 10):
        rows = slice(start, start + 10)
        mixture.partial_fit(
            np.column_stack([fixed.predict(X[rows]), learns.predict(X[rows])]), y[rows]
        )
        learns.partial_fit(X[rows], y[rows])
    assert np.array_equal(model.final_weights_, mixture.final_weights_)


def test_partial_fit_is_a_stream_whose_first_call_is_the_warm_up():
    X, y = drifting(300)
    whole = OnlineMixtureRegressor(models(), warmup=1 / 3, batch_size=50, refit=False).fit(X, y)
    parts = OnlineMixtureRegressor(models(), refit=False)
    parts.partial_fit(X[:100], y[:100])
    assert parts.final_weights_.tolist() == [0.5, 0.5]
    np.testing.assert_allclose(parts.predict(X[:3]), parts._predict_forecasts(X[:3]).mean(axis=1))
    for start in range(100, 300, 50):
        parts.partial_fit(X[start : start + 50], y[start : start + 50])
    assert np.array_equal(parts.final_weights_, whole.final_weights_)
    assert np.array_equal(parts.predict(X), whole.predict(X))


def test_models_without_partial_fit_are_fitted_again_at_the_end():
    X, y = drifting(300)
    learners = [("tree", DecisionTreeRegressor(random_state=0))]
    again = OnlineMixtureRegressor(learners).fit(X, y)
    assert np.array_equal(
        again.predict(X), DecisionTreeRegressor(random_state=0).fit(X, y).predict(X)
    )
    once = OnlineMixtureRegressor(learners, refit=False).fit(X, y)
    half = DecisionTreeRegressor(random_state=0).fit(X[:150], y[:150])
    assert np.array_equal(once.predict(X), half.predict(X))


def test_classifiers_mix_probabilities_and_take_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    learners = [
        ("sgd", SGDClassifier(loss="log_loss", random_state=0)),
        ("bayes", GaussianNB()),
        ("prior", DummyClassifier()),
    ]
    model = OnlineMixtureClassifier(learners, batch_size=25).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.9
    assert model.final_weights_[2] < 0.05
    parts = OnlineMixtureClassifier(learners[:1])
    parts.partial_fit(X[:50], np.where(y[:50] == "c", "a", y[:50]), classes=["a", "b", "c"])
    parts.partial_fit(X[50:], y[50:])
    assert parts.classes_.tolist() == ["a", "b", "c"]
    assert parts.score(X, y) > 0.7


def test_the_warm_up_of_classes_lasts_until_all_were_seen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.repeat([0, 1, 2], 30)
    model = OnlineMixtureClassifier([("bayes", GaussianNB())], warmup=0.1).fit(X, y)
    assert model.mixture_.n_rows_ == 90 - 61


def test_random_state_fixes_models_without_a_seed():
    X, y = drifting(200)
    wavering = [("tree", DecisionTreeRegressor(max_features=1)), ("line", SGDRegressor())]
    one, two = (OnlineMixtureRegressor(wavering, random_state=0).fit(X, y) for _ in range(2))
    assert np.array_equal(one.predict(X), two.predict(X))


def test_partial_fit_does_not_change_models_returned_before():
    X, y = drifting(200)
    model = OnlineMixtureRegressor(models()).partial_fit(X[:50], y[:50])
    model.partial_fit(X[50:100], y[50:100])
    learner, mixture = model.estimators_[1], model.mixture_
    predictions, steps = learner.predict(X), mixture.n_rows_
    model.partial_fit(X[100:], y[100:])
    assert np.array_equal(learner.predict(X), predictions)
    assert not np.array_equal(model.estimators_[1].predict(X), predictions)
    assert (steps, mixture.n_rows_, model.mixture_.n_rows_) == (50, 50, 150)

    class Broken(SGDRegressor):
        def partial_fit(self, X, y):
            if len(X) == 1:
                raise ValueError("one row is too few")
            return super().partial_fit(X, y)

    model = OnlineMixtureRegressor([*models(), ("broken", Broken())]).partial_fit(X, y)
    predictions = model.predict(X)
    with pytest.raises(ValueError, match="one row"):
        model.partial_fit(X[:1], y[:1])
    assert np.array_equal(model.predict(X), predictions)
    assert not model.mixture_.__sklearn_is_fitted__()


def test_a_failed_fit_leaves_the_model_unchanged():
    X, y = drifting(100)
    model = OnlineMixtureRegressor(models()).fit(X, y)
    before = model.final_weights_
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, y[:50])
    assert np.array_equal(model.final_weights_, before)
    for given, message in (
        ({"warmup": 0}, "warmup=0"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"rule": "nonsense"}, "rule='nonsense'"),
    ):
        with pytest.raises(ValueError, match=message):
            OnlineMixtureRegressor(models(), **given).fit(X, y)

    class Wild(DummyRegressor):
        def predict(self, X):
            return np.full(len(X), np.inf)

    with pytest.raises(ValueError, match="'wild' predicted inf for row 0"):
        OnlineMixtureRegressor([("wild", Wild())]).fit(X, y)
    with pytest.raises(AttributeError, match="not fitted"):
        OnlineMixtureRegressor(models()).final_weights_  # noqa: B018

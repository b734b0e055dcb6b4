"""Out-of-bag errors: rows are predicted by the learners that did not draw them."""

import warnings

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bosquet import BaggingClassifier, BaggingRegressor
from bosquet._bags import OutOfBagRecord, has_settled, squared_errors


def simulated(n, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] * X[:, 2]
    return X, score + random.normal(size=n), (score + random.logistic(size=n) > 0).astype(int)


def test_the_out_of_bag_error_agrees_with_new_rows():
    X, y, label = simulated(1200, seed=0)
    X_new, y_new, label_new = simulated(6_000, seed=1)
    forest = BaggingClassifier(n_estimators=100, oob_score=True, random_state=0).fit(X, label)
    new_error = np.mean(forest.predict(X_new) != label_new)
    # The standard error of the out-of-bag error on 1200 rows is about 0.013.
    assert forest.oob_error_ == pytest.approx(new_error, abs=0.035)
    assert forest.oob_score_ == pytest.approx(1 - forest.oob_error_)
    one = np.mean([np.mean(t.predict(X_new) != label_new) for t in forest.estimators_])
    assert forest.oob_learner_error_ == pytest.approx(one, abs=0.02)
    assert forest.oob_learner_error_ > forest.oob_error_ + 0.03

    numbers = BaggingRegressor(n_estimators=100, oob_score=True, random_state=0).fit(X, y)
    new_error = np.mean((numbers.predict(X_new) - y_new) ** 2)
    assert numbers.oob_error_ == pytest.approx(new_error, rel=0.12)
    assert numbers.oob_score_ == pytest.approx(numbers.score(X_new, y_new), abs=0.06)
    # The training error is far too optimistic.
    assert np.mean((numbers.predict(X) - y) ** 2) < 0.3 * numbers.oob_error_


def test_the_curve_falls_and_ends_at_the_error():
    X, y, _ = simulated(400, seed=0)
    model = BaggingRegressor(n_estimators=80, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_curve_.shape == (80,)
    assert model.oob_curve_[-1] == model.oob_error_
    assert model.oob_curve_[:5].mean() > 1.3 * model.oob_curve_[-5:].mean()


def test_rows_in_every_bag_give_a_warning_and_are_ignored():
    X, _, label = simulated(60, seed=0)
    model = BaggingClassifier(n_estimators=3, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="in all 3 bags") as caught:
        model.fit(X, label)
    drawn = [set(rows) for rows in model.estimators_samples_]
    never_out = np.array([all(i in rows for rows in drawn) for i in range(60)])
    assert 0 < never_out.sum() < 60
    assert len(caught) == 1
    message = str(caught[0].message)
    assert f"{never_out.sum()} rows" in message
    assert f"row {np.flatnonzero(never_out)[0]})" in message
    assert np.array_equal(np.isnan(model.oob_decision_function_).all(axis=1), never_out)
    assert np.isfinite(model.oob_decision_function_[~never_out]).all()
    predicted = model.classes_[model.oob_decision_function_[~never_out].argmax(axis=1)]
    assert model.oob_error_ == pytest.approx(np.mean(predicted != label[~never_out]))


def test_enough_learners_give_no_warning():
    X, _, label = simulated(60, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BaggingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X, label)


def test_sampling_without_replacement_also_leaves_rows_out_of_bag():
    X, y, _ = simulated(100, seed=0)
    model = BaggingRegressor(
        n_estimators=40, max_samples=0.5, bootstrap=False, oob_score=True, random_state=0
    ).fit(X, y)
    assert np.isfinite(model.oob_prediction_).all()


def test_errors_are_weighted():
    X, _, label = simulated(200, seed=0)
    weight = np.where(label == 1, 5.0, 1.0)
    model = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0)
    model.fit(X, label, weight)
    wrong = model.oob_decision_function_.argmax(axis=1) != label
    assert model.oob_error_ == pytest.approx(np.average(wrong, weights=weight))


def test_auto_stops_when_the_error_has_settled():
    X, y, label = simulated(300, seed=0)
    model = BaggingRegressor(n_estimators="auto", random_state=0).fit(X, y)
    n = model.n_estimators_
    assert 40 <= n < 500
    assert n % 10 == 0
    assert model.oob_curve_.shape == (n,)
    curve = list(model.oob_curve_)
    losses = (model.oob_prediction_ - y) ** 2
    tolerance = 0.1 * losses.std() / np.sqrt(300)
    assert has_settled(curve, 20, tolerance)
    assert not any(has_settled(curve[:k], 20, tolerance / 2) for k in range(10, n, 10))
    many = BaggingRegressor(n_estimators=300, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_error_ == pytest.approx(many.oob_error_, rel=0.05)
    tree = DecisionTreeClassifier(max_leaf_nodes=4)
    assert BaggingClassifier(tree, "auto", random_state=0).fit(X, label).n_estimators_ < 500


def test_auto_fits_at_most_500_learners(monkeypatch):
    from bosquet.bagging import _base

    assert _base.AUTO_MAX_ESTIMATORS == 500
    monkeypatch.setattr(_base, "AUTO_MAX_ESTIMATORS", 55)
    monkeypatch.setattr(_base, "has_settled", lambda *rest: False)
    X, y, _ = simulated(40, seed=0)
    stump = DecisionTreeRegressor(max_depth=1)
    assert BaggingRegressor(stump, "auto", random_state=0).fit(X, y).n_estimators_ == 55


def test_an_error_has_settled_when_it_stays_constant_or_rises():
    assert not has_settled([1.0] * 39, 20, 0.01)
    assert has_settled([1.0] * 40, 20, 0.01)
    assert has_settled([1.0] * 20 + [1.1] * 20, 20, 0.01)
    assert has_settled([1.0] * 20 + [0.995] * 20, 20, 0.01)
    assert not has_settled([1.0] * 20 + [0.98] * 20, 20, 0.01)


def test_the_standard_error_is_that_of_a_mean_of_losses():
    random = np.random.default_rng(0)
    y = random.normal(size=(50, 1))
    record = OutOfBagRecord(y, np.zeros(0), squared_errors)
    votes = random.normal(size=(50, 1))
    record.add(np.arange(50), votes)
    losses = ((votes - y) ** 2)[:, 0]
    assert record.error == pytest.approx(losses.mean())
    assert record.standard_error == pytest.approx(losses.std() / np.sqrt(50))
    half = OutOfBagRecord(y, np.repeat([0.0, 2.0], 25), squared_errors)
    half.add(np.arange(50), votes)
    assert half.error == pytest.approx(losses[25:].mean())
    assert half.standard_error == pytest.approx(losses[25:].std() / 5)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (BaggingRegressor(bootstrap=False, oob_score=True), "oob_score=True needs out-of-bag rows"),
        (BaggingRegressor(bootstrap=False, n_estimators="auto"), "n_estimators='auto'"),
        (
            BaggingRegressor(bootstrap=False, n_estimators="auto", max_samples=0.5),
            "bootstrap=True",
        ),
    ],
)
def test_oob_score_without_out_of_bag_rows_raises(model, match):
    X, y, _ = simulated(30, seed=0)
    with pytest.raises(ValueError, match=match):
        model.fit(X, y)

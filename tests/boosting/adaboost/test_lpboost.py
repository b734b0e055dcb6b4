"""LPBoost: optimal over all hypotheses, with a lower and an upper bound."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.utils.estimator_checks import parametrize_with_checks

import bosquet
from bosquet import LPBoostClassifier
from bosquet.boosting.adaboost.lpboost import MarginProgram, soft_margin
from bosquet.reference import lpboost as reference
from bosquet.theory import certificate as theory_certificate
from bosquet.theory import game_value, maximal_margin


def every_stump(X):
    """Return the predictions of all stumps and of the two constants, one column per hypothesis."""
    columns = [np.ones(len(X))]
    for column in X.T:
        values = np.unique(column)
        for threshold in (values[:-1] + values[1:]) / 2:
            columns.append(np.where(column <= threshold, 1.0, -1.0))
    table = np.column_stack(columns)
    return np.column_stack([table, -table])


def small_sample(seed, rows=30, features=3, noise=0.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features)).round(1)
    y = np.where(X[:, 0] + X[:, 1] + noise * random.normal(size=rows) > 0, 1.0, -1.0)
    y[0], y[1] = 1, -1
    return X, y


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 500), st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0]), st.sampled_from([0.0, 1.0])
)
def test_the_value_is_that_of_the_program_with_every_stump(seed, nu, noise):
    X, y = small_sample(seed, noise=noise)
    worths = y[:, None] * every_stump(X)
    value, _, _ = reference.largest_margin(worths, nu)
    dual, _ = reference.hardest_rows(worths, nu)
    assert value == pytest.approx(dual, abs=1e-7)
    if value < 1e-9:
        return  # no stump has an edge under some distribution: nothing to boost
    model = LPBoostClassifier(nu=nu, n_estimators=1000).fit(X, y)
    assert model.value_ == pytest.approx(value, abs=2e-6)
    assert model.gap_ <= 1e-6


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 500), st.sampled_from([0.0, 0.1, 0.4]))
def test_vote_and_distribution_prove_the_value_from_both_sides(seed, nu):
    X, y = small_sample(seed, noise=0.5)
    if reference.hardest_rows(y[:, None] * every_stump(X), nu)[0] < 1e-9:
        return
    model = LPBoostClassifier(nu=nu, n_estimators=1000).fit(X, y)
    # Lower bound: the margins of the vote.
    assert model.estimator_weights_.sum() == pytest.approx(1)
    margins, price = y * model.decision_function(X), 1 / (nu * 30) if nu else np.inf
    short = np.maximum(model.rho_ - margins, 0)
    assert short.max() < 1e-12 if nu == 0 else True
    cost = price * short.sum() if nu else 0.0
    assert model.rho_ - cost == pytest.approx(model.value_, abs=1e-9)
    # Upper bound: no stump has a larger agreement under the distribution.
    d = model.row_distribution_
    assert d.min() >= 0
    assert d.sum() == pytest.approx(1)
    assert d.max() <= min(price, 1) + 1e-9
    best = (d @ (y[:, None] * every_stump(X))).max()
    assert best == pytest.approx(model.upper_bound_, abs=1e-9)
    assert model.value_ <= best + 1e-9
    assert model.gap_ == pytest.approx(best - model.value_, abs=1e-8)


def test_at_most_a_share_nu_of_the_rows_is_below_the_margin():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::2], y[::2]
    for nu in (0.1, 0.3):
        model = LPBoostClassifier(nu=nu, tol=1e-4).fit(X, y)
        margins = (2 * y - 1) * model.decision_function(X)
        assert (margins < model.rho_ - 1e-9).mean() <= nu
        assert (margins < model.rho_ + 1e-9).mean() >= nu


def test_values_increase_and_the_last_round_only_confirms_the_optimum():
    X, y = small_sample(4, rows=60, noise=0.3)
    model = LPBoostClassifier(nu=0.2).fit(X, y)
    assert (np.diff(model.values_) > -1e-9).all()
    assert len(model.values_) == len(model.agreements_) == model.n_iter_
    assert model.agreements_.min() == model.agreement_ == model.upper_bound_
    assert model.upper_bound_ >= model.value_ - 1e-12
    np.testing.assert_array_equal(model.certificate_.alphas, model.estimator_weights_)
    assert (model.estimator_weights_ > 0).all()
    assert len(model.estimators_) == len(model.estimator_weights_) <= model.n_iter_ - 1


def test_the_certificate_is_that_of_the_vote():
    X, y = small_sample(5, rows=60, noise=0.3)
    model = LPBoostClassifier(nu=0.2).fit(X, y)
    certificate = model.certificate_
    assert certificate.holds()
    np.testing.assert_allclose(certificate.margins, y * model.decision_function(X), atol=1e-12)
    errors = [np.mean(predictions != y) for predictions in model.staged_predict(X)]
    np.testing.assert_allclose(certificate.training_errors, errors)
    assert certificate.product is None
    assert "linear program" in certificate.missing["product"]
    again = theory_certificate(model, X, y)
    np.testing.assert_allclose(again.margins, certificate.margins, atol=1e-12)


def test_the_soft_margin_of_a_vote_is_the_best_over_all_levels():
    random = np.random.default_rng(0)
    levels = np.linspace(-4, 4, 8001)
    for _ in range(20):
        margins = random.normal(size=12).round(1)
        caps = np.minimum(random.uniform(0.05, 0.4, size=12), 1)
        rho, value = soft_margin(margins, caps)
        values = levels - np.maximum(levels[:, None] - margins, 0) @ caps
        assert value == pytest.approx(values.max(), abs=2e-3)
        assert rho - caps @ np.maximum(rho - margins, 0) == pytest.approx(value)


def test_the_linear_program_of_a_game_has_its_value():
    worths = np.random.default_rng(0).choice([-1.0, 1.0], size=(9, 6))
    program = MarginProgram(np.ones(9))
    for column in worths.T:
        program.add(column)
    found = program.solve()
    game = game_value(worths.T)  # hypotheses maximise the agreement, rows minimise it
    assert found.value == pytest.approx(game.value)
    assert (worths @ found.vote).min() == pytest.approx(game.value)
    assert (found.distribution @ worths).max() == pytest.approx(game.value)


def test_too_few_rounds_give_a_warning():
    X, y = small_sample(0, rows=80, noise=0.5)
    with pytest.warns(
        ConvergenceWarning, match="not converged after 2 rounds: the value of the vote is"
    ):
        model = LPBoostClassifier(n_estimators=2, nu=0.1).fit(X, y)
    assert model.gap_ > 1e-6


@pytest.mark.parametrize("learner", [GaussianNB(), TheirTree(max_depth=2, random_state=0)])
def test_any_learner_can_be_boosted(learner):
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LPBoostClassifier(learner, 30, nu=0.2, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


GREEDY = [
    bosquet.DecisionTreeClassifier(max_depth=2),
    TheirTree(max_depth=2, random_state=0),
    TheirTree(splitter="random", max_depth=1, random_state=0),
    SVC(),
]


@pytest.mark.parametrize("learner", GREEDY, ids=lambda learner: type(learner).__module__)
def test_a_learner_without_an_optimal_search_gives_no_bound(learner):
    X, y = make_moons(200, noise=0.25, random_state=1)
    model = LPBoostClassifier(learner, nu=0.0, random_state=0).fit(X, y)
    assert model.upper_bound_ is None
    assert model.gap_ is None
    # No hypothesis found is better than the vote under this distribution.
    assert model.agreement_ <= model.value_ + 1e-6
    found = maximal_margin(X, y, learner, random_state=0)
    assert not found.exact
    assert found.upper_bound is None
    assert found.gap is None
    text = repr(found)
    assert "no upper bound" in text
    assert "no vote has a margin above" not in text
    assert f"{found.learner} found a hypothesis" in text
    margins = (2 * y - 1) * found.model.decision_function(X)
    assert margins.min() == pytest.approx(found.rho, abs=1e-9)


def test_the_largest_margin_of_a_greedy_learner_does_not_bound_that_of_another():
    # The largest margin of one learner is not a bound for the other: its votes exceed it, although both
    # learners are trees of depth 2.
    X, y = make_moons(200, noise=0.25, random_state=1)
    ours = maximal_margin(X, y, bosquet.DecisionTreeClassifier(max_depth=2))
    theirs = maximal_margin(X, y, TheirTree(max_depth=2, random_state=0))
    assert theirs.rho > ours.rho + 0.01
    assert theirs.rho > ours.agreement + 0.01


def test_a_saved_vote_of_trees_has_no_bound_either(tmp_path):
    X, y = make_moons(100, noise=0.25, random_state=1)
    model = LPBoostClassifier(bosquet.DecisionTreeClassifier(max_depth=2)).fit(X, y)
    model.save(tmp_path / "model.bosquet")
    again = bosquet.load(tmp_path / "model.bosquet")
    assert again.upper_bound_ is None
    assert again.agreement_ == model.agreement_


def test_too_few_rounds_of_a_greedy_learner_give_a_warning_without_a_bound():
    X, y = make_moons(200, noise=0.25, random_state=1)
    with pytest.warns(
        ConvergenceWarning, match="not converged after 2 rounds: the learner still finds"
    ):
        LPBoostClassifier(TheirTree(max_depth=2, random_state=0), 2, nu=0.0).fit(X, y)


class Coin(ClassifierMixin, BaseEstimator):
    """Predict the wrong class for most rows."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, self.classes_[0], self.classes_[1])


def test_a_greedy_learner_without_an_edge_does_not_prove_that_no_vote_has_one():
    X, y = small_sample(0)
    found = maximal_margin(X, y, Coin())
    assert found.model is None
    assert found.rho == -1
    assert found.upper_bound is None
    assert "no edge under equal weights" in repr(found)


def test_the_largest_margin_is_defined_for_two_classes_only():
    with pytest.raises(ValueError, match=r"3 classes.*the largest margin needs two"):
        maximal_margin([[0.0], [1.0], [2.0]], [0, 1, 2])


def test_row_weights_cap_the_distribution():
    X, y = small_sample(2, rows=40, noise=1.0)
    weight = np.random.default_rng(0).integers(0, 3, 40)
    weighted = LPBoostClassifier(nu=0.4).fit(X, y, weight)
    repeated = LPBoostClassifier(nu=0.4).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.value_ == pytest.approx(repeated.value_, abs=2e-6)
    share = weight / weight.sum()
    assert (weighted.row_distribution_ <= share / 0.4 + 1e-9).all()


def test_a_learner_without_an_edge_raises_with_its_error():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.raises(ValueError, match=r"no better than chance.*ε = 0\.5"):
        LPBoostClassifier().fit(X, [0, 1, 1, 0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nu": -0.1}, "nu=-0.1 is not valid"),
        ({"nu": 1.1}, "nu=1.1 is not valid"),
        ({"tol": -1}, "tol=-1 is not valid"),
        ({"n_estimators": 0}, "n_estimators=0 is not valid"),
    ],
)
def test_parameters_out_of_range_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        LPBoostClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_saved_and_pickled_models_are_the_same(tmp_path):
    X, y = small_sample(1, noise=0.5)
    model = LPBoostClassifier(nu=0.3).fit(X, np.where(y > 0, "b", "a"))
    model.save(tmp_path / "model.bosquet")
    for again in (bosquet.load(tmp_path / "model.bosquet"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert (again.rho_, again.value_, again.gap_) == (model.rho_, model.value_, model.gap_)
        np.testing.assert_array_equal(again.estimator_weights_, model.estimator_weights_)


def test_works_in_a_pipeline_and_in_a_grid_search():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LPBoostClassifier(tol=1e-2))
    search = GridSearchCV(pipeline, {"lpboostclassifier__nu": [0.1, 0.3]}, cv=2)
    assert search.fit(X[:250], y[:250]).best_score_ > 0.9


# --------------------------------------------------------------------- as a game
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 500))
def test_the_largest_margin_is_the_value_of_the_game_against_the_rows(seed):
    X, y = small_sample(seed, rows=15, noise=0.3)
    predictions = every_stump(X)
    game = game_value(
        (y[:, None] * predictions).T
    )  # one row per hypothesis, which maximises the agreement
    found = maximal_margin(X, y)
    assert found.rho == pytest.approx(game.value, abs=2e-6)
    assert found.gamma == found.rho / 2
    if found.rho > 1e-6:
        least_error = (
            ((predictions != y[:, None]) * found.row_distribution[:, None]).sum(axis=0).min()
        )
        assert 0.5 - least_error == pytest.approx(found.gamma, abs=2e-6)


def test_three_rows_of_which_every_stump_classifies_two_have_margin_one_third():
    found = maximal_margin([[0.0], [1.0], [2.0]], [1, -1, 1])
    assert found.rho == pytest.approx(1 / 3)
    assert found.gamma == pytest.approx(1 / 6)
    np.testing.assert_allclose(found.row_distribution, 1 / 3)
    assert "rho = 0.333333, so gamma = rho / 2 = 0.166667" in repr(found)


def test_rows_that_a_single_stump_separates_have_margin_one():
    assert maximal_margin([[0.0], [1.0]], [0, 1]).rho == pytest.approx(1)


def test_xor_has_no_margin_and_a_distribution_that_proves_it():
    found = maximal_margin(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0])
    assert found.rho == found.gamma == 0
    np.testing.assert_allclose(found.row_distribution, 1 / 4)
    assert found.model is None


@parametrize_with_checks([LPBoostClassifier(tol=1e-3), LPBoostClassifier(GaussianNB(), 5, nu=0.3)])
def test_passes_check_estimator(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)

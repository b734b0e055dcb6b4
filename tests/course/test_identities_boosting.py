"""Equalities and bounds of the course on boosting, by the number of the item."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bosquet import AdaBoostClassifier, GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.boosting import WorseThanChance
from bosquet.datasets import Twonorm
from bosquet.explain import importance
from bosquet.theory import game_value, maximal_margin, pieces_as_vote, vc_dim_of_votes

# Boosting often ends after one or two rounds on small tables, with a warning.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TAME = settings(max_examples=40, deadline=None)
ONE_TREE = {
    "n_estimators": 1,
    "learning_rate": 1.0,
    "max_leaf_nodes": 2,
    "min_samples_leaf": 1,
    "min_child_weight": 0.0,
    "max_features": None,
    "early_stopping": False,
    "n_jobs": 1,
}


@st.composite
def tables(draw, rows=(6, 40)):
    n = draw(st.integers(*rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.integers(3, 20)), (n, draw(st.integers(1, 4)))).astype(float)
    signal = X @ rng.normal(size=X.shape[1]) + draw(st.floats(0, 3)) * rng.normal(size=n)
    y = np.where(signal > np.median(signal), 1, -1)
    assume(abs(y.sum()) < n)
    return X, y


class RecordingTree(DecisionTreeClassifier):
    """A tree that records its sample weights."""

    weights: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.weights.append(np.array(sample_weight))
        return super().fit(X, y, sample_weight)


def all_stumps(X):
    """Return the predictions of every stump for every row: each threshold of each column, with both signs."""
    predictions = [np.ones(len(X))]
    for column in X.T:
        predictions += [np.where(column <= at, 1.0, -1.0) for at in np.unique(column)[:-1]]
    return np.array([*predictions, *(-h for h in predictions)])


def boosted(table, **options):
    """Return a fitted AdaBoost on stumps; tables with a perfect stump are skipped."""
    X, y = table
    try:
        model = AdaBoostClassifier(n_estimators=8, n_jobs=1, **options).fit(X, y)
    except WorseThanChance:
        assume(False)
    assume(model.certificate_.errors.min() > 0)
    return X, y, model


def rounds(X, y, model):
    """Yield w_t(i), h_t(x_i), α_t, Z_t and f_t(x_i) of every round, from the staged votes."""
    certificate = model.certificate_
    weights, before = np.full(len(y), 1 / len(y)), np.zeros(len(y))
    columns = zip(
        certificate.alphas, certificate.normalisers, model.staged_decision_function(X), strict=True
    )
    for alpha, Z, f in columns:
        h = (f - before) / alpha
        yield weights, h, alpha, Z, f
        weights = weights * np.exp(-alpha * y * h) / Z
        before = f


@TAME
@given(tables())
def test_item_22_the_gain_of_a_stump_is_its_decrease_of_inertia_and_the_largest_is_100(table):
    X, y = table[0], table[0] @ np.arange(1, table[0].shape[1] + 1.0)
    model = GradientBoostingRegressor(**{**ONE_TREE, "n_estimators": 3, "learning_rate": 0.5})
    model.fit(X, y)
    drops, before = np.zeros(X.shape[1]), np.full(len(y), y.mean())
    for after in model.staged_predict(X):
        step = after - before
        parts = np.unique(step.round(9))
        assume(len(parts) == 2)
        left = np.isclose(step, parts[0], atol=1e-6)
        column = [
            j
            for j in range(X.shape[1])
            if X[left, j].max() < X[~left, j].min() or X[left, j].min() > X[~left, j].max()
        ]
        assume(len(column) == 1)
        r, n1, n2 = y - before, left.sum(), (~left).sum()
        # With the penalty λ = 1 of the default, in place of n1 n2 / n (m1 - m2)².
        gain = r[left].sum() ** 2 / (n1 + 1) + r[~left].sum() ** 2 / (n2 + 1)
        drops[column[0]] += gain - r.sum() ** 2 / (len(y) + 1)
        before = after
    found = importance(model, kind="gain")
    assert found.scaled.max() == pytest.approx(100)
    np.testing.assert_allclose(found.scaled, 100 * drops / drops.max(), rtol=1e-3, atol=1e-2)


@TAME
@given(tables())
def test_item_23_multiplying_only_the_weights_of_misclassified_rows_is_equivalent(table):
    X, y, model = boosted(table)
    weights = np.full(len(y), 1 / len(y))
    for w, h, alpha, _, _ in rounds(X, y, model):
        np.testing.assert_allclose(weights, w, rtol=1e-6)
        raised = weights * np.exp(2 * alpha * (y * h < 0))
        weights = raised / raised.sum()
    np.testing.assert_allclose(model.estimator_weights_, 2 * model.certificate_.alphas, rtol=1e-9)


@settings(max_examples=12, deadline=None)
@given(tables())
def test_item_25_the_row_weights_are_exponentials_of_margins(table):
    RecordingTree.weights.clear()
    X, y, model = boosted(table, estimator=RecordingTree(max_depth=1))
    Z = model.certificate_.normalisers
    votes = [np.zeros(len(y)), *model.staged_decision_function(X)]
    assert len(RecordingTree.weights) >= len(Z)
    for t, (w, f) in enumerate(zip(RecordingTree.weights, votes, strict=False)):
        np.testing.assert_allclose(w / w.sum(), np.exp(-y * f) / (len(y) * Z[:t].prod()))


@TAME
@given(tables())
def test_item_25_z_normalises_the_weights_and_follows_from_the_error(table):
    X, y, model = boosted(table)
    for (w, h, alpha, Z, _), error in zip(
        rounds(X, y, model), model.certificate_.errors, strict=True
    ):
        assert w.sum() == pytest.approx(1)
        assert (w * np.exp(-alpha * y * h)).sum() == pytest.approx(Z)
        # The error that the learner had is its error under these weights, so they are the weights.
        assert w[y * h < 0].sum() == pytest.approx(error, rel=1e-6, abs=1e-12)
        assert pytest.approx(2 * np.sqrt(error * (1 - error)), rel=1e-6) == Z


@TAME
@given(tables(), st.floats(-3, 3))
def test_item_25_alpha_minimises_z(table, other):
    X, y, model = boosted(table)
    for w, h, alpha, Z, _ in rounds(X, y, model):
        assert alpha == pytest.approx(0.5 * np.log((1 - w[y * h < 0].sum()) / w[y * h < 0].sum()))
        assert (w * np.exp(-other * y * h)).sum() >= Z - 1e-9


@TAME
@given(tables())
def test_item_25_after_the_update_misclassified_rows_have_half_of_the_weight(table):
    X, y, model = boosted(table)
    for w, h, alpha, Z, _ in rounds(X, y, model):
        after = w * np.exp(-alpha * y * h) / Z
        assert after[y * h < 0].sum() == pytest.approx(0.5, rel=1e-6)


@TAME
@given(tables())
def test_item_26_the_training_error_satisfies_its_three_bounds(table):
    X, y, model = boosted(table)
    edges = 0.5 - model.certificate_.errors
    product = np.cumprod(model.certificate_.normalisers)
    for t, predicted in enumerate(model.staged_predict(X)):
        wrong = np.mean(predicted != y)
        by_edges = np.exp(-2 * (edges[: t + 1] ** 2).sum())
        assert wrong <= product[t] + 1e-9
        assert product[t] <= by_edges + 1e-9
        assert by_edges <= np.exp(-2 * edges[: t + 1].min() ** 2 * (t + 1)) + 1e-9


@TAME
@given(tables(), st.floats(0.05, 0.9))
def test_item_26_with_shrunk_alpha_the_product_is_still_a_bound(table, rate):
    X, y, model = boosted(table, learning_rate=rate)
    product = np.cumprod(model.certificate_.normalisers)
    for t, f in enumerate(model.staged_decision_function(X)):
        assert np.exp(-y * f).mean() == pytest.approx(product[t], rel=1e-6)
        assert np.mean(y * f <= 0) <= product[t] + 1e-9


@TAME
@given(tables())
def test_item_28_the_steepest_coordinate_is_the_stump_with_the_smallest_error(table):
    X, y, model = boosted(table)
    product, stumps = 1.0, all_stumps(X)
    rounds_and_errors = zip(rounds(X, y, model), model.certificate_.errors, strict=True)
    for (_, h, alpha, Z, f), error in rounds_and_errors:
        loss = np.exp(-y * (f - alpha * h))  # of every row before this round
        slopes = -stumps @ (y * loss)
        assert slopes.min() == pytest.approx(-(1 - 2 * error) * len(y) * product, rel=1e-6)
        assert -(h * y * loss).sum() == pytest.approx(slopes.min(), rel=1e-6)
        # The derivative along h is 0 after the step.
        assert (h * y * np.exp(-y * f)).sum() == pytest.approx(0, abs=1e-6 * len(y))
        product *= Z


@given(st.integers(3, 60), st.integers(3, 60))
def test_item_30_the_dimension_of_votes_follows_from_counting_labellings(T, d):
    # m rows can be labelled in at most m^((d+1)T) ways: beyond the bound that is less than all 2^m.
    for m in (int(vc_dim_of_votes(T, d)) + 1, 2 * int(vc_dim_of_votes(T, d))):
        assert m * np.log(2) > (d + 1) * T * np.log(m)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 6))
def test_item_30_any_piecewise_constant_function_is_a_vote_of_stumps(data, cuts):
    places = sorted(data.draw(st.sets(st.integers(-50, 50), min_size=cuts, max_size=cuts)))
    values = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=cuts + 1, max_size=cuts + 1))
    vote = pieces_as_vote(places, values)
    assert vote.thresholds.size <= cuts
    x = np.linspace(-51, 51, 205)
    pieces = np.asarray(values)[np.searchsorted(places, x, side="left")]
    np.testing.assert_allclose(vote.decision_function(x), pieces, atol=1e-12)


def test_item_31_after_zero_training_error_margins_increase_and_the_test_error_decreases():
    X, y = Twonorm(5).sample(300, random_state=0)
    X_test, y_test = Twonorm(5).sample(3000, random_state=1)
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)
    model = AdaBoostClassifier(tree, n_estimators=80).fit(X, y)
    signs = np.where(y == model.classes_[1], 1, -1)
    votes = np.array(list(model.staged_decision_function(X)))
    margins = (signs * votes).min(axis=1) / np.cumsum(model.certificate_.alphas)
    test = 1 - np.array(list(model.staged_score(X_test, y_test)))
    first = np.argmax(margins > 0)  # from this round on the vote is right on every row
    assert 0 < first < 40
    assert (margins[first:] > 0).all()
    assert margins[-1] > margins[first] + 0.05
    assert test[-20:].mean() < test[first] - 0.01


@TAME
@given(st.data(), st.integers(1, 5), st.integers(1, 5))
def test_item_33_both_players_guarantee_the_value_of_a_game(data, rows, columns):
    line = st.lists(st.integers(-9, 9), min_size=columns, max_size=columns)
    M = np.array(data.draw(st.lists(line, min_size=rows, max_size=rows)), dtype=float)
    game = game_value(M)
    p, q = game.row_strategy, game.column_strategy
    assert p.sum() == pytest.approx(1)
    assert q.sum() == pytest.approx(1)
    assert min(p.min(), q.min()) >= 0
    # max_p min_j p·M e_j = value = min_q max_i e_i·M q
    assert (p @ M).min() == pytest.approx(game.value, abs=1e-7)
    assert (M @ q).max() == pytest.approx(game.value, abs=1e-7)
    assert M.min(axis=1).max() - 1e-9 <= game.value <= M.max(axis=0).min() + 1e-9


@settings(max_examples=25, deadline=None)
@given(tables(rows=(4, 14)))
def test_item_33_the_largest_margin_is_twice_the_edge_under_the_hardest_weights(table):
    X, y = table
    agreement = y * all_stumps(X)  # rows of the game are stumps, columns the rows of the table
    game = game_value(agreement)
    found = maximal_margin(X, y)
    rho = max(game.value, 0.0)
    assert found.rho == pytest.approx(rho, abs=1e-5)
    assert found.gamma == pytest.approx(rho / 2, abs=1e-5)
    # Under any weights some stump has an agreement of at least ρ; under D none has more.
    D = game.column_strategy
    assert (agreement @ D).max() == pytest.approx(game.value, abs=1e-7)
    errors = ((1 - agreement) / 2) @ D
    assert 0.5 - errors.min() == pytest.approx(game.value / 2, abs=1e-7)


LOSSES = {  # value, and derivative with respect to the prediction
    "squared_error": (lambda y, F: (y - F) ** 2 / 2, lambda y, F: F - y),
    "absolute_error": (lambda y, F: np.abs(y - F), lambda y, F: np.sign(F - y)),
    "log_cosh": (lambda y, F: np.log(np.cosh(y - F)), lambda y, F: np.tanh(F - y)),
}


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=8, deadline=None)
@given(table=tables(rows=(15, 40)), seed=st.integers(0, 2**16))
def test_item_37_each_round_fits_the_pseudo_residuals_and_searches_the_best_step(loss, table, seed):
    X, y = table[0], np.random.default_rng(seed).normal(size=len(table[0]))
    value, slope = LOSSES[loss]
    learner = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = GradientBoostingRegressor(
        loss, estimator=learner, n_estimators=3, learning_rate=1.0, early_stopping=False
    ).fit(X, y)
    F = np.full(len(y), np.median(y) if loss == "absolute_error" else y.mean())
    if loss == "log_cosh":
        F[:] = minimize_scalar(lambda c: value(y, c).sum()).x
    for after in model.staged_predict(X):
        residuals, nudge = -slope(y, F), np.random.default_rng(seed).normal(size=len(y))
        h, *others = (
            clone(learner).fit(X, residuals + size * nudge).predict(X)
            for size in (0.0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-9, -1e-9)
        )
        assume(np.ptp(h) > 1e-6)
        # The residuals inside the fit differ by rounding, which decides between equally good splits.
        assume(all(np.allclose(h, other, atol=1e-6) for other in others))
        alpha = (after - F) @ h / (h @ h)
        np.testing.assert_allclose(after, F + alpha * h, atol=1e-6)
        assert alpha >= 0
        least = min(value(y, F + a * h).sum() for a in np.linspace(0, 3, 301))
        assert value(y, after).sum() <= least + 1e-6
        F = after


@TAME
@given(tables(), st.floats(0, 10), st.integers(0, 2**16))
def test_item_39_leaves_of_squared_loss_are_regularised_mean_residuals(table, penalty, seed):
    X, y = table[0], np.random.default_rng(seed).normal(size=len(table[0]))
    model = GradientBoostingRegressor(**ONE_TREE, l2_regularization=penalty).fit(X, y)
    step = model.predict(X) - y.mean()
    leaves = np.unique(step.round(8))
    assume(len(leaves) == 2)
    for value in leaves:
        rows = np.isclose(step, value, atol=1e-7)
        r = y[rows] - y.mean()
        assert value == pytest.approx(r.sum() / (rows.sum() + penalty), abs=1e-5)


@TAME
@given(tables(), st.floats(0, 10))
def test_item_39_leaves_of_logistic_loss_are_newton_steps(table, penalty):
    X, y = table[0], (table[1] + 1) / 2
    model = GradientBoostingClassifier(**ONE_TREE, l2_regularization=penalty).fit(X, y)
    p = y.mean()
    step = model.decision_function(X) - np.log(p / (1 - p))
    leaves = np.unique(step.round(8))
    assume(len(leaves) == 2)
    for value in leaves:
        rows = np.isclose(step, value, atol=1e-7)
        newton = (y[rows] - p).sum() / (rows.sum() * p * (1 - p) + penalty)
        assert value == pytest.approx(newton, rel=1e-5, abs=1e-5)


@TAME
@given(tables(), st.floats(0, 10), st.floats(0, 3), st.integers(0, 2**16))
def test_item_39_the_split_with_the_largest_gain_is_made_if_it_exceeds_the_cost_of_a_leaf(
    table, penalty, price, seed
):
    X, y = table[0], np.random.default_rng(seed).normal(size=len(table[0]))
    r = y - y.mean()

    def gain(left):
        parts = [(r[side].sum() ** 2) / (side.sum() + penalty) for side in (left, ~left)]
        return (sum(parts) - r.sum() ** 2 / (len(y) + penalty)) / 2

    best = max((gain(h > 0) for h in all_stumps(X) if abs(h.sum()) < len(y)), default=0.0)
    assume(abs(best - price) > 0.01)
    model = GradientBoostingRegressor(
        **ONE_TREE, l2_regularization=penalty, min_split_gain=price
    ).fit(X, y)
    step = model.predict(X) - y.mean()
    if best < price:
        np.testing.assert_allclose(step, 0, atol=1e-6)
    else:
        assert gain(step > step.mean()) == pytest.approx(best, rel=1e-3, abs=1e-3)

"""Decision trees: pruning, priors and costs, missing values, saving."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import tree as sklearn_tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import bosquet
from bosquet import DecisionTreeClassifier, DecisionTreeRegressor
from bosquet._sklearn import check_random_state
from bosquet.trees import predicted_classes, prune_to
from bosquet.trees.traversal import leaves_by_surrogates


@parametrize_with_checks(
    [
        DecisionTreeClassifier(),
        DecisionTreeRegressor(),
        DecisionTreeClassifier(criterion="entropy", missing="surrogate", max_leaf_nodes=8),
        DecisionTreeRegressor(criterion="absolute_error", max_depth=3),
    ]
)
def test_passes_check_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X.astype(np.float32), y


# ------------------------------------------------------------------------- pruning
def test_ccp_alpha_has_the_same_meaning_as_in_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32)
    ours = DecisionTreeRegressor(min_samples_leaf=5)
    theirs = sklearn_tree.DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    path, expected = (m.cost_complexity_pruning_path(X, y) for m in (ours, theirs))
    # scikit-learn breaks ties between columns at random, deep in the tree; the small subtrees agree.
    np.testing.assert_allclose(path.ccp_alphas[-8:], expected.ccp_alphas[-8:], rtol=1e-6)
    np.testing.assert_allclose(path.impurities[-8:], expected.impurities[-8:], rtol=1e-6)
    np.testing.assert_allclose(path.gammas, path.ccp_alphas * len(y))
    alpha = (expected.ccp_alphas[-6] + expected.ccp_alphas[-5]) / 2
    pruned = [m.set_params(ccp_alpha=alpha).fit(X, y) for m in (ours, theirs)]
    np.testing.assert_allclose(pruned[0].predict(X), pruned[1].predict(X))


def test_cross_validation_prunes_to_a_tree_that_predicts_better(cancer):
    X, y = cancer
    train, test = np.arange(0, 569, 2), np.arange(1, 569, 2)
    full = DecisionTreeClassifier().fit(X[train], y[train])
    pruned = DecisionTreeClassifier(pruning="cv", random_state=0).fit(X[train], y[train])
    assert pruned.get_n_leaves() < full.get_n_leaves()
    assert pruned.score(X[test], y[test]) >= full.score(X[test], y[test]) - 0.01
    table = pruned.pruning_table_
    assert table.chosen_leaves == pruned.get_n_leaves()
    columns = table.columns()
    assert len({len(column) for column in columns.values()}) == 1


def test_the_one_se_rule_does_not_choose_a_larger_tree(cancer):
    X, y = cancer
    leaves = [
        DecisionTreeClassifier(pruning="cv", pruning_rule=rule, random_state=1)
        .fit(X, y)
        .get_n_leaves()
        for rule in ("min", "1se")
    ]
    assert leaves[1] <= leaves[0]


def test_the_cross_validation_error_agrees_with_a_calculation_by_hand():
    """Computed again for each fold and each penalty."""
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(pruning="cv", cv=5, random_state=3).fit(X, y)
    table, path = model.pruning_table_, model.pruning_path_
    order = check_random_state(3).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), dtype=int)
    folds[order] = np.arange(len(y)) % 5
    wrong = np.zeros(path.n_steps)
    for fold in range(5):
        train, test = folds != fold, folds == fold
        for step, gamma in enumerate(path.gammas_between(train.sum())):
            tree = DecisionTreeClassifier(random_state=3).fit(X[train], y[train])
            cut = prune_to(tree.tree_, min(gamma, 1e9), cost="misclassified")
            leaf = leaves_by_surrogates(cut, X[test], [0] * 4)
            wrong[step] += (predicted_classes(cut)[leaf] != y[test]).sum()
    np.testing.assert_allclose(table.columns()["error"], wrong / len(y))


def test_pruning_on_a_validation_set_grows_on_the_other_rows(cancer):
    X, y = cancer
    model = DecisionTreeClassifier(pruning="validation", random_state=0).fit(X, y)
    assert model.tree_.n_rows[0] == pytest.approx(0.75 * len(y), abs=2)
    assert model.get_n_leaves() < 20


def test_regression_trees_are_pruned_by_squared_error():
    X, y = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor(pruning="cv", random_state=0, min_samples_leaf=5).fit(X, y)
    assert 2 <= model.get_n_leaves() <= 20
    two = DecisionTreeRegressor(pruning="cv", random_state=0, min_samples_leaf=5)
    assert two.fit(X, np.column_stack([y, -y])).get_n_leaves() >= 2


# --------------------------------------------------------------- priors and costs
def test_priors_change_the_classes_of_leaves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 1))
    y = (X[:, 0] + 1.5 * rng.normal(size=1000) > 1.5).astype(int)
    plain = DecisionTreeClassifier(max_leaf_nodes=8).fit(X, y)
    even = DecisionTreeClassifier(max_leaf_nodes=8, priors=[0.5, 0.5]).fit(X, y)
    assert even.predict(X).mean() > plain.predict(X).mean() + 0.1
    # The values of a tree with a single leaf are the priors.
    stump = DecisionTreeClassifier(max_depth=1, min_samples_leaf=500, priors=[0.3, 0.7])
    np.testing.assert_allclose(stump.fit(X, y).tree_.value[0], [0.3, 0.7])


def test_priors_may_be_a_dict_or_have_another_sum_than_one():
    X, y = load_iris(return_X_y=True)
    by_label = DecisionTreeClassifier(max_depth=2, priors={0: 0.2, 1: 0.3, 2: 0.5}).fit(X, y)
    with pytest.warns(UserWarning, match="sum to 2"):
        doubled = DecisionTreeClassifier(max_depth=2, priors=[0.4, 0.6, 1.0]).fit(X, y)
    np.testing.assert_array_equal(by_label.predict_proba(X), doubled.predict_proba(X))


def test_costs_move_decisions_to_the_cheaper_mistake():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = (X[:, 0] + rng.normal(size=1000) > 0).astype(int)
    plain = DecisionTreeClassifier(max_leaf_nodes=8).fit(X, y)
    costly = DecisionTreeClassifier(max_leaf_nodes=8, costs=[[0, 1], [10, 0]]).fit(X, y)
    # Predicting 0 for class 1 costs ten times as much, so class 1 is predicted more often.
    assert costly.predict(X).mean() > plain.predict(X).mean() + 0.1
    probabilities = costly.predict_proba(X)
    cheapest = (probabilities @ np.array([[0, 1], [10, 0]])).argmin(axis=1)
    np.testing.assert_array_equal(costly.predict(X), cheapest)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": [[0, 1]]}, "costs has shape"),
        ({"costs": [[0, 1, 1], [1, 0, 1], [-1, 1, 0]]}, r"costs\[2, 0\] is -1"),
        (
            {"costs": [[1, 1, 1], [1, 0, 1], [1, 1, 0]]},
            "the cost of a correct prediction must be 0",
        ),
        ({"priors": [0.5, 0.5]}, "priors has shape"),
        ({"priors": "foo"}, "priors must be one number >= 0 per class, as a list or as a dict"),
        ({"costs": "foo"}, "costs='foo' is not valid: costs must be a matrix of numbers"),
        ({"costs": [[0, np.nan, 1], [1, 0, 1], [1, 1, 0]]}, r"costs\[0, 1\] is nan"),
        ({"max_depth": 10**12}, r"max_depth must be an integer in \[1, 2147483647\]"),
        ({"min_samples_leaf": 10**12}, r"must be an integer in \[1, 2147483647\], or a fraction"),
        ({"priors": [0.5, 0.6, -0.1]}, ">= 0"),
        ({"priors": {0: 0.5, 1: 0.5}}, "no entry for the class 2"),
        ({"pruning": "cv", "ccp_alpha": 0.1}, "use ccp_alpha=0"),
        ({"pruning": "cv", "pruning_measure": "cost"}, "needs a cost matrix"),
        ({"pruning": "cv", "cv": 1}, "cv must be an integer >= 2"),
        ({"criterion": "squared_error"}, "criterion='squared_error' is not valid"),
        ({"max_depth": 0}, "max_depth=0 is not valid"),
        ({"min_samples_split": 1}, "min_samples_split=1 is not valid"),
    ],
)
def test_an_invalid_parameter_is_named(options, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        DecisionTreeClassifier(**options).fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, -2.0, -3.0], r"y >= 0, but y\[1\] is -2 \(and 1 more row\); correct y"),
        ([0.0, 0.0, 0.0], "y > 0 in at least one row, but all y are 0; use another criterion"),
    ],
)
def test_a_target_that_is_no_count_is_named(y, message):
    with pytest.raises(ValueError, match=message):
        DecisionTreeRegressor(criterion="poisson").fit(np.eye(3), y)


def test_names_may_be_strings_of_numpy():
    X, y = load_iris(return_X_y=True)
    options = {"criterion": "entropy", "missing": "surrogate", "pruning": "cv"}
    expected = DecisionTreeClassifier(**options, random_state=0).fit(X, y)
    from_grid = {name: np.str_(value) for name, value in options.items()}
    model = DecisionTreeClassifier(**from_grid, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


# ----------------------------------------------------------------- missing values
def test_missing_values_go_to_the_side_that_decreases_the_impurity():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = (x > 0).astype(int)
    x[:60] = np.nan
    y[:60] = 1
    model = DecisionTreeClassifier(max_depth=1).fit(x[:, None], y)
    np.testing.assert_array_equal(model.predict(x[:, None]), y)


def test_surrogate_splits_replace_a_split_on_a_missing_value():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X = np.column_stack([x, -x + 0.01 * rng.normal(size=400), rng.normal(size=400)])
    y = (x > 0).astype(int)
    model = DecisionTreeClassifier(missing="surrogate", max_depth=1).fit(X, y)
    root = model.tree_.surrogates[0]
    primary = int(model.tree_.feature[0])
    assert root[0]["feature"] == 1 - primary
    assert root[0]["reversed"]
    assert root[0]["agreement"] > 0.95
    blind = X.copy()
    blind[:, primary] = np.nan
    assert (model.predict(blind) == y).mean() > 0.95
    direction = DecisionTreeClassifier(max_depth=1).fit(X, y)
    assert (direction.predict(blind) == y).mean() < 0.7


def test_rows_with_missing_values_are_routed_by_surrogates_in_training():
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    X = np.column_stack([x, x + 0.1 * rng.normal(size=400)])
    y = (x > 0.3).astype(float)
    X[:100, 0] = np.nan
    model = DecisionTreeRegressor(missing="surrogate", max_depth=1).fit(X, y)
    leaf = model.apply(X)
    for node in (1, 2):
        assert model.tree_.n_rows[node] == (leaf == node).sum()
        assert model.tree_.value[node, 0] == pytest.approx(y[leaf == node].mean())


# ---------------------------------------------------------------- other properties
def test_a_tree_has_the_same_bits_for_any_container():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    first = DecisionTreeClassifier().fit(X, y)
    for other in (frame, np.asfortranarray(X), X.tolist()):
        again = DecisionTreeClassifier().fit(other, y)
        np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(other))
        np.testing.assert_array_equal(first.tree_.threshold, again.tree_.threshold)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(missing="surrogate", priors=[0.2, 0.3, 0.5]),
        DecisionTreeClassifier(costs=[[0, 1, 2], [3, 0, 1], [1, 1, 0]], max_depth=3),
        DecisionTreeRegressor(criterion="absolute_error", max_depth=4),
    ],
)
def test_a_tree_is_the_same_after_saving_and_loading(model, tmp_path):
    X, y = load_iris(return_X_y=True)
    X[::7, 2] = np.nan
    model.fit(X, y)
    model.save(tmp_path / "tree.bosquet")
    for other in (bosquet.load(tmp_path / "tree.bosquet"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(model.predict(X), other.predict(X))
        np.testing.assert_array_equal(model.tree_.value, other.tree_.value)
        assert model.export_text() == other.export_text()
        assert other.tree_.surrogates == model.tree_.surrogates


def test_importances_depth_and_paths_agree_with_the_tree(cancer):
    X, y = cancer
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.get_depth() == 3
    path = model.decision_path(X[:5])
    assert path.shape == (5, model.tree_.n_nodes)
    assert (path[:, 0].toarray() == 1).all()
    np.testing.assert_array_equal(np.asarray(path.sum(axis=1)).ravel() <= 4, True)


def test_monotonic_constraints_are_satisfied():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = X[:, 0] + rng.normal(size=500)
    model = DecisionTreeRegressor(monotonic_cst=[1, 0], min_samples_leaf=5).fit(X, y)
    grid = np.column_stack([np.linspace(-3, 3, 100), np.zeros(100)])
    assert (np.diff(model.predict(grid)) >= -1e-12).all()


def test_competitors_are_stored_in_the_order_of_their_gains(cancer):
    X, y = cancer
    tree = DecisionTreeClassifier(max_depth=1, max_competitors=3).fit(X, y).tree_
    assert len(tree.competitors[0]) == 3
    gains = [c["gain"] for c in tree.competitors[0]]
    assert gains == sorted(gains, reverse=True)
    assert all(c["feature"] != tree.feature[0] for c in tree.competitors[0])
    assert gains[0] <= tree.gain[0]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", ["direction", "surrogate"])
def test_gains_are_weighted_decreases_of_impurity(criterion, classes, missing):
    """Gains of splits and of competitors are decreases of impurity times the fraction of the rows."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    X = X + np.random.default_rng(0).normal(size=X.shape)
    model = DecisionTreeClassifier(criterion=criterion, missing=missing, min_samples_leaf=4)
    tree = model.fit(X, y).tree_
    for at in np.flatnonzero(~tree.is_leaf):
        left, right = tree.left[at], tree.right[at]
        decrease = tree.weight[at] * tree.impurity[at]
        decrease -= tree.weight[left] * tree.impurity[left]
        decrease -= tree.weight[right] * tree.impurity[right]
        assert tree.gain[at] == pytest.approx(decrease / len(y), rel=1e-5, abs=1e-8)
    rival = tree.competitors[0][0]
    only = DecisionTreeClassifier(criterion=criterion, max_depth=1, min_samples_leaf=4)
    alone = only.fit(X[:, [rival["feature"]]], y).tree_
    assert rival["gain"] == pytest.approx(alone.gain[0], rel=1e-5)

"""Validation errors of all subtrees, standard errors, and the rules that choose a subtree."""

import time

import numpy as np
import pytest
from example_trees import from_sklearn, random_tree
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import KFold, RepeatedKFold
from sklearn.tree import DecisionTreeClassifier

import bosquet
from bosquet.trees import (
    PathErrors,
    PruningPath,
    choose_by_folds,
    errors_along_path,
    predicted_classes,
    prune_to,
    weakest_link_path,
)

COST = np.array([[0, 1, 2], [3, 0, 1], [1, 5, 0.0]])


def losses_one_by_one(tree, path, leaf, y, loss):
    """Return the losses (rows, steps), computed for each subtree separately."""
    columns = []
    for step in range(path.n_steps):
        inner = ~tree.is_leaf & (path.step_of_node > step)
        node = leaf.copy()
        for row in range(len(node)):
            while node[row] and not inner[tree.parents[node[row]]]:
                node[row] = tree.parents[node[row]]
        columns.append(loss(y, node))
    return np.array(columns).T


@pytest.fixture(params=["weighted", "weight 1"])
def validation_case(request):
    rng = np.random.default_rng(0)
    tree = random_tree(rng, n_leaves=40)
    leaf = rng.choice(tree.leaf_ids, 300)
    weight = rng.random(300) * 3 if request.param == "weighted" else None
    return tree, leaf, rng.integers(0, 3, 300), weight


def assert_same_errors(errors, losses, weight):
    w = np.ones(len(losses)) if weight is None else weight
    mean = np.average(losses, axis=0, weights=w)
    se = np.sqrt((w[:, None] ** 2 * (losses - mean) ** 2).sum(axis=0)) / w.sum()
    np.testing.assert_allclose(errors.mean, mean)
    np.testing.assert_allclose(errors.standard_error, se, atol=1e-12)


@pytest.mark.parametrize(
    "loss", ["misclassified", "deviance", COST], ids=["0-1", "deviance", "cost"]
)
def test_one_pass_gives_the_errors_of_each_subtree(validation_case, loss):
    tree, leaf, y, weight = validation_case
    path = weakest_link_path(tree, "deviance")

    def each(y, node):
        if isinstance(loss, np.ndarray):
            return COST[y, predicted_classes(tree, COST)[node]]
        if loss == "deviance":
            return -2 * np.log(np.maximum(tree.value[node, y], np.finfo(float).eps))
        return (predicted_classes(tree)[node] != y).astype(float)

    errors = errors_along_path(tree, path, leaf, y, weight, loss)
    assert_same_errors(errors, losses_one_by_one(tree, path, leaf, y, each), weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_one_pass_gives_accurate_squared_errors_far_from_zero(weighted):
    rng = np.random.default_rng(1)
    tree = random_tree(rng, n_leaves=50, n_classes=0)
    tree.value += 1e6  # where raw sums of powers lose all digits
    leaf = rng.choice(tree.leaf_ids[:-3], 400)  # some leaves are empty
    y = 1e6 + rng.normal(size=400)
    weight = rng.random(400) if weighted else None
    path = weakest_link_path(tree, "squares")
    errors = errors_along_path(tree, path, leaf, y, weight, "squares")
    one_by_one = losses_one_by_one(
        tree, path, leaf, y, lambda y, node: (y - tree.value[node, 0]) ** 2
    )
    assert_same_errors(errors, one_by_one, weight)
    # The general method for any loss gives the same.
    general = errors_along_path(
        tree, path, leaf, y, weight, lambda y, value: (y - value[:, 0]) ** 2
    )
    assert_same_errors(general, one_by_one, weight)


def test_errors_at_given_penalties_are_those_of_the_pruned_trees():
    rng = np.random.default_rng(2)
    X, y = load_breast_cancer(return_X_y=True)
    model = DecisionTreeClassifier(random_state=0).fit(X[::2], y[::2])
    tree = from_sklearn(model)
    path = weakest_link_path(tree)
    gammas = rng.random(20) * path.gammas[-1] / 4
    leaf = model.apply(X[1::2])
    errors = errors_along_path(tree, path, leaf, y[1::2], gammas=gammas)
    for gamma, mean in zip(gammas, errors.mean, strict=True):
        theirs = DecisionTreeClassifier(random_state=0, ccp_alpha=gamma / len(X[::2]))
        theirs.fit(X[::2], y[::2])
        assert theirs.score(X[1::2], y[1::2]) == pytest.approx(1 - mean)
        assert prune_to(tree, gamma, path).n_leaves == theirs.get_n_leaves()


def test_errors_of_folds_add_up_to_those_of_all_rows(validation_case):
    tree, leaf, y, weight = validation_case
    path = weakest_link_path(tree)
    whole = errors_along_path(tree, path, leaf, y, weight)
    some = np.arange(300) % 3 == 0
    parts = [
        errors_along_path(tree, path, leaf[s], y[s], None if weight is None else weight[s])
        for s in (some, ~some)
    ]
    table = choose_by_folds(path, parts)
    np.testing.assert_allclose(table.errors, whole.mean)
    np.testing.assert_allclose(table.standard_errors, whole.standard_error)


def test_the_standard_error_of_an_error_rate_is_binomial():
    losses = np.zeros((50, 1))
    losses[:10] = 1
    assert PathErrors.of_rows(losses).standard_error[0] == pytest.approx(np.sqrt(0.2 * 0.8 / 50))


def path_of(leaves):
    steps = len(leaves)
    return PruningPath(
        gammas=np.arange(steps, dtype=float), leaves=np.array(leaves), costs=np.zeros(steps),
        cuts=[], step_of_node=np.zeros(0, dtype=int), root_weight=10.0, cost="misclassified",
    )  # fmt: skip


def test_ties_go_to_the_smallest_tree():
    losses = np.zeros((10, 4))
    losses[:3, 0] = losses[1:3, 1] = losses[:2, 2] = losses[:9, 3] = 1
    table = choose_by_folds(path_of([9, 5, 3, 1]), losses)
    assert table.chosen_leaves == 3
    assert table.chosen_gamma == 2
    assert table.chosen_ccp_alpha == pytest.approx(0.2)


def test_the_one_se_rule_takes_the_smallest_tree_within_a_standard_error():
    losses = np.zeros((100, 4))
    losses[:20, 0] = losses[:18, 1] = losses[:21, 2] = losses[:30, 3] = 1
    path = path_of([9, 5, 3, 1])  # 0.18 + 0.038 lies between 0.21 and 0.30
    assert choose_by_folds(path, losses, "min").chosen_leaves == 5
    assert choose_by_folds(path, losses, "1se").chosen_leaves == 3


def test_cross_validation_chooses_a_much_smaller_tree_than_the_full_one():
    X, y = load_breast_cancer(return_X_y=True)
    full = from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, y))
    path = weakest_link_path(full, "misclassified")
    folds = []
    for train, test in KFold(10, shuffle=True, random_state=0).split(X):
        model = DecisionTreeClassifier(random_state=0).fit(X[train], y[train])
        tree = from_sklearn(model)
        folds.append(
            errors_along_path(
                tree,
                weakest_link_path(tree, "misclassified"),
                model.apply(X[test]),
                y[test],
                gammas=path.gammas_between(tree.weight[0]),
            )
        )
    table = choose_by_folds(path, folds, loss="misclassified")
    assert folds[0].weight + sum(fold.weight for fold in folds[1:]) == len(y)
    assert table.chosen_leaves < full.n_leaves / 2
    assert table.errors[table.chosen] < 0.09
    assert table.errors[-1] == pytest.approx(1 - np.bincount(y).max() / len(y))
    smaller = choose_by_folds(path, folds, "1se")
    assert smaller.chosen_leaves <= table.chosen_leaves


def test_the_table_is_printed_and_converted_to_a_data_frame():
    losses = np.random.default_rng(0).random((30, 60))
    table = choose_by_folds(path_of(list(range(60, 0, -1))), losses, loss="squares")
    lines = repr(table).splitlines()
    assert lines[0].split() == ["leaves", "gamma", "ccp_alpha", "misclassified", "error", "se"]
    assert sum(line.startswith("*") for line in lines) == 1
    assert "..." in repr(table)
    assert len(lines) < 30
    assert lines[-1].startswith("chosen by the smallest error (squares)")
    html = table._repr_html_()
    assert html.count("<tr") == len(lines) - 1
    assert html.count("bold") == 1
    frame = table.to_frame()
    assert list(frame.columns[:2]) == ["leaves", "gamma"]
    assert frame["chosen"].sum() == 1
    assert len(frame) == len(table) == 60


def test_many_subtrees_need_only_one_pass():
    rng = np.random.default_rng(0)
    tree = random_tree(rng, n_leaves=4000, n_classes=0)
    leaf = rng.choice(tree.leaf_ids, 300_000)
    y = rng.normal(size=len(leaf))
    path = weakest_link_path(tree, "squares")
    assert path.n_steps > 1000
    start = time.perf_counter()
    errors_along_path(tree, path, leaf, y, loss="squares")
    assert time.perf_counter() - start < 2  # 0.1 s on an idle core; 1000 predictions take far more


def test_invalid_arguments_are_named(validation_case):
    tree, leaf, y, _ = validation_case
    path = weakest_link_path(tree)
    with pytest.raises(ValueError, match="loss='gini' is not valid"):
        errors_along_path(tree, path, leaf, y, loss="gini")
    with pytest.raises(ValueError, match="not leaves of the tree"):
        errors_along_path(tree, path, np.zeros_like(leaf), y)
    with pytest.raises(ValueError, match="integers from 0 to 2"):
        errors_along_path(tree, path, leaf, y + 1)
    with pytest.raises(ValueError, match="one entry per row"):
        errors_along_path(tree, path, leaf, y[:5])
    for weight, message in (
        (np.ones(5), "weight has shape \\(5,\\), but there are 300 rows"),
        (
            np.where(np.arange(300) == 3, -1, 1),
            "weight\\[3\\] is -1; weights must be finite and >= 0",
        ),
        (np.zeros(300), "all weights are zero"),
    ):
        with pytest.raises(ValueError, match=message):
            errors_along_path(tree, path, leaf, y, weight=weight)
    with pytest.raises(ValueError, match="one output"):
        errors_along_path(tree, path, leaf, y, loss="squares")
    with pytest.raises(ValueError, match="rule='2se' is not valid"):
        choose_by_folds(path, np.zeros((3, path.n_steps)), "2se")
    with pytest.raises(ValueError, match="fold_errors has errors of 1 subtrees"):
        choose_by_folds(path, np.zeros((3, 1)))
    with pytest.raises(ValueError, match="same subtrees"):
        choose_by_folds(path, [PathErrors.of_rows(np.zeros((3, k))) for k in (1, 2)])


def test_a_splitter_that_tests_a_row_twice_is_rejected():
    X, y = load_breast_cancer(return_X_y=True)
    tree = bosquet.DecisionTreeClassifier(pruning="cv", cv=RepeatedKFold(n_splits=3, n_repeats=2))
    with pytest.raises(ValueError, match=r"row \d+ is in the test sets \d and \d of cv"):
        tree.fit(X, y)

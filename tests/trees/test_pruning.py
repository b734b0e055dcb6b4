"""Cost-complexity pruning compared with the reference, scikit-learn and the formulas."""

import time

import numpy as np
import pytest
from example_trees import from_sklearn, random_shape, random_tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bosquet.reference.pruning import nested_subtrees
from bosquet.trees import (
    TreeArrays,
    ccp_alpha_from_gamma,
    cost_complexity,
    gamma_from_ccp_alpha,
    node_costs,
    prune_by_ccp_alpha,
    prune_to,
    weakest_link_path,
)

COSTS = ["impurity", "misclassified", "deviance", np.array([[0, 1, 2], [3, 0, 1], [1, 5, 0.0]])]


def assert_agrees_with_reference(tree, cost):
    path = weakest_link_path(tree, cost)
    D = node_costs(tree, cost).tolist()
    steps = nested_subtrees(tree.left.tolist(), tree.right.tolist(), D)
    np.testing.assert_allclose(path.gammas, [step.gamma for step in steps], rtol=1e-9)
    np.testing.assert_array_equal(path.leaves, [len(step.leaves) for step in steps])
    np.testing.assert_allclose(path.costs, [step.cost for step in steps], rtol=1e-9, atol=1e-9)
    for cut, step in zip(path.cuts, steps, strict=True):
        assert sorted(cut.tolist()) == step.cut


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cost", COSTS, ids=["impurity", "misclassified", "deviance", "matrix"])
def test_the_path_agrees_with_the_reference(seed, cost):
    rng = np.random.default_rng(seed)
    assert_agrees_with_reference(random_tree(rng, n_leaves=int(rng.integers(1, 60))), cost)


@pytest.mark.parametrize("seed", range(8))
def test_the_path_of_a_regression_tree_agrees_with_the_reference(seed):
    rng = np.random.default_rng(seed)
    assert_agrees_with_reference(random_tree(rng, n_leaves=40, n_classes=0), "squares")


@pytest.mark.parametrize("seed", range(8))
def test_costs_may_be_arbitrary_even_if_a_branch_costs_more_than_its_root(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_leaves=40, chain=seed % 2 == 1)
    assert_agrees_with_reference(tree, rng.normal(size=tree.n_nodes))
    assert_agrees_with_reference(tree, rng.integers(0, 6, tree.n_nodes))  # many ties


def test_equal_links_are_cut_together():
    left, right = [1, 3, 5, -1, -1, -1, -1], [2, 4, 6, -1, -1, -1, -1]
    tree = random_tree(np.random.default_rng(0), n_leaves=4)
    tree = TreeArrays(
        **{**vars_of(tree), "left": left, "right": right, "feature": [0] * 3 + [-1] * 4}
    )
    path = weakest_link_path(tree, [20, 3, 3, 1, 1, 1, 1])
    assert path.gammas.tolist() == [0, 1, 14]
    assert [cut.tolist() for cut in path.cuts] == [[], [1, 2], [0]]
    # The link of the root equals those of its branches, so all are cut in one step.
    path = weakest_link_path(tree, [7, 3, 3, 1, 1, 1, 1])
    assert path.gammas.tolist() == [0, 1]
    assert [cut.tolist() for cut in path.cuts] == [[], [0]]


def vars_of(tree):
    return {name: getattr(tree, name) for name in TreeArrays.__dataclass_fields__}


DATA = {
    "iris": (load_iris, DecisionTreeClassifier(random_state=0)),
    "wine": (load_wine, DecisionTreeClassifier(criterion="entropy", random_state=0)),
    "cancer": (load_breast_cancer, DecisionTreeClassifier(random_state=1)),
    "weighted": (
        load_breast_cancer,
        DecisionTreeClassifier(class_weight="balanced", random_state=0),
    ),
    "diabetes": (load_diabetes, DecisionTreeRegressor(min_samples_leaf=3, random_state=0)),
}


def fit_model(name):
    load, model = DATA[name]
    X, y = load(return_X_y=True)
    return X, y, model.fit(X, y)


@pytest.mark.parametrize("name", DATA)
def test_the_path_agrees_with_scikit_learn(name):
    X, y, model = fit_model(name)
    theirs = model.cost_complexity_pruning_path(X, y)
    # scikit-learn lists equal links one by one; the last of them corresponds to our step.
    alphas = np.where(theirs.ccp_alphas < 1e-15, 0, theirs.ccp_alphas)
    last = np.append(np.diff(alphas) > 1e-9 * alphas[-1], True)
    path = weakest_link_path(from_sklearn(model))
    np.testing.assert_allclose(path.ccp_alphas, alphas[last], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        path.costs / path.root_weight, theirs.impurities[last], rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("name", DATA)
def test_pruned_trees_agree_with_scikit_learn(name):
    X, y, model = fit_model(name)
    tree = from_sklearn(model)
    alphas = weakest_link_path(tree).ccp_alphas
    between = (alphas[:-1] + alphas[1:]) / 2
    for alpha in between[:: max(1, len(between) // 12)]:
        pruned = prune_by_ccp_alpha(tree, alpha)
        theirs = type(model)(**{**model.get_params(), "ccp_alpha": alpha}).fit(X, y)
        expected = from_sklearn(theirs)
        # scikit-learn renumbers depth first; both keep the order of the nodes.
        for field in ("n_rows", "feature", "left", "right"):
            np.testing.assert_array_equal(getattr(pruned, field), getattr(expected, field))
        np.testing.assert_array_equal(pruned.value, expected.value)


def test_a_link_equal_to_the_penalty_is_cut_as_in_scikit_learn():
    X = [[0.0], [1.0], [2.0], [3.0]]
    y = [0.0, 0.0, 1.0, 3.0]  # exact in binary: the links are 2 / 4 and 4 / 4
    model = DecisionTreeRegressor().fit(X, y)
    tree = from_sklearn(model)
    for alpha in weakest_link_path(tree).ccp_alphas[1:]:
        for penalty in (np.nextafter(alpha, 0) * (1 - 1e-9), alpha):
            theirs = DecisionTreeRegressor(ccp_alpha=penalty).fit(X, y)
            assert prune_by_ccp_alpha(tree, penalty).n_leaves == theirs.get_n_leaves()
    assert prune_by_ccp_alpha(tree, 0.0) is tree


def test_every_penalty_of_a_path_gives_its_subtree():
    tree = random_tree(np.random.default_rng(3), n_leaves=200)
    path = weakest_link_path(tree, "deviance")
    steps = np.arange(path.n_steps)
    np.testing.assert_array_equal(path.step_at(path.gammas), steps)
    round_trip = gamma_from_ccp_alpha(ccp_alpha_from_gamma(path.gammas, tree), tree)
    np.testing.assert_array_equal(path.step_at(round_trip), steps)
    np.testing.assert_array_equal(path.step_at(path.gammas_between()), steps)
    part = path.gammas_between(path.root_weight / 2)
    np.testing.assert_allclose(part[:-1], path.gammas_between()[:-1] / 2)
    assert path.gammas_between()[-1] == np.inf


def test_subtrees_are_nested_and_each_is_optimal_for_its_penalty():
    tree = random_tree(np.random.default_rng(4), n_leaves=60)
    path = weakest_link_path(tree, "deviance")
    D = node_costs(tree, "deviance")
    subtrees = [set(np.flatnonzero(~tree.is_leaf & (path.step_of_node > k)))
                for k in range(path.n_steps)]  # fmt: skip
    for k, (gamma, inner) in enumerate(zip(path.gammas_between()[:-1], subtrees, strict=False)):
        assert subtrees[k + 1] < inner
        pruned = prune_to(tree, gamma, path)
        assert pruned.n_leaves == path.leaves[k] == len(inner) + 1
        np.testing.assert_allclose(
            node_costs(pruned, "deviance")[pruned.is_leaf].sum(), path.costs[k]
        )
        # The best subtree by dynamic programming, from the leaves up.
        best = D + gamma
        for node in reversed(np.flatnonzero(~tree.is_leaf)):
            best[node] = min(best[node], best[tree.left[node]] + best[tree.right[node]])
        np.testing.assert_allclose(cost_complexity(pruned, gamma, "deviance"), best[0])


@pytest.mark.parametrize("cost", ["impurity", "misclassified", "deviance"])
def test_pruning_a_node_changes_the_cost_by_the_formula(cost):
    """C(A') = C(A) + C(N) - C(A_N), and C(A') = C(A) if γ = g(N)."""
    tree = random_tree(np.random.default_rng(5), n_leaves=25)
    D = node_costs(tree, cost)
    for node in np.flatnonzero(~tree.is_leaf):
        link = (D[node] - cost_complexity(tree, 0, cost, node)) / (tree.branch_leaves[node] - 1)
        for gamma in (0.0, 1.7, link):
            whole = cost_complexity(tree, gamma, cost)
            cut = cost_complexity(tree.prune_at([node]), gamma, cost)
            branch = cost_complexity(tree, gamma, cost, node)
            assert cut == pytest.approx(whole + (D[node] + gamma) - branch)
        assert cut == pytest.approx(whole)


def test_costs_agree_with_their_formulas():
    tree = random_tree(np.random.default_rng(6), n_leaves=10)
    counts = (tree.value * tree.n_rows[:, None]).round()
    n = counts.sum(axis=1)
    np.testing.assert_array_equal(node_costs(tree, "misclassified"), n - counts.max(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = -2 * np.nansum(counts * np.log(counts / n[:, None]), axis=1)
    np.testing.assert_allclose(node_costs(tree, "deviance"), deviance, atol=1e-12)
    matrix = np.array([[0, 1, 2], [3, 0, 1], [1, 5, 0]])
    np.testing.assert_allclose(node_costs(tree, matrix), (counts @ matrix).min(axis=1))
    # The number of errors is the cost with a matrix of ones off the diagonal.
    np.testing.assert_array_equal(
        node_costs(tree, 1 - np.eye(3)), node_costs(tree, "misclassified")
    )


def test_the_path_of_a_single_leaf_has_one_step():
    path = weakest_link_path(random_tree(np.random.default_rng(0), n_leaves=1))
    assert path.gammas.tolist() == [0]
    assert path.leaves.tolist() == [1]
    assert path.gammas_between().tolist() == [np.inf]


@pytest.mark.parametrize("chain", [False, True], ids=["bushy", "chain"])
def test_the_path_of_fifty_thousand_nodes_is_fast(chain):
    rng = np.random.default_rng(0)
    left, right = random_shape(rng, 25_000, chain)
    n = len(left)
    D = rng.random(n)
    for node in reversed(np.flatnonzero(left >= 0)):
        D[node] += D[left[node]] + D[right[node]]
    tree = TreeArrays(
        np.where(left < 0, -1, 0), np.zeros(n), left, right, np.zeros(n), [None] * n,
        np.zeros((n, 1)), np.ones(n), np.ones(n), D, np.zeros(n),
    )  # fmt: skip
    start = time.perf_counter()
    path = weakest_link_path(tree)
    seconds = time.perf_counter() - start
    assert path.leaves[0] == 25_000
    assert path.leaves[-1] == 1
    assert (np.diff(path.gammas) > 0).all()
    assert (
        seconds < 3
    )  # about 0.2 s on an idle core; a quadratic algorithm needs minutes for a chain


def test_invalid_arguments_are_named():
    tree = random_tree(np.random.default_rng(0))
    with pytest.raises(ValueError, match="cost='gini' is not valid"):
        weakest_link_path(tree, "gini")
    with pytest.raises(ValueError, match="cost has shape \\(2,\\)"):
        weakest_link_path(tree, [1, 2])
    with pytest.raises(ValueError, match=r"cost\[3\] is not finite"):
        weakest_link_path(tree, np.where(np.arange(tree.n_nodes) == 3, np.nan, 1.0))
    with pytest.raises(ValueError, match="gamma must be >= 0"):
        prune_to(tree, -1.0)
    with pytest.raises(ValueError, match="ccp_alpha=-1 is not valid"):
        prune_by_ccp_alpha(tree, -1)
    with pytest.raises(ValueError, match="path belongs to a tree with"):
        prune_to(tree, 1.0, weakest_link_path(tree.prune_at([0])))

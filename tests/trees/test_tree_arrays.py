"""TreeArrays: consistency of the arrays, and pruning at nodes."""

import numpy as np
import pytest
from example_trees import leaf_of, random_tree, table_with_missing_values

from bosquet.trees import TreeArrays, predicted_classes
from bosquet.trees.node_splits import NodeSplits


@pytest.fixture
def tree():
    return random_tree(np.random.default_rng(0), n_leaves=30)


def test_counts_are_consistent(tree):
    assert tree.n_nodes == 59
    assert tree.n_leaves == len(tree.leaf_ids) == 30
    assert tree.branch_leaves[0] == 30
    assert tree.depth == tree.depths.max()
    assert tree.parents[0] == -1
    for node in np.flatnonzero(~tree.is_leaf):
        assert tree.parents[tree.left[node]] == tree.parents[tree.right[node]] == node
        children = [tree.left[node], tree.right[node]]
        assert tree.branch_leaves[node] == tree.branch_leaves[children].sum()


def test_levels_contain_every_node_once(tree):
    levels = tree.levels()
    assert sorted(np.concatenate(levels)) == list(range(tree.n_nodes))
    for depth, level in enumerate(levels):
        assert (tree.depths[level] == depth).all()


def test_rows_of_a_pruned_branch_end_in_the_pruned_node(tree):
    rng = np.random.default_rng(1)
    X = table_with_missing_values(rng, 200)
    cut = [int(tree.left[0]), *np.flatnonzero(~tree.is_leaf)[-3:].tolist()]
    pruned = tree.prune_at(cut)
    kept = np.flatnonzero(~tree.descendants(cut))
    before, after = leaf_of(tree, X), kept[leaf_of(pruned, X)]
    for start, end in zip(before, after, strict=True):
        while start != end:
            start = tree.parents[start]
            assert start >= 0
        assert start in cut or tree.is_leaf[start]
    assert pruned.n_leaves == tree.n_leaves - sum(
        tree.branch_leaves[node] - 1 for node in cut if not tree.descendants(cut)[node]
    )


def test_a_node_that_becomes_a_leaf_has_no_split(tree):
    root = tree.prune_at([0])
    assert root.n_nodes == 1
    assert root.feature[0] == -1
    assert np.isnan(root.threshold[0])
    assert root.left_categories == [None]
    assert list(root.surrogates) == [[]]
    np.testing.assert_array_equal(root.value[0], tree.value[0])


def test_pruning_at_leaves_or_at_no_node_changes_nothing(tree):
    for nodes in ([], tree.leaf_ids):
        same = tree.prune_at(nodes)
        np.testing.assert_array_equal(same.left, tree.left)
        np.testing.assert_array_equal(same.feature, tree.feature)


def test_an_invalid_mask_or_node_raises(tree):
    keep = np.zeros(tree.n_nodes, dtype=bool)
    keep[[0, tree.left[0]]] = True
    with pytest.raises(ValueError, match="one child of node 0"):
        tree.subtree(keep)
    with pytest.raises(ValueError, match="does not contain node 0"):
        tree.subtree(~keep)
    with pytest.raises(ValueError, match="nodes has the entry 999, but the tree has 59 nodes"):
        tree.prune_at([999])


def test_arrays_that_are_not_a_tree_raise():
    def tree(left, right, **other):
        n = len(left)
        return TreeArrays(
            **{
                "feature": [0] * n, "threshold": [0] * n, "left": left, "right": right,
                "missing_left": [0] * n, "left_categories": [None] * n, "value": [[0]] * n,
                "n_rows": [1] * n, "weight": [1] * n, "impurity": [0] * n, "gain": [0] * n, **other,
            }
        )  # fmt: skip

    with pytest.raises(ValueError, match="node 0 has one child"):
        tree([1, -1], [-1, -1])
    with pytest.raises(ValueError, match="exactly once"):
        tree([1, -1, -1], [1, -1, -1])
    with pytest.raises(ValueError, match="child of node 2 has a smaller number"):
        tree([2, -1, 1, -1, -1], [3, -1, 4, -1, -1])
    with pytest.raises(ValueError, match="gain has 2 entries, but feature has 1"):
        tree([-1], [-1], gain=[0, 0])
    with pytest.raises(ValueError, match="at least a root node"):
        tree([], [], value=np.zeros((0, 1)))


def test_a_leaf_predicts_the_class_of_least_cost():
    leaf = random_tree(np.random.default_rng(0), n_leaves=1, n_classes=2)
    leaf.value[:] = [[0.8, 0.2]]
    assert predicted_classes(leaf).tolist() == [0]
    assert predicted_classes(leaf, [[0, 1], [5, 0]]).tolist() == [1]
    with pytest.raises(ValueError, match=r"must have shape \(2, 2\)"):
        predicted_classes(leaf, np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"cost_matrix\[0, 1\] is -1; costs must be finite"):
        predicted_classes(leaf, [[0, -1], [1, 0]])
    with pytest.raises(ValueError, match="needs a classification tree"):
        predicted_classes(random_tree(np.random.default_rng(0), n_classes=0))


def test_changing_a_split_that_was_returned_does_not_change_the_tree():
    splits = NodeSplits([1, 0], {"feature": [0], "threshold": [np.nan], "gain": [1.0]}, {0: [1, 2]})
    splits[0][0]["left_categories"].append(3)
    assert splits[0][0]["left_categories"] == [1, 2]


def test_a_subset_has_the_splits_of_its_nodes():
    columns = {"feature": [0, 1, 2], "threshold": [0.5, np.nan, 1.5], "gain": [3.0, 2.0, 1.0]}
    splits = NodeSplits([2, 0, 1], columns, {1: [0]})
    found = splits.subset(np.array([0, 2]), np.array([True, True]))
    assert repr(list(found)) == repr([splits[0], splits[2]])  # repr, because NaN != NaN
    without_first = splits.subset(np.array([0, 2]), np.array([False, True]))
    assert list(without_first) == [[], splits[2]]
    assert without_first.left_categories == {}

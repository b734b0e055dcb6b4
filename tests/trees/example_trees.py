"""Trees for the tests: random trees, converted trees of scikit-learn, and a slow traversal."""

from __future__ import annotations

import numpy as np

from bosquet.trees import TreeArrays


def from_sklearn(model):
    """Convert a fitted tree of scikit-learn to TreeArrays."""
    tree = model.tree_
    leaf = tree.children_left < 0
    return TreeArrays(
        feature=np.where(leaf, -1, tree.feature),
        threshold=np.where(leaf, np.nan, tree.threshold),
        left=tree.children_left,
        right=tree.children_right,
        missing_left=tree.missing_go_to_left.astype(bool) & ~leaf,
        left_categories=[None] * tree.node_count,
        value=tree.value[:, 0, :] if tree.n_outputs == 1 else tree.value[:, :, 0],
        n_rows=tree.n_node_samples,
        weight=tree.weighted_n_node_samples,
        impurity=tree.impurity,
        gain=np.zeros(tree.node_count),
    )


def random_shape(rng, n_leaves, chain=False):
    """Return the children of a random binary tree, with larger numbers than their parents."""
    left, right, leaves = [-1], [-1], [0]
    while len(leaves) < n_leaves:
        index = len(leaves) - 1 if chain else int(rng.integers(len(leaves)))
        node = leaves.pop(index)
        left[node], right[node] = len(left), len(left) + 1
        leaves += [len(left), len(left) + 1]
        left += [-1, -1]
        right += [-1, -1]
    return np.array(left), np.array(right)


def random_tree(rng, n_leaves=20, n_classes=3, chain=False):
    """Return a random tree with random class counts in its leaves (n_classes=0: a regression tree).

    Features 0 to 2 are numeric; 3 and 4 are categorical with 4 and 6 categories.
    """
    left, right = random_shape(rng, n_leaves, chain)
    n = len(left)
    inner = left >= 0
    rows = np.zeros(n)
    sums = np.zeros((n, max(n_classes, 1)))
    squares = np.zeros(n)
    for node in reversed(range(n)):
        if inner[node]:
            for child in (left[node], right[node]):
                rows[node] += rows[child]
                sums[node] += sums[child]
                squares[node] += squares[child]
        elif n_classes:
            sums[node] = rng.integers(0, 5, n_classes) * (rng.random(n_classes) < 0.7)
            sums[node][rng.integers(n_classes)] += 1
            rows[node] = sums[node].sum()
        else:
            y = rng.normal(rng.normal(), 1, rng.integers(1, 6))
            rows[node], sums[node], squares[node] = len(y), y.sum(), (y**2).sum()
    value = sums / rows[:, None]
    impurity = 1 - (value**2).sum(axis=1) if n_classes else squares / rows - value[:, 0] ** 2
    feature = np.where(inner, rng.integers(0, 5, n), -1)
    return TreeArrays(
        feature=feature,
        threshold=np.where(inner & (feature < 3), rng.normal(size=n).round(3), np.nan),
        left=left,
        right=right,
        missing_left=inner & (rng.random(n) < 0.5),
        left_categories=[random_categories(rng, f) for f in feature],
        value=value,
        n_rows=rows,
        weight=rows,
        impurity=np.maximum(impurity, 0),
        gain=np.where(inner, rng.random(n), 0),
        surrogates=[random_surrogates(rng, f) for f in feature],
    )


CATEGORIES = [None, None, None, ["a", "b", "it's", 'say "hi"'], [10, 20, 30, 40, 50, 60]]


def random_categories(rng, feature):
    if feature < 3:
        return None
    levels = len(CATEGORIES[feature])
    return rng.choice(levels, int(rng.integers(1, levels)), replace=False)


def random_surrogates(rng, feature):
    if feature < 0 or rng.random() < 0.6:
        return []
    others = [f for f in range(5) if f != feature][: int(rng.integers(1, 3))]
    return [
        {
            "feature": other,
            "threshold": float(rng.normal()) if other < 3 else np.nan,
            "reversed": bool(other < 3 and rng.random() < 0.5),
            "left_categories": random_categories(rng, other),
            "agreement": 0.8,
        }
        for other in others
    ]


def table_with_missing_values(rng, n_rows):
    """Return numbers and codes of categories, a fifth of them missing."""
    X = np.column_stack(
        [rng.normal(size=(n_rows, 3)), rng.integers(0, 4, n_rows), rng.integers(0, 6, n_rows)]
    )
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def leaf_of(tree, X):
    """Return the leaf of each row: by the split, then the surrogates, then the default branch."""
    node = np.zeros(len(X), dtype=int)
    while not tree.is_leaf[node].all():
        for row in np.flatnonzero(~tree.is_leaf[node]):
            at = node[row]
            own = {
                "feature": tree.feature[at],
                "threshold": tree.threshold[at],
                "left_categories": tree.left_categories[at],
            }
            goes_left = bool(tree.missing_left[at])
            for rule in (own, *tree.surrogates[at]):
                x = X[row, rule["feature"]]
                if not np.isnan(x):
                    codes = rule["left_categories"]
                    satisfied = x <= rule["threshold"] if codes is None else x in codes
                    goes_left = bool(satisfied) != rule.get("reversed", False)
                    break
            node[row] = tree.left[at] if goes_left else tree.right[at]
    return node

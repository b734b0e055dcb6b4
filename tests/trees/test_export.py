"""Export of trees as text, graphs, rules and tables of splits."""

import re
from dataclasses import replace

import numpy as np
import pytest
from example_trees import (
    from_sklearn,
    leaf_of,
    random_shape,
    random_tree,
    table_with_missing_values,
)

from bosquet.trees import (
    TreeArrays,
    draw_tree,
    export_graphviz,
    export_sql,
    export_text,
    rules,
    split_table,
)
from bosquet.trees.formatting import format_set


@pytest.fixture
def weather():
    """A tree with five nodes: a split on categories at the root, then a split on a number."""
    nan = np.nan
    return TreeArrays(
        feature=[1, 0, -1, -1, -1],
        threshold=[nan, 21.5, nan, nan, nan],
        left=[1, 3, -1, -1, -1],
        right=[2, 4, -1, -1, -1],
        missing_left=[False, True, False, False, False],
        left_categories=[np.array([2, 0]), None, None, None, None],
        value=[[0.5, 0.5], [0.7, 0.3], [0, 1], [1, 0], [0.004, 0.996]],
        n_rows=[14, 10, 4, 7, 3],
        weight=[14, 10, 4, 7.5, 2.5],
        impurity=[0.5, 0.42, 0, 0, 0],
        gain=[0.2, 0.4, 0, 0, 0],
        competitors=[[{"feature": 0, "threshold": 18.0, "left_categories": None, "gain": 0.1}]]
        + [[]] * 4,
        surrogates=[
            [{"feature": 0, "threshold": 20.0, "reversed": True, "left_categories": None,
              "agreement": 0.86}]
        ] + [[]] * 4,
    )  # fmt: skip


NAMES = ["temperature", "outlook"]
LEVELS = [None, ["overcast", "rain", "sunny"]]
CLASSES = ["play", "stay"]


def test_text_shows_sizes_shares_categories_and_the_branch_of_missing_values(weather):
    assert export_text(weather, NAMES, CLASSES, LEVELS).splitlines() == [
        "all rows: n 14, play 0.50, stay 0.50",
        "|-- outlook in {overcast, sunny}: n 10, play 0.70, stay 0.30",
        "|   |-- temperature <= 21.5 or missing: n 7, weight 7.5 -> play (play 1.00)",
        "|   |-- temperature > 21.5: n 3, weight 2.5 -> stay (stay >0.99, play <0.01)",
        "|-- outlook in {rain} or missing (after surrogates): n 4 -> stay (stay 1.00)",
    ]


def test_text_without_names_uses_feature_and_class_numbers(weather):
    text = export_text(weather, show_missing=False)
    assert "x1 in {0, 2}: n 10" in text
    assert "x1 not in {0, 2}: n 4 -> 1 (1 1.00)" in text
    assert "missing" not in text


def test_truncated_text_counts_the_leaves_below(weather):
    lines = export_text(weather, NAMES, CLASSES, LEVELS, max_depth=1).splitlines()
    assert len(lines) == 3
    assert lines[1].endswith("... 2 leaves below")


def test_predictions_use_the_cost_matrix(weather):
    costly = export_text(weather, NAMES, CLASSES, LEVELS, cost_matrix=[[0, 1], [0, 0]])
    assert "stay" not in re.findall("-> (\\w+)", costly)


def chain(leaves):
    left, right = random_shape(np.random.default_rng(0), leaves, chain=True)
    n = len(left)
    return TreeArrays(
        np.where(left < 0, -1, 0), np.arange(n), left, right, np.zeros(n), [None] * n,
        np.zeros((n, 1)), np.ones(n), np.ones(n), np.zeros(n), np.zeros(n),
    )  # fmt: skip


def test_a_tree_too_deep_for_recursion_can_be_exported():
    tree = chain(3000)
    assert export_text(tree).count("\n") == tree.n_nodes - 1
    assert export_graphviz(tree).count("->") == tree.n_nodes - 1
    assert len(rules(tree)) == 3000


def test_a_tree_too_deep_for_indented_text_raises_and_names_alternatives():
    tree = chain(15_000)
    with pytest.raises(ValueError, match=r"14999 levels deep.*0\.9 GB.*max_depth"):
        export_text(tree)
    assert export_text(tree, max_depth=10).count("\n") == 20
    sql = export_sql(tree)
    assert len(sql) < 50_000_000
    assert sql.count("CASE") == sql.count("END") == 14_999
    assert len(rules(tree)) == 15_000
    assert draw_tree(tree).figure.clear() is None


def test_dot_has_a_line_per_node_and_edge_and_escapes_names(weather):
    dot = export_graphviz(weather, ['the "t"', "out\\look"], CLASSES, LEVELS)
    assert dot.startswith("digraph tree {")
    assert len(re.findall(r"^  n\d+ \[label", dot, re.M)) == 5
    assert dot.count("->") == 4
    assert 'the \\"t\\" <= 21.5' in dot
    assert "out\\\\look in {overcast, sunny}" in dot
    assert "missing: surrogates, then no" in dot
    cut = export_graphviz(weather, NAMES, CLASSES, LEVELS, max_depth=1)
    assert "... 2 leaves below" in cut
    assert cut.count("->") == 2


def test_dot_colours_by_class_or_by_mean(weather):
    fills = re.findall('fillcolor="(#[0-9A-F]{6})"', export_graphviz(weather))
    assert len(set(fills)) > 3
    numbers = random_tree(np.random.default_rng(0), n_leaves=5, n_classes=0)
    dot = export_graphviz(numbers)
    fills = dict(re.findall(r'n(\d+) \[.*fillcolor="(#[0-9A-F]{6})"', dot))
    brightness = [int(fills[str(node)][1:3], 16) for node in range(numbers.n_nodes)]
    order = np.argsort(numbers.value[:, 0])
    assert (np.diff(np.array(brightness)[order]) <= 0).all()


def test_rules_merge_splits_on_the_same_feature(weather):
    found = rules(weather, NAMES, CLASSES, LEVELS)
    assert [rule.leaf for rule in found] == [3, 4, 2]
    assert found[0].conditions == (
        "outlook in {overcast, sunny}",
        "(temperature <= 21.5 or missing)",
    )
    assert str(found[2]) == "(outlook in {rain} or missing) -> stay (n 4)"
    assert found[1].prediction == "stay"
    assert found[1].value == (0.004, 0.996)


def test_rules_are_true_exactly_for_the_rows_of_their_leaf():
    rng = np.random.default_rng(7)
    tree = replace(random_tree(rng, n_leaves=25), surrogates=[])
    X = table_with_missing_values(rng, 200)
    leaf = leaf_of(tree, X)
    names = [f"f{k}" for k in range(5)]
    for categories in (None, [None, None, None, list(range(4)), list(range(6))]):
        for rule in rules(tree, names, None, categories):
            expected = leaf == rule.leaf
            held = np.array([all(holds(c, row) for c in rule.conditions) for row in X])
            np.testing.assert_array_equal(held, expected)


def holds(condition, row):
    """Evaluate the text of a condition for a row."""
    inside = condition.removeprefix("(").removesuffix(" or missing)")
    name = re.search(r"f\d", inside).group()
    x = row[int(name[1])]
    if np.isnan(x):
        return condition.endswith("or missing)")
    return eval(inside.replace("{}", "()"), {name: x})


def test_a_tree_of_one_leaf_is_a_rule_without_conditions():
    leaf = random_tree(np.random.default_rng(0), n_leaves=1, n_classes=0)
    (rule,) = rules(leaf)
    assert rule.conditions == ()
    assert str(rule).startswith("always -> ")


def test_the_split_table_has_competitors_and_surrogates(weather):
    table = split_table(weather, NAMES, LEVELS)
    assert [(line["node"], line["kind"], line["goes_left"]) for line in table] == [
        (0, "split", "outlook in {overcast, sunny}"),
        (0, "competitor", "temperature <= 18"),
        (0, "surrogate", "temperature > 20"),
        (1, "split", "temperature <= 21.5"),
    ]
    assert [line["gain"] for line in table] == [0.2, 0.1, None, 0.4]
    assert table[2]["agreement"] == 0.86
    assert len(split_table(weather, nodes=[1])) == 1
    with pytest.raises(ValueError, match="nodes has the entry 2"):
        split_table(weather, nodes=[2])


def test_several_outputs_that_are_not_class_shares_are_means():
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    tree = from_sklearn(DecisionTreeRegressor(max_depth=1).fit(X, X * 3))
    assert re.search(r"-> -?\d\.\d+, -?\d\.\d+", export_text(tree))


def test_invalid_names_raise(weather):
    with pytest.raises(
        ValueError, match="feature_names has 1 names, but the tree splits on feature 1"
    ):
        export_text(weather, ["a"])
    with pytest.raises(ValueError, match="class_names has 3 names, but the tree has 2 classes"):
        export_text(weather, class_names=["a", "b", "c"])
    with pytest.raises(
        ValueError, match="categories of 'x1' has 2 labels, but the tree splits on code 2"
    ):
        export_text(weather, categories=[None, ["a", "b"]])
    numbers = random_tree(np.random.default_rng(0), n_classes=0)
    with pytest.raises(ValueError, match="class_names needs a classification tree"):
        export_text(numbers, class_names=["a"])
    with pytest.raises(ValueError, match="cost_matrix needs a classification tree"):
        export_text(numbers, cost_matrix=[[0]])


def test_labels_with_commas_are_quoted():
    assert format_set(["plain", "rent, monthly", " blank", "it's"]) == (
        "{plain, 'rent, monthly', ' blank', \"it's\"}"
    )
    assert format_set(["a", "b", "c"], 2) == "{a, b, 1 more}"

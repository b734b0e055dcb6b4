"""Exported code predicts as the tree does: it is run and compared with a traversal of the tree."""

import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from example_trees import CATEGORIES, leaf_of, random_shape, random_tree, table_with_missing_values

from bosquet.trees import TreeArrays, export_python, export_sql

NAMES = ["plain", "with space", 'quo"ted', "class", "5th"]


def raw_rows(X, labelled):
    """Return rows as in a database: with `labelled`, labels instead of codes; None for missing values."""

    def cell(feature, x):
        if np.isnan(x):
            return None
        if feature < 3:
            return float(x)
        return CATEGORIES[feature][int(x)] if labelled else int(x)

    return [[cell(feature, x) for feature, x in enumerate(row)] for row in X]


@pytest.fixture(params=range(12))
def case(request):
    rng = np.random.default_rng(request.param)
    tree = random_tree(rng, n_leaves=30, n_classes=3 if request.param % 2 else 0)
    X = table_with_missing_values(rng, 200)
    labelled = request.param % 4 < 2
    return tree, raw_rows(X, labelled), leaf_of(tree, X), CATEGORIES if labelled else None


def run_python(source, rows, **arguments):
    scope = {}
    exec(source, scope)
    return [scope["predict"](dict(zip(NAMES, row, strict=True)), **arguments) for row in rows]


def run_sql(expression, rows):
    database = sqlite3.connect(":memory:")
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    database.execute(f"CREATE TABLE t ({columns})")
    database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
    found = [row[0] for row in database.execute(f"SELECT {expression} FROM t ORDER BY rowid")]
    database.close()
    return found


@pytest.mark.parametrize(("export", "run"), [(export_python, run_python), (export_sql, run_sql)])
def test_exported_code_finds_the_leaf_of_each_row(case, export, run):
    tree, rows, leaf, categories = case
    source = export(tree, NAMES, None, categories, output="leaf")
    assert run(source, rows) == leaf.tolist()


@pytest.mark.parametrize(("export", "run"), [(export_python, run_python), (export_sql, run_sql)])
def test_exported_code_returns_classes_shares_or_means(case, export, run):
    tree, rows, leaf, categories = case
    if tree.n_outputs == 1:
        assert run(export(tree, NAMES, None, categories), rows) == tree.value[leaf, 0].tolist()
        return
    labels = np.array(["it's", "two", 'th"ree'])
    predictions = run(export(tree, NAMES, labels, categories), rows)
    assert predictions == labels[tree.value[leaf].argmax(axis=1)].tolist()
    assert (
        run(export(tree, NAMES, labels, categories, output=2), rows) == tree.value[leaf, 2].tolist()
    )
    costs = [[0, 1, 9], [2, 0, 9], [1, 1, 0]]
    decided = labels[(tree.value[leaf] @ np.array(costs)).argmin(axis=1)]
    assert run(export(tree, NAMES, labels, categories, cost_matrix=costs), rows) == decided.tolist()


@pytest.mark.parametrize(("export", "run"), [(export_python, run_python), (export_sql, run_sql)])
def test_an_unknown_category_is_treated_as_missing(case, export, run):
    tree, rows, _, _ = case
    unseen = [[*row[:3], "new", 70] for row in rows]
    missing = [[*row[:3], None, None] for row in rows]
    source = export(tree, NAMES, None, CATEGORIES, output="leaf")
    assert run(source, unseen) == run(source, missing)


@pytest.mark.parametrize(("export", "run"), [(export_python, run_python), (export_sql, run_sql)])
def test_a_negative_code_is_treated_as_missing(case, export, run):
    tree, rows, _, _ = case
    negative = [[*row[:3], -1, -1] for row in rows]
    missing = [[*row[:3], None, None] for row in rows]
    source = export(tree, NAMES, None, None, output="leaf")
    assert run(source, negative) == run(source, missing)


def test_exported_python_treats_nan_and_absent_values_as_missing(case):
    tree, rows, leaf, categories = case
    scope = {}
    exec(export_python(tree, NAMES, None, categories, output="leaf", function="leaf_of"), scope)
    for row, expected in zip(rows, leaf, strict=True):
        pairs = zip(NAMES, row, strict=True)
        present = {name: value for name, value in pairs if value is not None}
        assert scope["leaf_of"](present) == expected
        nan = {name: float("nan") for name in NAMES}
        assert scope["leaf_of"]({**nan, **present}) == expected


def test_thresholds_are_exported_with_all_digits():
    tree = random_tree(np.random.default_rng(0), n_leaves=2, n_classes=0)
    tree = replace(tree, surrogates=[])
    tree.feature[0], tree.left_categories[0] = 0, None
    for threshold in (0.1, 1 / 3, 1e-300, -1.7976931348623157e308, 5e-324):
        tree.threshold[0] = threshold
        rows = [[x, None, None, None, None] for x in (threshold, np.nextafter(threshold, np.inf))]
        expected = [tree.left[0], tree.right[0]]
        assert run_python(export_python(tree, NAMES, output="leaf"), rows) == expected
        assert run_sql(export_sql(tree, NAMES, output="leaf"), rows) == expected


def test_names_that_give_the_same_variable_are_numbered():
    tree = random_tree(np.random.default_rng(0), n_leaves=40)
    source = export_python(tree, ["a b", "a_b", "row", "given", "def"])
    compile(source, "exported", "exec")
    assert 'a_b = given("a b")' in source
    assert 'a_b_2 = given("a_b")' in source
    assert 'row_2 = given("row")' in source


def test_column_names_can_be_quoted_by_another_character():
    tree = random_tree(np.random.default_rng(1), n_leaves=9)
    sql = export_sql(tree, ["a`b", "c", "d", "e", "f"], quote="`")
    assert "`a``b`" in sql
    assert '"' not in sql


def test_trees_and_options_that_cannot_be_exported_raise():
    left, right = random_shape(np.random.default_rng(0), 120, chain=True)
    n = len(left)
    deep = TreeArrays(
        np.where(left < 0, -1, 0), np.arange(n), left, right, np.zeros(n), [None] * n,
        np.ones((n, 2)), np.ones(n), np.ones(n), np.zeros(n), np.zeros(n),
    )  # fmt: skip
    with pytest.raises(ValueError, match="119 levels deep"):
        export_python(deep)
    with pytest.raises(ValueError, match="the tree has 2 outputs"):
        export_sql(deep)
    with pytest.raises(ValueError, match="output=2 is not valid"):
        export_sql(deep, output=2)
    with pytest.raises(ValueError, match="output='proba' is not valid"):
        export_sql(deep, output="proba")
    with pytest.raises(ValueError, match="not a valid name of a Python function"):
        export_python(deep, function="not a name")
    deep.threshold[0] = np.inf
    with pytest.raises(ValueError, match="no literal for inf"):
        export_sql(deep, output="leaf")

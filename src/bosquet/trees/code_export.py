"""Export of a tree as code that predicts without Bosquet: an SQL expression or a Python function.

Both treat missing values as the tree does: the surrogate splits are tried in their order, then the default
branch of the node is taken. If the categories of a feature are given, other values are treated as missing.
"""

from __future__ import annotations

import json
import keyword
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bosquet.trees.arrays import TreeArrays
from bosquet.trees.formatting import SplitRule, TreeFormatter, python_scalar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet.trees.formatting import Categories


_MAX_DEPTH = 95  # Python accepts at most 100 levels of indentation
_OUTPUTS = {"prediction", "leaf"}


def export_sql(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    categories: Categories = None,
    *,
    cost_matrix: ArrayLike | None = None,
    output: str | int = "prediction",
    quote: str = '"',
) -> str:
    """Return the tree as an SQL expression of nested CASEs, for use in a SELECT.

    NULL is treated as a missing value. If the database stores NaN as a number, convert NaN to NULL first.

    Parameters
    ----------
    tree : TreeArrays
    feature_names : sequence of str, optional
        Names of the columns. They are quoted, so any name is possible.
    class_names, categories, cost_matrix : as in `export_text`
        Labels become literals: numbers unchanged, text in quotes. Without `categories`, categorical
        columns must hold codes; negative codes are missing values.
    output : {"prediction", "leaf"} or int, default="prediction"
        Value of the expression: the predicted class or mean, the number of the leaf, or a column of
        `tree.value`, such as the share of a class.
    quote : str, default='"'
        Quote character for column names; use "`" for MySQL.

    Examples
    --------
    >>> from bosquet.trees import TreeArrays, export_sql
    >>> tree = TreeArrays(
    ...     feature=[1, -1, -1], threshold=[4.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     missing_left=[True, False, False], left_categories=[None] * 3,
    ...     value=[[5.9], [5.1], [6.4]], n_rows=[263, 90, 173], weight=[263, 90, 173],
    ...     impurity=[0.8, 0.5, 0.4], gain=[0] * 3,
    ... )
    >>> print(export_sql(tree, ["hits", "years"]))
    CASE WHEN ("years" <= 4.5 OR "years" IS NULL) THEN
      5.1
    ELSE
      6.4
    END
    """
    formatter = TreeFormatter(tree, feature_names, class_names, categories, cost_matrix)

    def column(feature: int) -> str:
        return quote + formatter.feature_name(feature).replace(quote, quote * 2) + quote

    def inner(node: int, pad: str) -> tuple[str, str, str]:
        condition = _sql_goes_left(formatter, node, column)
        return f"{pad}CASE WHEN {condition} THEN", f"{pad}ELSE", f"{pad}END"

    return "\n".join(
        _nested_lines(tree, inner, lambda node: _sql_literal(_leaf_output(formatter, node, output)))
    )


def _sql_goes_left(formatter: TreeFormatter, node: int, column: Callable[[int], str]) -> str:
    """Return a condition that is true exactly for the rows that go left."""
    tree = formatter.tree
    split, surrogates = formatter.split_rule(node), formatter.surrogate_rules(node)
    missing_left = bool(tree.missing_left[node])
    if surrogates:
        branches = []
        for rule in (split, *surrogates):
            has_value = _sql_is_known(formatter, rule, column)
            test = _sql_split_test(formatter, rule, column)
            branches.append(f"WHEN {has_value} AND {test} THEN 1 WHEN {has_value} THEN 0")
        return f"CASE {' '.join(branches)} ELSE {int(missing_left)} END = 1"
    # A comparison with NULL is not true, so CASE takes the ELSE branch, which is the right child.
    test, name = _sql_split_test(formatter, split, column), column(split.feature)
    if not missing_left:
        return test
    if split.left_categories is None:
        return f"({test} OR {name} IS NULL)"
    _, right = formatter.sides(split)
    if right is None:
        return f"({test} OR {name} IS NULL OR {name} < 0)"
    return f"({name} IS NULL OR {name} NOT IN {_sql_list(right)})" if right else "1 = 1"


def _sql_split_test(
    formatter: TreeFormatter, split: SplitRule, column: Callable[[int], str]
) -> str:
    name = column(split.feature)
    if split.left_categories is None:
        return f"{name} {'>' if split.reversed else '<='} {_sql_literal(split.threshold)}"
    left, _ = formatter.sides(split)
    return f"{name} IN {_sql_list(left)}" if left else "1 = 0"


def _sql_is_known(formatter: TreeFormatter, split: SplitRule, column: Callable[[int], str]) -> str:
    name = column(split.feature)
    if split.left_categories is None:
        return f"{name} IS NOT NULL"
    labels = formatter.category_labels(split.feature)
    return f"{name} >= 0" if labels is None else f"{name} IN {_sql_list(labels)}"


def _sql_list(labels: Sequence[object]) -> str:
    return "(" + ", ".join(map(_sql_literal, labels)) + ")"


def _sql_literal(value: object) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            raise ValueError(
                f"SQL has no literal for {value}, which is a threshold or a prediction of the tree; use"
                " export_python"
            )
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def export_python(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    categories: Categories = None,
    *,
    cost_matrix: ArrayLike | None = None,
    output: str | int = "prediction",
    function: str = "predict",
) -> str:
    """Return the source of a Python function that predicts as the tree does, without imports.

    The function takes one row: a mapping, such as a dict, from feature names to values. A value is missing
    if it is None or NaN or if the mapping does not contain the feature.

    Parameters
    ----------
    tree : TreeArrays
        At most 95 levels deep.
    feature_names, class_names, categories, cost_matrix, output : as in `export_sql`
    function : str, default="predict"
        Name of the function.

    Examples
    --------
    >>> from bosquet.trees import TreeArrays, export_python
    >>> tree = TreeArrays(
    ...     feature=[1, -1, -1], threshold=[4.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     missing_left=[True, False, False], left_categories=[None] * 3,
    ...     value=[[5.9], [5.1], [6.4]], n_rows=[263, 90, 173], weight=[263, 90, 173],
    ...     impurity=[0.8, 0.5, 0.4], gain=[0] * 3,
    ... )
    >>> source = export_python(tree, ["hits", "years"])
    >>> print(source[source.index("    years"):])
        years = given("years")
        if years is None or years <= 4.5:
            return 5.1
        else:
            return 6.4
    """
    formatter = TreeFormatter(tree, feature_names, class_names, categories, cost_matrix)
    if not function.isidentifier() or keyword.iskeyword(function):
        raise ValueError(
            f"function={function!r} is not a valid name of a Python function; pass an identifier"
        )
    if tree.depth > _MAX_DEPTH:
        raise ValueError(
            f"the tree is {tree.depth} levels deep, but export_python supports at most {_MAX_DEPTH} levels of"
            " nested ifs; prune the tree or use export_sql"
        )
    used_features = sorted(
        {split.feature for node in range(tree.n_nodes) for split in _split_rules(formatter, node)}
    )
    variables = _variable_names([formatter.feature_name(feature) for feature in used_features])
    variable = dict(zip(used_features, variables, strict=True))
    lines = [
        f"def {function}(row):",
        f'    """Prediction of a tree with {tree.n_leaves} leaves; row maps feature names to values."""',
        "",
        "    def given(name, known=None):",
        "        value = row.get(name)",
        "        if value is None or value != value or (known is not None and value not in known):",
        "            return None",
        "        return value",
        "",
    ]
    for feature in used_features:
        labels = formatter.category_labels(feature)
        known_labels = "" if labels is None else f", {_python_set(labels)}"
        name = _python_literal(formatter.feature_name(feature))
        lines.append(f"    {variable[feature]} = given({name}{known_labels})")

    def inner(node: int, pad: str) -> tuple[str, str, str]:
        condition = _python_goes_left(formatter, node, variable)
        return f"{pad}if {condition}:", f"{pad}else:", ""

    def leaf(node: int) -> str:
        return f"return {_python_literal(_leaf_output(formatter, node, output))}"

    return "\n".join([*lines, *_nested_lines(tree, inner, leaf, "    ")]) + "\n"


def _python_goes_left(formatter: TreeFormatter, node: int, variable: dict[int, str]) -> str:
    """Return a condition that is true exactly for the rows that go left."""
    tree = formatter.tree
    split, surrogates = formatter.split_rule(node), formatter.surrogate_rules(node)
    missing_left = bool(tree.missing_left[node])
    if not surrogates:
        name, test = variable[split.feature], _python_split_test(formatter, split, variable)
        is_missing, is_known = _python_missing(formatter, split, name)
        return f"{is_missing} or {test}" if missing_left else f"{is_known} and {test}"
    text = ""
    for rule in (split, *surrogates):
        name, test = variable[rule.feature], _python_split_test(formatter, rule, variable)
        text += f"({test}) if {_python_missing(formatter, rule, name)[1]} else "
    return text + str(missing_left)


def _python_missing(formatter: TreeFormatter, split: SplitRule, name: str) -> tuple[str, str]:
    """Return an expression that is true for a missing value, and one that is true for a known value."""
    if split.left_categories is not None and formatter.category_labels(split.feature) is None:
        return f"{name} is None or {name} < 0", f"{name} is not None and {name} >= 0"
    return f"{name} is None", f"{name} is not None"


def _python_split_test(formatter: TreeFormatter, split: SplitRule, variable: dict[int, str]) -> str:
    name = variable[split.feature]
    if split.left_categories is None:
        return f"{name} {'>' if split.reversed else '<='} {_python_literal(split.threshold)}"
    return f"{name} in {_python_set(formatter.sides(split)[0])}"


def _python_set(labels: Sequence[object]) -> str:
    return "{" + ", ".join(map(_python_literal, labels)) + "}" if labels else "()"


def _python_literal(value: object) -> str:
    value = python_scalar(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, list):
        return "[" + ", ".join(map(_python_literal, value)) + "]"
    if isinstance(value, (bool, int, float)):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False)  # a JSON string is also a valid Python string


def _variable_names(names: list[str]) -> list[str]:
    """Return a distinct Python identifier for each feature, similar to its name."""
    used_names = {"row", "given"}
    variables = []
    for name in names:
        base = re.sub(r"\W", "_", name)
        if not base or base[0].isdigit() or keyword.iskeyword(base):
            base = "_" + base
        variable, copies = base, 1
        while variable in used_names or not variable.isidentifier():
            copies += 1
            variable = f"{base if base.isidentifier() else 'feature'}_{copies}"
        used_names.add(variable)
        variables.append(variable)
    return variables


def _split_rules(formatter: TreeFormatter, node: int) -> list[SplitRule]:
    """Return the split of a node and its surrogates; an empty list for a leaf."""
    if formatter.tree.is_leaf[node]:
        return []
    return [formatter.split_rule(node), *formatter.surrogate_rules(node)]


def _nested_lines(
    tree: TreeArrays,
    inner: Callable[[int, str], tuple[str, str, str]],
    leaf: Callable[[int], str],
    start: str = "",
) -> list[str]:
    """Return the lines of nested code.

    `inner` returns the lines before the left branch, between the branches and after the right branch of an
    inner node; `leaf` returns the line of a leaf. Below `_MAX_DEPTH` levels the indentation stays the same,
    because otherwise the code would grow with the square of the depth.
    """
    unit = "    " if start else "  "
    max_width = len(start) + _MAX_DEPTH * len(unit)
    lines: list[str] = []
    stack: list[tuple[int, str] | str] = [(0, start)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if item:
                lines.append(item)
            continue
        node, pad = item
        if tree.is_leaf[node]:
            lines.append(pad + leaf(node))
            continue
        opening, middle, closing = inner(node, pad)
        lines.append(opening)
        below = pad + unit if len(pad) < max_width else pad
        right, left = (int(tree.right[node]), below), (int(tree.left[node]), below)
        stack += [closing, right, middle, left]
    return lines


def _leaf_output(formatter: TreeFormatter, node: int, output: str | int) -> object:
    """Return the value of the exported code in a leaf."""
    if isinstance(output, str) and output not in _OUTPUTS:
        raise ValueError(
            f"output={output!r} is not valid: output must be 'prediction', 'leaf' or a column number of"
            " tree.value"
        )
    if output == "leaf":
        return node
    if output == "prediction":
        prediction = formatter.prediction(node)
        if isinstance(prediction, list):
            raise ValueError(
                f"the tree has {len(prediction)} outputs; select one by its number, for example output=0"
            )
        return prediction
    if not 0 <= int(output) < formatter.tree.n_outputs:
        raise ValueError(
            f"output={output} is not valid: tree.value has {formatter.tree.n_outputs} columns"
        )
    return float(formatter.tree.value[node, int(output)])

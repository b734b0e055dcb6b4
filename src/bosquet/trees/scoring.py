"""A tree as code that answers without Bosquet: an SQL expression, a Python function.

Both do with missing values what the tree does: surrogates in their order, then the node's own
side. Where the categories of a feature are given, any other value counts as missing.
"""

from __future__ import annotations

import json
import keyword
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from bosquet.trees.arrays import TreeArrays
from bosquet.trees.wording import Split, Wording, plain

_DEEPEST = 95  # Python reads at most 100 levels of indentation
_TOKENS = {"prediction", "leaf"}


def export_sql(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    categories: Any = None,
    *,
    cost_matrix: Any = None,
    output: str | int = "prediction",
    quote: str = '"',
) -> str:
    """The tree as an SQL expression of nested CASEs, to be put into a SELECT.

    NULL is a missing value and takes the way that missing values take in the tree. (A database that
    knows NaN as a number must turn it into NULL first.)

    Parameters
    ----------
    tree : TreeArrays
    feature_names : sequence of str, optional
        Names of the columns; quoted, so that any name will do.
    class_names, categories, cost_matrix : as in `export_text`
        Labels become literals: numbers as they are, text in quotes. Without `categories` a column
        holds codes, a negative one being missing.
    output : {"prediction", "leaf"} or int, default="prediction"
        What the expression gives: the class or mean, the number of the leaf, or a column of
        `tree.value`, such as the share of that class.
    quote : str, default='"'
        Put around names of columns; MySQL takes "`".

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
    words = Wording(tree, feature_names, class_names, categories, cost_matrix)

    def column(feature: int) -> str:
        return quote + words.name(feature).replace(quote, quote * 2) + quote

    def inner(node: int, pad: str) -> tuple[str, str, str]:
        condition = _sql_left(words, node, column)
        return f"{pad}CASE WHEN {condition} THEN", f"{pad}ELSE", f"{pad}END"

    return "\n".join(_nested(tree, inner, lambda node: _sql_literal(_answer(words, node, output))))


def _sql_left(words: Wording, node: int, column: Callable[[int], str]) -> str:
    """A condition that is true of the rows that go left and of no others."""
    tree = words.tree
    split, surrogates = words.question(node), words.surrogates(node)
    missing_left = bool(tree.missing_left[node])
    if surrogates:
        parts = []
        for question in (split, *surrogates):
            known, test = _sql_known(words, question, column), _sql_test(words, question, column)
            parts.append(f"WHEN {known} AND {test} THEN 1 WHEN {known} THEN 0")
        return f"CASE {' '.join(parts)} ELSE {int(missing_left)} END = 1"
    # A comparison with NULL is not true, so that CASE goes on to ELSE: the right-hand side.
    test, name = _sql_test(words, split, column), column(split.feature)
    if not missing_left:
        return test
    if split.left_categories is None:
        return f"({test} OR {name} IS NULL)"
    _, right = words.sides(split)
    if right is None:
        return f"({test} OR {name} IS NULL OR {name} < 0)"
    return f"({name} IS NULL OR {name} NOT IN {_sql_list(right)})" if right else "1 = 1"


def _sql_test(words: Wording, split: Split, column: Callable[[int], str]) -> str:
    name = column(split.feature)
    if split.left_categories is None:
        return f"{name} {'>' if split.reversed else '<='} {_sql_literal(split.threshold)}"
    left, _ = words.sides(split)
    return f"{name} IN {_sql_list(left)}" if left else "1 = 0"


def _sql_known(words: Wording, split: Split, column: Callable[[int], str]) -> str:
    name = column(split.feature)
    if split.left_categories is None:
        return f"{name} IS NOT NULL"
    labels = words.labels(split.feature)
    return f"{name} >= 0" if labels is None else f"{name} IN {_sql_list(labels)}"


def _sql_list(labels: Sequence[Any]) -> str:
    return "(" + ", ".join(map(_sql_literal, labels)) + ")"


def _sql_literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            raise ValueError(
                f"SQL has no literal for {value}, which the tree compares with or gives"
            )
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def export_python(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    categories: Any = None,
    *,
    cost_matrix: Any = None,
    output: str | int = "prediction",
    function: str = "predict",
) -> str:
    """The tree as the source of a Python function that needs nothing else.

    The function takes one row, a mapping from names of features to values such as a dict. A value
    is missing if it is None, NaN or not there.

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
    words = Wording(tree, feature_names, class_names, categories, cost_matrix)
    if not function.isidentifier() or keyword.iskeyword(function):
        raise ValueError(f"function is {function!r}, which is no name for a Python function")
    if tree.depth > _DEEPEST:
        raise ValueError(
            f"the tree is {tree.depth} levels deep and Python reads at most {_DEEPEST} nested ifs;"
            " prune it first"
        )
    used = sorted(
        {split.feature for node in range(tree.n_nodes) for split in _questions(words, node)}
    )
    variables = _variables([words.name(feature) for feature in used])
    variable = dict(zip(used, variables, strict=True))
    lines = [
        f"def {function}(row):",
        f'    """Answer of a tree with {tree.n_leaves} leaves; row maps names of features to values."""',
        "",
        "    def given(name, known=None):",
        "        value = row.get(name)",
        "        if value is None or value != value or (known is not None and value not in known):",
        "            return None",
        "        return value",
        "",
    ]
    for feature in used:
        labels = words.labels(feature)
        known = "" if labels is None else f", {_python_set(labels)}"
        lines.append(
            f"    {variable[feature]} = given({_python_literal(words.name(feature))}{known})"
        )

    def inner(node: int, pad: str) -> tuple[str, str, str]:
        condition = _python_left(words, node, variable)
        return f"{pad}if {condition}:", f"{pad}else:", ""

    def leaf(node: int) -> str:
        return f"return {_python_literal(_answer(words, node, output))}"

    return "\n".join([*lines, *_nested(tree, inner, leaf, "    ")]) + "\n"


def _python_left(words: Wording, node: int, variable: dict[int, str]) -> str:
    tree = words.tree
    split, surrogates = words.question(node), words.surrogates(node)
    missing_left = bool(tree.missing_left[node])
    if not surrogates:
        name, test = variable[split.feature], _python_test(words, split, variable)
        is_missing, is_known = _python_missing(words, split, name)
        return f"{is_missing} or {test}" if missing_left else f"{is_known} and {test}"
    text = ""
    for question in (split, *surrogates):
        name, test = variable[question.feature], _python_test(words, question, variable)
        text += f"({test}) if {_python_missing(words, question, name)[1]} else "
    return text + str(missing_left)


def _python_missing(words: Wording, split: Split, name: str) -> tuple[str, str]:
    """Expressions for a missing value and for a known one."""
    if split.left_categories is not None and words.labels(split.feature) is None:
        return f"{name} is None or {name} < 0", f"{name} is not None and {name} >= 0"
    return f"{name} is None", f"{name} is not None"


def _python_test(words: Wording, split: Split, variable: dict[int, str]) -> str:
    name = variable[split.feature]
    if split.left_categories is None:
        return f"{name} {'>' if split.reversed else '<='} {_python_literal(split.threshold)}"
    return f"{name} in {_python_set(words.sides(split)[0])}"


def _python_set(labels: Sequence[Any]) -> str:
    return "{" + ", ".join(map(_python_literal, labels)) + "}" if labels else "()"


def _python_literal(value: Any) -> str:
    value = plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, list):
        return "[" + ", ".join(map(_python_literal, value)) + "]"
    if isinstance(value, (bool, int, float)):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False)  # a string of JSON is one of Python too


def _variables(names: list[str]) -> list[str]:
    """A Python name for each feature, as close to its own as it can be."""
    taken = {"row", "given"}
    variables = []
    for name in names:
        wanted = re.sub(r"\W", "_", name)
        if not wanted or wanted[0].isdigit() or keyword.iskeyword(wanted):
            wanted = "_" + wanted
        variable, copies = wanted, 1
        while variable in taken or not variable.isidentifier():
            copies += 1
            variable = f"{wanted if wanted.isidentifier() else 'feature'}_{copies}"
        taken.add(variable)
        variables.append(variable)
    return variables


def _questions(words: Wording, node: int) -> list[Split]:
    if words.tree.is_leaf[node]:
        return []
    return [words.question(node), *words.surrogates(node)]


def _nested(
    tree: TreeArrays,
    inner: Callable[[int, str], tuple[str, str, str]],
    leaf: Callable[[int], str],
    start: str = "",
) -> list[str]:
    """Lines of nested code: opening, left branch, middle, right branch, closing of each node.

    Lines below the deepest level that Python reads are not indented further: the code would grow with
    the square of the depth.
    """
    unit = "    " if start else "  "
    widest = len(start) + _DEEPEST * len(unit)
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
        below = pad + unit if len(pad) < widest else pad
        right, left = (int(tree.right[node]), below), (int(tree.left[node]), below)
        stack += [closing, right, middle, left]
    return lines


def _answer(words: Wording, node: int, output: str | int) -> Any:
    """What the code gives in a leaf."""
    if isinstance(output, str) and output not in _TOKENS:
        raise ValueError(
            f"output is {output!r}; it must be 'prediction', 'leaf' or a column of value"
        )
    if output == "leaf":
        return node
    if output == "prediction":
        answer = words.prediction(node)
        if isinstance(answer, list):
            raise ValueError("the tree has several outputs; choose one, for example output=0")
        return answer
    if not 0 <= int(output) < words.tree.n_outputs:
        raise ValueError(f"output is {output}; value has {words.tree.n_outputs} columns")
    return float(words.tree.value[node, int(output)])

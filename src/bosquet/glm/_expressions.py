"""What a formula computes of columns, as data: read from its text, and evaluated without running any.

An expression is a number, ``["column", name]``, or a function of this list with its arguments:
``["log", ["add", ["column", "dose"], 1]]``. A model file holds these in place of a formula's text, which is
code. `is_plain` tells whether a formula itself uses nothing beyond them.
"""

from __future__ import annotations

import ast
import keyword
import operator
import re
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

_OPERATORS: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "negative": operator.neg,
}
_OF_ONE = (
    "abs", "cbrt", "ceil", "cos", "exp", "expm1", "floor", "log", "log10", "log1p", "log2", "sign", "sin",
    "sqrt", "square", "tan", "tanh",
)  # fmt: skip
_OF_TWO = ("maximum", "minimum")
_FUNCTIONS = {**_ARITHMETIC, **{name: getattr(np, name) for name in (*_OF_ONE, *_OF_TWO)}}
_NUMPY = tuple(f"np.{name}" for name in (*_OF_ONE, *_OF_TWO))
# Without np. before them.
_BARE = ("log", "log10", "exp", "sqrt")
_LARGEST = 1e100


class NotPlain(ValueError):
    """Text that is no arithmetic of columns."""


# ----------------------------------------------------------------------------------------- reading
def expression_of(code: str, columns: Collection[str]) -> Any:
    """The expression that a piece of a formula stands for; NotPlain if it is none."""
    if code in columns:
        return ["column", code]
    try:
        return _read(ast.parse(code.strip(), mode="eval").body, columns)
    except (SyntaxError, RecursionError, ValueError) as error:
        told = str(error) if isinstance(error, NotPlain) else "it is no arithmetic of columns"
        raise NotPlain(f"{code!r} cannot be written to a model file: {told}") from None


def _read(node: ast.expr, columns: Collection[str]) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _number(node.value)
    if isinstance(node, ast.Name) and node.id in columns:
        return ["column", node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _read(node.operand, columns)
        return value if isinstance(node.op, ast.UAdd) else _applied("negative", [value])
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        sides = [_read(side, columns) for side in (node.left, node.right)]
        return _applied(_OPERATORS[type(node.op)], sides)
    if isinstance(node, ast.Call) and not node.keywords:
        return _called(node, columns)
    raise NotPlain(f"it uses {ast.unparse(node)}")


def _called(node: ast.Call, columns: Collection[str]) -> Any:
    name = ast.unparse(node.func)
    if name == "Q" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
        if node.args[0].value in columns:
            return ["column", node.args[0].value]
    elif name == "I" and len(node.args) == 1:
        return _read(node.args[0], columns)
    elif name in _BARE or name in _NUMPY:
        return _applied(name.removeprefix("np."), [_read(one, columns) for one in node.args])
    raise NotPlain(f"it calls {name}")


def _applied(name: str, arguments: list[Any]) -> Any:
    if any(isinstance(argument, list) for argument in arguments):
        return [name, *arguments]
    if name == "power" and (max(map(abs, arguments)) > 100):
        raise NotPlain("it has a power of large numbers")
    try:
        return _number(_FUNCTIONS[name](*arguments))
    except (ArithmeticError, TypeError) as error:
        raise NotPlain(str(error)) from None


def _number(value: Any) -> float:
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) not in (int, float) or not _fits(value):
        raise NotPlain(f"{value!r} is not an ordinary number")
    return value


# -------------------------------------------------------------------------------------- evaluating
def check_expression(expression: Any, columns: Collection[str]) -> None:
    """Raise a ValueError unless it is an expression of these columns, with one at least in each function."""
    if not isinstance(expression, list) or not expression or not isinstance(expression[0], str):
        raise ValueError(f"{str(expression)[:60]} is no expression of columns")
    name, *arguments = expression
    if name == "column":
        if len(arguments) != 1 or not isinstance(arguments[0], str) or arguments[0] not in columns:
            raise ValueError(f"an expression names {arguments!r:.60}, which is no column")
        return
    wanted = 1 if name == "negative" or name in _OF_ONE else 2
    if name not in _FUNCTIONS or len(arguments) != wanted:
        raise ValueError(f"an expression calls {name[:40]!r} with {len(arguments)} arguments")
    if not any(isinstance(argument, list) for argument in arguments):
        raise ValueError("an expression computes with numbers alone")
    for argument in arguments:
        if isinstance(argument, list):
            check_expression(argument, columns)
        elif type(argument) not in (int, float) or not _fits(argument):
            raise ValueError(f"an expression holds {argument!r:.60}, which is no number")


def _fits(value: float) -> bool:
    return abs(value) < 2**63 if isinstance(value, int) else abs(value) <= _LARGEST


def evaluated(expression: Any, frame: Any) -> Any:
    """The value of an expression on the columns of a frame, by the same operations as a formula's."""
    if not isinstance(expression, list):
        return expression
    name, *arguments = expression
    if name == "column":
        return frame[arguments[0]]
    return _FUNCTIONS[name](*(evaluated(argument, frame) for argument in arguments))


def columns_in(expression: Any) -> list[str]:
    """The columns that an expression names."""
    if not isinstance(expression, list):
        return []
    if expression[0] == "column":
        return [expression[1]]
    return [name for argument in expression[1:] for name in columns_in(argument)]


# ---------------------------------------------------------------------------------- whole formulas
_TOKEN = re.compile(
    r"""\s* (?: (?P<quoted> `[^`\\]*` | "[^"\\]*" | '[^'\\]*' )
    | (?P<number> \d+(?:\.\d*)?(?:[eE][+-]?\d+)? | \.\d+ )
    | (?P<name> [^\W\d]\w*(?:\.[^\W\d]\w*)* )
    | \*\* \s* -?(?P<power> \d{1,3}(?:\.\d{0,9})? ) \b
    | (?P<mark> [-+/:~(),=.] | \*(?!\*) ) )""",
    re.VERBOSE,
)
_CALLS = {"C", "I", "Q", "Treatment", "Sum", "Poly", "Diff", "Helmert", *_BARE}
_CALLS |= set(_NUMPY)
_CALLS |= {f"contr.{name}" for name in ("treatment", "sum", "poly", "diff", "helmert")}
_VALUES = ("quoted", "number", "name", "power", "call")
# The product of all powers: Python's whole numbers have no limit.
_MOST_POWERS = 10_000


def is_plain(formula: str) -> bool:
    """Whether a formula does nothing but name columns, combine them and call functions of this module.

    Examples
    --------
    >>> from bosquet.glm._expressions import is_plain
    >>> is_plain("y ~ a * np.log(b) + C(c, Sum)"), is_plain("y ~ open('x')"), is_plain("y ~ (open)('x')")
    (True, False, False)
    """
    kinds, powers, place, text = ["("], 1.0, 0, formula.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            return False
        place, kind, name = found.end(), str(found.lastgroup), found["name"]
        if kind == "mark":
            kind = found["mark"]
        elif kind == "power":
            powers *= max(float(found["power"]), 1.0)
        elif name is not None:
            kind = "call" if name in _CALLS else "name"
            if keyword.iskeyword(name) or ("." in name and kind != "call"):
                return False
        if not _may_follow(kinds[-1], kind):
            return False
        kinds.append(kind)
    return powers <= _MOST_POWERS


def _may_follow(before: str, kind: str) -> bool:
    """Whether a formula may go on so.

    A parenthesis behind a value calls it; two values side by side are text with a prefix, which may be code;
    a dot beside a value looks something up, and alone stands for all other columns.
    """
    after_value = before in _VALUES or before == ")"
    if kind == "(":
        return before == "call" or not (after_value or before == ".")
    if kind == "power":
        return before in ("quoted", "number", "name", ")")
    if kind in _VALUES or kind == ".":
        return not (after_value or before == ".")
    return True

"""Expressions of columns as data: parsed from the text of a formula, and evaluated without running code.

An expression is a number, ``["column", name]``, or the name of a function of this module with its arguments:
``["log", ["add", ["column", "dose"], 1]]``. A model file stores expressions instead of the text of a formula,
which is code. `is_safe_formula` checks whether the text of a formula uses only these functions.
"""

from __future__ import annotations

import ast
import keyword
import operator
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame


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
_UNARY = (
    "abs", "cbrt", "ceil", "cos", "exp", "expm1", "floor", "log", "log10", "log1p", "log2", "sign", "sin",
    "sqrt", "square", "tan", "tanh",
)  # fmt: skip
_BINARY = ("maximum", "minimum")
_FUNCTIONS = {**_ARITHMETIC, **{name: getattr(np, name) for name in (*_UNARY, *_BINARY)}}
_NUMPY = tuple(f"np.{name}" for name in (*_UNARY, *_BINARY))
# Functions that may be called without the prefix np.
_UNQUALIFIED = ("log", "log10", "exp", "sqrt")
_MAX_NUMBER = 1e100


class UnsupportedExpression(ValueError):
    """Error for text that is not an arithmetic expression of columns."""


# ----------------------------------------------------------------------------------------- reading
def parse_expression(code: str, columns: Collection[str]) -> Any:
    """Return the expression of a factor of a formula; raise UnsupportedExpression if there is none."""
    if code in columns:
        return ["column", code]
    try:
        return _parse_node(ast.parse(code.strip(), mode="eval").body, columns)
    except (SyntaxError, RecursionError, ValueError) as error:
        reason = "it is not an arithmetic expression of columns"
        if isinstance(error, UnsupportedExpression):
            reason = str(error)
        raise UnsupportedExpression(
            f"{code!r} cannot be written to a model file: {reason}"
        ) from None


def _parse_node(node: ast.expr, columns: Collection[str]) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _check_number(node.value)
    if isinstance(node, ast.Name) and node.id in columns:
        return ["column", node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _parse_node(node.operand, columns)
        return value if isinstance(node.op, ast.UAdd) else _evaluate_call("negative", [value])
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        sides = [_parse_node(side, columns) for side in (node.left, node.right)]
        return _evaluate_call(_OPERATORS[type(node.op)], sides)
    if isinstance(node, ast.Call) and not node.keywords:
        return _parse_call(node, columns)
    raise UnsupportedExpression(f"it uses {ast.unparse(node)}")


def _parse_call(node: ast.Call, columns: Collection[str]) -> Any:
    name = ast.unparse(node.func)
    if name == "Q" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
        if node.args[0].value in columns:
            return ["column", node.args[0].value]
    elif name == "I" and len(node.args) == 1:
        return _parse_node(node.args[0], columns)
    elif name in _UNQUALIFIED or name in _NUMPY:
        return _evaluate_call(
            name.removeprefix("np."), [_parse_node(argument, columns) for argument in node.args]
        )
    raise UnsupportedExpression(f"it calls {name}")


def _evaluate_call(name: str, arguments: list[Any]) -> Any:
    if any(isinstance(argument, list) for argument in arguments):
        return [name, *arguments]
    if name == "power" and (max(map(abs, arguments)) > 100):
        raise UnsupportedExpression("it has a power of a number above 100")
    try:
        return _check_number(_FUNCTIONS[name](*arguments))
    except (ArithmeticError, TypeError) as error:
        raise UnsupportedExpression(str(error)) from None


def _check_number(value: Any) -> float:
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) not in (int, float) or not _is_in_range(value):
        raise UnsupportedExpression(f"{value!r} is not a finite number in the accepted range")
    return value


# -------------------------------------------------------------------------------------- evaluating
def check_expression(expression: Any, columns: Collection[str]) -> None:
    """Raise a ValueError unless it is an expression of these columns.

    Every function must have at least one argument that is an expression.
    """
    if not isinstance(expression, list) or not expression or not isinstance(expression[0], str):
        raise ValueError(f"{str(expression)[:60]} is not an expression of columns")
    name, *arguments = expression
    if name == "column":
        if len(arguments) != 1 or not isinstance(arguments[0], str) or arguments[0] not in columns:
            raise ValueError(f"an expression names {arguments!r:.60}, which is not a column")
        return
    n_arguments = 1 if name == "negative" or name in _UNARY else 2
    if name not in _FUNCTIONS or len(arguments) != n_arguments:
        raise ValueError(
            f"an expression calls {name[:40]!r} with {len(arguments)} arguments; there is no such function"
        )
    if not any(isinstance(argument, list) for argument in arguments):
        raise ValueError(
            f"an expression calls {name!r} with numbers only; one argument must use a column"
        )
    for argument in arguments:
        if isinstance(argument, list):
            check_expression(argument, columns)
        elif type(argument) not in (int, float) or not _is_in_range(argument):
            raise ValueError(
                f"an expression contains {argument!r:.60}, which is not a valid number"
            )


def _is_in_range(value: float) -> bool:
    return abs(value) < 2**63 if isinstance(value, int) else abs(value) <= _MAX_NUMBER


def evaluate_expression(expression: Any, frame: DataFrame) -> Any:
    """Evaluate an expression on the columns of a data frame, with the same operations as the formula."""
    if not isinstance(expression, list):
        return expression
    name, *arguments = expression
    if name == "column":
        return frame[arguments[0]]
    return _FUNCTIONS[name](*(evaluate_expression(argument, frame) for argument in arguments))


def columns_in(expression: Any) -> list[str]:
    """Return the names of the columns that an expression uses."""
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
_CALLS = {"C", "I", "Q", "Treatment", "Sum", "Poly", "Diff", "Helmert", *_UNQUALIFIED}
_CALLS |= set(_NUMPY)
_CALLS |= {f"contr.{name}" for name in ("treatment", "sum", "poly", "diff", "helmert")}
_VALUES = ("quoted", "number", "name", "power", "call")
# Limit of the product of all powers: integers of Python are unbounded, so a power could exhaust memory.
_MAX_POWER = 10_000


def is_safe_formula(formula: str) -> bool:
    """Whether a formula only names columns, combines them and calls functions of this module.

    Examples
    --------
    >>> from bosquet.glm._expressions import is_safe_formula
    >>> is_safe_formula("y ~ a * np.log(b) + C(c, Sum)")
    True
    >>> is_safe_formula("y ~ open('x')"), is_safe_formula("y ~ (open)('x')")
    (False, False)
    """
    kinds, powers, position, text = ["("], 1.0, 0, formula.rstrip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            return False
        position, kind, name = token.end(), str(token.lastgroup), token["name"]
        if kind == "mark":
            kind = token["mark"]
        elif kind == "power":
            powers *= max(float(token["power"]), 1.0)
        elif name is not None:
            kind = "call" if name in _CALLS else "name"
            if keyword.iskeyword(name) or ("." in name and kind != "call"):
                return False
        if not _may_follow(kinds[-1], kind):
            return False
        kinds.append(kind)
    return powers <= _MAX_POWER


def _may_follow(previous: str, kind: str) -> bool:
    """Whether a token may follow the previous one in a safe formula.

    A parenthesis after a value calls it. Two adjacent values may be a prefixed string, which can contain
    code. A dot next to a value accesses an attribute; a dot alone is all other columns.
    """
    after_value = previous in _VALUES or previous == ")"
    if kind == "(":
        return previous == "call" or not (after_value or previous == ".")
    if kind == "power":
        return previous in ("quoted", "number", "name", ")")
    if kind in _VALUES or kind == ".":
        return not (after_value or previous == ".")
    return True

"""Formulas as data: expressions that are parsed, and formulas that are rejected because they run code."""

import json

import numpy as np
import pandas as pd
import pytest

from bosquet.glm._expressions import (
    UnsupportedExpression,
    check_expression,
    columns_in,
    evaluate_expression,
    is_safe_formula,
    parse_expression,
)

FRAME = pd.DataFrame({"x": [1.0, 2.5, 4.0], "a b": [3, 4, 5], "n": [1, 2, 3]})


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("x", FRAME["x"]),
        ("np.log(x + 1)", np.log(FRAME["x"] + 1)),
        ("log(x)", np.log(FRAME["x"])),
        ("I(x ** 2)", FRAME["x"] ** 2),
        ("I(n ** 2)", FRAME["n"] ** 2),
        ("-x * 3 / (2 * 4)", -FRAME["x"] * 3 / 8),
        ("Q('a b') - n", FRAME["a b"] - FRAME["n"]),
        ("np.maximum(x, n)", np.maximum(FRAME["x"], FRAME["n"])),
        ("np.exp(np.sqrt(x)) + np.log(2)", np.exp(np.sqrt(FRAME["x"])) + np.log(2)),
    ],
)
def test_an_expression_has_the_value_of_its_text(code, value):
    expression = json.loads(json.dumps(parse_expression(code, list(FRAME.columns))))
    check_expression(expression, columns_in(expression))
    np.testing.assert_array_equal(evaluate_expression(expression, FRAME), value)


@pytest.mark.parametrize(
    "code",
    [
        "bs(x)", "center(x)", "x > 3", "x.values", "open('x')", "np.load('x')", "x if x else 3", "[x]",
        "lambda: x", "z", "__import__('os').system('true')", "9 ** 9 ** 9 * x", "10 ** 400 + x",
        "np.log(x, where=False)", "x @ n", "(x", "np.log",
    ],
)  # fmt: skip
def test_other_code_raises_an_error(code):
    with pytest.raises(UnsupportedExpression, match="cannot be written to a model file"):
        parse_expression(code, list(FRAME.columns))


@pytest.mark.parametrize(
    "expression",
    [
        3, None, [], ["x"], ["column"], ["column", "z"], ["column", 3], ["eval", ["column", "x"]],
        ["log"], ["log", 2], ["log", ["column", "x"], ["column", "x"]], ["add", 1, 2], ["power", 9, 9],
        ["add", ["column", "x"], "1"], ["add", ["column", "x"], 2**70], ["add", ["column", "x"], True],
        ["add", ["column", "x"], float("inf")], ["add", ["column", "x"], None], [["column", "x"]],
    ],
)  # fmt: skip
def test_other_values_are_not_expressions(expression):
    with pytest.raises(ValueError, match=r"an expression"):
        check_expression(expression, ["x"])


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ a * b", "chd ~ .", "chd ~ . - age", "y ~ np.log(b) + C(c, Sum) + I(x**2)", "~ a + b", "1",
        "dead + alive ~ dose", "Q('a b') + `z w`:x", "0 + x", "y ~ (a + b)**2", "np.log(y) ~ x",
        "C(x, Treatment('b'))", "C(x, Treatment(reference='b'))", "C(x, contr.sum)", "I(x ** 0.5)",
        "I(-x / 2.5e3)", "np.maximum(x, 3)", "a/b", "C(x, contr.treatment('b'))",
    ],
)  # fmt: skip
def test_formulas_of_columns_are_safe(formula):
    assert is_safe_formula(formula)


@pytest.mark.parametrize(
    "formula",
    [
        "open('x')", "(open)('x')", "y ~ x + (open) ('x')", "x.__class__", "x . __class__", "x .__class__",
        "Q(f\"{open('x')}\")", "f'{x}'", "lambda x: x", "I((lambda: 3)())", "9**9**9", "9**(9**9)",
        "((9)**999)**999", "[x for x in y]", "{x}", "x; y", "np.load('x')", "np.log.__class__",
        "np . load('x')", "__import__('os')", "Q('a')('b')", "x('a')", "3('a')", "np.log(x)(y)",
        "eval('1')", "`a`('b')", "a.b", "getattr(np, 'load')('x')", "x#y", "x\\y", "y ~ x if x else z",
        "x[0]", "@x", "log . __class__", "C.__init__", ". . __class__", "x\x00", "bs(x)", "x and y",
    ],
)  # fmt: skip
def test_formulas_that_could_run_code_are_not_safe(formula):
    assert not is_safe_formula(formula)

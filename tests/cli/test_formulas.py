"""`predict --escape-formulas`: no cell of a CSV file is run as a formula by a spreadsheet."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from bosquet.cli.formulas import escape_formula, without_formulas

FORMULAS = [
    "=1+1",
    "+SUM(A1)",
    "-2+3",
    "@x",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    '=HYPERLINK("x")',
    "-a",
]
HARMLESS = ["-1.5", "+3", "-1,200.5", "-1e-5", "+12%", "a=1", "x;=1+1", "", "'=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_an_apostrophe(text):
    assert escape_formula(text) == "'" + text


@pytest.mark.parametrize("text", [*HARMLESS, -1.5, None, True])
def test_other_cells_are_unchanged(text):
    assert escape_formula(text) is text


def test_a_column_may_have_any_name():
    frame = pd.DataFrame({"self": ["=1"], "=2": ["a"], 3: ["-x"]})
    found = without_formulas(frame)
    assert found.to_dict("list") == {"self": ["'=1"], "'=2": ["a"], 3: ["'-x"]}
    assert list(frame) == ["self", "=2", 3]


@pytest.fixture
def hostile(run_command, tmp_path):
    """A table with formulas in a name, in labels and in text, and a model of it."""
    n = 40
    frame = pd.DataFrame(
        {
            "=cmd()": np.resize(FORMULAS[:4] + HARMLESS[:4], n),
            "x": np.arange(n) - 20.5,
            "label": np.resize(["=yes()", "-no()"], n),
            "cut": "x;=1+1",
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "t.csv", "-t", "label", "--method", "tree", "-o", tmp_path / "m"]
    assert run_command(*words, "-q")[0] == 0
    return tmp_path, frame


def test_all_cells_and_names_are_escaped_on_demand(run_command, hostile):
    folder, frame = hostile
    words = ["predict", folder / "m", folder / "t.csv", "--keep", "=cmd(),x,cut", "--proba", "-q"]
    code, stdout, _ = run_command(*words, "--escape-formulas")
    assert code == 0
    rows = list(csv.reader(io.StringIO(stdout)))
    assert all(not cell or escape_formula(cell) == cell for row in rows for cell in row)
    assert rows[0][:4] == ["'=cmd()", "x", "cut", "label"]
    assert [float(row[1]) for row in rows[1:]] == frame["x"].tolist()
    assert {row[3] for row in rows[1:]} <= {"'=yes()", "'-no()"}
    assert '"x;=1+1"' in stdout  # quoted: one cell under any delimiter
    run_command(*words, "--escape-formulas", "--out", folder / "out.csv")
    assert (folder / "out.csv").read_text(encoding="utf-8") == stdout


def test_by_default_cells_are_unchanged(run_command, hostile):
    folder, frame = hostile
    _, stdout, _ = run_command("predict", folder / "m", folder / "t.csv", "--keep", "=cmd()", "-q")
    assert pd.read_csv(io.StringIO(stdout))["=cmd()"].tolist() == frame["=cmd()"].tolist()

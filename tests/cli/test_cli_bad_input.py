"""An error that the user can fix gives one line on standard error, exit code 2, and no partial file."""

import argparse
import errno
import io
import json
import os
import subprocess
import sys
import time
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from bosquet.cli import main
from bosquet.cli.arguments import UserError
from bosquet.cli.commands.study import write_results

N = 60


def valid_table():
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {"x": random.normal(size=N), "z": random.normal(size=N), "y": ["a", "b"] * (N // 2)}
    )


def to_csv_bytes(frame):
    return frame.to_csv(index=False).encode()


CASES = {
    "no such target": (to_csv_bytes(valid_table()), "w", "the target column 'w' is not in the table"),
    "a target that is constant": (to_csv_bytes(valid_table().assign(y=1)), "y", "in every row"),
    "a target that is missing": (to_csv_bytes(valid_table().assign(y=None)), "y", "missing in every row"),
    "one row": (to_csv_bytes(valid_table()[:1]), "y", "1 row"),
    "all columns text": (
        to_csv_bytes(pd.DataFrame({"a": [f"some words {i}" for i in range(N)], "y": ["a", "b"] * 30})),
        "y",
        "no usable feature is left",
    ),
    "a date as target": (
        to_csv_bytes(valid_table().assign(y=pd.date_range("2024", periods=N))), "y", "y",
    ),
    "the target's name twice": (b"y,x,y\n" + b"1,2,3\n0,3,4\n" * 20, "y", "named 'y'"),
    "the target's name twice, after five other repeated names": (
        b"a,a,b,b,c,c,d,d,e,e,y,y\n" + b"1,2,3,4,5,6,7,8,9,1,2,2\n0,3,4,5,6,7,8,9,1,2,3,3\n" * 20,
        "y",
        "named 'y' (read as y, y_2)",
    ),
    "the second column of the target's name": (
        b"y,x,y\n" + b"1,2,3\n0,3,4\n" * 20, "y_2", "2 columns are named",
    ),
    "a class with one member": (
        to_csv_bytes(valid_table().assign(y=["c", *["a", "b"] * 29, "a"])), "y",
        "1 class with a single row ('c')",
    ),
    "one column": (to_csv_bytes(valid_table()[["y"]]), "y", "no column besides the target"),
    "a file that is empty": (b"", "y", "is empty"),
    "a header alone": (b"x,y\n", "y", "no rows below it"),
    "a workbook": (b"PK\x03\x04" + b"x" * 99, "y", "Excel"),
    "binary garbage": (bytes(range(256)) * 9, "y", "binary data"),
    "rows of different lengths": (b"x,y\n1,a\n2,b,c\n", "y", "line 3"),
    "a damaged archive": (b"\x1f\x8b\x08abc", "y", "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("command", ["study", "fit", "tree"])
@pytest.mark.parametrize("case", CASES)
def test_an_unusable_table_is_one_line_and_exit_code_2(
    run_command, tmp_path, monkeypatch, command, case
):
    data, target, message = CASES[case]
    (tmp_path / "t.csv").write_bytes(data)
    monkeypatch.chdir(tmp_path)
    out = {"study": ["--report", "out"], "fit": ["--out", "out"], "tree": ["--out", "out"]}[command]
    code, printed, err = run_command(command, "t.csv", "--target", target, *out, "-q")
    assert (code, printed) == (2, "")
    assert err.startswith("bosquet: ")
    assert err.count("\n") == 1
    assert message in err
    assert os.listdir(tmp_path) == ["t.csv"]


def test_columns_with_the_name_of_the_target_can_be_dropped(run_command, tmp_path):
    (tmp_path / "t.csv").write_bytes(b"y,x,y\n" + b"1,2,1\n0,3,0\n" * 20)
    words = ["fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m", "--json", "-q"]
    assert run_command(*words)[0] == 2
    code, printed, _ = run_command(*words, "--drop", "y_2")
    assert (code, json.loads(printed)["columns"]) == (0, 1)


def test_dates_mixed_types_and_repeated_names_are_accepted(run_command, tmp_path):
    frame = valid_table().assign(
        when=pd.date_range("2024", periods=N).strftime("%d/%m/%Y"),
        mixed=["1", "red", "2", "blue"] * (N // 4),
    )
    frame = pd.concat([frame, frame[["x"]]], axis=1)
    (tmp_path / "t.csv").write_bytes(to_csv_bytes(frame))
    code, _, err = run_command("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m")
    assert code == 0
    for note in ("'x' occurs 2 times", "when: a date", "mixed: mixed numbers and text"):
        assert note in err


def test_a_study_has_a_limit_of_columns_and_a_fit_has_none(run_command, tmp_path, monkeypatch):
    monkeypatch.setattr("bosquet.study.table.reading.MAX_COLUMNS", 1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(to_csv_bytes(valid_table()))
    code, printed, err = run_command("study", "t.csv", "-t", "y", "-q")
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert "2 columns besides the target, but a study accepts at most 1" in err
    assert "bosquet fit" in err
    assert run_command("fit", "t.csv", "-t", "y", "--method", "tree", "-o", "m", "-q")[0] == 0
    assert sorted(os.listdir(tmp_path)) == ["m", "t.csv"]


@pytest.mark.parametrize("n", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_very_many_columns_are_accepted(run_command, tmp_path, n):
    row = ",".join(["1.5", "2.5"] * (n // 2))
    other = ",".join(["0.5", "1.5"] * (n // 2))
    text = ",".join(f"v{i}" for i in range(n)) + ",y\n" + f"{row},a\n{other},b\n" * 6
    (tmp_path / "t.csv").write_text(text)
    start = time.perf_counter()
    code, printed, err = run_command(
        "fit", tmp_path / "t.csv", "-t", "y", "--method", "tree", "-o", tmp_path / "m", "-q"
    )
    assert code == 0, err
    assert f"{n:,} columns" in printed
    assert time.perf_counter() - start < 120  # a few seconds on an idle machine


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["study"], "required: data"),
        (["study", "t.csv"], "--target"),
        (["frobnicate"], "invalid choice"),
        (["fit", "gone.csv", "-t", "y", "-o", "m"], "gone.csv does not exist"),
        (["fit", "t.csv", "-t", "y", "-o", "m", "--set", "depth"], "NAME=VALUE"),
        (["fit", "t.csv", "-t", "y", "-o", "m", "--set", "n_trees=3"], "no parameter 'n_trees'"),
        (["fit", "t.csv", "-t", "y", "-o", "m", "--set", "learning_rate=-1"], "learning_rate"),
        (["fit", "t.csv", "-t", "y", "-o", "m", "--holdout", "2"], "--holdout"),
        (["fit", "t.csv", "-t", "y", "-o", "m", "--drop", "X"], "did you mean 'x'?"),
        (
            ["fit", "t.csv", "-t", "y", "-o", "m", "--set", "learning_rates=1"],
            "did you mean 'learning_rate'",
        ),
        (["fit", "t.csv", "-t", "nope", "-o", "m"], "available: 'x', 'z', 'y'"),
        (["fit", "t.csv", "-t", "y", "-o", "m", "--positive", "c"], "available: 'a', 'b'"),
        (["fit", "t.csv", "-t", "x", "-o", "m", "--positive", "c"], "is a number"),
        (
            ["fit", "t.csv", "-t", "y", "-o", "m", "--method", "forest"],
            "did you mean 'random-forest'?",
        ),
        (["studdy", "t.csv"], "did you mean 'study'?"),
        (["study", "t.csv", "--targt", "y"], "unknown option --targt; did you mean --target?"),
        (["study", "t.csv", "-t", "y", "--frobnicate=3"], "unknown option --frobnicate (see"),
        (["fit", "t.csv", "-t", "y", "-o", "m", "--delimiter", "ab"], "one character"),
        (
            ["fit", "t.csv", "-t", "y", "-o", "m", "--encoding", "klingon"],
            "the encoding 'klingon' is unknown",
        ),
        (["fit", "t.csv", "-t", "y", "-o", "."], "it is a directory"),
        (["fit", "t.csv", "-t", "y", "-o", "nowhere/m"], "cannot write nowhere/m"),
        (
            ["study", "t.csv", "-t", "y", "--report", "nowhere/p.html"],
            "cannot write nowhere/p.html",
        ),
        (
            ["study", "t.csv", "-t", "y", "--budget", "soon"],
            "--budget soon is not valid; pass a time above 0",
        ),
        (
            ["study", "t.csv", "-t", "y", "--budget", "-5s"],
            "--budget -5s is not valid; pass a time above 0",
        ),
        (
            ["study", "t.csv", "-t", "y", "--budget", "0"],
            "--budget 0 is not valid; pass a time above 0",
        ),
        (["study", "t.csv", "-t", "y", "--jobs", "0"], "'0' is not an integer >= 1"),
        (["study", "t.csv", "-t", "y", "--positive", "B"], "did you mean 'b'?"),
        (["study", "t.csv", "-t", "y", "--methods", "magic"], "'magic' in methods is unknown"),
        (["study", "t.csv", "-t", "y", "--methods", "cartt"], "did you mean 'cart'?"),
        (["study", "t.csv", "-t", "y", "--metric", "acuracy"], "did you mean 'accuracy'?"),
        (
            ["study", "t.csv", "-t", "y", "--costs", "0,1;0,0"],
            "predicting 'a' for the true class 'b' costs 0",
        ),
        (["study", "t.csv", "-t", "y", "--costs", "0,1,1;1,0,1;1,1,0"], "in the order 'a', 'b'"),
        (["study", "t.csv", "-t", "y", "--metric", "magic"], "magic"),
        (["study", "t.csv", "-t", "y", "--costs", "1,2;3"], "--costs"),
        (["study", "t.csv", "-t", "y", "--costs", "dear"], "--costs"),
        (["study", "t.csv", "-t", "y", "--task", "regression"], "needs a numeric target"),
        (["predict", "t.csv", "t.csv"], "t.csv"),
        (["predict", "gone", "t.csv"], "gone does not exist"),
        (["predict", "-", "t.csv"], "cannot be read from standard input"),
        (["verify", "."], "is a directory"),
        (["explain", "gone", "t.csv", "--row", "0"], "is not an integer >= 1"),
        (["completion", "powershell"], "invalid choice"),
    ],
)
def test_invalid_arguments_are_one_line_and_exit_code_2(
    run_command, tmp_path, monkeypatch, words, message
):
    (tmp_path / "t.csv").write_bytes(to_csv_bytes(valid_table()))
    monkeypatch.chdir(tmp_path)
    code, printed, err = run_command(*words)
    assert (code, printed) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_table_without_the_models_columns_is_named(run_command, sales, model, tmp_path):
    frame = pd.read_csv(sales, sep=";", decimal=",")
    frame.drop(columns="size").to_csv(tmp_path / "t.csv", index=False)
    code, _, err = run_command("predict", model, tmp_path / "t.csv")
    assert code == 2
    assert "lacks the column 'size'" in err
    assert run_command("predict", model, sales, "--keep", "nothing")[0] == 2
    assert run_command("explain", model, sales, "--row", "9999")[0] == 2


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that cannot be read")
def test_a_model_that_cannot_be_read_is_named(run_command, sales):
    code, _, err = run_command("predict", "/proc/self/mem", sales)
    assert code == 2
    assert err.startswith("bosquet: /proc/self/mem cannot be read: ")


def test_probabilities_of_a_regressor_are_an_error(run_command, sales, tmp_path):
    run_command("fit", sales, "-t", "price", "--method", "tree", "-o", tmp_path / "m")
    code, _, err = run_command("predict", tmp_path / "m", sales, "--proba")
    assert code == 2
    assert "no class probabilities" in err


def test_a_missing_extra_is_named(run_command, sales, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = run_command("fit", sales, "-t", "sold", "-o", tmp_path / "m")
    assert code == 2
    assert "pip install 'bosquet[study]'" in err
    assert err.count("\n") == 1


# ------------------------------------------------------------------------------------ full disks
class FullDisk(io.RawIOBase):
    def writable(self):
        return True

    def write(self, data):
        raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_the_existing_file_unchanged(
    run_command, sales, model, tmp_path, monkeypatch
):
    import builtins

    usual = builtins.open

    def full(path, mode="r", *args, **options):
        if "w" in mode and str(tmp_path) in str(path):
            return FullDisk() if "b" in mode else io.TextIOWrapper(FullDisk())
        return usual(path, mode, *args, **options)

    out = tmp_path / "predictions.csv"
    out.write_text("as before")
    monkeypatch.setattr(builtins, "open", full)
    for words in (["fit", sales, "-t", "sold", "--method", "tree", "-o", out],):
        code, printed, err = run_command(*words, "-q")
        assert (code, printed) == (2, "")
        assert "No space left on device" in err
        assert err.count("\n") == 1
    monkeypatch.undo()
    assert out.read_text() == "as before"
    assert os.listdir(tmp_path) == ["predictions.csv"]


def test_the_result_is_printed_if_the_report_cannot_be_written(capsys, tmp_path):
    class Studied:
        record_: ClassVar = {"notes": []}

        def report(self, path):
            raise OSError(errno.ENOSPC, f"the page could not be written to {path}: no space")

        def __str__(self):
            return "the table of methods"

    options = argparse.Namespace(quiet=True, json=False, save=None)
    with pytest.raises(UserError, match=r"^the page could not be written to page.html: no space$"):
        write_results(options, Studied(), "page.html")
    assert capsys.readouterr().out == "the table of methods\n"
    options.json = True
    with pytest.raises(UserError):
        write_results(options, Studied(), "page.html")
    files = json.loads(capsys.readouterr().out)["files"]
    assert files == {"report": None, "model": None}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_device_is_one_line(run_command, sales, model):
    for words in (["predict", model, sales], ["fit", sales, "-t", "sold", "--method", "tree"]):
        code, printed, err = run_command(*words, "--out", "/dev/full", "-q")
        assert (code, printed) == (2, "")
        assert "/dev/full" in err
        assert "No space left on device" in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_standard_output_is_one_line(sales, model):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bosquet", "predict", str(model), str(sales)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_closed_pipe_is_not_an_error(sales, model):
    done = subprocess.run(
        f"{sys.executable} -m bosquet predict {model} {sales} | head -1; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["sold", "0"]
    assert "Traceback" not in done.stderr


def test_an_internal_error_is_exit_code_1(run_command, monkeypatch, sales, model):
    from bosquet.cli.commands import predict

    def broken(*_):
        raise RuntimeError("something\nodd")

    monkeypatch.setattr(predict, "predictions_of", broken)
    code, _, err = run_command("predict", model, sales)
    assert code == 1
    assert err == (
        "bosquet: internal error: RuntimeError: something odd"
        " (please report it with the output of --traceback)\n"
    )
    with pytest.raises(RuntimeError):
        main(["predict", str(model), str(sales), "--traceback"])


def test_a_type_error_of_python_is_an_internal_error(run_command, monkeypatch, sales, model):
    from bosquet.cli.commands import predict

    monkeypatch.setattr(predict, "predictions_of", lambda *_: None + 1)
    code, _, err = run_command("predict", model, sales)
    assert code == 1
    assert err.startswith("bosquet: internal error: TypeError: unsupported operand")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "categorical_features=5",
            "categorical_features=5 is not valid: categorical_features must be",
        ),
        ("estimator=5", "estimator=5 is not an estimator"),
    ],
)
def test_a_parameter_of_another_type_is_exit_code_2(run_command, sales, tmp_path, setting, message):
    words = ["fit", sales, "-t", "sold", "-o", tmp_path / "m", "--set", setting, "-q"]
    code, printed, err = run_command(*words)
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"bosquet: {message}")


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_a_column_of_another_type_is_exit_code_2(run_command, tmp_path, command):
    from bosquet import DecisionTreeClassifier

    table = valid_table()
    DecisionTreeClassifier().fit(table[["x", "z"]], table["y"]).save(tmp_path / "m")
    table.assign(z=pd.date_range("2024", periods=N)).to_parquet(tmp_path / "t.parquet")
    code, printed, err = run_command(command, tmp_path / "m", tmp_path / "t.parquet")
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert err.startswith("bosquet: column 'z' has type datetime64")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-t", "x", "--positive", "c"], "--positive c needs a target with two classes, but 'x'"),
        (["-t", "y", "--task", "regression"], "pass --task classification or convert the column"),
        (["-t", "y", "--metric", "rmse"], "--metric rmse is not a metric for a binary task"),
        (["-t", "y", "--resume", "t.csv.gz"], "--resume t.csv.gz is not a checkpoint of a study"),
        (["-t", "y", "--exposure", "x"], "if the target is numeric, pass --task regression"),
    ],
)
def test_messages_of_the_library_name_the_options_of_the_command(
    run_command, tmp_path, monkeypatch, words, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(to_csv_bytes(valid_table()))
    (tmp_path / "t.csv.gz").write_bytes(b"no checkpoint\n")
    code, printed, err = run_command("study", "t.csv", *words, "-q")
    assert (code, printed) == (2, "")
    assert message in err


def test_notes_name_the_options_of_the_command(run_command, tmp_path):
    valid_table().assign(y=[1, 2, 3] * (N // 3)).to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "t.csv", "-t", "y", "--method", "tree", "-o", tmp_path / "m"]
    assert "is read as classes; pass --task regression" in run_command(*words)[2]


def test_an_interrupt_is_exit_code_130(run_command, monkeypatch, sales, model):
    from bosquet.cli.commands import predict

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(predict, "predictions_of", interrupted)
    assert run_command("predict", model, sales)[0] == 130

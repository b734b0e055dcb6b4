"""`bosquet fit` of a folder, a pattern or a large file reads batches, and writes the same model file."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from table_parts import write_parts

from bosquet.batches import sizes
from bosquet.cli.commands import fit
from bosquet.study.table import batches
from bosquet.tables import delimited

N = 600


@pytest.fixture(scope="module")
def table():
    """A table with every kind of column, missing values and rows without a target."""
    random = np.random.default_rng(0)
    size = random.normal(size=N)
    frame = pd.DataFrame(
        {
            "id": [f"a{i}" for i in range(N)],
            "size": size.round(3),
            "count": random.integers(0, 9, N).astype(float),
            "price": [f"{price:,.2f}" for price in random.uniform(0, 9000, N)],
            "colour": random.choice(["red", "green", "blue", None], N),
            "open": random.choice([True, False], N),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 400, N), "D"),
            "constant": 1,
            "grade": pd.Categorical(
                random.choice(["low", "high"], N), ["low", "high"], ordered=True
            ),
        }
    )
    frame.loc[::7, "size"] = None
    frame["amount"] = (size * 3 + random.normal(size=N)).round(2)
    frame["sold"] = np.where(size + random.normal(size=N) > 0, "yes", "no")
    frame.loc[::50, ["sold", "amount"]] = None
    return frame


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(sizes, "BATCH_ROWS", 64)
    monkeypatch.setattr(delimited, "_STREAM_BLOCK", 2000)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("gradient-boosting", "sold"),
        ("gradient-boosting", "amount"),
        ("random-forest", "sold"),
        ("random-forest", "amount"),
        ("adaboost", "sold"),
    ],
)
def test_batches_give_the_model_file_of_the_table_in_memory(
    run_command, table, small_batches, tmp_path, suffix, target, method
):
    other = {"sold": "amount", "amount": "sold"}[target]
    whole = tmp_path / f"whole.{suffix}"
    table.to_parquet(whole) if suffix == "parquet" else table.to_csv(whole, index=False)
    folder = write_parts(table, tmp_path / "parts", suffix)
    words = ["-t", target, "--drop", other, "--method", method, "--set", "n_estimators=5"]
    if method == "gradient-boosting":
        words += ["--set", "early_stopping=false"]
    code, _, err = run_command("fit", whole, *words, "--out", tmp_path / "memory")
    assert code == 0, err
    for place in ([folder], [f"{folder}/*.{suffix}"], [whole, "--memory-limit", "1KB"]):
        code, out, notes = run_command(
            "fit", *place, *words, "--out", tmp_path / "batches", "--json"
        )
        assert code == 0, notes
        assert (tmp_path / "batches").read_bytes() == (tmp_path / "memory").read_bytes()
        assert notes == err
        found = json.loads(out)
        assert (found["rows"], found["target"]) == (N - N // 50, target)
    code, out, _ = run_command("predict", tmp_path / "batches", folder)
    assert code == 0
    assert out.count("\n") == N + 1


def test_large_files_are_read_in_batches(run_command, table, small_batches, tmp_path, monkeypatch):
    table.to_parquet(tmp_path / "t.parquet")
    words = [
        "fit",
        tmp_path / "t.parquet",
        "-t",
        "sold",
        "--method",
        "random-forest",
        "-o",
        tmp_path / "m",
    ]
    seen = []
    usual = fit.fit_in_batches
    monkeypatch.setattr(fit, "fit_in_batches", lambda arguments: seen.append(1) or usual(arguments))
    assert run_command(*words)[0] == 0
    assert not seen
    monkeypatch.setattr(fit, "_SHARE_OF_MEMORY", 1e-12)
    assert run_command(*words)[0] == 0
    assert seen
    # Where batches are not supported, such a file is read into memory, as a small one.
    assert run_command(*words, "--holdout", "0.2")[0] == 0
    words[words.index("random-forest")] = "tree"
    assert run_command(*words)[0] == 0
    assert len(seen) == 1


def test_evenly_spaced_rows_decide_the_preparation(
    run_command, table, small_batches, tmp_path, monkeypatch
):
    monkeypatch.setattr(batches, "SAMPLE_ROWS", 60)
    table = table.assign(late=[*[0] * (N - 100), *[1, 2] * 50])
    folder = write_parts(table, tmp_path / "parts")
    words = ["-t", "sold", "--method", "random-forest", "--set", "n_estimators=3"]
    code, _, err = run_command("fit", folder, *words, "-o", tmp_path / "m")
    assert code == 0, err
    plans = json.loads(run_command("info", tmp_path / "m", "--json")[1])
    assert "late" in str(plans)
    assert "late: constant" not in err
    assert "constant: constant; left out" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--method", "tree"],
            "--method tree needs it in memory; pass one file without --memory-limit, or",
        ),
        (["--method", "bagging"], "a method that reads batches: gradient-boosting, random-forest"),
        (
            ["--method", "adaboost", "-t", "amount"],
            "reads batches for classes only, but 'amount' is a number",
        ),
        (["--holdout", "0.2"], "--holdout needs it in memory"),
        (["--memory-limit", "much"], "--memory-limit much is not valid"),
        (["--method", "extra-trees"], "split='exact' needs the whole table in memory"),
        (["-t", "sole"], "the target column 'sole' is not in the table; did you mean 'sold'?"),
        (["-t", "when"], "convert dates"),
        (["-t", "id"], "classes with a single row"),
        (["--drop", "sizes"], "--drop: column 'sizes' is not in the table"),
        (["--out", "nowhere/m"], "cannot write nowhere/m"),
    ],
)
def test_arguments_that_batches_do_not_support_are_one_line(
    run_command, table, tmp_path, monkeypatch, words, message
):
    monkeypatch.chdir(tmp_path)
    write_parts(table, tmp_path / "parts")
    code, printed, err = run_command("fit", "parts", "-t", "sold", "-o", "m", *words, "-q")
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert message in err
    assert os.listdir() == ["parts"]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("truncated", "part-1.parquet cannot be read: "),
        ("no column", "part-1.parquet has no column 'size', which "),
        ("other type", "column 'size' has type string in "),
        ("no files", "contains no data files"),
        ("no target", "has no column 'sold'"),
    ],
)
def test_an_unusable_folder_is_one_line_and_writes_nothing(
    run_command, table, tmp_path, case, message
):
    folder = write_parts(table, tmp_path / "parts")
    path = folder / "part-1.parquet"
    if case == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    elif case == "no column":
        table.drop(columns="size").to_parquet(path)
    elif case == "no target":
        table.drop(columns="sold").to_parquet(path)
    elif case == "other type":
        table.assign(size="large").to_parquet(path)
    else:
        for file in folder.iterdir():
            file.unlink()
    code, printed, err = run_command("fit", folder, "-t", "sold", "-o", tmp_path / "m")
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (tmp_path / "m").exists()

"""`bosquet predict` reads a table in batches, with the values that the model predicts for the whole table."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from pyarrow import feather
from table_parts import write_parts

import bosquet
from bosquet.batches import sizes
from bosquet.tables import delimited, read_table

N = 500


@pytest.fixture(scope="module")
def table():
    """A table whose kinds of columns depend on values in the last rows."""
    random = np.random.default_rng(0)
    size = random.normal(size=N)
    return pd.DataFrame(
        {
            "id": [f"a{i}" for i in range(N)],
            "size": size.round(3),
            "count": [*random.integers(0, 9, N - 1).astype(str), ""],
            "price": [*random.integers(1000, 9999, N - 1).astype(str), "1,234.5"],
            "zone": [*random.choice(["1", "2", "03"], N - 1), "north"],
            "when": [f"{day}.2.2024" for day in random.integers(1, 29, N)],
            "sold": np.where(size + random.normal(size=N) > 0, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def csv_file(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("batches") / "t.csv"
    table.to_csv(path, index=False, sep=";")
    return path


@pytest.fixture(scope="module")
def model_file(csv_file):
    from bosquet.cli import main

    path = csv_file.parent / "m.bosquet"
    words = ["fit", csv_file, "-t", "sold", "-o", path, "--set", "n_estimators=20", "-q"]
    assert main([*map(str, words), "--set", "early_stopping=false"]) == 0
    return path


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(sizes, "BATCH_ROWS", 64)
    monkeypatch.setattr(delimited, "_STREAM_BLOCK", 1000)


def expected_predictions(model_file, frame):
    model = bosquet.load(model_file)
    proba = model.predict_proba(frame)
    columns = {"sold": model.predict(frame)}
    columns |= {f"P({label})": proba[:, k] for k, label in enumerate(model.classes_)}
    return pd.DataFrame(columns)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "arrow"])
def test_batches_have_the_predictions_of_the_whole_table(
    run_command, table, csv_file, model_file, small_batches, tmp_path, suffix
):
    path = tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        table.to_parquet(path)
    elif suffix == "arrow":
        feather.write_feather(table, path)
    else:
        table.to_csv(path, index=False, sep=";")
    expected = expected_predictions(model_file, read_table(path))
    for out in ("p.parquet", "p.arrow", "p.csv"):
        words = [
            "predict",
            model_file,
            path,
            "--proba",
            "--keep",
            "id,count",
            "--out",
            tmp_path / out,
        ]
        code, _, err = run_command(*words)
        assert (code, err) == (0, f"{tmp_path / out}: predictions for {N} rows\n")
    read = {
        "p.parquet": pd.read_parquet,
        "p.arrow": pd.read_feather,
        "p.csv": lambda path: pd.read_csv(path, dtype=str).astype(
            {"P(no)": float, "P(yes)": float}
        ),
    }
    for out, reader in read.items():
        found = reader(tmp_path / out)
        assert found.columns.tolist() == ["id", "count", "sold", "P(no)", "P(yes)"]
        assert found["id"].tolist() == table["id"].tolist()
        pd.testing.assert_frame_equal(
            found[expected.columns], expected, check_dtype=False, check_exact=True
        )


def test_columns_of_text_have_the_kinds_of_the_whole_file(csv_file, small_batches):
    from bosquet.tables.sources import frame_of, open_raw_table

    whole = read_table(csv_file)
    raw = open_raw_table(str(csv_file))
    batches = list(raw.source.batches())
    assert len(batches) > 4
    frame = pd.concat([frame_of(batch, 1) for batch in batches], ignore_index=True)
    assert frame["price"].iloc[-1] == 1234.5
    assert frame["zone"].iloc[0] in ("1", "2", "03")
    assert frame.columns.tolist() == whole.columns.tolist()
    for name in frame:
        assert frame[name].dropna().tolist() == whole[name].dropna().tolist()
        assert (frame[name].isna() == whole[name].isna()).all()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_folder_and_a_pattern_give_every_row_once_and_in_order(
    run_command, table, csv_file, model_file, small_batches, tmp_path, suffix
):
    frame = read_table(csv_file)
    frame["zone"] = "z" + frame["zone"].astype(str)
    write_parts(frame, tmp_path / "parts", suffix)
    expected = expected_predictions(model_file, frame)
    for place in (tmp_path / "parts", tmp_path / "parts" / f"*.{suffix}"):
        code, out, _ = run_command("predict", model_file, place, "--keep", "id", "--json")
        rows = json.loads(out)
        assert code == 0
        assert [row["id"] for row in rows] == table["id"].tolist()
        assert [row["sold"] for row in rows] == expected["sold"].tolist()


def test_a_batch_may_have_no_value_of_the_kind_of_training(
    run_command, table, model_file, small_batches, tmp_path
):
    words = table.assign(price=np.where(np.arange(N) < 100, "unknown", table["price"]))
    words.to_parquet(tmp_path / "t.parquet")
    expected = expected_predictions(model_file, words)
    code, _, _ = run_command(
        "predict", model_file, tmp_path / "t.parquet", "--out", tmp_path / "p.parquet"
    )
    assert code == 0
    assert (pd.read_parquet(tmp_path / "p.parquet")["sold"] == expected["sold"]).all()

    words.assign(price="unknown").to_parquet(tmp_path / "t.parquet")
    code, _, err = run_command(
        "predict", model_file, tmp_path / "t.parquet", "--out", tmp_path / "q"
    )
    assert code == 2
    assert "column 'price' was numeric in training, but now has text such as 'unknown'" in err
    assert not (tmp_path / "q").exists()


def test_kept_values_are_written_alike_in_all_batches(
    run_command, table, model_file, small_batches, tmp_path
):
    when = pd.Series(pd.Timestamp("2024-01-01"), range(N))
    when.iloc[-1] += pd.Timedelta(hours=5)
    whole = pd.array([*range(N - 1), None], dtype="Int64")
    table.assign(at=when, whole=whole).to_parquet(tmp_path / "t.parquet")
    _, out, _ = run_command("predict", model_file, tmp_path / "t.parquet", "--keep", "at,whole")
    lines = out.splitlines()
    assert lines[1].startswith("2024-01-01 00:00:00,0,")
    assert lines[-1].startswith("2024-01-01 05:00:00,,")


def test_an_error_names_the_rows_of_its_batch(run_command, small_batches, tmp_path):
    table = pd.DataFrame({"x": np.arange(N) / 7, "c": "a"})
    bosquet.DecisionTreeRegressor().fit(table, table["x"]).save(tmp_path / "m")
    write_parts(table.assign(x="large"), tmp_path / "parts")
    code, _, err = run_command("predict", tmp_path / "m", tmp_path / "parts")
    assert code == 2
    first = tmp_path / "parts" / "part-0.parquet"
    assert err.startswith(
        "bosquet: column 'x' was numeric in training, but contains text such as 'large'"
    )
    assert err.endswith(f" (rows 1 to 64 of {first})\n")


# --------------------------------------------------------------------------------------- bad input
def damage(case, folder):
    path = folder / "part-1.parquet"
    frame = pd.read_parquet(path)
    if case == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    elif case == "no column":
        frame.drop(columns="size").to_parquet(path)
    elif case == "other type":
        frame.assign(size="large").to_parquet(path)
    elif case == "no rows":
        for file in folder.iterdir():
            frame[:0].to_parquet(file)
    elif case == "no files":
        for file in folder.iterdir():
            file.unlink()
    elif case == "other format":
        frame.to_csv(folder / "part-1.csv", index=False)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("truncated", "part-1.parquet cannot be read: "),
        ("no column", "part-1.parquet has no column 'size', which "),
        ("other type", "column 'size' has type string in "),
        ("no rows", "has no rows"),
        ("no files", "contains no data files"),
        ("other format", "all files must have one format"),
    ],
)
def test_an_unusable_folder_is_one_line_and_writes_nothing(
    run_command, table, model_file, tmp_path, case, message
):
    write_parts(table, tmp_path / "parts")
    damage(case, tmp_path / "parts")
    (tmp_path / "out").mkdir()
    code, printed, err = run_command(
        "predict", model_file, tmp_path / "parts", "--out", tmp_path / "out" / "p.parquet"
    )
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert message in err
    assert os.listdir(tmp_path / "out") == []


def test_a_file_that_breaks_off_in_a_later_batch_leaves_no_output(
    run_command, table, model_file, small_batches, tmp_path
):
    from pyarrow import Table, parquet

    path = tmp_path / "t.parquet"
    parquet.write_table(
        Table.from_pandas(table), path, row_group_size=50, compression="none", use_dictionary=False,
        write_page_checksum=True,
    )  # fmt: skip
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4] = bytes(4)
    path.write_bytes(data)
    out = tmp_path / "p.csv"
    out.write_text("as before")
    code, _, err = run_command("predict", model_file, path, "--out", out)
    assert code == 2
    assert f"{path} cannot be read: " in err
    assert out.read_text() == "as before"
    assert sorted(os.listdir(tmp_path)) == ["p.csv", "t.parquet"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gone/*.csv"], "no file matches the pattern gone/*.csv"),
        (["gone.csv"], "gone.csv does not exist"),
        (["t.csv", "--out", "nowhere/p.csv"], "cannot write nowhere/p.csv"),
        (
            ["parts", "--out", "parts/part-0.parquet"],
            "is the same file as the input parts/part-0.parquet",
        ),
        (
            ["parts", "--keep", "sizes"],
            "--keep: column 'sizes' is not in the table; did you mean 'size'",
        ),
        (["parts", "--proba", "--json", "--delimiter", "ab"], "one character"),
    ],
)
def test_invalid_arguments_are_one_line(
    run_command, table, csv_file, model_file, tmp_path, monkeypatch, words, message
):
    monkeypatch.chdir(tmp_path)
    table.to_csv("t.csv")
    write_parts(table, tmp_path / "parts")
    code, printed, err = run_command("predict", model_file, *words)
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_damaged_archive_and_an_open_quote_name_the_file(
    run_command, csv_file, model_file, small_batches, tmp_path
):
    import gzip

    text = csv_file.read_bytes()
    packed = gzip.compress(text)
    (tmp_path / "t.csv.gz").write_bytes(packed[: len(packed) // 2])
    code, _, err = run_command("predict", model_file, tmp_path / "t.csv.gz")
    assert code == 2
    assert "t.csv.gz is a damaged gzip file" in err
    lines = text.decode().splitlines()
    lines[400] = '"' + lines[400]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    code, _, err = run_command("predict", model_file, tmp_path / "t.csv")
    assert code == 2
    assert "t.csv, line 401: a quote that opens in this row is never closed" in err
    lines[400] += ';"'
    lines[300] += ";1"
    (tmp_path / "t.csv").write_text("\n".join(lines))
    code, _, err = run_command("predict", model_file, tmp_path / "t.csv")
    assert code == 2
    assert "t.csv, line 301: 8 cells, but the header has 7" in err

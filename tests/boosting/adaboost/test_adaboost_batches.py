"""AdaBoost of stumps on a table in batches is AdaBoost of the whole table in memory, to the bit."""

import os

import numpy as np
import pandas as pd
import pytest

from bosquet import AdaBoostClassifier, AnyBoostClassifier, DecisionTreeClassifier
from bosquet.data import BatchedColumns, BinMemory, columns

N_ROWS = 1_500


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=N_ROWS),
            "b": rng.normal(size=N_ROWS).astype(np.float32),
            "c": rng.choice(list("abcdefgh"), N_ROWS),
            "e": pd.Categorical(rng.choice(["low", "high"], N_ROWS), ["low", "high"], ordered=True),
            "g": rng.random(N_ROWS) < 0.3,
            "h": pd.array(rng.integers(0, 2**40, N_ROWS), "Int64"),
        }
    )
    frame.loc[rng.random(N_ROWS) < 0.1, ["a", "c"]] = np.nan
    frame.loc[1_300:1_310, "h"] = pd.NA
    score = frame["a"].fillna(0) + frame["b"] + (frame["c"] > "c") + rng.normal(size=N_ROWS)
    frame["two"] = np.where(score > 0.5, "yes", "no")
    frame["three"] = np.digitize(score, [0, 1])
    frame["weight"] = rng.integers(0, 3, N_ROWS) / 2
    return frame


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for number, start in enumerate((0, 600, 1_000)):
        frame[start : (600, 1_000, N_ROWS)[number]].to_parquet(folder / f"part-{number}.parquet")
    return folder


def file_of(model, folder):
    model.save(folder / "model.bosquet")
    return (folder / "model.bosquet").read_bytes()


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (AdaBoostClassifier(n_estimators=20), "two"),
        (AdaBoostClassifier(n_estimators=20, split="histogram", max_bins=20), "two"),
        (AdaBoostClassifier(n_estimators=10, variant="real"), "two"),
        (AdaBoostClassifier(n_estimators=10, variant="gentle", early_stopping=True), "two"),
        (AdaBoostClassifier(n_estimators=10, reweight="resample", sampling="under"), "two"),
        (AdaBoostClassifier(n_estimators=10), "three"),
        (AdaBoostClassifier(n_estimators=5, multiclass="mh"), "three"),
        (AdaBoostClassifier(n_estimators=5, multiclass="one-vs-one"), "three"),
        (AnyBoostClassifier(n_estimators=5), "two"),
    ],
)
@pytest.mark.parametrize("weight", [None, "weight"])
def test_batches_give_the_model_of_the_table_in_memory(
    frame, folder, tmp_path, model, target, weight
):
    other = {"two": "three", "three": "two"}[target]
    unused = [other] if weight else [other, "weight"]
    table = frame.drop(columns=unused)
    weights = None if weight is None else table[weight]
    features = table.drop(columns=[target, *([weight] if weight else [])])
    model.set_params(random_state=0)
    model.fit(features, table[target], weights)
    expected = file_of(model, tmp_path)
    parts = [pd.read_parquet(path).drop(columns=unused) for path in sorted(folder.iterdir())]
    for limit in (None, "1KB"):
        model.fit(iter(parts), target=target, sample_weight=weight, memory_limit=limit)
        assert file_of(model, tmp_path) == expected
    model.fit(table, target=target, sample_weight=weight)
    assert file_of(model, tmp_path) == expected


def test_a_warm_start_continues_on_batches(frame, tmp_path):
    table = frame.drop(columns=["three", "weight"])
    files = []
    for parts in ([table], [table[:700], table[700:]]):
        model = AdaBoostClassifier(n_estimators=5, warm_start=True, random_state=0)
        model.fit(iter(parts), target="two")
        if len(parts) == 1:
            model.set_params(n_estimators=12).fit(table.drop(columns="two"), table["two"])
        else:
            model.set_params(n_estimators=12).fit(iter(parts), target="two")
        files.append(file_of(model, tmp_path))
    assert model.n_estimators_ == 12
    assert files[0] == files[1]


def test_columns_beyond_the_limit_are_in_a_file_without_a_name(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mapped = []
    usual = columns._mapped_file
    monkeypatch.setattr(
        columns, "_mapped_file", lambda size, folder: mapped.append(size) or usual(size, folder)
    )
    table = frame[["a", "b", "two"]]
    AdaBoostClassifier(n_estimators=2).fit([table], target="two", memory_limit=N_ROWS * 12 + 100)
    assert not mapped
    AdaBoostClassifier(n_estimators=2).fit([table], target="two", memory_limit=N_ROWS * 12 - 100)
    assert mapped == [12_032 + 6_016]  # whole lines of 64 bytes
    assert os.listdir(tmp_path) == []


def test_held_columns_have_the_values_of_all_batches():
    batches = [
        [
            np.array([1, 2], np.int8),
            np.array([1, 2]),
            np.array([0, -1], np.int32),
            np.array([True, False]),
        ],
        [np.array([np.nan]), np.array([np.nan]), np.array([5], np.int32), np.array([np.nan])],
    ]
    held = BatchedColumns(lambda: iter(batches), 3, BinMemory(0, "/tmp")).hold([0, 0, 6, 0])
    assert [column.dtype for column in held] == [np.float32, np.float64, np.int32, np.float32]
    for number, column in enumerate(held):
        expected = np.concatenate([batch[number] for batch in batches])
        np.testing.assert_array_equal(column, expected)


def test_a_full_folder_is_named(monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    batched = BatchedColumns(lambda: iter([[np.zeros(9)]]), 9, BinMemory(0, str(tmp_path)))
    with pytest.raises(OSError, match=f"{tmp_path}, has no space for 128 bytes"):
        batched.hold([0])


def test_other_learners_need_the_table_in_memory(folder):
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2))
    with pytest.raises(
        ValueError, match=r"estimator=DecisionTreeClassifier\(max_depth=2\) needs the whole"
    ):
        model.fit(folder, target="two")

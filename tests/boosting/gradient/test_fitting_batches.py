"""A fit to a table in batches gives the model of the whole table in memory, to the bit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from core_fit import round_stochastically
from pyarrow import dataset

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.trees import binning

N_ROWS = 3_000
# The columns that are not features.
BY_ROW = ["number", "label", "weight", "exposure", "count"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "a": rng.normal(size=N_ROWS),
        "b": rng.normal(size=N_ROWS).astype(np.float32),
        "c": rng.integers(0, 50, N_ROWS),
        "d": rng.choice(list("abcdefgh"), N_ROWS),
        "e": pd.Categorical(rng.choice(["low", "mid", "high"], N_ROWS), ["low", "mid", "high"], True),
        "g": rng.random(N_ROWS) < 0.3,
    })  # fmt: skip
    frame.loc[rng.random(N_ROWS) < 0.1, ["a", "d"]] = np.nan
    signal = frame["a"].fillna(0) * frame["b"] + (frame["d"] > "c") + frame["e"].cat.codes / 2
    frame["number"] = signal + rng.normal(size=N_ROWS) / 3
    frame["label"] = np.array(["lo", "mid", "hi"])[np.digitize(frame["number"], [0, 1])]
    frame["weight"] = rng.integers(0, 3, N_ROWS) / 2
    frame["exposure"] = rng.uniform(0.5, 2, N_ROWS)
    frame["count"] = rng.poisson(np.exp(signal / 3) * frame["exposure"])
    return frame


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory) -> Path:
    """The frame as three Parquet files, with dictionaries of different levels."""
    folder = tmp_path_factory.mktemp("parts")
    for number, start in enumerate((0, 1_001, 1_600)):
        stop = (1_001, 1_600, N_ROWS)[number]
        frame[start:stop].to_parquet(folder / f"part-{number}.parquet")
    return folder


def features(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns=BY_ROW)


def file_of(model: Any, folder: Path) -> bytes:
    model.save(folder / "model.bosquet")
    return (folder / "model.bosquet").read_bytes()


def in_batches(kind: str, frame: pd.DataFrame, folder: Path) -> Any:
    if kind == "path":
        return folder
    if kind == "pattern":
        return f"{folder}/*.parquet"
    if kind == "dataset":
        return dataset.dataset(folder)
    if kind == "lazy":
        import polars

        return polars.scan_parquet(f"{folder}/*.parquet")
    return (frame[start : start + 700] for start in range(0, N_ROWS, 700))


CASES: dict[str, tuple[Any, str, str | None]] = {
    "early stopping, then all rows": (
        GradientBoostingRegressor(quality="fast", early_stopping=True, subsample=0.7), "number", "weight"),
    "given rounds": (GradientBoostingRegressor(n_estimators=8, loss="absolute_error"), "number", None),
    "sampling by gradient": (
        GradientBoostingRegressor(n_estimators=8, subsample=0.4, sampling="gradient"), "number", "weight"),
    "classes": (GradientBoostingClassifier(n_estimators=5, class_weight="balanced"), "label", "weight"),
    "classes that share trees": (
        GradientBoostingClassifier(n_estimators=5, multi_strategy="multi_output_tree"), "label", None),
    "cross-validation and several runs": (
        GradientBoostingRegressor(early_stopping="cv", cv=2, n_runs=2, learning_rate=0.3, n_iter_no_change=3,
                                  n_estimators=30, max_leaf_nodes=6), "number", "weight"),
    "target statistics": (
        GradientBoostingRegressor(n_estimators=4, categorical_encoding="target"), "number", None),
    "categories of a column of numbers": (
        GradientBoostingRegressor(n_estimators=4, categorical_features=["c"]), "number", None),
}  # fmt: skip


# The last limit has room for copies of two columns.
@pytest.mark.parametrize("limit", [None, 0, 2 * N_ROWS])
@pytest.mark.parametrize("case", CASES)
def test_a_model_of_batches_is_the_model_of_the_table(frame, folder, tmp_path, case, limit):
    model, target, weight = CASES[case]
    model.set_params(random_state=0)
    table = frame.drop(columns=[c for c in BY_ROW if c not in (target, weight)])
    X = features(frame)
    if case == "categories of a column of numbers":
        X, table = X.drop(columns=["d", "e"]), table.drop(columns=["d", "e"])
    model.fit(X, frame[target], None if weight is None else frame[weight])
    expected = file_of(model, tmp_path)
    pieces = (table[start : start + 700] for start in range(0, N_ROWS, 700))
    model.fit(pieces, target=target, sample_weight=weight, memory_limit=limit)
    assert file_of(model, tmp_path) == expected


def test_stochastic_rounding_gives_the_model_of_the_table(frame, tmp_path, monkeypatch):
    X, y = features(frame), frame["number"].copy()
    y[[0, 1]] = [1e8, -1e8]  # make the unit of rounding coarse
    table = pd.concat([X, y], axis=1)
    model = GradientBoostingRegressor(n_estimators=4, random_state=0)
    nearest = file_of(model.fit(X, y), tmp_path)
    round_stochastically(monkeypatch)
    expected = file_of(model.fit(X, y), tmp_path)
    assert expected != nearest
    pieces = (table[start : start + 700] for start in range(0, N_ROWS, 700))
    model.fit(pieces, target="number")
    assert file_of(model, tmp_path) == expected


@pytest.mark.parametrize("kind", ["path", "pattern", "dataset", "lazy", "iterator"])
def test_every_kind_of_batches_gives_the_same_model(frame, folder, tmp_path, kind):
    # All other columns are features here. polars does not read the order of the categories.
    categorical = ["d", "e"]
    model = GradientBoostingClassifier(
        n_estimators=5, random_state=0, categorical_features=categorical
    )
    expected = file_of(model.fit(frame.drop(columns="label"), frame["label"]), tmp_path)
    model.fit(in_batches(kind, frame, folder), target="label")
    assert file_of(model, tmp_path) == expected
    np.testing.assert_array_equal(model.classes_, ["hi", "lo", "mid"])


def test_edges_of_a_sample_of_rows_are_the_same(frame, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(binning, "EDGE_ROWS", 500)
    model = GradientBoostingRegressor(quality="fast", early_stopping=True, random_state=0)
    expected = file_of(model.fit(frame.drop(columns="number"), frame["number"]), tmp_path)
    assert file_of(model.fit(folder, target="number"), tmp_path) == expected


def test_columns_of_a_frame_can_be_named_too(frame, tmp_path):
    model = GradientBoostingRegressor(loss="poisson", n_estimators=5, random_state=0)
    X = frame.drop(columns=["count", "weight", "exposure"])
    expected = file_of(
        model.fit(X, frame["count"], frame["weight"], exposure=frame["exposure"]), tmp_path
    )
    named = {"target": "count", "sample_weight": "weight", "exposure": "exposure"}
    assert file_of(model.fit(frame, **named), tmp_path) == expected
    pieces = (frame[start : start + 999] for start in range(0, N_ROWS, 999))
    assert file_of(model.fit(pieces, **named), tmp_path) == expected


def test_several_targets_are_named_in_a_list(frame, folder, tmp_path):
    model = GradientBoostingRegressor(n_estimators=3, random_state=0)
    X = frame.drop(columns=["number", "count"])
    expected = file_of(model.fit(X, frame[["number", "count"]]), tmp_path)
    assert file_of(model.fit(folder, target=["number", "count"]), tmp_path) == expected
    assert file_of(model.fit(frame, target=["number", "count"]), tmp_path) == expected


@pytest.mark.parametrize("target", ["label", ["label", "count"]])
def test_a_target_of_text_is_the_same_error_in_batches_as_in_memory(frame, folder, target):
    for X in (folder, frame):
        with pytest.raises(ValueError, match=r"y must be numeric .*could not convert string"):
            GradientBoostingRegressor().fit(X, target=target)


def test_a_classifier_of_one_target_names_the_shape_of_several(folder):
    with pytest.raises(ValueError, match=r"y has shape \(\d+, 2\)"):
        GradientBoostingClassifier().fit(folder, target=["label", "count"])


def test_a_warm_start_continues_with_batches(frame, folder, tmp_path):
    model = GradientBoostingRegressor(n_estimators=6, random_state=0)
    expected = file_of(model.fit(folder, target="number"), tmp_path)
    model = GradientBoostingRegressor(n_estimators=2, random_state=0, warm_start=True)
    model.fit(folder, target="number").set_params(n_estimators=6).fit(folder, target="number")
    model.set_params(n_estimators=6, warm_start=False)
    assert file_of(model, tmp_path) == expected


def test_temporary_files_are_gone_after_a_fit(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pieces = (frame[start : start + 700] for start in range(0, N_ROWS, 700))
    GradientBoostingRegressor(n_estimators=2).fit(pieces, target="number", memory_limit=0)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs target=, the name of its target column"),
        ({"target": "numbr"}, r"target='numbr' is not a column of .*did you mean 'number'"),
        ({"target": "number", "sample_weight": "d"}, "sample_weight='d' is a column of text"),
        ({"target": "number", "sample_weight": np.ones(N_ROWS)}, "must be the name of a column"),
        ({"target": "number", "y": np.ones(N_ROWS)}, "y and target='number' were both passed"),
        ({"target": "a"}, r"target column 'a' has no value in row \d+ of .*part-0.parquet"),
        ({"target": "number", "memory_limit": "2 pounds"}, "memory_limit='2 pounds' is not valid"),
        ({"target": "number", "memory_limit": -1}, "memory_limit=-1 is not valid"),
    ],
)
def test_wrong_arguments_are_errors_that_name_them(folder, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        GradientBoostingRegressor(n_estimators=2).fit(folder, **arguments)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimator": GradientBoostingRegressor()}, "estimator= needs the whole table in memory"),
        (
            {"scoring": "r2", "early_stopping": True},
            "scoring='r2' needs the validation set in memory",
        ),
    ],
)
def test_parameters_that_need_the_table_in_memory_are_errors(folder, parameters, message):
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(**parameters).fit(folder, target="number")


def test_a_name_without_column_names_is_an_error():
    with pytest.raises(ValueError, match="target='y' names a column, but X is a ndarray"):
        GradientBoostingRegressor().fit(np.ones((5, 2)), target="y")

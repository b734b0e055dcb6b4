"""A forest that is grown on a table in batches is the forest of the whole table in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bosquet import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

N_ROWS = 1_200


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "a": rng.normal(size=N_ROWS),
        "b": rng.normal(size=N_ROWS).astype(np.float32),
        "c": rng.choice(list("abcdefgh"), N_ROWS),
    })  # fmt: skip
    frame.loc[rng.random(N_ROWS) < 0.1, ["a", "c"]] = np.nan
    frame["number"] = frame["a"].fillna(0) + (frame["c"] > "c") + rng.normal(size=N_ROWS) / 3
    frame["label"] = np.array(["lo", "mid", "hi"])[np.digitize(frame["number"], [0, 1])]
    frame["weight"] = rng.integers(0, 3, N_ROWS) / 2
    return frame


def file_of(model: Any, folder: Path) -> bytes:
    model.save(folder / "model.bosquet")
    return (folder / "model.bosquet").read_bytes()


@pytest.mark.parametrize(
    ("forest", "target"),
    [
        (RandomForestClassifier(5, class_weight="balanced"), "label"),
        (RandomForestRegressor(5, max_samples=0.5), "number"),
        (ExtraTreesClassifier(5, split="histogram"), "label"),
        (ExtraTreesRegressor(5, split="histogram", bootstrap=True), "number"),
    ],
)
@pytest.mark.parametrize("limit", [None, 0])
def test_a_forest_of_batches_is_the_forest_of_the_table(frame, tmp_path, forest, target, limit):
    other = {"label": "number", "number": "label"}[target]
    table = frame.drop(columns=other)
    forest.set_params(random_state=0)
    forest.fit(table.drop(columns=[target, "weight"]), table[target], table["weight"])
    expected = file_of(forest, tmp_path)
    pieces = (table[start : start + 500] for start in range(0, N_ROWS, 500))
    forest.fit(pieces, target=target, sample_weight="weight", memory_limit=limit)
    assert file_of(forest, tmp_path) == expected
    assert file_of(forest.fit(table, target=target, sample_weight="weight"), tmp_path) == expected


def test_codes_beyond_the_limit_are_in_temporary_files(frame, monkeypatch):
    pieces = [frame[["a", "b", "c", "number"]]]
    forest = RandomForestRegressor(2, random_state=0)
    limit = 3 * N_ROWS  # one byte per value
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    forest.fit(pieces, target="number", memory_limit=limit)
    with pytest.raises(ValueError, match="cannot be created in /no/such/folder"):
        forest.fit(pieces, target="number", memory_limit=limit - 1)


def test_several_targets_of_text_are_those_of_the_table(frame, tmp_path):
    table = frame.assign(half=np.where(frame["number"] > 0.5, "up", "down")).drop(columns="weight")
    targets = ["label", "half"]
    forest = RandomForestClassifier(5, random_state=0)
    expected = file_of(forest.fit(table.drop(columns=targets), table[targets]), tmp_path)
    assert file_of(forest.fit(iter([table]), target=targets), tmp_path) == expected
    assert file_of(forest.fit(table, target=targets), tmp_path) == expected


@pytest.mark.parametrize(
    ("parameters", "advice"),
    [
        ({"split": "exact"}, "set split='histogram'"),
        ({"oob_score": True}, "set oob_score=False"),
        ({"n_estimators": "auto"}, "set n_estimators to a number"),
        ({"keep_rows": True}, "set keep_rows=False"),
    ],
)
def test_parameters_that_need_the_table_in_memory_are_errors(frame, parameters, advice):
    forest = RandomForestRegressor(**parameters)
    name = next(iter(parameters))
    with pytest.raises(ValueError, match=f"{name}=.* needs the whole table in memory.*; {advice}"):
        forest.fit(iter([frame]), target="number")

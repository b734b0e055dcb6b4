"""Model files of every released version can be loaded, and their models make the same predictions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kept_models import are_alike, predictions_of

import bosquet
from bosquet._state.kinds import STATE_MODULES
from bosquet.io import model_bytes, model_from_bytes

HERE = Path(__file__).resolve().parent
FILES = sorted(HERE.glob("*/*.bosquet"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_file_is_loaded_and_its_model_predicts_as_it_did(path: Path) -> None:
    expected = json.loads((path.parent / "expected.json").read_text())[path.name]
    data = path.read_bytes()
    model = model_from_bytes(data)
    found = predictions_of(model)
    assert found.keys() == expected.keys()
    for name, values in found.items():
        assert are_alike(values, expected[name]), name
    if path.parent.name == bosquet.__version__:
        assert model_bytes(model) == data


def test_every_file_has_what_it_is_expected_to_predict() -> None:
    for folder in {path.parent for path in FILES}:
        expected = json.loads((folder / "expected.json").read_text())
        assert set(expected) == {path.name for path in FILES if path.parent == folder}


def test_there_is_a_file_of_this_version_of_every_kind_of_model() -> None:
    files = (HERE / bosquet.__version__).glob("*.bosquet")
    kept = {type(model_from_bytes(path.read_bytes())).__name__ for path in files}
    assert kept >= set(STATE_MODULES)

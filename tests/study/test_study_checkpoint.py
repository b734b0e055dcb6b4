"""The checkpoint: results are read back, an incomplete line is removed, other files are rejected."""

import errno
import json
import os

import numpy as np
import pandas as pd
import pytest

from bosquet.study.run.checkpoint import Checkpoint, fingerprint_of_table
from bosquet.study.run.outcomes import Outcome

HEADING = {"table": "abc", "random_state": 0}


def outcome(method="linear", split=0, **more):
    return Outcome(method, split, "done", score=0.25, setting={"C": np.float64(0.1)}, **more)


def test_outcomes_are_read_back_unchanged(tmp_path):
    path = tmp_path / "study.jsonl"
    predictions = np.random.default_rng(0).random((5, 2)).astype(np.float32)
    Checkpoint(path, HEADING).add(outcome(predictions=predictions), elapsed=3.5)
    again = Checkpoint(path, HEADING)
    found = again.get(0, "linear")
    assert found.setting == {"C": 0.1}
    assert found.score == 0.25
    assert (found.predictions == predictions).all()
    assert again.seconds == 3.5


def test_an_incomplete_line_is_replaced_by_the_next_one(tmp_path):
    path = tmp_path / "study.jsonl"
    checkpoint = Checkpoint(path, HEADING)
    checkpoint.add(outcome("a"), 1)
    whole = path.read_bytes()
    checkpoint.add(outcome("b"), 2)
    for cut in (len(whole) + 1, len(whole) + 40, path.stat().st_size - 1):
        path.write_bytes(path.read_bytes()[:cut])
        again = Checkpoint(path, HEADING)
        assert (0, "a") in again
        assert (0, "b") not in again
        assert path.read_bytes() == whole
        again.add(outcome("b"), 2)
        assert (0, "b") in Checkpoint(path, HEADING)


def test_a_kill_inside_the_first_line_restarts_the_study(tmp_path):
    path = tmp_path / "study.jsonl"
    Checkpoint(path, HEADING)
    path.write_bytes(path.read_bytes()[:9])
    Checkpoint(path, HEADING).add(outcome(), 1)
    assert (0, "linear") in Checkpoint(path, HEADING)


def test_a_dropped_round_is_forgotten(tmp_path):
    checkpoint = Checkpoint(tmp_path / "j", HEADING)
    checkpoint.add(outcome(split=0), 1)
    checkpoint.add(outcome(split=1), 2)
    checkpoint.drop_round(1)
    for one in (checkpoint, Checkpoint(tmp_path / "j", HEADING)):
        assert (0, "linear") in one
        assert (1, "linear") not in one


def test_a_checkpoint_of_another_study_and_any_other_file_are_rejected(tmp_path):
    path = tmp_path / "j"
    Checkpoint(path, HEADING)
    with pytest.raises(ValueError, match="another study \\(random seed: 0 in the file, 1 now\\)"):
        Checkpoint(path, {**HEADING, "random_state": 1})
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a checkpoint of a study"):
        Checkpoint(path, HEADING)
    path.write_text(json.dumps({"other": 1}) + "\n")
    with pytest.raises(ValueError, match="is not a checkpoint of a study"):
        Checkpoint(path, HEADING)
    path.write_bytes(b"\x00\x01 no line at all")
    with pytest.raises(ValueError, match="is not a checkpoint of a study"):
        Checkpoint(path, HEADING)


@pytest.mark.parametrize(
    ("earlier", "now", "difference"),
    [
        ({"methods": ["cart", "lda"]}, {"methods": ["cart"]}, "methods: cart, lda in the file, cart now"),
        ({}, {"positive": "yes"}, "positive class: none in the file, yes now"),
        ({"tune_by": {"a": "bic", "b": "bic"}}, {}, "validation scheme: bic in the file, none now"),
        ({"tune_by": {"a": "bic", "b": "cv"}}, {}, "validation scheme: a=bic, b=cv in the file, none now"),
        (
            {"design": {"columns": {"time": "day"}, "values": [1]}},
            {"design": {"columns": {"time": "day"}, "values": [2]}},
            "offset and split: other values of the same columns",
        ),
        ({"target": "x"}, {"target": "y"}, "target: x in the file, y now"),
        ({"other": [{}] * 99}, {}, "... in the file, none now"),
    ],
)  # fmt: skip
def test_the_difference_to_another_study_is_written_with_both_values(
    tmp_path, earlier, now, difference
):
    Checkpoint(tmp_path / "j", {**HEADING, **earlier})
    with pytest.raises(ValueError, match="belongs to another study") as raised:
        Checkpoint(tmp_path / "j", {**HEADING, **now})
    assert difference in str(raised.value)


def changed_files(whole):
    """Yield checkpoints of three lines with all kinds of changes that keep lines complete."""
    heading, first, second = whole.splitlines(keepends=True)
    yield heading + first.replace(b'"score":0.25', b'"score":"much"') + second, 2
    yield heading + first.replace(b'"split":0', b'"split":null') + second, 2
    yield heading + first + second.replace(b'"outcome":{', b'"outcome":{"curve":7,'), 3
    yield heading + second, 2
    yield heading + second + first, 2
    yield heading + b"{}\n" + second, 2
    yield heading + b"[" * 100_000 + b"\n", 2
    yield heading + first + b"\x00\n", 3


def test_a_changed_checkpoint_is_rejected_and_left_unchanged(tmp_path):
    path = tmp_path / "j"
    checkpoint = Checkpoint(path, HEADING)
    checkpoint.add(outcome("a"), 1)
    checkpoint.add(outcome("b"), 2)
    for data, line in changed_files(path.read_bytes()):
        (tmp_path / "changed").write_bytes(data)
        with pytest.raises(ValueError, match=f"was changed in line {line}"):
            Checkpoint(tmp_path / "changed", HEADING)
        assert (tmp_path / "changed").read_bytes() == data


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"outcome": 7, "elapsed": 1},
        {"outcome": {"method": "a", "predictions": {"float32": "eA=="}}},
    ],
)
def test_a_line_without_a_result_is_rejected_even_with_its_hash(entry, tmp_path):
    checkpoint = Checkpoint(tmp_path / "j", HEADING)
    checkpoint._append(entry)
    with pytest.raises(ValueError, match="was changed in line 2"):
        Checkpoint(tmp_path / "j", HEADING)


def test_a_full_disk_raises_one_line_and_leaves_complete_lines(tmp_path, monkeypatch):
    path = tmp_path / "j"
    checkpoint = Checkpoint(path, HEADING)
    checkpoint.add(outcome("a"), 1)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ValueError, match="cannot be written: No space left on device"):
        checkpoint.add(outcome("b"), 2)
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="No space left"):
        Checkpoint(tmp_path / "new", HEADING)
    assert not (tmp_path / "new").exists()


def test_a_checkpoint_that_cannot_be_opened_raises_one_line(tmp_path):
    with pytest.raises(ValueError, match="cannot be written: No such file or directory"):
        Checkpoint(tmp_path / "nowhere" / "j", HEADING)
    with pytest.raises(ValueError, match="cannot be read"):
        Checkpoint(tmp_path, HEADING)


def test_the_fingerprint_sees_values_names_types_and_targets():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]})
    y = np.array([0, 1, 0])
    own = fingerprint_of_table(frame, y)
    assert own == fingerprint_of_table(frame.copy(), y.copy())
    others = [
        (frame.assign(a=[1, 2, 4]), y),
        (frame.rename(columns={"a": "c"}), y),
        (frame.astype({"a": float}), y),
        (frame.iloc[::-1], y),
        (frame, np.array([1, 1, 0])),
    ]
    assert own not in [fingerprint_of_table(*other) for other in others]
    mixed = pd.DataFrame({"a": [1, "b", [2]]})
    assert fingerprint_of_table(mixed, y) == fingerprint_of_table(mixed.copy(), y)


def test_the_summary_counts_the_results_in_the_file(tmp_path):
    checkpoint = Checkpoint(tmp_path / "j", HEADING)
    checkpoint.add(outcome("a"), 1)
    assert (
        checkpoint.summary()
        == f"resuming from {tmp_path / 'j'}: 1 result of 1 split, 0.0 s used so far"
    )
    checkpoint.add(outcome("b", split=1), 75)
    again = Checkpoint(tmp_path / "j", HEADING)
    assert again.summary().endswith("2 results of 2 splits, 1:15 used so far")

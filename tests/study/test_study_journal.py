"""The checkpoint: what was written comes back, half a line is cut off, those of other studies are refused."""

import errno
import json
import os

import numpy as np
import pandas as pd
import pytest

from bosquet.study.run.checkpoint import Journal, fingerprint_of_table
from bosquet.study.run.outcomes import Outcome

HEADING = {"table": "abc", "random_state": 0}


def outcome(method="linear", split=0, **more):
    return Outcome(method, split, "done", score=0.25, setting={"C": np.float64(0.1)}, **more)


def test_outcomes_come_back_as_they_were(tmp_path):
    path = tmp_path / "study.jsonl"
    answer = np.random.default_rng(0).random((5, 2)).astype(np.float32)
    Journal(path, HEADING).add(outcome(answer=answer), elapsed=3.5)
    again = Journal(path, HEADING)
    found = again.get(0, "linear")
    assert found.setting == {"C": 0.1}
    assert found.score == 0.25
    assert (found.answer == answer).all()
    assert again.seconds == 3.5


def test_half_a_line_is_cut_off_and_the_next_one_written_in_its_place(tmp_path):
    path = tmp_path / "study.jsonl"
    journal = Journal(path, HEADING)
    journal.add(outcome("a"), 1)
    whole = path.read_bytes()
    journal.add(outcome("b"), 2)
    for cut in (len(whole) + 1, len(whole) + 40, path.stat().st_size - 1):
        path.write_bytes(path.read_bytes()[:cut])
        again = Journal(path, HEADING)
        assert (0, "a") in again
        assert (0, "b") not in again
        assert path.read_bytes() == whole
        again.add(outcome("b"), 2)
        assert (0, "b") in Journal(path, HEADING)


def test_a_kill_inside_the_first_line_starts_anew(tmp_path):
    path = tmp_path / "study.jsonl"
    Journal(path, HEADING)
    path.write_bytes(path.read_bytes()[:9])
    Journal(path, HEADING).add(outcome(), 1)
    assert (0, "linear") in Journal(path, HEADING)


def test_a_dropped_round_is_forgotten(tmp_path):
    journal = Journal(tmp_path / "j", HEADING)
    journal.add(outcome(split=0), 1)
    journal.add(outcome(split=1), 2)
    journal.drop_round(1)
    for one in (journal, Journal(tmp_path / "j", HEADING)):
        assert (0, "linear") in one
        assert (1, "linear") not in one


def test_a_checkpoint_of_another_study_or_of_none_is_refused(tmp_path):
    path = tmp_path / "j"
    Journal(path, HEADING)
    with pytest.raises(ValueError, match="is of another study: its random_state differs"):
        Journal(path, {**HEADING, "random_state": 1})
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not the checkpoint of a study"):
        Journal(path, HEADING)
    path.write_text(json.dumps({"other": 1}) + "\n")
    with pytest.raises(ValueError, match="is not the checkpoint of a study"):
        Journal(path, HEADING)
    path.write_bytes(b"\x00\x01 no line at all")
    with pytest.raises(ValueError, match="is not the checkpoint of a study"):
        Journal(path, HEADING)


def changed_files(whole):
    """A checkpoint of three lines, changed in every way that leaves whole lines."""
    heading, first, second = whole.splitlines(keepends=True)
    yield heading + first.replace(b'"score":0.25', b'"score":"much"') + second, 2
    yield heading + first.replace(b'"split":0', b'"split":null') + second, 2
    yield heading + first + second.replace(b'"outcome":{', b'"outcome":{"curve":7,'), 3
    yield heading + second, 2
    yield heading + second + first, 2
    yield heading + b"{}\n" + second, 2
    yield heading + b"[" * 100_000 + b"\n", 2
    yield heading + first + b"\x00\n", 3


def test_a_checkpoint_that_was_changed_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path, HEADING)
    journal.add(outcome("a"), 1)
    journal.add(outcome("b"), 2)
    for data, line in changed_files(path.read_bytes()):
        (tmp_path / "changed").write_bytes(data)
        with pytest.raises(ValueError, match=f"was changed in line {line}"):
            Journal(tmp_path / "changed", HEADING)
        assert (tmp_path / "changed").read_bytes() == data


@pytest.mark.parametrize(
    "entry",
    [{}, {"outcome": 7, "elapsed": 1}, {"outcome": {"method": "a", "answer": {"float32": "eA=="}}}],
)
def test_a_line_that_holds_no_result_is_refused_even_with_its_hash(entry, tmp_path):
    journal = Journal(tmp_path / "j", HEADING)
    journal._append(entry)
    with pytest.raises(ValueError, match="was changed in line 2"):
        Journal(tmp_path / "j", HEADING)


def test_a_full_disk_is_told_in_one_line_and_leaves_whole_lines(tmp_path, monkeypatch):
    path = tmp_path / "j"
    journal = Journal(path, HEADING)
    journal.add(outcome("a"), 1)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ValueError, match="cannot be written: No space left on device"):
        journal.add(outcome("b"), 2)
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="No space left"):
        Journal(tmp_path / "new", HEADING)
    assert not (tmp_path / "new").exists()


def test_a_checkpoint_that_cannot_be_opened_is_told_in_one_line(tmp_path):
    with pytest.raises(ValueError, match="cannot be written: No such file or directory"):
        Journal(tmp_path / "nowhere" / "j", HEADING)
    with pytest.raises(ValueError, match="cannot be read"):
        Journal(tmp_path, HEADING)


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


def test_what_a_file_has_brought_is_told(tmp_path):
    journal = Journal(tmp_path / "j", HEADING)
    journal.add(outcome("a"), 1)
    assert (
        journal.told()
        == f"going on from {tmp_path / 'j'}: 1 result of 1 split, 0.0 s of work, taken over"
    )
    journal.add(outcome("b", split=1), 75)
    again = Journal(tmp_path / "j", HEADING)
    assert again.told().endswith("2 results of 2 splits, 1:15 of work, taken over")

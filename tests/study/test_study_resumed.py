"""An interrupted study can be resumed; without a budget it ends with the same table."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from killed_study import rows, study

HERE = Path(__file__).parent
WITHOUT_CLOCK = ["fit_seconds", "predict_microseconds"]


@pytest.fixture(scope="module")
def uninterrupted_study():
    return study(None).fit(rows(), "y")


def lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def run_and_kill_after(path, wanted, table):
    """Run the study in another process and kill it after this number of lines."""
    command = [sys.executable, str(HERE / "killed_study.py"), str(path), str(table)]
    process = subprocess.Popen(command, cwd=HERE, env={**os.environ})
    for _ in range(6000):
        if lines(path) >= wanted or process.poll() is not None:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_study_killed_twice_ends_with_the_table_of_an_uninterrupted_one(
    tmp_path, uninterrupted_study
):
    path, table = tmp_path / "study.jsonl", tmp_path / "table"
    for wanted in (3, 7):
        run_and_kill_after(path, wanted, table)
        assert not table.exists(), "the study was over before it could be killed"
        assert lines(path) >= wanted
    done = path.read_bytes()
    resumed = study(path).fit(rows(), "y")
    assert path.read_bytes().startswith(done[: done.rindex(b"\n") + 1])
    pd.testing.assert_frame_equal(
        resumed.table_.drop(columns=WITHOUT_CLOCK),
        uninterrupted_study.table_.drop(columns=WITHOUT_CLOCK),
    )
    own, other = resumed.record_["chosen"], uninterrupted_study.record_["chosen"]
    assert own["name"] == other["name"]
    assert own["importances"] == other["importances"]
    assert (resumed.predict(rows()) == uninterrupted_study.predict(rows())).all()


def test_a_finished_study_is_read_from_its_checkpoint_without_tuning_again(tmp_path, monkeypatch):
    from bosquet.study.run import trial_runner

    path = tmp_path / "study.jsonl"
    first = study(path, repeats=1).fit(rows(), "y")

    def no_trial(*given, **more):
        pytest.fail("a method was tried again")

    monkeypatch.setattr(trial_runner, "run_trial", no_trial)
    again = study(path, repeats=1).fit(rows(), "y")
    pd.testing.assert_frame_equal(first.table_, again.table_)


def test_a_checkpoint_is_for_one_table_and_one_set_of_options(tmp_path):
    path = tmp_path / "study.jsonl"
    study(path, repeats=1).fit(rows(), "y")
    with pytest.raises(
        ValueError, match="another study \\(table: other rows, columns or values\\)"
    ):
        study(path, repeats=1).fit(rows(100), "y")
    with pytest.raises(ValueError, match="metric: rmse in the file, mae now"):
        study(path, repeats=1, metric="mae").fit(rows(), "y")
    with pytest.raises(ValueError, match="time budget: no limit in the file, a limit now"):
        study(path, repeats=1, budget="5s").fit(rows(), "y")


def test_a_study_can_be_resumed_with_more_repeats(tmp_path):
    path = tmp_path / "study.jsonl"
    one = study(path, repeats=1).fit(rows(), "y")
    two = study(path, repeats=2).fit(rows(), "y")
    first = {m["name"]: m["scores"][0] for m in one.record_["methods"]}
    assert first == {m["name"]: m["scores"][0] for m in two.record_["methods"]}
    assert len(two.record_["methods"][0]["scores"]) == 2

"""After Ctrl-C at any time the estimator is unchanged, and nothing is left behind."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from families import FAMILIES, rows
from interrupts import changes

N_PLACES = 6

pytestmark = pytest.mark.filterwarnings("ignore")


def interrupted(work, at=None):
    """Return how often Python could raise an interrupt in `work()`; with `at`, whether that one was raised.

    Python checks for signals at calls of functions and returns of C functions, where it also calls the
    profile function.
    """
    count = 0

    def look(frame, event, argument):
        nonlocal count
        if event in ("call", "c_return"):
            count += 1
            if count == at:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(look)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return count if at is None else False


@pytest.mark.parametrize("name", FAMILIES)
def test_an_interrupt_leaves_the_estimator_unchanged(name):
    family, others = FAMILIES[name], rows(1)
    model = family.fitted(0)
    count = interrupted(lambda: family.fit(model, others))
    came_out = 0
    for place in {*np.linspace(1, count, N_PLACES).astype(int).tolist(), count - 1, count - 2}:
        model = family.fitted(0)
        before, outputs = dict(model.__dict__), family.outputs(model, rows(0))
        if interrupted(lambda: family.fit(model, others), place):  # noqa: B023
            came_out += 1
            assert changes(family, model, before, outputs) == []
    assert came_out >= min(3, count)


def test_an_interrupt_of_save_leaves_one_whole_file(tmp_path):
    family, path = FAMILIES["gradient-boosting"], tmp_path / "model"
    old, new = family.fitted(0), family.fitted(1)
    new.save(path)
    written = [path.read_bytes()]
    count = interrupted(lambda: old.save(path))
    written.append(path.read_bytes())
    for place in range(count - 150, count + 1):  # nothing is written before
        if interrupted(lambda: new.save(path), place):
            assert [found.name for found in tmp_path.iterdir()] == ["model"], place
            assert path.read_bytes() in written, place
        old.save(path)


def run(*arguments):
    tool = Path(__file__).with_name("interrupts.py")
    ran = subprocess.run(
        [sys.executable, tool, *arguments], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_signals_of_timers_and_other_processes_leave_nothing_behind():
    families = ("gradient-boosting", "forest", "bagging", "mixture-partial-fit", "mixture-stream")
    printed = run(*families, "--count", "20", "--seed", "1")
    assert f" {20 * len(families)} landed inside a call, 0 violations" in printed


def test_sigterm_ends_a_fit_at_once():
    assert " 0 violations" in run("--terminate", "gradient-boosting", "forest", "--count", "4")

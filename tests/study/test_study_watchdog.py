"""Fits that do not look at the clock are stopped, and nothing else is."""

import threading
import time

import pytest

from bosquet.study._watchdog import OutOfTime, stopped_after


def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.005)
    return "done"


def test_work_in_the_calling_thread_is_stopped():
    began = time.monotonic()
    with pytest.raises(OutOfTime, match="longer than its share"), stopped_after(0.1):
        busy(20)
    assert time.monotonic() - began < 10


def stubborn(pieces):
    """Goes on with the next piece when one is stopped."""
    stopped = 0
    with stopped_after(0.1):
        for _ in range(pieces):
            try:
                busy(20)
            except OutOfTime:
                stopped += 1
    return stopped


def test_the_next_piece_of_work_is_stopped_as_well():
    began = time.monotonic()
    assert stubborn(3) == 3
    assert time.monotonic() - began < 10


def test_work_that_is_done_in_time_is_left_alone_and_so_is_what_follows():
    with stopped_after(0.15):
        assert busy(0.01) == "done"
    assert busy(0.3) == "done"
    with stopped_after(None):
        assert busy(0.01) == "done"


def test_threads_from_before_are_none_of_its_business():
    told = []
    other = threading.Thread(target=lambda: told.append(busy(0.5)))
    other.start()
    with pytest.raises(OutOfTime), stopped_after(0.05):
        busy(20)
    other.join()
    assert told == ["done"]

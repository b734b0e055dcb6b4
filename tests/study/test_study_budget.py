"""The time budget: only complete rounds, and notes on methods without time."""

import time

import numpy as np
import pandas as pd
import pytest
from stand_ins import Slow, constant, method

from bosquet import Study
from bosquet.study.methods.candidates import middle_first, middle_first_order
from bosquet.study.run import time_division
from bosquet.study.run.clock import StudyClock, format_seconds, seconds_of
from bosquet.study.run.order import in_order


@pytest.mark.parametrize(
    ("budget", "seconds"),
    [
        ("2m", 120),
        ("90s", 90),
        ("1h30m", 5400),
        ("1.5 min", 90),
        (7, 7),
        ("2 M 5 s", 125),
        (None, None),
    ],
)
def test_budgets_are_read_from_common_notations(budget, seconds):
    assert seconds_of(budget) == seconds


@pytest.mark.parametrize(
    "budget", ["", "soon", "5", "m", "-3s", 0, -1, float("inf"), True, "3s or so"]
)
def test_an_invalid_budget_raises(budget):
    with pytest.raises(ValueError, match="budget="):
        seconds_of(budget)


def test_durations_are_formatted():
    formatted = [format_seconds(s) for s in (0.04, 3.21, 12.4, 59.9, 94, 7500)]
    assert formatted == ["0.0 s", "3.2 s", "12 s", "1:00", "1:34", "2:05:00"]


def test_the_clock_counts_what_an_earlier_run_has_used():
    clock = StudyClock(100.0, seconds_before=30.0)
    assert 30 <= clock.elapsed() < 31
    assert 49 <= clock.seconds_left(0.8) <= 50
    assert StudyClock(None).seconds_left() == float("inf")


def make_table(n=60):
    random = np.random.default_rng(0)
    return pd.DataFrame({"a": random.normal(size=n), "y": random.normal(size=n)})


def slow(name, seconds, values=(1,)):
    return method(name, lambda shape, value, seed: Slow(seconds), values)


def test_tuning_stops_in_time_and_later_methods_are_left_out_and_named():
    study = Study(
        budget=3, verbose=0, methods=[slow("a", 0.05, range(200)), slow("b", 2.0), slow("c", 0.1)]
    )
    began = time.monotonic()
    study.fit(make_table(), "y")
    taken = time.monotonic() - began
    # b alone takes longer than planned; all other methods get less time.
    assert taken < 8
    assert study.table_.loc["a", "status"] == "done"
    assert study.record_["repeats"] < 10
    assert any(note.startswith("There was time for") for note in study.record_["notes"])


@pytest.mark.slow
def test_a_study_exceeds_its_budget_by_at_most_a_fifth():
    methods = [slow(name, 0.05, range(40)) for name in "abcde"]
    began = time.monotonic()
    study = Study(budget=15, verbose=0, methods=methods).fit(make_table(), "y")
    taken = time.monotonic() - began
    assert taken < 1.2 * 15
    assert (study.table_["status"] == "done").all()
    assert study.record_["repeats"] > 1


def test_rounds_are_complete_and_a_note_reports_how_they_were_tuned():
    methods = [slow("a", 0.02, range(30)), slow("b", 0.02, range(30))]
    study = Study(budget=5, verbose=0, methods=methods).fit(make_table(), "y")
    assert study.record_["repeats"] >= 2
    assert study.table_["splits"].nunique() == 1
    assert any("From the second split on" in note for note in study.record_["notes"])


def test_cheap_methods_come_first_and_those_that_combine_others_last():
    names = ["zebra", "gradient-boosting", "lda", "constant", "random-forest"]
    combining = method("mixture", None, combine=lambda shape, chosen, seconds: [])
    ordered = [m.name for m in in_order([combining, *(method(name, None) for name in names)])]
    assert ordered == [
        "constant", "lda", "gradient-boosting", "random-forest", "zebra", "mixture",
    ]  # fmt: skip
    assert constant().name == ordered[0]


def test_with_a_budget_all_candidates_are_tried_starting_from_the_middle():
    assert middle_first_order(7) == [3, 1, 5, 0, 2, 4, 6]
    assert middle_first_order(1) == [0]
    for n in range(12):
        assert sorted(middle_first_order(n)) == list(range(n))
    seen = [one.complexity for one in middle_first(slow("a", 0, range(5)).candidates(None))]
    assert seen == [2, 1, 4, 0, 3]


def test_of_wide_tables_a_method_far_over_its_share_is_stopped_and_the_others_still_tried(
    monkeypatch,
):
    monkeypatch.setattr(time_division, "WIDE", 1)

    class Endless(Slow):
        def fit(self, X, y):
            for _ in range(4000):
                time.sleep(0.01)
            return super().fit(X, y)

    endless = method("endless", lambda shape, value, seed: Endless(0), (1, 2))
    began = time.monotonic()
    study = Study(budget=8, verbose=0, methods=[endless, slow("quick", 0.01)]).fit(
        make_table(), "y"
    )
    assert time.monotonic() - began < 16
    assert study.table_.loc["endless", "status"] == "stopped"
    assert "longer than its share" in study.table_.loc["endless", "message"]
    assert study.table_.loc["quick", "status"] == "done"

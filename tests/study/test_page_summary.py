"""The headline and summary of the report, with warnings about the data."""

from __future__ import annotations

import pytest
from friedman_tables import heights
from page_outline import Outline
from page_reader import PAGE
from sample_records import sample_record
from stand_ins import linear, tree

from bosquet import Study
from bosquet.study.compare.intervals import MIN_SPLITS
from bosquet.study.compare.verdict import reach_verdict
from bosquet.study.metrics.formatting import in_sentence
from bosquet.study.record import Record
from bosquet.study.report import page_html
from bosquet.study.report.summary import headline, summary_sentences
from bosquet.study.report.wording import decimal

pytestmark = PAGE


def with_chosen(record: Record, place: int, level: list[int]) -> Record:
    record["exploration"]["warnings"] = []
    done = [m for m in record["methods"] if m["status"] == "done"]
    for i, method in enumerate(done):
        method["mean"], method["interval"] = 0.5 + 0.01 * i, [0.4, 0.6]
        method["difference"] = {
            "mean": 0.01 * i, "low": -0.1, "high": 0.1, "distinguishable": i > 0 and i not in level
        } if i else None  # fmt: skip
    assert record["chosen"] is not None
    record["chosen"]["name"] = done[place]["name"]
    record["comparison"]["best"] = done[0]["name"]
    record["methods"] = [m for m in record["methods"] if m["status"] != "failed"]
    record["verdict"] = reach_verdict(record["methods"])
    return record


def test_the_summary_names_methods_that_do_not_differ_significantly() -> None:
    record = with_chosen(sample_record("regression"), 0, [1])
    titles = [m["title"] for m in record["methods"]]
    summary = " ".join(summary_sentences(record))
    assert f"the mean RMSE of {in_sentence(titles[0])} is {decimal(0.5, 2)}" in summary
    assert (
        f"does not differ significantly from {in_sentence(titles[1])}; 4 are significantly worse"
        in summary
    )
    assert headline(record).endswith(f"; {in_sentence(titles[1])} is not significantly worse")


def test_the_summary_states_that_all_others_are_worse() -> None:
    record = with_chosen(sample_record("regression"), 0, [])
    assert "All 5 other methods on the same rows are significantly worse." in summary_sentences(
        record
    )


def test_the_summary_states_that_the_best_mean_is_not_the_choice() -> None:
    record = with_chosen(sample_record("regression"), 1, [1, 2])
    titles = [m["title"] for m in record["methods"]]
    summary = summary_sentences(record)[1]
    best = in_sentence(titles[0])
    assert summary.startswith(
        f"The best mean is 0.50, of {best}, but the two do not differ significantly"
    )
    assert in_sentence(titles[2]) in summary
    assert headline(record) == f"The chosen method for “price” is {in_sentence(titles[1])}"


def test_the_headline_states_that_no_method_beats_the_constant() -> None:
    record = with_chosen(sample_record("regression"), 0, [5])
    assert record["methods"][5]["name"] == "constant"
    assert record["verdict"]["kind"] == "weak"
    assert headline(record) == "No method predicts “price” significantly better than a constant"


def test_methods_without_a_score_make_no_statement_about_the_table() -> None:
    record = with_chosen(sample_record("regression"), 5, [])
    record["methods"] = [
        {**m, "status": "stopped", "mean": None, "interval": None, "difference": None}
        if m["status"] == "done" and m["name"] != "constant"
        else m
        for m in record["methods"]
    ]  # type: ignore[misc]
    record["comparison"]["best"] = "constant"
    record["verdict"] = reach_verdict(record["methods"])
    assert headline(record) == "No conclusion on “price”: 5 methods stopped, failed or not reached"
    assert "Not all methods were finished: 5 stopped by the time limit (" in " ".join(
        summary_sentences(record)
    )


@pytest.mark.parametrize("splits", [1, 2, 3, 4, 5, 6])
def test_the_page_names_the_interval_that_the_ranking_used(splits: int) -> None:
    record = (
        Study(budget=None, repeats=splits, verbose=0, methods=[linear(), tree()], random_state=1)
        .fit(heights(60), "y")
        .record_
    )
    page = " ".join(page_html(record).split())
    by_splits = splits >= MIN_SPLITS
    assert record["comparison"]["interval"] == ("splits" if by_splits else "draws")
    assert ("Nadeau and Bengio" in page) == by_splits
    assert ("paired by split" in page) == by_splits
    assert ("Dunnett" in page, "max-t" in page) == (by_splits, not by_splits)


def test_a_leak_and_duplicates_are_reported_above_the_leaderboard() -> None:
    record = with_chosen(sample_record("regression"), 0, [1])
    plain = page_html(record)
    assert "Warnings about the data" not in plain
    findings = [
        ("leak", "high", "size is a copy of price, possibly rescaled or renamed; drop it."),
        ("duplicates", "medium", "20 rows (5.0%) are duplicates of other rows."),
        ("outliers", "medium", "size: a few values lie very far out."),
    ]
    record["exploration"]["warnings"] = [
        {"kind": kind, "severity": severity, "columns": ["size"], "message": message}
        for kind, severity, message in findings
    ]
    assert headline(record).endswith(" – but “size” may reveal the target (leak)")
    opening = Outline(page_html(record)).text.split("Leaderboard")[0]
    assert "Warnings about the data" in opening
    assert [message in opening for _, _, message in findings] == [True, True, False]


def test_a_mean_of_means_is_called_a_mean() -> None:
    record = with_chosen(sample_record("regression"), 0, [1])
    record["metric"]["title"] = "Mean cost"
    assert "the mean cost of" in summary_sentences(record)[0]


def test_without_intervals_differences_are_not_tested() -> None:
    record = sample_record()
    record["repeats"] = 1
    for method in record["methods"]:
        method["interval"] = None
        if method["difference"]:
            method["difference"].update(low=None, high=None, distinguishable=False)
    page = page_html(record)
    assert "There are no confidence intervals" in page
    assert "≈ best</span>" not in page

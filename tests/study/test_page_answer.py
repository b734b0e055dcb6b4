"""The answer in words: which method, how good, and what to look at before believing it."""

from __future__ import annotations

from page_outline import Outline
from page_reader import PAGE
from sample_records import sample_record

from bosquet.study.page import page_html
from bosquet.study.page.answer import answer, headline
from bosquet.study.page.wording import decimal, in_sentence
from bosquet.study.record import Record

pytestmark = PAGE


def winning(record: Record, place: int, level: list[int]) -> Record:
    record["exploration"]["warnings"] = []
    done = [m for m in record["methods"] if m["status"] == "done"]
    for i, method in enumerate(done):
        method["mean"], method["interval"] = 0.5 + 0.01 * i, [0.4, 0.6]
        method["difference"] = {
            "mean": 0.01 * i, "low": -0.1, "high": 0.1, "distinguishable": i > 0 and i not in level
        }  # fmt: skip
    assert record["winner"] is not None
    record["winner"]["name"] = done[place]["name"]
    return record


def test_the_answer_names_what_the_choice_cannot_be_told_apart_from() -> None:
    record = winning(sample_record("regression"), 0, [1])
    titles = [m["title"] for m in record["methods"]]
    said = " ".join(answer(record))
    assert f"the mean RMSE of {in_sentence(titles[0])} is {decimal(0.5, 2)}" in said
    assert (
        f"cannot be told apart from {in_sentence(titles[1])}; the other 4 are measurably worse"
        in said
    )
    assert headline(record).endswith(f"level with {in_sentence(titles[1])}")


def test_the_answer_says_when_all_others_are_worse() -> None:
    record = winning(sample_record("regression"), 0, [])
    assert "All 5 other methods are measurably worse." in answer(record)


def test_the_answer_says_when_the_best_mean_is_not_the_choice() -> None:
    record = winning(sample_record("regression"), 1, [1, 2])
    titles = [m["title"] for m in record["methods"]]
    said = answer(record)[1]
    best = in_sentence(titles[0])
    assert said.startswith(
        f"The best mean, 0.50, is that of {best}, but the two cannot be told apart"
    )
    assert in_sentence(titles[2]) in said
    assert headline(record) == f"To predict “price”, choose {in_sentence(titles[1])}"


def test_the_headline_admits_when_a_constant_does_as_well() -> None:
    record = winning(sample_record("regression"), 0, [5])
    assert record["methods"][5]["name"] == "constant"
    assert "constant answer" in headline(record)


def test_a_leak_and_copies_are_told_beside_the_answer() -> None:
    record = winning(sample_record("regression"), 0, [1])
    plain = page_html(record)
    assert "Look here first" not in plain
    told = [
        ("leak", "high", "size is price in other words: drop it."),
        ("duplicates", "medium", "20 rows are copies of others."),
        ("outliers", "medium", "size: a few values lie very far out."),
    ]
    record["exploration"]["warnings"] = [
        {"kind": kind, "severity": severity, "columns": ["size"], "message": message}
        for kind, severity, message in told
    ]
    assert headline(record).endswith(" – but “size” gives it away")
    opening = Outline(page_html(record)).text.split("The methods, best first")[0]
    assert "Look here first" in opening
    assert [message in opening for _, _, message in told] == [True, True, False]


def test_a_mean_of_means_is_called_a_mean() -> None:
    record = winning(sample_record("regression"), 0, [1])
    record["metric"]["title"] = "Mean cost"
    assert "the mean cost of" in answer(record)[0]


def test_one_split_claims_nothing_about_differences() -> None:
    record = sample_record()
    record["repeats"] = 1
    for method in record["methods"]:
        method["interval"] = None
        if method["difference"]:
            method["difference"].update(low=None, high=None, distinguishable=False)
    page = page_html(record)
    assert "From a single split" in page
    assert "Nadeau" not in page
    assert "≈ best</span>" not in page

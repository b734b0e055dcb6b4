"""The report in a real browser: every section is drawn quickly, for any record, complete or not."""

from __future__ import annotations

import re

import pytest
from hostile_names import HOSTILE, renamed
from page_reader import IN_CHROMIUM, Reader, one_reader  # noqa: F401
from sample_records import method_named, sample_record

from bosquet.study.record import Record

pytestmark = IN_CHROMIUM
TASKS = [("binary", 2), ("multiclass", 4), ("multiclass", 26), ("regression", 1)]


@pytest.mark.parametrize(("task", "n_classes"), TASKS)
def test_a_page_draws_every_section_without_console_errors(
    reader: Reader, task: str, n_classes: int
) -> None:
    reader.show(sample_record(task, n_classes))
    assert reader.complaints() == []
    parts = {
        section.get_attribute("id") for section in reader.all("main > section, #figures > section")
    }
    wanted = {
        "top",
        "leaderboard",
        "complexity",
        "test",
        "drivers",
        "tree",
        "rows",
        "data",
        "properties",
    }
    wanted |= {"notes", "method"} | ({"decisions"} if task != "regression" else set())
    assert parts == wanted | ({"boosting"} if task == "binary" else set())
    empty = reader.evaluate(
        "[...document.querySelectorAll('.plot svg')].filter(svg => svg.childElementCount < 2).length"
    )
    assert empty == 0
    words = reader.evaluate("document.body.innerText")
    assert not re.search(r"\b(NaN|undefined|null|Infinity|\[object)\b", words)
    places = reader.evaluate(
        "[...document.querySelectorAll('svg *')].flatMap(e => [...e.attributes])"
        ".filter(a => /NaN|undefined|Infinity/.test(a.value)).map(a => a.name + '=' + a.value).slice(0, 5)"
    )
    assert places == []


@pytest.mark.parametrize("n_features", [3, 300])
def test_a_page_is_ready_within_two_seconds(reader: Reader, n_features: int) -> None:
    record = sample_record()
    column = record["exploration"]["columns"][1]
    record["exploration"]["columns"] = [
        {**column, "name": f"column {i}"} for i in range(n_features)
    ]
    names = [f"column {i}" for i in range(min(n_features, 40))]
    record["exploration"]["correlations"] = {
        "names": names,
        "matrix": [[0.5] * len(names)] * len(names),
    }
    times = []
    while len(times) < 3 and not any(ready < 2000 for ready in times):  # the machine may be busy
        reader.show(record)
        times.append(int(reader.evaluate("document.documentElement.dataset.ready")))
    assert min(times) < 2000
    assert reader.complaints() == []


def test_hostile_names_run_no_script(reader: Reader) -> None:
    record: Record = sample_record()
    names = [name for name in HOSTILE if "\ud800" not in name]
    for i, what in enumerate(
        ("income", "yes", "default", "Loans", "Random forest", "region", "north")
    ):
        record = renamed(record, what, f"{what} {names[i % len(names)]}")
    record["notes"] = names
    for finding, name in zip(record["exploration"]["warnings"], names, strict=False):
        finding["message"] = name
    method_named(record, "svm")["message"] = "".join(names)
    reader.show(record)
    for button in reader.all(".expand")[:2]:
        reader.click(button)
    for summary in reader.all("details.data summary")[:3]:
        reader.click(summary)
    assert reader.all("main img, main script, main iframe, main [onload], main [onerror]") == []
    assert reader.complaints() == []


def test_without_a_script_summary_leaderboard_and_notes_are_shown(reader: Reader) -> None:
    record = sample_record()
    reader.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        reader.show(record)
        words = reader.one("main").text
        assert record["notes"][0] in words
        assert all(method["title"] in words for method in record["methods"])
        assert "figures need JavaScript" in words
        assert reader.one("#board .interval .dot").size["width"] > 0
    finally:
        reader.command("Emulation.setScriptExecutionDisabled", value=False)


def test_missing_parts_of_a_record_leave_the_other_sections(reader: Reader) -> None:
    record = sample_record()
    assert record["chosen"] is not None
    chosen = record["chosen"]
    chosen.update(
        importances=[], dependence=[], learning_curve=[], certificate=None, margins=None, tree=None, rows=[],
        coverage=None, calibration=None,
    )  # fmt: skip
    record["exploration"].update(columns=[], warnings=[], correlations={"names": [], "matrix": []})
    for method in record["methods"]:
        method.pop("test", None)
        if method["curve"]:
            method["curve"]["points"][0]["score"] = float("nan")
            method["curve"]["points"][1]["complexity"] = float("inf")
    reader.show(record)
    assert reader.complaints() == []
    assert reader.all("#tree, #rows, #test, #drivers, #boosting") == []
    assert len(reader.all("#complexity .chart")) == 5
    record["chosen"] = None
    reader.show(record)
    assert reader.complaints() == []

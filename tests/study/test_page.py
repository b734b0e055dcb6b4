"""The report as text: safe for any name, small, complete, and readable without a script."""

from __future__ import annotations

import errno
import json
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_names import HOSTILE, renamed
from hypothesis import given
from hypothesis import strategies as st
from page_outline import Outline
from page_reader import PAGE
from sample_records import method_named, sample_record

from bosquet.study.metrics.formatting import in_sentence
from bosquet.study.record import Record
from bosquet.study.report import page_html, write_page
from bosquet.study.report.embedding import plain_data, script_data, text
from bosquet.study.report.leaderboard import Scale
from bosquet.study.report.summary import summary_sentences
from bosquet.study.report.thinning import MAX_COLUMNS, MAX_NODES, thin_record
from bosquet.study.report.wording import decimal, duration, join_names

pytestmark = PAGE
TASKS = [("binary", 2), ("multiclass", 4), ("regression", 1)]


@pytest.mark.parametrize(("task", "n_classes"), TASKS)
def test_every_element_is_closed_and_ids_are_unique(task: str, n_classes: int) -> None:
    outline = Outline(page_html(sample_record(task, n_classes)))
    ids = [a["id"] for _, a in outline.elements if a.get("id")]
    assert len(ids) == len(set(ids))
    assert outline.all("html")[0]["lang"] == "en"
    assert len(outline.all("h1")) == len(outline.all("main")) == 1


@pytest.mark.parametrize(("task", "n_classes"), TASKS)
def test_the_page_loads_no_external_resource(task: str, n_classes: int) -> None:
    page = page_html(sample_record(task, n_classes))
    outline = Outline(page)
    for tag, attributes in outline.elements:
        assert tag not in ("img", "iframe", "object", "embed", "base")
        assert "src" not in attributes
        target = attributes.get("href")
        assert target is None or target.startswith(("#", "data:"))
    urls = set(re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}[^\s'\"<>]*", page))
    assert urls <= {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "@import" not in page
    assert "url(" not in page
    assert "default-src 'none'" in page


@pytest.mark.parametrize(("task", "n_classes"), TASKS)
def test_the_page_contains_the_unchanged_record(task: str, n_classes: int) -> None:
    record = sample_record(task, n_classes)
    found = json.loads(Outline(page_html(record)).data["record"])
    assert found["target"] == record["target"]
    assert [m["name"] for m in found["methods"]] == [m["name"] for m in record["methods"]]
    np.testing.assert_allclose(found["methods"][0]["mean"], record["methods"][0]["mean"], rtol=1e-5)


@cache
def _plain_tags() -> list[str]:
    return [tag for tag, _ in Outline(page_html(sample_record())).elements]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "what", ["income", "yes", "default", "Loans", "gradient_boosting", "Random forest"]
)
def test_names_cannot_inject_markup_or_scripts(name: str, what: str) -> None:
    record: Record = renamed(sample_record(), what, name)
    record["notes"] = [name]
    method_named(record, "svm")["message"] = name
    outline = Outline(page_html(record))
    tags = [tag for tag, _ in outline.elements]
    assert tags == _plain_tags()
    assert all(not key.startswith("on") for _, attributes in outline.elements for key in attributes)
    assert json.loads(outline.data["record"])["notes"] == [name]


def test_only_the_scripts_of_the_page_may_run() -> None:
    import base64
    import hashlib

    outline = Outline(page_html(sample_record()))
    policy = next(
        a["content"]
        for a in outline.all("meta")
        if a.get("http-equiv") == "Content-Security-Policy"
    )
    page = page_html(sample_record())
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "script-src 'unsafe-inline'" not in policy


def test_scripts_never_turn_data_into_markup() -> None:
    folder = files("bosquet.study.report") / "script"
    for entry in folder.iterdir():
        source = entry.read_text("utf-8")
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
        ):
            assert word not in source, f"{entry.name} uses {word}"
        assert source.count("\n") <= 400, entry.name


@given(st.text())
def test_data_in_a_script_element_is_read_back_and_cannot_close_it(value: str) -> None:
    encoded = script_data({"key": value})
    assert json.loads(encoded) == {"key": value}
    assert not re.search("[<>&\u2028\u2029]", encoded)


@given(st.text())
def test_text_has_no_markup_left(value: str) -> None:
    assert not re.search("[<>\"'\x00]", text(value))
    text(value).encode("utf-8")


def test_numbers_that_json_cannot_represent_become_null() -> None:
    given_values = {
        "a": [float("nan"), float("inf"), np.float32(1.5), np.int64(3)],
        "b": np.arange(2),
    }
    assert plain_data(given_values) == {"a": [None, None, 1.5, 3], "b": [0, 1]}
    assert plain_data(0.123456789) == 0.123457


@pytest.mark.parametrize(("task", "n_classes"), TASKS)
def test_summary_leaderboard_and_notes_do_not_need_a_script(task: str, n_classes: int) -> None:
    record = sample_record(task, n_classes)
    words = Outline(page_html(record)).text
    for sentence in summary_sentences(record):
        assert " ".join(sentence.split()) in words
    for method in record["methods"]:
        assert method["title"] in words
    assert record["notes"][0] in words
    assert method_named(record, "svm")["message"] in words
    assert method_named(record, "mlp")["message"] in words


def test_a_table_has_a_caption_and_its_heads_a_scope() -> None:
    outline = Outline(page_html(sample_record()))
    assert len(outline.all("caption")) == len(outline.all("table")) == 1
    assert all(head.get("scope") in ("col", "row") for head in outline.all("th"))


def test_only_methods_that_do_not_differ_significantly_are_marked() -> None:
    record = sample_record()
    done = [m for m in record["methods"] if m["status"] == "done"]
    for place, method in enumerate(done):
        method["difference"] = {
            "mean": 0.01 * place, "low": -0.1, "high": 0.1, "distinguishable": place not in (0, 2)
        }  # fmt: skip
    page = page_html(record)
    rows = re.findall(r"<tr class=\"(\w+)\" data-name=\"(\w+)\">(.*?)</tr>", page, re.S)
    marked = [name for _, name, row in rows if "≈ best" in row]
    assert marked == [done[2]["name"]]
    assert [kind for kind, _, _ in rows][:4] == ["level", "worse", "level", "worse"]


def test_a_study_without_any_finished_method_has_a_page() -> None:
    record = sample_record()
    record["chosen"] = None
    for method in record["methods"]:
        method.update(
            status="failed", message="no memory", mean=None, interval=None, difference=None
        )
    assert "No method could be fitted" in Outline(page_html(record)).text


def test_missing_numbers_are_dashes() -> None:
    record = sample_record()
    method = record["methods"][1]
    method["fit_seconds"] = float("nan")
    method["scores"][0] = float("nan")
    method["interval"] = [float("nan"), float("nan")]
    page = page_html(record)
    assert not re.search(r"\bnan\b", page.split("<script")[2], re.I)


@pytest.mark.parametrize("n_columns", [3, 300, 5_000])
def test_a_page_stays_small_with_many_columns(n_columns: int) -> None:
    record = sample_record()
    column = record["exploration"]["columns"][1]
    record["exploration"]["columns"] = [
        {**column, "name": f"column number {i}", "relation": 1 / (i + 1)} for i in range(n_columns)
    ]
    assert record["chosen"] is not None
    record["chosen"]["importances"] = [
        {"feature": f"column number {i}", "value": 100 / (i + 1), "spread": 1.0}
        for i in range(n_columns)
    ]
    for row in record["chosen"]["rows"]:
        row["values"] = {f"column number {i}": "0.25" for i in range(n_columns)}
    assert len(page_html(record).encode()) < 2_000_000
    shown, notes = thin_record(record)
    assert len(shown["exploration"]["columns"]) == min(n_columns, MAX_COLUMNS)
    assert (len(notes) > 0) == (n_columns > MAX_COLUMNS)


def test_a_page_of_many_classes_stays_small() -> None:
    assert len(page_html(sample_record("multiclass", 26)).encode()) < 1_000_000


def test_a_tree_deeper_than_the_stack_is_cut() -> None:
    record = sample_record()
    assert record["chosen"] is not None
    tree: Any = {"id": 0, "rule": "", "n": 1, "value": [1.0, 0.0], "children": []}
    for i in range(1, 5000):
        leaf = {"id": -i, "rule": "", "n": 1, "value": [0.0, 1.0], "children": []}
        tree = {"id": i, "rule": "x ≤ 1", "n": i + 1, "value": [0.5, 0.5], "children": [leaf, tree]}
    record["chosen"]["tree"] = tree
    assert "draws only the upper levels of the tree" in page_html(record)


def test_a_cut_tree_keeps_its_uppermost_nodes() -> None:
    def full(depth: int) -> Any:
        children = [full(depth - 1), full(depth - 1)] if depth else []
        return {
            "id": depth,
            "rule": "x" if depth else "",
            "n": 2**depth,
            "value": [1.0],
            "children": children,
        }

    record = sample_record("regression")
    assert record["chosen"] is not None
    record["chosen"]["tree"] = full(12)
    shown = thin_record(record)[0]["chosen"]
    assert shown is not None
    level, total, depth = [shown["tree"]], 0, 0
    while level:
        total, depth = total + len(level), depth + 1
        level = [child for node in level if node for child in node["children"]]
    assert MAX_NODES - 2 <= total <= MAX_NODES
    assert depth == 11


def test_the_page_is_written_atomically_and_leaves_no_other_file(tmp_path: Path) -> None:
    place = tmp_path / "report.html"
    place.write_text("an older page")
    record = sample_record()
    assert write_page(record, place) == place
    assert place.read_text("utf-8") == page_html(record)
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_page_that_cannot_be_written_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="could not be written to") as caught:
        write_page(sample_record(), tmp_path / "no such folder" / "report.html")
    assert "\n" not in str(caught.value)


def test_a_full_disk_leaves_the_older_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "report.html"
    place.write_text("an older page")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left on device"):
        write_page(sample_record(), place)
    assert place.read_text() == "an older page"
    assert os.listdir(tmp_path) == ["report.html"]


@pytest.mark.parametrize("higher", [True, False])
def test_a_method_with_an_outlying_score_does_not_compress_the_axis(higher: bool) -> None:
    record = sample_record("regression")
    done = [m for m in record["methods"] if m["status"] == "done"]
    for i, method in enumerate(done):
        mean = 0.8 - 0.01 * i if higher else 0.2 + 0.01 * i
        method["mean"], method["interval"] = mean, [mean - 0.005, mean + 0.005]
    done[-1]["mean"], done[-1]["interval"] = (
        (-50.0, [-51.0, -49.0]) if higher else (50.0, [49.0, 51.0])
    )
    scale = Scale.over(done, higher)
    assert scale.high - scale.low < 0.2
    assert not scale.holds(done[-1]["mean"])
    assert all(0 < scale.at(m["mean"]) < 100 for m in done[:-1])
    assert 2 <= len(scale.ticks()) <= 8


def test_numbers_are_formatted_as_text() -> None:
    assert decimal(-0.0001, 2) == "0.00"
    assert decimal(-1234.5, 1) == "−1,234.5"
    assert decimal(None, 2) == "–"
    assert [duration(s) for s in (0.02, 1.25, 42.4, 101.3, 7260)] == [
        "20 ms", "1.2 s", "42 s", "1 min 41 s", "2 h 1 min"
    ]  # fmt: skip
    assert join_names(["a", "b", "c", "d", "e"]) == "a, b, c and 2 others"
    titles = (
        "Log loss",
        "RMSE",
        "AdaBoost",
        "k nearest",
        "Brier score",
        "SVM, linear",
        "f(beta=2, a=0)",
    )
    assert [in_sentence(t) for t in titles] == [
        "log loss", "RMSE", "AdaBoost", "k nearest", "Brier score", "SVM (linear)", "f(beta=2, a=0)"
    ]  # fmt: skip

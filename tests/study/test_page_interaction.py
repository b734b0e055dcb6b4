"""The report in a real browser: leaderboard, curves and rows by pointer and keyboard."""

from __future__ import annotations

import pytest
from page_reader import IN_CHROMIUM, Reader, one_reader  # noqa: F401
from sample_records import method_named, sample_record

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = IN_CHROMIUM


def test_the_leaderboard_sorts_both_ways_and_keeps_failures_last(reader: Reader) -> None:
    record = sample_record()
    reader.show(record)

    def order() -> list[str]:
        return [
            row.get_attribute("data-name") for row in reader.all("#board tbody tr:not(.more-of)")
        ]

    done = [m["name"] for m in record["methods"] if m["status"] == "done"]
    assert order() == [*done, "svm", "mlp"]
    head = reader.one("#board th[data-key=score]")
    reader.press(head.find_element(By.TAG_NAME, "button"), Keys.ENTER)
    assert head.get_attribute("aria-sort") == "descending"
    assert order() == [*reversed(done), "svm", "mlp"]
    reader.click(reader.one("#board th[data-key=method] button"))
    titles = [method_named(record, name)["title"] for name in order()[:-2]]
    assert titles == sorted(titles, key=str.lower)
    assert head.get_attribute("aria-sort") is None


def test_a_method_opens_to_its_setting_and_closes_again(reader: Reader) -> None:
    record = sample_record()
    reader.show(record)
    button = reader.one("#board .expand")
    reader.press(button, Keys.ENTER)
    assert button.get_attribute("aria-expanded") == "true"
    opened = reader.one("#board .more-of").text
    assert next(iter(record["methods"][0]["setting"])) in opened
    reader.click(button)
    assert reader.all("#board .more-of") == []


def test_the_row_explorer_filters_and_explains(reader: Reader) -> None:
    record = sample_record()
    assert record["chosen"] is not None
    rows = record["chosen"]["rows"]
    reader.show(record)

    def shown() -> list[str]:
        return [cell.text for cell in reader.all(".row-list tbody th")]

    def of(kind: str) -> list[str]:
        return [str(row["row"]) for row in rows if row["kind"] == kind]

    assert shown() == of("worst")
    reader.click(reader.one("#rows [data-value=outlier]"))
    assert shown() == of("outlier")
    reader.click(reader.one("#rows [data-value=all]"))
    assert len(shown()) == len(rows)
    wanted = rows[3]["values"]["purpose"]
    reader.one("#rows input[type=search]").send_keys(f"purpose={wanted}")
    assert shown() == [str(row["row"]) for row in rows if row["values"]["purpose"] == wanted]
    reader.one("#rows input[type=search]").send_keys("no such value")
    assert shown() == []
    assert "No row matches" in reader.one("#rows").text


def test_rows_are_chosen_by_keyboard_and_their_reasons_add_up(reader: Reader) -> None:
    record = sample_record("regression")
    assert record["chosen"] is not None
    row = record["chosen"]["rows"][1]
    row["reasons"].append({"feature": "(all others)", "value": "", "effect": 0.25 * row["base"]})
    record["chosen"]["rows_called"] = "Rows are counted from 1."
    reader.show(record)
    assert "Rows are counted from 1." in reader.one("#rows .lead").text
    first = reader.one(".row-list tbody tr[aria-selected=true]")
    reader.press(first, Keys.ARROW_DOWN)
    detail = reader.one(".row-detail")
    assert detail.find_element(By.TAG_NAME, "h3").text.startswith(
        f"Row {row['row']}: true {row['truth']}"
    )
    label = detail.find_element(By.TAG_NAME, "svg").get_attribute("aria-label")
    end = row["base"] + sum(reason["effect"] for reason in row["reasons"])
    assert f"to {end:.3g}" in label
    assert row["reasons"][0]["feature"] in label
    words = [
        text.get_attribute("textContent")
        for text in detail.find_elements(By.CSS_SELECTOR, "svg text")
    ]
    assert any("all other columns" in word for word in words)


def test_points_are_read_by_pointer_and_by_arrow_keys(reader: Reader) -> None:
    record = sample_record()
    reader.show(record)
    svg = reader.one("#complexity svg")
    first = next(m for m in record["methods"] if m["curve"])["curve"]["points"]
    reader.press(svg, Keys.ARROW_RIGHT)
    tip = reader.one("#tip")
    assert tip.is_displayed()
    assert tip.text.startswith(first[0]["label"])
    svg.send_keys(Keys.END)
    assert tip.text.startswith(first[-1]["label"])
    svg.send_keys(Keys.ESCAPE)
    assert not tip.is_displayed()
    chosen = svg.find_element(By.CSS_SELECTOR, "circle.f-blue")
    ActionChains(reader.driver).move_to_element(chosen).perform()
    assert "chosen" in tip.text


def test_one_outlying_score_does_not_flatten_a_curve(reader: Reader) -> None:
    record = sample_record("regression")
    method = next(m for m in record["methods"] if m["curve"])
    points = [
        {"complexity": float(k), "label": f"k = {k}", "setting": {"k": k}, "score": score,
         "standard_error": 0.01, "chosen": k == 4}
        for k, score in enumerate([9.0, 1.2, 1.1, 1.05, 1.0, 1.02, 1.07, 1.15], 1)
    ]  # fmt: skip
    method["curve"].update(points=points, log=False, score=record["metric"]["title"])
    reader.show(record)
    assert "1 candidate outside the axis" in reader.one("#complexity figure").text
    svg = reader.one("#complexity svg")
    heights = [float(c.get_attribute("cy")) for c in svg.find_elements(By.TAG_NAME, "circle")]
    drawn = max(heights) - min(heights)
    assert (
        sorted(heights)[1] - min(heights) < 0.7 * drawn
    )  # the others use a large part of the axis
    reader.press(svg, Keys.HOME)
    assert "9.0" in reader.one("#tip").text
    assert "outside the axis" in reader.one("#tip").text

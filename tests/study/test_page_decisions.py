"""The report in a real browser: threshold, costs and confusion matrix."""

from __future__ import annotations

import pytest
from page_reader import IN_CHROMIUM, Reader, one_reader  # noqa: F401
from sample_records import method_named, sample_record

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

pytestmark = IN_CHROMIUM


def matrix(reader: Reader) -> dict[str, int]:
    cells = reader.all("[data-cell]")
    return {
        c.get_attribute("data-cell"): int(c.find_element(By.TAG_NAME, "b").text.replace(",", ""))
        for c in cells
    }


def rate(reader: Reader, name: str) -> str:
    return reader.one(f"[data-rate='{name}'] dd").text


def test_the_slider_shows_the_counts_rates_and_cost_of_its_threshold(reader: Reader) -> None:
    record = sample_record()
    points = method_named(record, "gradient_boosting")["test"]["thresholds"]
    reader.show(record)
    slider = reader.one("input[type=range]")
    assert int(slider.get_attribute("value")) == 50  # the chosen threshold, one half
    for keys, at in [((Keys.HOME,), 0), ((Keys.ARROW_RIGHT,) * 20, 20), ((Keys.END,), 100)]:
        reader.press(slider, *keys)
        point = points[at]
        assert matrix(reader) == {key: point[key] for key in ("tn", "fp", "fn", "tp")}
        assert reader.one("output").text == f"{point['threshold']:.3g}"
        right = (point["tp"] + point["tn"]) / sum(point[key] for key in ("tn", "fp", "fn", "tp"))
        assert rate(reader, "accuracy") == f"{100 * right:.1f} %"
    cost = (points[100]["fp"] * 1 + points[100]["fn"] * 5) / record["n_test"]
    assert float(rate(reader, "cost")) == pytest.approx(cost, rel=0.01)
    assert "misses" in slider.get_attribute("aria-valuetext")


def test_the_threshold_of_least_cost_follows_the_entered_costs(reader: Reader) -> None:
    record = sample_record()
    points = method_named(record, "gradient_boosting")["test"]["thresholds"]
    reader.show(record)
    alarm, miss = reader.all("input[type=number]")
    assert (alarm.get_attribute("value"), miss.get_attribute("value")) == ("1", "5")
    for false_alarm, missed in [(1, 50), (30, 1)]:
        for box, value in ((alarm, false_alarm), (miss, missed)):
            box.clear()
            box.send_keys(str(value))
        reader.click(reader.one("#decisions .choices button:nth-child(2)"))
        least = min(point["fp"] * false_alarm + point["fn"] * missed for point in points)
        shown = matrix(reader)
        assert shown["fp"] * false_alarm + shown["fn"] * missed == least


def test_each_method_has_its_own_confusion_matrix(reader: Reader) -> None:
    record = sample_record()
    reader.show(record)
    Select(reader.one("#decisions select")).select_by_value("linear")
    point = method_named(record, "linear")["test"]["thresholds"][50]
    assert matrix(reader) == {key: point[key] for key in ("tn", "fp", "fn", "tp")}

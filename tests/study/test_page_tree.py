"""The report in a real browser: the tree can be zoomed, moved and read."""

from __future__ import annotations

from typing import Any

import pytest
from page_reader import IN_CHROMIUM, Reader, one_reader  # noqa: F401
from sample_records import sample_record

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.keys import Keys

pytestmark = IN_CHROMIUM


def test_the_tree_is_zoomed_and_moved_by_buttons_keys_wheel_and_pointer(reader: Reader) -> None:
    reader.show(sample_record())
    svg = reader.one(".tree-frame svg")
    reader.driver.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", svg
    )

    def zoom() -> float:
        return float(svg.get_attribute("data-zoom"))

    def stage() -> str:
        return reader.one(".tree-frame svg > g").get_attribute("transform")

    start = zoom()
    reader.one("[aria-label='Zoom in']").click()
    assert zoom() > start
    reader.press(svg, "-", "-")
    assert zoom() < start
    before = stage()
    svg.send_keys(Keys.ARROW_RIGHT)
    assert stage() != before
    ActionChains(reader.driver).scroll_from_origin(
        ScrollOrigin.from_element(svg), 0, -200
    ).perform()
    after_wheel = zoom()
    svg.send_keys("0")
    whole = zoom()
    assert after_wheel != whole
    before = stage()
    ActionChains(reader.driver).move_to_element_with_offset(
        svg, -200, 120
    ).click_and_hold().move_by_offset(40, 30).release().perform()
    assert stage() != before
    assert zoom() == whole


def test_the_wheel_scrolls_past_a_tree_that_was_not_clicked(reader: Reader) -> None:
    reader.show(sample_record())
    stopped = reader.driver.execute_script(
        "const e = new WheelEvent('wheel', {deltaY: 100, cancelable: true, bubbles: true});"
        "document.querySelector('.tree-frame svg').dispatchEvent(e); return e.defaultPrevented"
    )
    assert not stopped


def test_a_node_shows_the_path_to_it(reader: Reader) -> None:
    record = sample_record()
    assert record["chosen"] is not None
    root: Any = record["chosen"]["tree"]
    reader.show(record)
    left = root["children"][0]
    node = reader.one(f"[data-node='{left['id']}']")
    reader.driver.execute_script(
        "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", node
    )
    rules = reader.one(".tree-rules").text
    assert rules.startswith(f"If {root['rule']}: {left['n']} rows")
    assert len(reader.all(".tree-node.on-way")) == 2

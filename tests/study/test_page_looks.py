"""The report in a real browser: on a phone, in the dark theme, in print, and for screen readers."""

from __future__ import annotations

import time

import pytest
from hostile_names import renamed
from page_reader import IN_CHROMIUM, Reader, one_reader  # noqa: F401
from sample_records import sample_record

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver.common.keys import Keys

pytestmark = IN_CHROMIUM


@pytest.mark.parametrize(
    ("task", "n_classes", "width"),
    [("binary", 2, 360), ("binary", 2, 768), ("multiclass", 26, 360), ("regression", 1, 360)],
)
def test_the_body_never_scrolls_sideways(
    reader: Reader, task: str, n_classes: int, width: int
) -> None:
    reader.show(sample_record(task, n_classes), width=width)
    assert reader.evaluate("document.documentElement.scrollWidth") <= width
    assert reader.evaluate("innerWidth") == width


def test_long_names_are_truncated_and_complete_in_the_title(reader: Reader) -> None:
    name = "a very long name of a column that goes on and on " * 4
    record = renamed(renamed(sample_record(), "income", name), "yes", "yes" * 40)
    reader.show(record, width=360)
    assert reader.evaluate("document.documentElement.scrollWidth") == 360
    assert reader.evaluate(
        "[...document.querySelectorAll('title')].some(t => t.textContent === arguments[0])", name
    )
    assert reader.complaints() == []


def test_dark_and_light_are_switched_and_remembered(reader: Reader) -> None:
    reader.show(sample_record())
    ground = "getComputedStyle(document.body).backgroundColor"
    light = reader.evaluate(ground)
    # The browser stores the choice in the background. If it is busy, a reload that follows at once loses it.
    for seconds in (0.0, 0.2, 1.0, 5.0):
        reader.press(reader.one("#theme"), Keys.ENTER)
        assert reader.comes_true(f"{ground} !== arguments[0]", light)
        dark = reader.evaluate(ground)
        time.sleep(seconds)
        reader.driver.refresh()
        if reader.evaluate(ground) == dark:
            break
    assert reader.evaluate(ground) == dark
    assert reader.one("#theme").get_attribute("aria-label") == "Switch to light colours"
    reader.click(reader.one("#theme"))
    assert reader.comes_true(f"{ground} === arguments[0]", light)
    reader.evaluate("localStorage.clear()")
    reader.show(sample_record(), dark=True)
    assert reader.evaluate(ground) == dark


def luminance(colour: tuple[float, ...]) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(reader: Reader, front: str, back: str) -> float:
    """Return the contrast of two colours of the palette, as drawn by the browser."""
    pixels = reader.driver.execute_script(
        "const probe = document.body.appendChild(document.createElement('i'));"
        "const canvas = Object.assign(document.createElement('canvas'), {width: 1, height: 1});"
        "const context = canvas.getContext('2d');"
        "const found = arguments[0].map(name => { probe.style.color = `var(--${name})`;"
        " context.fillStyle = getComputedStyle(probe).color; context.fillRect(0, 0, 1, 1);"
        " return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255) });"
        "probe.remove(); return found",
        [front, back],
    )
    high, low = sorted((luminance(tuple(pixel)) for pixel in pixels), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_marks_have_enough_contrast(reader: Reader, dark: bool) -> None:
    reader.show(sample_record(), dark=dark)
    for ground in ("paper", "panel"):
        for words in (
            "ink",
            "strong",
            "soft",
            "blue-text",
            "orange-text",
            "green-text",
            "red-text",
        ):
            assert contrast(reader, words, ground) >= 4.5, (words, ground)
    for marks in ("blue", "orange", "green", "red", "violet", "grey", "control", "focus"):
        assert contrast(reader, marks, "paper") >= 3, marks
    for cell in ("blue-cell", "orange-cell"):
        assert contrast(reader, "ink", cell) >= 4.5, cell
    assert contrast(reader, "blue-text", "blue-wash") >= 4.5


def test_reduced_motion_is_respected(reader: Reader) -> None:
    reader.show(sample_record())
    glides = "getComputedStyle(document.documentElement).scrollBehavior"
    assert reader.evaluate(glides) == "auto"
    reader.command("Emulation.setEmulatedMedia", features=[])
    assert reader.evaluate(glides) == "smooth"


def test_a_page_prints_without_its_controls(reader: Reader) -> None:
    reader.show(sample_record(), dark=True)
    reader.command("Emulation.setEmulatedMedia", media="print", features=[])
    assert reader.evaluate("getComputedStyle(document.querySelector('.bar')).display") == "none"
    assert (
        reader.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(253, 252, 249)"
    )
    reader.command("Emulation.setEmulatedMedia", media="", features=[])


def test_every_figure_has_a_label_and_every_control_a_name(reader: Reader) -> None:
    reader.show(sample_record())
    unnamed = reader.evaluate(
        "[...document.querySelectorAll('.plot svg')]"
        ".filter(e => !(e.getAttribute('aria-label') || '').trim()).length"
    )
    assert unnamed == 0
    tree = reader.command("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "combobox", "slider", "searchbox", "spinbutton", "link")
    nameless = [
        node["role"]["value"]
        for node in tree
        if not node.get("ignored")
        and node["role"]["value"] in roles
        and not node.get("name", {}).get("value")
    ]
    assert nameless == []
    assert reader.evaluate("[...document.querySelectorAll('th')].every(e => e.scope)")
    assert reader.evaluate("[...document.querySelectorAll('table')].every(e => e.caption)")


def test_focus_can_be_seen_and_skips_to_the_content(reader: Reader) -> None:
    reader.show(sample_record())
    reader.one("body").send_keys(Keys.TAB)
    assert reader.evaluate("document.activeElement.className") == "skip"
    assert reader.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_sections_are_reached_from_the_bar(reader: Reader) -> None:
    reader.show(sample_record())
    reader.one(".bar nav a[href='#data']").click()
    assert (
        abs(reader.evaluate("document.querySelector('#data').getBoundingClientRect().top")) <= 120
    )


def test_years_have_no_thousands_separator_and_every_axis_has_ticks(reader: Reader) -> None:
    record = sample_record()
    column = record["exploration"]["columns"][0]
    years = {
        "edges": [2021.5, 2022.25, 2023.0, 2024.5],
        "levels": None,
        "counts": {"all": [5, 9, 2]},
    }
    column.update(name="opened", kind="date", histogram=years, relation=1.0)
    reader.show(record)
    words = reader.evaluate(
        "[...document.querySelectorAll('#data .chart')].find(c => c.textContent.startsWith('opened'))"
        ".querySelector('svg').textContent"
    )
    assert "2022" in words
    assert "2,02" not in words
    ticks = reader.evaluate(
        "[...document.querySelectorAll('#complexity svg')].map(s => s.querySelectorAll('.gridline').length)"
    )
    assert min(ticks) >= 3

"""The page in a real browser: what a reader can do with it, by hand, by keyboard and on a phone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sample_records import method_named, sample_record
from test_page import HOSTILE, renamed

from bosquet.study.page import write_page
from bosquet.study.record import Record

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

CHROMIUM = next(
    (p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None
)
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None,
        reason="no Chromium with its driver here; tools/install_browser.sh installs them",
    ),
    pytest.mark.xdist_group("chromium"),
]
TASKS = [("binary", 2), ("multiclass", 4), ("multiclass", 26), ("regression", 1)]


class Reader:
    """A browser with a page of a study open."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver, self.folder = driver, folder
        self.written = 0

    def show(
        self, record: Record, *, width: int = 1280, height: int = 900, dark: bool = False
    ) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        # Without gliding: what is looked for is where it will be.
        motion = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.command("Emulation.setEmulatedMedia", features=[scheme, motion])
        self.written += 1
        place = write_page(record, self.folder / f"page {self.written}.html")
        self.driver.get_log("browser")
        self.driver.get(place.as_uri())

    def command(self, name: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, arguments)

    def ask(self, expression: str, *arguments: Any) -> Any:
        return self.driver.execute_script(f"return {expression}", *arguments)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, element: Any, *keys: str) -> None:
        self.driver.execute_script("arguments[0].focus()", element)
        element.send_keys(*keys)

    def click(self, element: Any) -> None:
        self.driver.execute_script(
            "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element
        )
        element.click()

    def complaints(self) -> list[str]:
        return [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    # No sandbox: it cannot be had as root, and the only page opened is our own.
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield Reader(driver, tmp_path_factory.mktemp("pages"))
    driver.quit()


@pytest.mark.parametrize(("task", "n_classes"), TASKS)
def test_a_page_draws_every_part_without_a_complaint(
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
        "qualities",
    }
    wanted |= {"notes", "method"} | ({"decisions"} if task != "regression" else set())
    assert parts == wanted | ({"boosting"} if task == "binary" else set())
    empty = reader.ask(
        "[...document.querySelectorAll('.plot svg')].filter(svg => svg.childElementCount < 2).length"
    )
    assert empty == 0
    words = reader.ask("document.body.innerText")
    assert not re.search(r"\b(NaN|undefined|null|Infinity|\[object)\b", words)
    places = reader.ask(
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
        times.append(int(reader.ask("document.documentElement.dataset.ready")))
    assert min(times) < 2000
    assert reader.complaints() == []


@pytest.mark.parametrize(
    ("task", "n_classes", "width"),
    [("binary", 2, 360), ("binary", 2, 768), ("multiclass", 26, 360), ("regression", 1, 360)],
)
def test_the_body_never_scrolls_sideways(
    reader: Reader, task: str, n_classes: int, width: int
) -> None:
    reader.show(sample_record(task, n_classes), width=width)
    assert reader.ask("document.documentElement.scrollWidth") <= width
    assert reader.ask("innerWidth") == width


def test_long_names_are_cut_and_kept_whole_in_the_title(reader: Reader) -> None:
    name = "a very long name of a column that goes on and on " * 4
    record = renamed(renamed(sample_record(), "income", name), "yes", "yes" * 40)
    reader.show(record, width=360)
    assert reader.ask("document.documentElement.scrollWidth") == 360
    assert reader.ask(
        "[...document.querySelectorAll('title')].some(t => t.textContent === arguments[0])", name
    )
    assert reader.complaints() == []


def test_hostile_names_run_nothing(reader: Reader) -> None:
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
    assert int(slider.get_attribute("value")) == 50  # the threshold chosen, one half
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


def test_least_cost_follows_the_costs_that_are_typed_in(reader: Reader) -> None:
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


def test_another_method_has_its_own_matrix(reader: Reader) -> None:
    record = sample_record()
    reader.show(record)
    Select(reader.one("#decisions select")).select_by_value("linear")
    point = method_named(record, "linear")["test"]["thresholds"][50]
    assert matrix(reader) == {key: point[key] for key in ("tn", "fp", "fn", "tp")}


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


def test_dark_and_light_are_switched_and_remembered(reader: Reader) -> None:
    reader.show(sample_record())
    ground = "getComputedStyle(document.body).backgroundColor"
    light = reader.ask(ground)
    reader.press(reader.one("#theme"), Keys.ENTER)
    dark = reader.ask(ground)
    assert dark != light
    reader.driver.refresh()
    assert reader.ask(ground) == dark
    assert reader.one("#theme").get_attribute("aria-label") == "Switch to light colours"
    reader.click(reader.one("#theme"))
    assert reader.ask(ground) == light
    reader.ask("localStorage.clear()")
    reader.show(sample_record(), dark=True)
    assert reader.ask(ground) == dark


def test_the_tree_is_zoomed_and_moved_by_buttons_keys_wheel_and_hand(reader: Reader) -> None:
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


def test_a_node_tells_the_way_to_it(reader: Reader) -> None:
    record = sample_record()
    assert record["winner"] is not None
    root: Any = record["winner"]["tree"]
    reader.show(record)
    left = root["children"][0]
    node = reader.one(f"[data-node='{left['id']}']")
    reader.driver.execute_script(
        "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", node
    )
    said = reader.one(".tree-says").text
    assert said.startswith(f"If {root['rule']}: {left['n']} rows")
    assert len(reader.all(".tree-node.on-way")) == 2


def test_the_row_explorer_filters_and_explains(reader: Reader) -> None:
    record = sample_record()
    assert record["winner"] is not None
    rows = record["winner"]["rows"]
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
    assert record["winner"] is not None
    row = record["winner"]["rows"][1]
    reader.show(record)
    first = reader.one(".row-list tbody tr[aria-selected=true]")
    reader.press(first, Keys.ARROW_DOWN)
    detail = reader.one(".row-detail")
    assert detail.find_element(By.TAG_NAME, "h3").text.startswith(
        f"Row {row['row']}: truly {row['truth']}"
    )
    label = detail.find_element(By.TAG_NAME, "svg").get_attribute("aria-label")
    end = row["base"] + sum(reason["effect"] for reason in row["reasons"])
    assert f"to {end:.3g}" in label
    assert row["reasons"][0]["feature"] in label


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


def test_every_figure_has_words_and_every_control_a_name(reader: Reader) -> None:
    reader.show(sample_record())
    unnamed = reader.ask(
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
    assert reader.ask("[...document.querySelectorAll('th')].every(e => e.scope)")
    assert reader.ask("[...document.querySelectorAll('table')].every(e => e.caption)")


def test_focus_can_be_seen_and_skips_to_the_content(reader: Reader) -> None:
    reader.show(sample_record())
    reader.one("body").send_keys(Keys.TAB)
    assert reader.ask("document.activeElement.className") == "skip"
    assert reader.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def luminance(colour: tuple[float, ...]) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(reader: Reader, front: str, back: str) -> float:
    """Contrast of two colours of the palette, as the browser paints them."""
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
def test_words_and_marks_stand_out_from_the_paper(reader: Reader, dark: bool) -> None:
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


def test_less_motion_is_respected(reader: Reader) -> None:
    reader.show(sample_record())
    glides = "getComputedStyle(document.documentElement).scrollBehavior"
    assert reader.ask(glides) == "auto"
    reader.command("Emulation.setEmulatedMedia", features=[])
    assert reader.ask(glides) == "smooth"


def test_a_page_prints_without_its_controls(reader: Reader) -> None:
    reader.show(sample_record(), dark=True)
    reader.command("Emulation.setEmulatedMedia", media="print", features=[])
    assert reader.ask("getComputedStyle(document.querySelector('.bar')).display") == "none"
    assert reader.ask("getComputedStyle(document.body).backgroundColor") == "rgb(253, 252, 249)"
    reader.command("Emulation.setEmulatedMedia", media="", features=[])


def test_without_a_script_the_answer_the_table_and_the_notes_are_read(reader: Reader) -> None:
    record = sample_record()
    reader.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        reader.show(record)
        words = reader.one("main").text
        assert record["notes"][0] in words
        assert all(method["title"] in words for method in record["methods"])
        assert "drawn by JavaScript" in words
        assert reader.one("#board .interval .dot").size["width"] > 0
    finally:
        reader.command("Emulation.setScriptExecutionDisabled", value=False)


def test_holes_in_a_record_leave_the_rest_standing(reader: Reader) -> None:
    record = sample_record()
    assert record["winner"] is not None
    winner = record["winner"]
    winner.update(
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
    record["winner"] = None
    reader.show(record)
    assert reader.complaints() == []


def test_sections_are_reached_from_the_bar(reader: Reader) -> None:
    reader.show(sample_record())
    reader.one(".bar nav a[href='#data']").click()
    assert abs(reader.ask("document.querySelector('#data').getBoundingClientRect().top")) <= 120

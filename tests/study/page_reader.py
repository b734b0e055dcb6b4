"""A browser with a page of a study open, for the tests of its interaction."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from bosquet.study.record import Record
from bosquet.study.report import write_page

CHROMIUM = next(
    (p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None
)
DRIVER = shutil.which("chromedriver")
# One worker runs all tests of the page: the sample records and the browser are made once.
PAGE = pytest.mark.xdist_group("page")
# For `pytestmark`: without a browser the tests are skipped.
IN_CHROMIUM = [
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None,
        reason="no Chromium with its driver here; tools/install_browser.sh installs them",
    ),
    PAGE,
]


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
        # Without animated scrolling: elements are at their final position.
        motion = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.command("Emulation.setEmulatedMedia", features=[scheme, motion])
        self.written += 1
        place = write_page(record, self.folder / f"page {self.written}.html")
        self.driver.get_log("browser")
        self.driver.get(place.as_uri())

    def command(self, name: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, arguments)

    def comes_true(self, expression: str, *values: Any, seconds: float = 30.0) -> bool:
        """Return whether a condition becomes true within some seconds: the browser may be busy."""
        end = time.monotonic() + seconds
        while not self.evaluate(expression, *values):
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def evaluate(self, expression: str, *arguments: Any) -> Any:
        return self.driver.execute_script(f"return {expression}", *arguments)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

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


_READER = pytest.StashKey[Reader]()


@pytest.fixture(scope="session", name="reader")
def one_reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Yield the browser, shared by all files that import this fixture, and close it after all tests."""
    stash = request.config.stash
    if _READER not in stash:
        driver = _driver()
        request.config.add_cleanup(driver.quit)
        stash[_READER] = Reader(driver, tmp_path_factory.mktemp("pages"))
    return stash[_READER]


def _driver() -> Any:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    # No sandbox: it does not work as root, and only our own page is opened.
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))

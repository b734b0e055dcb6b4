"""Every public name is on the API page, and all links and images of the pages exist."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGES = ["bosquet", *(f"bosquet.{package}" for package in (
    "bagging", "boosting", "datasets", "discriminant", "experts", "explain", "forests", "glm", "io", "losses",
    "plot", "streams", "tables", "theory", "trees", "trust", "vision",
))]  # fmt: skip
PAGES = sorted(
    page for page in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]
    if not {"_build", "gallery", "generated"} & set(page.parts)
)  # fmt: skip

if not DOCS.is_dir():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_on_the_api_page(package):
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api/index.md").read_text(), re.MULTILINE))
    short = {name.rpartition(".")[2] for name in listed}
    missing = set(importlib.import_module(package).__all__) - short - {"__version__"}
    assert not missing


def headings(page):
    """Return the headings of a page, with those of the files that it includes."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    for path in re.findall(r"^```{include} (.+)$", text, re.MULTILINE):
        found += headings(page.parent / path)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_pictures_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        if anchor:
            slugs = {
                re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")
                for heading in headings(file)
            }
            assert anchor in slugs, target


def test_every_page_is_in_the_table_of_contents():
    trees = re.findall(r"```{toctree}\n(.*?)```", (DOCS / "index.md").read_text("utf-8"), re.DOTALL)
    listed = {line for tree in trees for line in tree.split("\n")}
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= listed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_half_merged_text_is_left(page):
    assert not re.search(r"^(<<<<<<<|>>>>>>>) ", page.read_text(encoding="utf-8"), re.MULTILINE)

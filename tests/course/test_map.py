"""The course map is complete, and all functions, tests, pages and pictures that it names exist."""

import ast
import importlib
import re
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

if not (DOCS / "course/map.toml").is_file():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)

sys.path.insert(0, str(DOCS / "_ext"))
course_map = importlib.import_module("course_map")
sys.path.pop(0)

CHAPTERS, ITEMS = course_map.read_map(DOCS)
each_item = pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"item-{item['number']}")


@cache
def names_of_tests(path):
    """Return the names of the tests in a file."""
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def imported(name):
    """Return the object with a dotted name."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError as missing:
            if missing.name != ".".join(parts[:cut]):
                raise
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise ImportError(name)


def test_the_items_are_1_to_55_in_order():
    assert [item["number"] for item in ITEMS] == list(range(1, 56))


def test_items_are_in_the_order_of_the_chapters():
    places = [list(CHAPTERS).index(item["chapter"]) for item in ITEMS]
    assert places == sorted(places)
    assert set(places) == set(range(len(CHAPTERS)))


@each_item
def test_an_item_has_a_text_and_terms_in_two_languages(item):
    assert len(item["text"].strip()) > 60
    assert set(item["terms"]) == {"fr", "ru"}
    assert re.search("[а-яё]", item["terms"]["ru"])
    assert item["title"].strip()
    assert item["functions"]
    assert item["tests"]


@each_item
def test_formulas_can_be_drawn(item):
    convert = pytest.importorskip("latex2mathml.converter").convert
    assert item["text"].count("$") % 2 == 0
    for formula in re.findall(r"\$([^$]+)\$", item["text"]):
        drawn = convert(formula)
        assert drawn.startswith("<math")
        assert "\\" not in drawn.replace("&#x", ""), formula  # an unknown LaTeX command


@each_item
def test_functions_of_an_item_can_be_imported(item):
    for name in item["functions"]:
        assert callable(imported(name)), name


@cache
def names_on_the_api_page():
    """Return the full names on the API page: those below each `currentmodule`."""
    page = (DOCS / "api/index.md").read_text(encoding="utf-8")
    blocks = re.findall(r"currentmodule:: ([\w.]+)\n(.*?)```", page, re.DOTALL)
    return {
        f"{module}.{name}"
        for module, block in blocks
        for name in re.findall(r"^   ([\w.]+)$", block, re.MULTILINE)
    }


@each_item
def test_functions_of_an_item_are_on_the_api_page(item):
    assert set(item["functions"]) <= names_on_the_api_page()


@each_item
def test_tests_of_an_item_exist(item):
    for test in item["tests"]:
        path, _, name = test.partition("::")
        assert (ROOT / path).is_file(), path
        assert name in names_of_tests(ROOT / path), test


@each_item
def test_the_guide_of_an_item_has_the_section(item):
    path, _, anchor = item["page"].partition("#")
    assert (DOCS / path).is_file(), path
    assert not anchor or anchor in course_map.headings(DOCS / path), item["page"]


@each_item
def test_the_picture_of_an_item_exists(item):
    name = item["picture"]
    file = DOCS / name if name.startswith("img/") else ROOT / course_map.example_of(name)
    assert file.is_file(), name


@each_item
def test_a_click_on_its_picture_leads_to_a_page(item):
    for line in course_map.picture(DOCS, item):
        if line.startswith(":target:"):
            target = line.removeprefix(":target: ../").partition("#")[0].removesuffix(".html")
            first = target.partition("/")[0]
            drawn = first in course_map.GALLERIES
            page = ROOT / course_map.example_of(target) if drawn else DOCS / f"{target}.md"
            assert page.is_file(), line


def test_the_page_shows_every_item_once():
    page = course_map.markdown(DOCS)
    for item in ITEMS:
        assert page.count(f"### {item['number']}. {item['title']}\n") == 1
    assert course_map.FENCE in (DOCS / "course/index.md").read_text(encoding="utf-8")

"""Entries of docstrings with several names are split on the built pages, and their guides are linked."""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTENSIONS = ROOT / "docs/_ext"
if not EXTENSIONS.is_dir():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)
sys.path.insert(0, str(EXTENSIONS))
plain_docstrings = importlib.import_module("plain_docstrings")


def test_each_name_of_an_attribute_has_its_own_entry():
    lines = [
        "A model, with a, b and c.",
        "",
        "Attributes",
        "----------",
        "aic_, bic_ : float",
        "    Criteria.",
        "trees_ : list of (name, tree)",
        "left_, middle_,",
        "right_",
        "    As in the class.",
        "",
        "Notes",
        "-----",
        "one, two : three",
    ]
    assert plain_docstrings.one_name_per_entry(lines) == [
        "A model, with a, b and c.",
        "",
        "Attributes",
        "----------",
        "aic_ : float",
        "    Criteria.",
        "bic_ : float",
        "    Criteria.",
        "trees_ : list of (name, tree)",
        "left_",
        "    As in the class.",
        "middle_",
        "    As in the class.",
        "right_",
        "    As in the class.",
        "",
        "Notes",
        "-----",
        "one, two : three",
    ]


def test_the_guide_of_a_docstring_is_a_link_on_the_built_pages():
    pages = plain_docstrings.pages_by_title(ROOT / "docs")
    line = '    Guide: the page "Gradient boosting" of the documentation'
    link = "    Guide: :doc:`Gradient boosting </gradient-boosting>`"
    assert plain_docstrings.with_guide_linked(line, pages) == link
    assert plain_docstrings.with_guide_linked("Guide to trees", pages) == "Guide to trees"


def test_docstrings_name_guides_that_exist():
    pages = plain_docstrings.pages_by_title(ROOT / "docs")
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    titles = re.findall(r"^ *Guide: (.*)$", "\n".join(sources), re.MULTILINE)
    assert len(titles) > 20
    for title in titles:
        assert re.fullmatch(r'the page "(.*)" of the documentation', title)[1] in pages

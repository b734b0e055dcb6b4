"""Entries of docstrings with several names have one entry for each name on the built pages."""

import importlib
import sys
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parents[2] / "docs/_ext"
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

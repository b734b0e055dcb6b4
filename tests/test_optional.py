"""Import of optional packages."""

import math
import sys

import pytest

from bosquet._optional import import_optional


def test_an_installed_module_is_returned():
    assert import_optional("math", "this test", "bosquet[study]") is math


def test_the_error_names_the_package_its_purpose_and_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError) as error:
        import_optional("PIL.Image", "reading image files", "bosquet[vision]")
    assert str(error.value) == (
        "Pillow is not installed, but reading image files needs it; run: pip install 'bosquet[vision]'"
    )

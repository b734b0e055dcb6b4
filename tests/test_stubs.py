"""The committed stub agrees with the compiled core."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "make_stubs.py"
STUB = ROOT / "src" / "bosquet" / "_core.pyi"

AGAIN = "the core changed: run `make stubs` and commit src/bosquet/_core.pyi"


def nanobind_that_wrote(text: str) -> str:
    return re.findall(r"with nanobind (\S+):", text)[0]


def surface(text: str) -> set[str]:
    """Return every class and function with the names of its parameters, without types."""
    found = set()
    for owner in ast.walk(ast.parse(text)):
        if isinstance(owner, ast.Module | ast.ClassDef):
            prefix = owner.name + "." if isinstance(owner, ast.ClassDef) else ""
            for item in owner.body:
                if isinstance(item, ast.FunctionDef):
                    arguments = item.args.posonlyargs + item.args.args + item.args.kwonlyargs
                    names = ", ".join(argument.arg for argument in arguments)
                    found.add(f"{prefix}{item.name}({names})")
                elif isinstance(item, ast.ClassDef):
                    found.add(f"class {prefix}{item.name}")
    return found


@pytest.fixture(scope="module")
def generated() -> str:
    pytest.importorskip("nanobind", reason="nanobind, which writes the stub, is not installed")
    spec = importlib.util.spec_from_file_location("make_stubs", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool.generate_stub()


def test_the_stub_names_everything_the_core_has(generated: str) -> None:
    assert surface(STUB.read_text(encoding="utf-8")) == surface(generated), AGAIN


def test_the_stub_is_what_the_tool_writes(generated: str) -> None:
    committed = STUB.read_text(encoding="utf-8")
    if nanobind_that_wrote(committed) != nanobind_that_wrote(generated):
        pytest.skip("another version of nanobind wrote the stub, and may word its types otherwise")
    assert ast.dump(ast.parse(committed)) == ast.dump(ast.parse(generated)), AGAIN

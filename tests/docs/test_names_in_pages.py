"""Names of code and paths in the pages for developers occur in the repository."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["CONTRIBUTING.md", "docs/design.md", "docs/life-of-a-fit.md"]
FOLDERS = ["src", "cpp", "tests", "benchmarks", "tools"]
SUFFIXES = {".py", ".pyi", ".cpp", ".hpp", ".txt", ".js", ".md"}
EXCEPTIONS = {"build/fuzz"}  # written by `make fuzz`

if not (ROOT / "CONTRIBUTING.md").exists():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)


@pytest.fixture(scope="module")
def files():
    """The text of each source file by its path."""
    found = [
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES
    ]
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in [*found, ROOT / "Makefile", ROOT / "pyproject.toml"]
        if path != Path(__file__)
    }


def code_names(page: Path) -> set[str]:
    """Return the identifiers and paths between backticks, without the code blocks."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    names = set()
    for code in re.findall(r"`([^`]+)`", text):
        for word in re.findall(r"[\w./*-]+", code):
            looks_like_code = re.search(r"_|/|\.py$|\.[ch]pp$|[A-Z]\w*[a-z]\w*[A-Z]", word)
            if looks_like_code and re.search(r"[A-Za-z]", word):
                names.add(word.rstrip("./"))
    return names


def is_found(name: str, files: dict[str, str]) -> bool:
    """Return whether a path exists, or an identifier is a whole word of a source file."""
    if "/" in name or re.search(r"\.(py|pyi|[ch]pp)$", name):
        pattern = re.escape(name).replace(r"\*", r"[^/]*")
        return (ROOT / name).exists() or any(
            re.search(rf"(^|/){pattern}($|/)", path) for path in files
        )
    parts = [re.compile(rf"\b{re.escape(part)}\b") for part in name.split(".") if part]
    return all(any(part.search(text) for text in files.values()) for part in parts)


@pytest.mark.parametrize("page", PAGES)
def test_names_of_code_occur_in_the_repository(page, files):
    unknown = {name for name in code_names(ROOT / page) if not is_found(name, files)}
    assert unknown <= EXCEPTIONS

"""The snippets of the pages about boosting run from top to bottom, and print what the pages show."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# A snippet and, where the page shows it, what it prints.
SNIPPET = re.compile(r"```python\n(.*?)```\s*(?:```\n(.*?)```)?", re.S)


@pytest.mark.parametrize("page", ["one-loop", "robust-boosting", "certificates", "theory"])
def test_every_snippet_runs_and_prints_what_the_page_shows(page):
    names = {}
    for code, shown in SNIPPET.findall((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        if code.startswith(">>>"):
            case = doctest.DocTestParser().get_doctest(code, names, page, page, 0)
            assert doctest.DocTestRunner(verbose=False).run(case).failed == 0
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        if shown:
            assert printed.getvalue().strip() == shown.strip()


def test_the_pages_have_snippets():
    found = [len(SNIPPET.findall(page.read_text(encoding="utf-8"))) for page in DOCS.glob("*.md")]
    assert sum(found) > 5

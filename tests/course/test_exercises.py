"""The pages of exercises and cases: every one is a script with a title that runs on its own."""

import ast
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "examples" / "course"
EXERCISES = sorted((COURSE / "exercises").glob("plot_exercise_*.py"))
CASES = sorted((COURSE / "cases").glob("plot_case_*.py"))
PAGES = [*EXERCISES, *CASES]
EXPECTED_EXERCISES = {
    "adaboost_recoded",
    "bayes_error",
    "bootstrap",
    "face_or_car",
    "fast_stumps",
    "leaf_weights",
    "minimax_margins",
    "sheet",
    "vc_of_votes",
    "weak_learner",
}
EXPECTED_CASES = {
    "abalone_age",
    "baseball_salaries",
    "census_income",
    "electric_load",
    "faces_and_cars",
    "fraud",
    "heart_disease",
    "ozone",
    "spam",
}


STEPS = ("extract", "explore", "split", "tune", "compare", "repeat", "choose")


def stem_of(path):
    return path.stem


def source_of(page):
    return page.read_text(encoding="utf-8")


def test_every_exercise_and_every_case_of_the_course_has_its_page():
    assert {page.stem.removeprefix("plot_exercise_") for page in EXERCISES} == EXPECTED_EXERCISES
    assert {page.stem.removeprefix("plot_case_") for page in CASES} == EXPECTED_CASES


@pytest.mark.parametrize("page", PAGES, ids=stem_of)
def test_a_page_compiles_and_begins_with_a_title_and_a_text(page):
    source = source_of(page)
    compile(source, str(page), "exec")
    lines = ast.get_docstring(ast.parse(source)).splitlines()
    title, underline = lines[:2]
    assert title
    assert underline == "=" * len(title)
    assert len(" ".join(lines[2:])) > 100


@pytest.mark.parametrize("page", PAGES, ids=stem_of)
def test_a_page_mixes_prose_library_and_figures(page):
    source = source_of(page)
    assert source.count("\n# %%") >= 2
    assert "from bosquet" in source
    assert "plt.show()" in source


@pytest.mark.parametrize("page", CASES, ids=stem_of)
def test_a_case_has_the_seven_steps_and_a_conclusion(page):
    headings = heading_lines(source_of(page))
    steps = [numbers_of(heading) for heading in headings]
    assert [number for numbers in steps for number in numbers] == list(range(1, 8))
    words = " ".join(
        heading.lower() for heading, numbers in zip(headings, steps, strict=True) if numbers
    )
    places = [words.index(step) for step in STEPS]
    assert places == sorted(places)
    assert any("keep it" in heading.lower() for heading in headings)
    assert headings[-1] == "What was learned"


def numbers_of(heading):
    """Return the step numbers of a heading: 3 to 6 of "3 to 6. Split, tune, compare, repeat"."""
    found = re.match(r"(\d)(?: (?:to|and) (\d))?\. ", heading)
    return range(int(found[1]), int(found[2] or found[1]) + 1) if found else range(0)


def heading_lines(source):
    """Return the headings of the cells: the underlined lines."""
    lines = source.splitlines()
    return [
        line.removeprefix("# ")
        for line, below in pairwise(lines)
        if below.startswith("# ---") and line.startswith("# ")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=stem_of)
def test_a_page_runs_without_the_real_tables(page, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    if "heart" in page.stem or "ozone" in page.stem:
        pytest.importorskip("statsmodels")
    environment = {k: v for k, v in os.environ.items() if k != "BOSQUET_DATA"}
    environment |= {"MPLBACKEND": "Agg", "MPLCONFIGDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(page)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    assert done.stdout.strip()

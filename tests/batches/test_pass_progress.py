"""The progress of passes over a table in batches: which pass, rows and megabytes."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from bosquet import GradientBoostingRegressor, RandomForestRegressor, _progress
from bosquet._progress import PassProgress, shown_pass

N_ROWS = 2_000


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=N_ROWS), "c": rng.choice(["a", "b"], N_ROWS)})
    frame["y"] = frame["x"] + rng.normal(size=N_ROWS)
    for number in range(2):
        frame[number::2].to_parquet(tmp_path / f"part-{number}.parquet")
    return tmp_path


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_estimators=2, early_stopping=False, verbose=1),
        RandomForestRegressor(2, verbose=1),
    ],
)
def test_a_verbose_fit_shows_each_pass_with_its_rows_and_megabytes(folder, capsys, model):
    model.fit(folder, target="y")
    shown = capsys.readouterr().err
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    passes = re.findall(r"\rpass (\d): ([^:]+): 2,000 rows, ([\d.]+) of ([\d.]+) MB .*\n", shown)
    titles = ["target and weights", "categories and integers", "features", "features"]
    assert passes == [
        (str(number), title, f"{size:.1f}", f"{size:.1f}") for number, title in enumerate(titles, 1)
    ]


def test_other_fits_show_no_passes(folder, capsys):
    GradientBoostingRegressor(n_estimators=2, early_stopping=False).fit(folder, target="y")
    assert capsys.readouterr().err == ""


def test_an_iterator_shows_the_rows_that_are_copied(folder, capsys):
    frames = (pd.read_parquet(path) for path in sorted(folder.iterdir()))
    RandomForestRegressor(2, verbose=1).fit(frames, target="y")
    assert "copying to a temporary file: 2,000 rows" in capsys.readouterr().err


def test_the_time_left_follows_from_the_bytes_or_else_from_the_rows(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    for n_bytes, line in [
        (8_000_000, "\rpredicting: 100 rows, 2.0 of 8.0 MB    3.0 s left "),
        (None, "\rpredicting: 100 rows of 200    1.0 s left "),
    ]:
        now[0], stream = 0.0, io.StringIO()
        progress = PassProgress("predicting", 200, n_bytes, stream)
        now[0] = 1.0
        progress(100, 2_000_000)
        assert stream.getvalue() == line


def test_an_error_ends_the_line_of_its_pass(capsys):
    with pytest.raises(ValueError, match="damaged"):
        fail_in_a_pass()
    assert capsys.readouterr().err.endswith("s left \n")


def fail_in_a_pass():
    with shown_pass("reading", 10, None, shown=True) as progress:
        progress(5, 0)
        raise ValueError("a damaged file")

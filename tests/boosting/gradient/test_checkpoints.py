"""A fit with a checkpoint that was interrupted continues and gives the model of one uninterrupted fit."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor

N_ROWS = 1_500
EARLY: dict[str, Any] = {
    "quality": "fast", "early_stopping": True, "n_iter_no_change": 4, "n_estimators": 40,
    "learning_rate": 0.3,
}  # fmt: skip


class DeathError(Exception):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "a": rng.normal(size=N_ROWS), "b": rng.normal(size=N_ROWS), "c": rng.choice(list("abcdef"), N_ROWS),
    })  # fmt: skip
    frame["y"] = frame["a"] * frame["b"] + (frame["c"] > "c") + rng.normal(size=N_ROWS) / 3
    return frame


@pytest.fixture(autouse=True)
def written_after_each_round(monkeypatch):
    monkeypatch.setattr("bosquet.boosting.gradient._checkpoint.SECONDS_BETWEEN_WRITES", 0.0)


@pytest.fixture
def dying(monkeypatch):
    """A function that makes fits end after a total number of rounds; None: they live."""
    from bosquet.boosting.gradient import _trees

    step = _trees.TreeStepper.step

    def after(rounds: int | None) -> None:
        done = [0]

        def limited(self: Any) -> None:
            if rounds is not None and done[0] == rounds:
                raise DeathError
            done[0] += 1
            step(self)

        monkeypatch.setattr(_trees.TreeStepper, "step", limited)

    return after


def file_of(model: Any, folder: Any) -> bytes:
    path = folder / "model.bosquet"
    model.save(path)
    return path.read_bytes()


CASES: dict[str, Any] = {
    "given rounds": GradientBoostingRegressor(n_estimators=12, early_stopping=False),
    "early stopping, then all rows": GradientBoostingRegressor(**EARLY, subsample=0.7),
    "without the second run": GradientBoostingRegressor(**EARLY, refit=False),
    "a score": GradientBoostingRegressor(**EARLY, scoring="r2", refit=False),
    "several runs": GradientBoostingRegressor(**EARLY, n_runs=2, refit=False),
    "target statistics": GradientBoostingRegressor(**EARLY, categorical_encoding="target"),
    "cross-validation": GradientBoostingRegressor(early_stopping="cv", cv=2, n_estimators=6),
    "classes that share trees": GradientBoostingClassifier(
        **EARLY, multi_strategy="multi_output_tree"
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rounds", [3, 11, 19])
def test_an_interrupted_fit_continues_from_its_checkpoint(
    frame, tmp_path, monkeypatch, dying, case, rounds
):
    monkeypatch.setattr("bosquet.boosting.gradient._base.ROWS_OF_PARALLEL_RUNS", 0)
    model = CASES[case].set_params(random_state=0)
    X, y = frame[["a", "b", "c"]], frame["y"]
    if isinstance(model, GradientBoostingClassifier):
        y = np.digitize(y, [0, 1])
    model.fit(X, y)
    expected, losses = file_of(model, tmp_path), model.validation_loss_
    folder = tmp_path / "checkpoint"
    for limit in (rounds, 2, None):
        dying(limit)
        try:
            model.fit(X, y, checkpoint=folder)
        except DeathError:
            continue
    assert file_of(model, tmp_path) == expected
    np.testing.assert_array_equal(model.validation_loss_, losses)
    dying(0)  # a fit that is finished is not repeated
    if case not in ("target statistics", "cross-validation"):
        assert file_of(model.fit(X, y, checkpoint=folder), tmp_path) == expected


def test_a_fit_without_a_seed_keeps_the_seed_of_its_checkpoint(frame, tmp_path, dying):
    model = GradientBoostingRegressor(n_estimators=8, subsample=0.5, early_stopping=False)
    X, y = frame[["a", "b"]], frame["y"]
    dying(5)
    with pytest.raises(DeathError):
        model.fit(X, y, checkpoint=tmp_path / "one")
    dying(None)
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    files = [
        file_of(model.fit(X, y, checkpoint=tmp_path / name), tmp_path) for name in ("one", "other")
    ]
    assert files[0] == files[1]


def test_batches_continue_from_a_checkpoint(frame, tmp_path, dying):
    model = GradientBoostingRegressor(**EARLY, random_state=0)
    expected = file_of(model.fit(frame[["a", "b", "c"]], frame["y"]), tmp_path)
    frame.to_parquet(tmp_path / "table.parquet")
    dying(7)
    with pytest.raises(DeathError):
        model.fit(tmp_path / "table.parquet", target="y", checkpoint=tmp_path / "checkpoint")
    dying(None)
    model.fit(tmp_path / "table.parquet", target="y", checkpoint=tmp_path / "checkpoint")
    assert file_of(model, tmp_path) == expected


PROGRAM = """
    import sys, time
    import numpy as np
    from bosquet import GradientBoostingRegressor
    from bosquet.boosting.gradient import _checkpoint

    _checkpoint.SECONDS_BETWEEN_WRITES = 0.0
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = X[:, 0] * X[:, 1] + rng.normal(size=2000)
    wait = lambda info: time.sleep(float(sys.argv[2]))
    model = GradientBoostingRegressor(n_estimators=30, early_stopping=False, random_state=0, callbacks=[wait])
    model.fit(X, y, checkpoint=sys.argv[1])
    print(model.predict(X).sum().hex(), model.n_iter_)
"""


def test_a_process_that_is_killed_leaves_a_checkpoint_that_another_one_continues(tmp_path):
    def command(folder: str, wait: float) -> list[str]:
        program = textwrap.dedent(PROGRAM)
        return [sys.executable, "-c", program, str(tmp_path / folder), str(wait)]

    killed = subprocess.Popen(command("killed", 0.05))
    file = tmp_path / "killed" / "gradient-boosting.json"
    while not file.exists() or b'"trees": "' not in file.read_bytes():
        assert killed.poll() is None
        time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    results = [
        subprocess.run(command(name, 0), capture_output=True, text=True, check=True).stdout
        for name in ("killed", "other")
    ]
    assert results[0] == results[1]


# ------------------------------------------------------------------------------------------ errors
@pytest.fixture
def stopped(frame, tmp_path, dying):
    """A model and the folder with the checkpoint of its unfinished fit."""
    model = GradientBoostingRegressor(**EARLY, random_state=0)
    dying(5)
    with pytest.raises(DeathError):
        model.fit(frame[["a", "b"]], frame["y"], checkpoint=tmp_path)
    dying(None)
    return model, tmp_path


def test_other_parameters_or_rows_are_an_error(frame, stopped):
    model, folder = stopped
    X, y = frame[["a", "b"]], frame["y"]
    with pytest.raises(
        ValueError, match=r"another fit \(learning_rate is '0.3' there, '0.1' now\)"
    ):
        model.set_params(learning_rate=0.1).fit(X, y, checkpoint=folder)
    model.set_params(learning_rate=0.3)
    with pytest.raises(ValueError, match="number of rows is 1500 there, 1400 now"):
        model.fit(X[:1400], y[:1400], checkpoint=folder)
    with pytest.raises(ValueError, match="checksum of target, weights and offset"):
        model.fit(X, y + 1, checkpoint=folder)
    with pytest.raises(ValueError, match="the values of the features or the validation set differ"):
        model.fit(X + 1, y, checkpoint=folder)
    with pytest.raises(ValueError, match="the values of the features or the validation set differ"):
        model.fit(X, y, checkpoint=folder, eval_set=(X[:100], y[:100]))


@pytest.mark.parametrize("damage", ["", "{}", "[1]", '{"bosquet fit": 1}', "cut", "trees"])
def test_a_damaged_file_is_an_error_that_names_it(frame, stopped, damage):
    model, folder = stopped
    file = folder / "gradient-boosting.json"
    text = file.read_text()
    if damage == "cut":
        damage = text[: len(text) // 2]
    elif damage == "trees":
        at = text.index('"trees": "') + 60
        damage = text[:at] + ("B" if text[at] == "A" else "A") + text[at + 1 :]
    file.write_text(damage)
    with pytest.raises(ValueError, match=r"gradient-boosting.json that is not the checkpoint"):
        model.fit(frame[["a", "b"]], frame["y"], checkpoint=folder)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"warm_start": True}, "checkpoint= is not supported with warm_start=True"),
        ({"estimator": GradientBoostingRegressor()}, "checkpoint= needs native trees"),
    ],
)
def test_parameters_without_checkpoints_are_errors(frame, tmp_path, parameters, message):
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(**parameters).fit(
            frame[["a"]], frame["y"], checkpoint=tmp_path / "none"
        )
    assert not (tmp_path / "none").exists()

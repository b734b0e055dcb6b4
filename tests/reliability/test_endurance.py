"""The endurance test reports leaks, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from soak.endurance import endure
from soak.memory_trend import trend

MEGABYTE = 2.0**20


def test_memory_that_grows_with_every_piece_of_work_is_found() -> None:
    noise = np.random.default_rng(0).normal(0, 2 * MEGABYTE, 60)
    assert trend(list(300 * MEGABYTE + np.arange(60) * MEGABYTE + noise)).grows


def test_noise_and_growing_caches_are_not_reported_as_leaks() -> None:
    noise = np.random.default_rng(0).normal(0, 2 * MEGABYTE, 60)
    filling = 300 * MEGABYTE + 8 * MEGABYTE * (1 - np.exp(-np.arange(60) / 10))
    assert not trend(list(300 * MEGABYTE + noise)).grows
    assert not trend(list(filling)).grows


def test_work_that_leaves_files_or_open_files_behind_is_named(tmp_path: Path) -> None:
    opened: list[Any] = []

    def litters(random: np.random.Generator, folder: Path) -> None:
        path = folder / f"{random.integers(2**60)}.txt"
        path.write_text("x")
        opened.append(path.open())

    def tidy(random: np.random.Generator, folder: Path) -> None:
        np.ones(2**17).sum()

    report = endure({"litters": litters, "tidy": tidy}, 0.3, tmp_path, warm_up=1, patience=0.0)
    for file in opened:
        file.close()
    assert {problem.split(" ")[0] for problem in report.problems} == {"litters"}
    assert any("open files" in what for what in report.accounts["litters"].left)
    assert "| tidy |" in str(report)

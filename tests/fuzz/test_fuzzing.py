"""The fuzzer finds planted faults, and finds nothing in a short run over all kinds of files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import KINDS

HERE = Path(__file__).resolve().parent


def run(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, words)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        cwd=cwd,
        check=False,
    )


def test_violations_of_broken_readers_are_found_and_attributed_to_their_cases():
    done = run(HERE / "broken_readers.py")
    assert done.returncode == 0, done.stdout + done.stderr
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    wanted = {
        "crash:3:0": "read: SIGSEGV",
        "error:3:1": "read: KeyError",
        "memory:3:2": "read: Exceeded in check: memory",
        "threads:3:3": "read: Exceeded in check: address space",
        "time:3:4": "read: Exceeded in check: time",
        "hang:3:0": "read: hang",
    }
    assert found.keys() == wanted.keys()
    for case, signature in wanted.items():
        assert found[case].startswith(signature)


MODELS = ["metadata", "trees", "parts", "bytes"]


@pytest.mark.parametrize(
    ("kinds", "cases"),
    [
        (MODELS, 2000),
        ([kind for kind in KINDS if kind not in MODELS], 800),
    ],
    ids=["models", "others"],
)
def test_a_short_run_over_every_kind_of_file_has_no_findings(kinds, cases, tmp_path):
    words = [word for kind in kinds for word in ("--kind", kind)]
    done = run(HERE / "run.py", *words, "--cases", cases, "--seconds", 500, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert f"{cases:,}" in done.stdout

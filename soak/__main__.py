"""The endurance test: `python -m soak --seconds 3600`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600, help="how long (3600)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (0)")
    parser.add_argument("--only", nargs="+", metavar="WORK", help="some kinds of work")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        # Before the import of modules that read TMPDIR.
        os.environ["TMPDIR"] = tempfile.tempdir = name
        os.chdir(name)
        from soak.endurance import endure
        from soak.works import WORKS

        works = {work: WORKS[work] for work in options.only or WORKS}
        report = endure(works, options.seconds, Path(name), options.seed)
    print(report)
    for problem in report.problems:
        print(f"LEAK: {problem}")
    print(
        f"{'failed' if report.problems else 'passed'} (seed {options.seed}, {options.seconds:g} s)"
    )
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())

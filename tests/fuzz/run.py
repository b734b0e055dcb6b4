"""Fuzzing of everything that reads files: `make fuzz SECONDS=60 SEED=0 KIND=metadata`.

    python tests/fuzz/run.py --seconds 60 --seed 0 --kind metadata
    python tests/fuzz/run.py --case metadata:0:1234      one case alone
    python tests/fuzz/run.py --file build/fuzz/one.bosquet  a stored file

Exit code 1 if anything was found.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from random import Random

from cases import KINDS, Case, Finding, run_case, run_file
from limits import Meter, confine
from pool import Pool

KEPT = Path("build/fuzz")
EXAMPLES = 3  # maximum number of files kept per signature


def main() -> int:
    options = _arguments()
    if options.case or options.file:
        return _replay(options)
    chosen = [KINDS[name] for name in options.kind] or list(KINDS.values())
    for kind in chosen:
        kind.make(Random(0))  # so that the workers share the corpus
    gc.freeze()
    pool = Pool(chosen, options.seed, options.workers)
    progress = Progress()
    found = Findings()
    began = time.monotonic()
    for finding in pool.run(options.seconds, options.cases, progress):
        found.add(finding)
        progress.findings = len(found.by_signature)
    progress.end()
    _print_table(pool.table(), time.monotonic() - began)
    found.print()
    return 1 if found.by_signature else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Fuzz everything that reads files.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cases", type=int, default=2**62, help="stop after so many cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", default=[], choices=list(KINDS))
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--case", help="run one case alone, for example metadata:0:1234")
    parser.add_argument("--file", type=Path, help="check one file; the kind is its suffix's first")
    return parser.parse_args()


def _replay(options: argparse.Namespace) -> int:
    """Run one case in this process, which a crash ends."""
    warnings.simplefilter("ignore")
    confine()
    if options.case:
        case = Case.of(options.case)
        outcome, finding = run_case(KINDS[case.kind], case, Meter(), print)
    else:
        suffix = options.file.suffix
        kind = next(kind for kind in KINDS.values() if kind.suffix == suffix)
        case, data = Case(kind.name, 0, 0), options.file.read_bytes()
        outcome, finding = run_file(kind, case, data, Random(0), Meter(), print)
    print(outcome)
    if finding is not None:
        print(finding.details)
    return int(finding is not None)


class Progress:
    """Print the number of finished cases every few seconds."""

    def __init__(self) -> None:
        self.findings = 0
        self._last = self._began = time.monotonic()
        self._done = 0

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if now - self._last < (1 if sys.stdout.isatty() else 15):
            return
        rate = (done - self._done) / (now - self._last)
        self._last, self._done = now, done
        text = f"{now - self._began:5.0f} s {done:>10,} cases {rate:6,.0f}/s"
        text += f", {self.findings} distinct findings"
        print(text, end="\r" if sys.stdout.isatty() else "\n", flush=True)

    def end(self) -> None:
        if sys.stdout.isatty():
            print()


class Findings:
    """Group findings by signature; store a few files of each with the command that runs them again."""

    def __init__(self) -> None:
        self.by_signature: dict[str, list[Finding]] = {}
        self.counts: dict[str, int] = {}

    def add(self, finding: Finding) -> None:
        known = self.by_signature.setdefault(finding.signature, [])
        self.counts[finding.signature] = self.counts.get(finding.signature, 0) + 1
        if len(known) < EXAMPLES:
            known.append(finding)
            self._keep(finding)

    def _keep(self, finding: Finding) -> None:
        KEPT.mkdir(parents=True, exist_ok=True)
        kind = KINDS[finding.case.kind]
        path = KEPT / (str(finding.case).replace(":", "-") + kind.suffix)
        path.write_bytes(kind.make(finding.case.random()))
        path.with_suffix(".txt").write_text(
            f"{finding.signature}\n{_command(finding.case)}\n\n{finding.details}\n",
            encoding="utf-8",
            errors="backslashreplace",
        )

    def print(self) -> None:
        ordered: Iterable[str] = sorted(self.by_signature, key=lambda s: -self.counts[s])
        for signature in ordered:
            shown = signature.encode("ascii", "backslashreplace").decode()
            print(f"\n{self.counts[signature]} × {shown}")
            print(f"    {_command(self.by_signature[signature][0].case)}")
        if self.by_signature:
            print(f"\nfiles and tracebacks: {KEPT}")


def _command(case: Case) -> str:
    return f"make fuzz CASE={case}"


def _print_table(table: dict[str, list[int]], seconds: float) -> None:
    rows = [(kind, sum(counts), *counts) for kind, counts in table.items()]
    rows.append(("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])))
    print(f"{'kind':<14}{'cases':>10}{'rejected':>10}{'loaded':>10}{'findings':>10}")
    for kind, *counts in rows:
        print(f"{kind:<14}" + "".join(f"{count:>10,}" for count in counts))
    print(f"{seconds:.0f} s, {rows[-1][1] / max(seconds, 1e-9):,.0f} cases a second")


if __name__ == "__main__":
    sys.exit(main())

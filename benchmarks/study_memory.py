"""Peak memory of a study, by step and by method: `python -m benchmarks.study_memory`.

A study of two seconds runs first, so that lazily loaded modules are not counted. Then the table is read,
and the peak is reset at the start of each step. A figure is the peak of the process during that step
minus its memory before the study, so it includes memory that earlier steps have not released. Without
`--table` a simulated table is used: 30 numeric columns, 10 categorical columns, two classes.
"""

import argparse
import io
import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import resident
from benchmarks.report import markdown_table

MEGABYTE = 1e6


@dataclass
class Meter:
    """Peak of each step minus `before`, in bytes, and the memory after its last run."""

    before: int = field(default_factory=resident.resident)
    peaks: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def step(self, name):
        """Record the peak inside the context."""
        self._note("between steps")
        try:
            yield
        finally:
            self._note(name)
            self.after[name] = resident.resident() - self.before

    def __post_init__(self):
        resident.forget_peak()

    def _note(self, name):
        self.peaks[name] = max(self.peaks.get(name, 0), resident.peak() - self.before)
        resident.forget_peak()

    def watch(self, owner, function, named):
        """Record the peak of each call of `owner.function`; `named` makes a name of its arguments."""
        inner = getattr(owner, function)

        def noted(*args, **kwargs):
            with self.step(named(*args)):
                return inner(*args, **kwargs)

        setattr(owner, function, noted)


def watch_study(meter):
    """Have the steps of studies noted from now on."""
    from bosquet.study import final_step, study, study_run
    from bosquet.study.run import trial_runner

    meter.watch(study, "read_study_table", lambda *_: "reading and tidying")
    meter.watch(study_run.StudyRun, "_explore", lambda *_: "exploration")
    meter.watch(trial_runner, "run_trial", lambda _, __, plan: plan.method.title)
    meter.watch(study_run, "ranked", lambda *_: "comparison")
    meter.watch(final_step, "fit_final", lambda *_: "fit to all rows")
    meter.watch(final_step.FinalStep, "_final_decision", lambda *_: "threshold of the final model")
    meter.watch(final_step.Explainer, "explain", lambda *_: "explanation")
    meter.watch(study_run.StudyRun, "_build_record", lambda *_: "record")


def simulated(rows, seed=0, numbers=30, categories=10):
    """Simulate numbers (some missing), categories of 2 to 200 levels, and two classes in `y`."""
    random = np.random.default_rng(seed)
    table = {f"n{i}": random.normal(size=rows).round(4) for i in range(numbers)}
    signal = table["n0"] + table["n1"] * table["n2"] - np.abs(table["n3"])
    table["n4"][random.random(rows) < 0.1] = np.nan
    for i, levels in enumerate(np.geomspace(2, 200, categories).astype(int)):
        codes = np.minimum(random.geometric(2 / (levels + 1), rows) - 1, levels - 1)
        signal = signal + 0.5 * random.normal(size=levels)[codes]
        table[f"c{i}"] = np.array([f"level {k}" for k in range(levels)], dtype=object)[codes]
    table["y"] = np.where(signal + random.logistic(size=rows) > 0.5, "yes", "no")
    return pd.DataFrame(table)


def megabytes(table):
    """Return the memory of the table when pandas reads it from a text file."""
    text = io.StringIO(table.to_csv(index=False))
    return pd.read_csv(text).memory_usage(deep=True).sum() / MEGABYTE


def main():
    from bosquet import Study
    from bosquet.study.run.machine import release_memory

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, help="a file; a simulated table without one")
    parser.add_argument("--target", default="y")
    parser.add_argument("--rows", type=int, default=300_000, help="of the simulated table")
    parser.add_argument("--budget", default="2m")
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--page", type=Path, help="a file for the page")
    options = parser.parse_args()
    Study(budget=2, verbose=0).fit(simulated(300), "y")
    if options.table is None:
        frame = simulated(options.rows)
    elif options.table.suffix == ".csv":
        frame = pd.read_csv(options.table)
    else:
        frame = pd.read_parquet(options.table)
    release_memory()
    meter = Meter()
    watch_study(meter)
    began = time.perf_counter()
    study = Study(
        budget=None if options.budget == "none" else options.budget, methods=options.methods
    )
    study.fit(frame, options.target)
    seconds = time.perf_counter() - began
    if options.page:
        with meter.step("page"):
            study.report(options.page)
    meter._note("between steps")
    held = megabytes(frame)
    whole = max(meter.peaks.values())
    rows = [
        [
            name,
            f"{peak / MEGABYTE:.0f}",
            f"{meter.after[name] / MEGABYTE:.0f}" if name in meter.after else "",
        ]
        for name, peak in meter.peaks.items()
    ]
    print(study)
    print(markdown_table(["step", "peak, MB", "left, MB"], rows))
    print(
        f"{len(frame):,} x {frame.shape[1]}: {whole / MEGABYTE:.0f} MB over the {meter.before / MEGABYTE:.0f}"
        f" held before, {whole / MEGABYTE / held:.1f} x the {held:.1f} MB that pandas holds of the table"
        f" read from CSV; the process {(whole + meter.before) / MEGABYTE:.0f} MB; {seconds:.0f} s"
    )
    if options.page:
        print(f"page: {options.page.stat().st_size / MEGABYTE:.1f} MB")
    if options.json:
        figures = {"whole": whole, "before": meter.before, "table": held, "seconds": seconds}
        options.json.write_text(json.dumps({**figures, "peaks": meter.peaks, "after": meter.after}))


if __name__ == "__main__":
    main()

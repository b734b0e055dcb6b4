"""Fits and predictions on a busy machine: `python -m benchmarks.busy` (make bench-busy).

If there are more threads than processors, threads that spin while they wait take processor time from
those that work: a fit of some hundred rows then takes a hundred times as long. Each library does the
same work on an idle machine, with competing processes, on one core and within a limit of processor time,
each time in a separate process. The figure is the ratio of the busy to the idle time, compared with the
expected ratio: with n threads and m other threads on c processors, work takes (n + m) / c times as long
if all get an equal share. Bosquet promises at most twice the expected ratio.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from statistics import median

from benchmarks import THREADS, data
from benchmarks.contention import competitors, cores, processor_time
from benchmarks.libraries import CATBOOST, HGB, LIGHTGBM, OURS, XGBOOST, Settings
from benchmarks.machine import describe, in_words

CONTESTANTS = [OURS, LIGHTGBM, XGBOOST, HGB, CATBOOST]
TABLES = {"small": 392, "middle": 20_000}
PROMISE = 2.0


# ----------------------------------------------------------------------------------- in a separate process
def measure(name, rows, repeats, rounds):
    """Return the seconds of each fit, of predicting one row and of predicting the table."""
    library = next(library for library in CONTESTANTS if library.name == name)
    table = data.binary(rows, seed=3)
    make = lambda: library.make("binary", Settings(rounds=rounds, leaves=31), [])  # noqa: E731
    model = make().fit(table.X, table.y)  # start threads and load code
    works = {
        "fit": lambda: make().fit(table.X, table.y),
        "predict": lambda: model.predict_proba(table.X),
        "predict one row": lambda: model.predict_proba(table.X[:1]),
    }
    return {what: [seconds(work) for _ in range(repeats)] for what, work in works.items()}


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# ------------------------------------------------------------------------------------------ conditions
def conditions(available):
    """Yield (name, expected ratio, arguments of `run_under`) of each condition."""
    count = len(available)
    yield "idle", 1.0, {}
    for others in (count, 3 * count):
        yield f"{others} others", (THREADS + others) / count, {"others": others}
    yield "one core", min(THREADS, count), {"affinity": available[:1]}
    yield "half a core of time", min(THREADS, count) / 0.5, {"share": 0.5}


def run_under(command, limit, others=0, affinity=None, share=None):
    """Return the output of a measuring process under a condition, or the reason for its absence."""
    with ExitStack() as stack:
        joined = stack.enter_context(processor_time(share)) if share else None
        if share and joined is None:
            return {"error": "no cgroup can be made here"}
        stack.enter_context(competitors(others))

        def enter():
            if affinity:
                os.sched_setaffinity(0, affinity)
            if joined:
                joined.write_text(str(os.getpid()))

        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, preexec_fn=enter
            )
        except subprocess.TimeoutExpired:
            return {"error": f"> {limit:g} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["it failed"])[-1][:80]}
    return json.loads(done.stdout.splitlines()[-1])


def measured(library, rows, options):
    """Return the times by condition."""
    command = [sys.executable, "-m", "benchmarks.busy", "--measure", library.name]
    command += [
        "--rows",
        str(rows),
        "--repeats",
        str(options.repeats),
        "--rounds",
        str(options.rounds),
    ]
    found = {}
    for name, _, what in conditions(cores()):
        found[name] = run_under(command, options.limit, **what)
        print(f"measured: {library.name}, {rows:,} rows, {name}", file=sys.stderr, flush=True)
    return found


# ---------------------------------------------------------------------------------------------- report
def cell(times, idle):
    """Format the median and the best time, and the ratio of the medians."""
    if isinstance(times, str):
        return times
    text = f"{in_time(median(times))} ({in_time(min(times))})"
    return text if idle is None else f"{text}, × {median(times) / idle:.1f}"


def in_time(value):
    return f"{1e3 * value:.2f} ms" if value < 1 else f"{value:.2f} s"


def times_of(outcome, what):
    return outcome["error"] if "error" in outcome else outcome[what]


def report(rows, outcomes):
    """Print a table for each kind of work; yield violations of the promise."""
    due = {name: expected for name, expected, _ in conditions(cores())}
    for what in ("fit", "predict", "predict one row"):
        print(f"\n### {what}, {rows:,} rows: median (best), × ratio to idle\n")
        print(
            "| | "
            + " | ".join(f"{name}, due {expected:.1f}" for name, expected in due.items())
            + " |"
        )
        print("|---" * (len(due) + 1) + "|")
        for library, found in outcomes.items():
            idle = times_of(found["idle"], what)
            base = None if isinstance(idle, str) else median(idle)
            cells = [
                cell(times_of(found[name], what), None if name == "idle" else base) for name in due
            ]
            print(f"| {library} | " + " | ".join(cells) + " |")
            if library == OURS.name and base is not None:
                yield from broken(what, rows, found, base, due)


def broken(what, rows, found, base, due):
    for name, expected in due.items():
        times = times_of(found[name], what)
        # Work that is shorter than a time slice of the scheduler is sometimes delayed by a whole slice.
        if not isinstance(times, str) and median(times) > PROMISE * expected * base + 0.02:
            yield f"{what} of {rows:,} rows, {name}: × {median(times) / base:.1f}, due {expected:.1f}"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.busy", description=__doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--libraries", nargs="+", choices=[one.name for one in CONTESTANTS])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--limit", type=float, default=600, help="seconds for a process (600)")
    parser.add_argument("--measure", metavar="LIBRARY", help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(measure(options.measure, options.rows, options.repeats, options.rounds)))
        return 0
    chosen = [one for one in CONTESTANTS if one.name in (options.libraries or [one.name])]
    print(in_words(describe()))
    problems = []
    for table in options.tables:
        outcomes = {
            one.name: measured(one, TABLES[table], options)
            for one in chosen
            if one.missing() is None
        }
        problems += report(TABLES[table], outcomes)
    for problem in problems:
        print(f"\nBROKEN PROMISE: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""The speed benchmark: `python -m benchmarks.run`.

It measures every line of the speed table in one run, interleaved with the installed peers. The report is
printed, and written as Markdown and as JSON after each measurement, so that an interrupted run keeps its
results.
"""

import argparse
import json
import sys
import traceback
from datetime import datetime
from pathlib import Path

from benchmarks import fits, growth, imports, memory, race, serving
from benchmarks.libraries import LIBRARIES
from benchmarks.machine import describe
from benchmarks.report import to_markdown

WORKS = [work.name for work in fits.WORKS]
NAMES = [*WORKS, "race", "predict", "latency", "memory", "import", "growth"]


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=NAMES, help=", ".join(NAMES))
    parser.add_argument("--repeats", type=int, help="interleaved rounds (3; 1 if --quick)")
    parser.add_argument("--quick", action="store_true", help="small tables: does it work at all?")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument(
        "--libraries",
        nargs="+",
        metavar="LIBRARY",
        choices=[library.name for library in LIBRARIES],
        help="leave out all but these",
    )
    options = parser.parse_args(arguments)
    options.repeats = options.repeats or (1 if options.quick else 3)
    options.rounds = 20 if options.quick else 100
    chosen = options.libraries or [library.name for library in LIBRARIES]
    options.libraries = [library for library in LIBRARIES if library.name in chosen]
    return options


def sections(names, options):
    """Run the measurements in `names` and yield each section when it is finished."""
    binary = None
    for work in fits.WORKS:
        if work.name in names:
            section = guarded(work.name, fits.run, work, options)
            binary = section if work.name == "binary" and section["outcomes"] else binary
            yield section
    if "race" in names:
        yield guarded("race", race.run, options, binary)
    if "predict" in names or "latency" in names:
        models, skipped = serving.fit_models(options)
        if "predict" in names:
            yield guarded("predict", serving.run_batch, options, models, skipped)
        if "latency" in names:
            yield guarded("latency", serving.run_single, options, models, skipped)
        del models
    for name, run in (("memory", memory.run), ("import", imports.run), ("growth", growth.run)):
        if name in names:
            yield guarded(name, run, options)


def guarded(name, run, *arguments):
    """Return the section that `run` measures, or one with the error message."""
    try:
        return run(*arguments)
    except Exception as error:  # an error of one measurement must not lose the others
        traceback.print_exc()
        reason = {"the bench": f"{type(error).__name__}: {error}"}
        empty = {"must": None, "aim": None, "outcomes": {}, "verdict": {}}
        return {"name": name, "title": name, "kind": "failed", "skipped": reason, **empty}


def main(arguments=None):
    options = parse_arguments(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    stem = "speed-quick" if options.quick else "speed"
    target = options.out / f"{stem}-{datetime.now():%Y%m%d-%H%M%S}"
    results = {
        "machine": describe(),
        "quick": options.quick,
        "repeats": options.repeats,
        "rounds": options.rounds,
        "sections": [],
    }
    for section in sections(options.only or NAMES, options):
        results["sections"].append(section)
        print(f"measured: {section['title']}", file=sys.stderr, flush=True)
        target.with_suffix(".json").write_text(json.dumps(results, indent=1))
        target.with_suffix(".md").write_text(to_markdown(results))
    print(to_markdown(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Time per row for one to ten million rows, of Bosquet alone."""

import time
from dataclasses import dataclass

from benchmarks import data
from benchmarks.interleave import available, interleave
from benchmarks.libraries import OURS, Settings

LIMIT = 1.3


@dataclass
class Size:
    """A contestant: a table, named by its number of rows."""

    name: str
    table: data.Table


def run(options):
    """Fit both sizes in turn; return seconds, microseconds per row, and the time of each phase."""
    section = {
        "name": "growth",
        "title": "cost per row, ten times the rows",
        "kind": "growth",
        "must": LIMIT,
        "aim": None,
        "outcomes": {},
        "verdict": {},
    }
    here, section["skipped"] = available([OURS])
    if not here:
        return section
    small = 50_000 if options.quick else 1_000_000
    sizes = [Size(f"{rows:,} rows", data.binary(rows, seed=1)) for rows in (small, 10 * small)]

    def act(size, turn):
        model = OURS.make("binary", Settings(rounds=options.rounds), [])
        start = time.perf_counter()
        model.fit(size.table.X, size.table.y)
        seconds = time.perf_counter() - start
        phases = getattr(model, "timings_", None) or {}
        return {
            "seconds": seconds,
            "phases": {phase: float(spent) for phase, spent in phases.items()},
        }

    outcomes = interleave(sizes, min(2, options.repeats), act)
    for size in sizes:
        if "seconds" in outcomes[size.name]:
            outcomes[size.name]["a_row"] = 1e6 * outcomes[size.name]["seconds"] / len(size.table.y)
    section["outcomes"] = outcomes
    costs = [outcome.get("a_row") for outcome in outcomes.values()]
    if all(costs):
        section["verdict"] = {"fastest": sizes[0].name, "ratio": costs[1] / costs[0]}
    return section

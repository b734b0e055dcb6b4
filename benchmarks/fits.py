"""Time of a fit, including binning, and its test loss."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks import data
from benchmarks.interleave import available, fastest, interleave
from benchmarks.libraries import Settings
from benchmarks.score import test_loss

# How much larger our test loss may be than that of the peer.
TOLERANCE = 0.001
# A peer counts as comparable if its loss is within this of the best peer's.
COMPARABLE = 0.01


@dataclass(frozen=True)
class FitWork:
    """One line of the speed table. `draws` tables are fitted and averaged when they are small."""

    name: str
    title: str
    table: Callable
    rows: int
    must: float
    aim: float
    quick_rows: int
    draws: int = 1
    held_out: int = 100_000

    def train(self, quick):
        """The training tables."""
        rows = self.quick_rows if quick else self.rows
        return [self.table(rows, seed=1 + draw) for draw in range(self.draws)]

    def test(self, quick):
        """The held-out table."""
        return self.table(20_000 if quick else self.held_out, seed=data.HELD_OUT_SEED)


WORKS = [
    FitWork("binary", "1M × 28, binary", data.binary, 1_000_000, 0.50, 0.33, 50_000),
    # For a single table the losses of the libraries differ by twice the tolerance.
    FitWork("regression", "100k × 28, regression", data.regression, 100_000, 0.60, 0.40, 20_000, 5),
    FitWork("wide", "50k × 500, binary", data.wide, 50_000, 0.60, 0.40, 5_000),
    FitWork(
        "categories",
        "200k × 40, 10 categorical of 5 to 1000 levels",
        data.categories,
        200_000,
        0.60,
        0.40,
        20_000,
    ),
    FitWork("classes", "100k × 28, 7 classes", data.seven_classes, 100_000, 0.60, 0.40, 10_000),
    # Small tables: one fit is short and its loss is random, so forty (ten) different tables are
    # fitted, and time and loss are their means.
    FitWork("rows-500", "500 × 28, binary", data.binary, 500, 0.50, 0.20, 500, 40, 20_000),
    FitWork("rows-10k", "10k × 28, binary", data.binary, 10_000, 0.50, 0.20, 5_000, 10),
]


def run(work, options):
    """Measure one `FitWork`; return a section of the report."""
    given = Settings(rounds=options.rounds)
    libraries, skipped = available(options.libraries)
    train, test = work.train(options.quick), work.test(options.quick)

    def act(library, turn):
        return _fit_all(library, train, test if turn == 0 else None, given)

    outcomes = interleave(libraries, options.repeats, act)
    return {
        "name": work.name,
        "title": work.title + (f" ({len(train[0].y):,} rows)" if options.quick else ""),
        "kind": "fit",
        "unit": "RMSE" if train[0].task == "regression" else "log loss",
        "must": work.must,
        "aim": work.aim,
        "outcomes": outcomes,
        "skipped": skipped,
        "verdict": verdict(outcomes),
    }


def _fit_all(library, tables, test, given):
    """Fit every table; return mean seconds, and the mean loss on `test` unless it is None."""
    seconds, losses, result = 0.0, [], {}
    for table in tables:
        model = library.make(table.task, given, table.categorical)
        start = time.perf_counter()
        model.fit(table.X, table.y)
        seconds += time.perf_counter() - start
        if test is not None:
            start = time.perf_counter()
            losses.append(test_loss(model, test.X, test.y, test.task))
            result["predict"] = time.perf_counter() - start
    result["seconds"] = seconds / len(tables)
    if losses:
        result["loss"] = sum(losses) / len(losses)
    if getattr(model, "timings_", None):
        result["phases"] = {phase: float(spent) for phase, spent in model.timings_.items()}
    return result


def verdict(outcomes, ours="Bosquet"):
    """Return our time and loss relative to the fastest peer, and our loss relative to the best peer."""
    peers = [name for name in outcomes if name != ours]
    losses = {name: outcomes[name]["loss"] for name in peers if "loss" in outcomes[name]}
    quickest = fastest(outcomes, peers)
    if quickest is None:
        return {}
    best = min(losses, key=losses.get)
    comparable = fastest(
        outcomes, [name for name in losses if losses[name] <= losses[best] * (1 + COMPARABLE)]
    )
    found = {"fastest": quickest, "best": best, "comparable": comparable}
    mine = outcomes.get(ours, {})
    if "seconds" in mine:
        found["ratio"] = mine["seconds"] / outcomes[quickest]["seconds"]
        found["ratio_comparable"] = mine["seconds"] / outcomes[comparable]["seconds"]
        found["excess"] = mine["loss"] / losses[quickest] - 1
        found["excess_best"] = mine["loss"] / losses[best] - 1
        found["loss_held"] = found["excess"] <= TOLERANCE
    return found

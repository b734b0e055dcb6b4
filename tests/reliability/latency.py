"""Measure how long Ctrl-C takes to end long calls: `python tests/reliability/latency.py`.

    python tests/reliability/latency.py --count 20 --seed 0    every call
    python tests/reliability/latency.py tree explain           some of them

Each call works on a table that keeps it busy for seconds. A timer sends SIGALRM at a random time of the call;
its handler raises KeyboardInterrupt as Ctrl-C does. The latency is the time from the signal to the exception
in the caller. A call that a signal does not end within `LIMIT` is a violation.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import bosquet
from bosquet import discriminant, glm, vision

AIM, LIMIT = 0.3, 1.0  # seconds
EARLIEST = 0.02  # no signal is sent in this first share of a call's duration

Call = Callable[[], Any]


def make_table(rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, a noisy numeric target and a noisy class."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, columns))
    number = X[:, 0] * X[:, 1] + X[:, 2] + generator.normal(size=rows)
    return X, number, (number > 0).astype(int)


def fit_of(model: Any, rows: int, columns: int, classes: bool = True) -> Call:
    X, number, label = make_table(rows, columns)
    return lambda: model.fit(X, label if classes else number)


def boosted(rows: int, rounds: int) -> tuple[Any, np.ndarray]:
    X, _, label = make_table(rows, 20)
    model = bosquet.GradientBoostingClassifier(n_estimators=rounds, early_stopping=False)
    return model.fit(X[:20_000], label[:20_000]), X


def explain() -> Call:
    model, X = boosted(30_000, 300)
    return lambda: model.explain(X)


def predict() -> Call:
    model, X = boosted(1_500_000, 1000)
    return lambda: model.predict_proba(X)


def dependence() -> Call:
    from bosquet.explain import partial_dependence

    model, X = boosted(100_000, 300)
    return lambda: partial_dependence(model, X)


def permutation() -> Call:
    X, _, label = make_table(50_000, 30)
    forest = bosquet.RandomForestClassifier(100, random_state=0).fit(X, label)
    return lambda: forest.importance("permutation", X, label)


def mixture() -> Call:
    generator = np.random.default_rng(0)
    forecasts = generator.normal(size=(1_500_000, 20))
    truth = forecasts[:, 0] + generator.normal(size=len(forecasts))
    return lambda: bosquet.Mixture("boa").fit(forecasts, truth)


def images() -> Call:
    generator = np.random.default_rng(0)
    pictures = generator.integers(0, 255, size=(1500, 24, 24), dtype=np.uint8)
    labels = generator.integers(0, 2, size=1500)
    return lambda: vision.HaarBoostClassifier(n_estimators=20).fit(pictures, labels)


def load() -> Call:
    from bosquet.io import model_bytes, model_from_bytes

    X, _, label = make_table(60_000, 10)
    data = model_bytes(bosquet.RandomForestClassifier(300, random_state=0).fit(X, label))
    return lambda: model_from_bytes(data)


CALLS: dict[str, Callable[[], Call]] = {
    "gradient boosting": lambda: fit_of(
        bosquet.GradientBoostingClassifier(n_estimators=100, early_stopping=False), 1_000_000, 28
    ),
    "tree": lambda: fit_of(bosquet.DecisionTreeClassifier(), 300_000, 15),
    "tree, regression": lambda: fit_of(bosquet.DecisionTreeRegressor(), 300_000, 15, False),
    "forest": lambda: fit_of(bosquet.RandomForestClassifier(100, random_state=0), 100_000, 28),
    "bagging": lambda: fit_of(bosquet.BaggingClassifier(n_estimators=20), 50_000, 15),
    "AdaBoost": lambda: fit_of(bosquet.AdaBoostClassifier(n_estimators=100), 400_000, 28),
    "AdaBoost.R2": lambda: fit_of(bosquet.AdaBoostRegressor(n_estimators=100), 300_000, 15, False),
    "LPBoost": lambda: fit_of(bosquet.LPBoostClassifier(), 500, 5),
    "BrownBoost": lambda: fit_of(bosquet.BrownBoostClassifier(), 100_000, 10),
    "binomial regression": lambda: fit_of(glm.BinomialRegression(), 400_000, 40),
    "density discriminant": lambda: fit_of(discriminant.DensityDiscriminant(), 400_000, 20),
    "mixture": mixture,
    "Haar features": images,
    "predict": predict,
    "explain": explain,
    "partial dependence": dependence,
    "permutation importance": permutation,
    "load": load,
}


class Alarm:
    """A timer whose signal raises KeyboardInterrupt while it is armed."""

    def __init__(self) -> None:
        self.armed = False
        signal.signal(signal.SIGALRM, self._raise)

    def _raise(self, number: int, frame: Any) -> None:
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt

    def latency(self, call: Call, delay: float) -> float | None:
        """Return the seconds from the signal to the exception; None if the call ended before the signal."""
        self.armed, began = True, time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, delay)
        try:
            call()
            self.armed = False
        except KeyboardInterrupt:
            return time.perf_counter() - began - delay
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return None


def measure(name: str, count: int, draw: random.Random) -> bool:
    """Print a line of the table; return whether all latencies are within the limit."""
    call = CALLS[name]()
    began = time.perf_counter()
    call()
    duration = time.perf_counter() - began
    alarm, found = Alarm(), []
    for _ in range(count):
        delay = draw.uniform(EARLIEST, 0.95) * duration
        if (seconds := alarm.latency(call, delay)) is not None:
            found.append(seconds)
    middle, worst = (median(found), max(found)) if found else (float("nan"),) * 2
    mark = "" if worst <= AIM else " beyond the aim" if worst <= LIMIT else " VIOLATION"
    print(
        f"| {name} | {duration:.1f} s | {len(found)} | {middle:.2f} s | {worst:.2f} s |{mark}",
        flush=True,
    )
    return not worst > LIMIT


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("calls", nargs="*", metavar="call", help="all if none is named")
    parser.add_argument("--count", type=int, default=20, help="signals per call (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| call | duration | interrupts | median latency | worst latency |\n|---|---|---|---|---|"
    )
    draw = random.Random(given.seed)
    return int(not all([measure(name, given.count, draw) for name in given.calls or CALLS]))


if __name__ == "__main__":
    sys.exit(main())

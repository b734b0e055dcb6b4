"""Aggregation of experts compared with loops in Python: `python -m benchmarks.experts`.

100,000 steps of 50 experts with square loss and linearised losses. The peers are the Python port of
opera (https://github.com/Dralliag/opera-python; not on PyPI, where `opera` is another project: pass a
checkout with --opera) and the same rules as a plain NumPy loop. The port copies its history at every
step, so its time is quadratic in the number of steps. It is run on fewer steps, where its time per step
is shorter than on all of them. The table is printed, and written as Markdown and as JSON.
"""

import argparse
import json
import pickle
import sys
import time
from datetime import datetime
from pathlib import Path

import numpy as np

from benchmarks.machine import describe
from benchmarks.report import markdown_table
from bosquet import Mixture
from bosquet.experts import ExponentialWeights
from bosquet.experts.rules import RULES

STEPS, EXPERTS, BETA = 100_000, 50, 1e-3
# Names of the rules in the port; it has no exponential weights.
PORT = {"ml-poly": "MLpol", "boa": "BOA"}
MAX_MICROSECONDS = 20


def forecasts(steps):
    rng = np.random.default_rng(0)
    y = np.sin(np.arange(steps) / 50) + 0.1 * rng.normal(size=steps)
    return y[:, None] + rng.normal(size=(steps, EXPERTS)) * np.linspace(0.2, 2, EXPERTS), y


def rule_of(name):
    return ExponentialWeights(BETA) if name == "ewa" else name


def numpy_loop(name, F, y):
    """Run the rule in plain NumPy; return the weights of every step."""
    n = F.shape[1]
    regret, squares, gain = np.zeros(n), np.zeros(n), np.zeros(n)
    largest, eta = 0.0, np.full(n, np.inf)
    weights = np.empty_like(F)
    for t in range(len(y)):
        if name == "ewa":
            score = BETA * regret
        elif name == "boa":
            score = np.log(eta) + eta * gain if largest else np.zeros(n)
        if name == "ml-poly":
            w = np.maximum(regret, 0) / (largest + squares) if largest else np.zeros(n)
            p = w / w.sum() if w.any() else np.full(n, 1 / n)
        else:
            w = np.exp(score - score.max())
            p = w / w.sum()
        weights[t] = p
        mixture = p @ F[t]
        r = 2 * (mixture - y[t]) * (mixture - F[t])
        regret += r
        squares += r**2
        if name == "boa":
            largest = max(largest, np.abs(r).max())
            eta = np.minimum(0.5 / largest, np.sqrt(np.log(n) / (largest**2 + squares)))
            gain += r - eta * r**2
        else:
            largest = max(largest, (r**2).max())
    return weights


def best_of(repeats, act):
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        act()
        best = min(best, time.perf_counter() - start)
    return best


def port_seconds(name, steps):
    """Return the seconds per step of opera's port, or the reason why it cannot run."""
    try:
        import opera
        import pandas as pd

        mixture = opera.Mixture
    except (ImportError, AttributeError) as error:
        return None, f"opera's port is not here ({type(error).__name__}): --opera names a checkout"
    F, y = forecasts(steps)
    frame, series = pd.DataFrame(F), pd.Series(y)
    start = time.perf_counter()
    mixture(y=series, experts=frame, model=PORT[name], loss_type="mse", loss_gradient=True)
    return (time.perf_counter() - start) / steps, ""


def stream_microseconds(name, steps=20_000):
    """Return the median times of predict and update, and the size of a pickle at the start and at the end."""
    F, y = forecasts(steps)
    stream = Mixture(rule_of(name))
    taken = np.empty((steps, 2))
    sizes = []
    for t in range(steps):
        start = time.perf_counter()
        stream.predict(F[t])
        middle = time.perf_counter()
        stream.update(y[t])
        taken[t] = middle - start, time.perf_counter() - middle
        if t in (100, steps - 1):
            sizes.append(len(pickle.dumps(stream)))
    return *(1e6 * np.median(taken, axis=0)), sizes


def slowest_step():
    """Return the rule with the slowest update, in microseconds."""
    taken = {name: stream_microseconds(name, 2000)[1] for name in RULES}
    name = max(taken, key=taken.get)
    return name, taken[name]


def measure(name, repeats, port_steps):
    F, y = forecasts(STEPS)
    ours = best_of(repeats, lambda: Mixture(rule_of(name)).fit(F, y))
    lean = best_of(repeats, lambda: Mixture(rule_of(name), history=False).fit(F, y))
    loop = best_of(1, lambda: numpy_loop(name, F, y))
    found = {"fit": ours, "fit without history": lean, "numpy loop": loop}
    if name in PORT:
        found["port a step"], found["port"] = port_seconds(name, port_steps)
    predict, update, sizes = stream_microseconds(name)
    return {**found, "predict": predict, "update": update, "sizes": sizes}


def lines_of(name, found, port_steps):
    def line(work, ours, theirs, ratio, must, note=""):
        return [f"{name}: {work}", ours, theirs, ratio, must, note]

    seconds = f"{found['fit']:.3g} s"
    work = f"fit, {STEPS:,} × {EXPERTS}"
    ratio = f"{found['numpy loop'] / found['fit']:.0f}"
    yield line(work + ", NumPy loop", seconds, f"{found['numpy loop']:.3g} s", ratio, "")
    if name in PORT and found["port a step"] is None:
        yield line(work + ", opera's port", seconds, "", "", "50", found["port"])
    elif name in PORT:
        theirs = found["port a step"] * STEPS
        note = f"at its time a step over {port_steps:,} steps; over {STEPS:,} it needs more"
        yield line(
            work + ", opera's port",
            seconds,
            f"> {theirs:.3g} s",
            f"> {theirs / found['fit']:.0f}",
            "50",
            note,
        )
    for what in ("predict", "update"):
        must = f"{MAX_MICROSECONDS} µs" if what == "update" else ""
        yield line(f"{what}, one step", f"{found[what]:.1f} µs", "", "", must)
    note = f"{found['sizes'][0]:,} and {found['sizes'][1]:,} bytes after 100 and 20,000 steps"
    yield line("pickle of the stream", "", "", "", "", note)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experts", description=__doc__)
    parser.add_argument("--opera", type=Path, help="folder that holds the package of opera's port")
    parser.add_argument("--opera-steps", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args(arguments)
    if given.opera:
        sys.path.insert(0, str(given.opera))
    raw, lines = {"machine": describe()}, []
    for name in ("ml-poly", "boa", "ewa"):
        raw[name] = measure(name, given.repeats, given.opera_steps)
        lines += lines_of(name, raw[name], given.opera_steps)
    name, microseconds = raw["slowest update"] = slowest_step()
    lines.append(
        [f"{name}: update, the slowest of all", f"{microseconds:.1f} µs", "", "", "20 µs", ""]
    )
    text = markdown_table(["work", "Bosquet", "peer", "times faster", "must", ""], lines)
    given.out.mkdir(parents=True, exist_ok=True)
    target = given.out / f"experts-{datetime.now():%Y%m%d-%H%M%S}"
    target.with_suffix(".json").write_text(json.dumps(raw, indent=1))
    target.with_suffix(".md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

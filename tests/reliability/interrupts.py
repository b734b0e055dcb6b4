"""Interrupt fits at random times, and check that nothing is left behind.

    python tests/reliability/interrupts.py --count 1000 --seed 0          every family
    python tests/reliability/interrupts.py forest mixture --count 1000    some of them
    python tests/reliability/interrupts.py --terminate --count 20         SIGTERM instead of SIGINT

Each call of `fit` on a fitted estimator is interrupted at a time drawn from its duration: nine times in ten
by a timer of the process, else by SIGINT from another process. After an interrupt the estimator must hold the
very objects it held before and return the same bits; there must be no other thread, child process, open file
or temporary file than before. Every 20th time the interrupted estimator is fitted to the end and compared
with one that never was interrupted.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))

from families import FAMILIES, Family, Rows, rows, same

FROM_OUTSIDE = 0.1  # share of interrupts that another process sends
FULL_FIT_EVERY = 20
LATE = (
    1.15  # times are drawn up to this share of the duration of a fit: some interrupts come too late
)
MAX_TRIES = 20  # maximum number of interrupts sent per interrupt that is raised inside a fit
MAX_LOST = 0.02  # share of interrupts that other libraries may lose
LONGEST = 5.0  # seconds from SIGTERM to the end of a process
# A fit of these takes microseconds: interrupts come in the middle of many.
STEPS = {
    "page-hinkley": lambda model: model.n_seen_,
    "adaptive-window": lambda model: model.n_seen_,
    "mixture-stream": lambda model: model.n_rows_,
}


@dataclass
class Outcome:
    """Results of the interrupts of a family."""

    family: str
    sent: int = 0
    landed: int = 0  # raised inside the call
    # Lost in other libraries: NumPy discards an interrupt that comes while it makes a text scalar,
    # CPython's OrderedDict.items() raises KeyError in place of one that comes while it hashes a key.
    lost: int = 0
    violations: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        numbers = f"{self.sent:6} {self.landed:7} {self.lost:5} {len(self.violations):10}"
        line = f"{self.family:28} {numbers} {self.seconds:8.1f}"
        return "\n".join([line, *(f"    {text}" for text in sorted(set(self.violations)))])


HEADER = f"{'family':28} {'sent':>6} {'landed':>7} {'lost':>5} {'violations':>10} {'seconds':>8}"


class Belongings:
    """Threads, child processes, open files and temporary files of this process."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.before = self.current_state()

    def current_state(self) -> dict[str, Any]:
        return {
            "threads": (threading.active_count(), len(os.listdir("/proc/self/task"))),
            "children": children_of(os.getpid()),
            "open files": len(os.listdir("/proc/self/fd")),
            "temporary files": sorted(path.name for path in self.folder.iterdir()),
        }

    def leaked(self) -> list[str]:
        """Return what is left over; threads get some time to end."""
        for _ in range(20):
            now = self.current_state()
            if now == self.before:
                return []
            time.sleep(0.005)
        return [f"{name}: {self.before[name]} before, {now[name]} after" for name in now
                if now[name] != self.before[name]]  # fmt: skip


def children_of(process: int) -> list[str]:
    tasks = Path(f"/proc/{process}/task")
    return sorted(
        child for task in tasks.iterdir() for child in (task / "children").read_text().split()
    )


class Interrupter:
    """Raise KeyboardInterrupt in this process after a delay: by a timer, or from another process."""

    def __init__(self) -> None:
        reading, self.asking = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(self.asking)
            self._serve(reading, os.getppid())
        os.close(reading)
        self.armed = self.raised = False
        for number in (signal.SIGINT, signal.SIGALRM):
            signal.signal(number, self._raise)

    def _raise(self, number: int, frame: Any) -> None:
        self.raised = True
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt

    @staticmethod
    def _serve(reading: int, to: int) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        while delay := os.read(reading, 16):
            time.sleep(float(delay))
            os.kill(to, signal.SIGINT)
        os._exit(0)

    def start(self, delay: float, from_outside: bool) -> None:
        self.armed, self.raised = True, False
        if from_outside:
            os.write(self.asking, f"{delay:<16.9f}".encode()[:16])
        else:
            signal.setitimer(signal.ITIMER_REAL, max(delay, 1e-6))

    def wait(self) -> None:
        """Handle an interrupt that comes too late and raises nothing."""
        self.armed = False
        while not self.raised:
            time.sleep(0.001)

    def close(self) -> None:
        os.close(self.asking)
        os.waitpid(self.process, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextmanager
def own_temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = before


def duration_of(family: Family, data: Rows) -> float:
    """Return the median time of five fits, in seconds."""
    times = []
    for _ in range(6):
        model = family.fitted(0)
        started = time.perf_counter()
        family.fit(model, data)
        times.append(time.perf_counter() - started)
    return sorted(times[1:])[2]


def interrupt(family: Family, count: int, seed: int) -> Outcome:
    """Interrupt the family's fit until `count` interrupts were raised inside; times follow from the seed."""
    outcome, draw, started = Outcome(family.name), random.Random(seed), time.monotonic()
    data, others = rows(0), rows(1)
    duration = duration_of(family, others)
    model = family.fitted(0)
    finished = family.fitted(0)
    family.fit(finished, others)
    whole = family.outputs(finished, data)
    with own_temporary_folder() as folder:
        interrupter = Interrupter()
        try:
            belongings = Belongings(folder)
            while outcome.landed < count and outcome.sent < MAX_TRIES * count:
                before, outputs = dict(model.__dict__), family.outputs(model, data)
                done = False
                try:
                    interrupter.start(
                        draw.uniform(0, LATE * duration), draw.random() < FROM_OUTSIDE
                    )
                    family.fit(model, others)
                    done, interrupter.armed = True, False
                except KeyboardInterrupt:
                    outcome.landed += not done
                except Exception as error:
                    if replaces_an_interrupt(error):
                        outcome.lost += 1
                    else:
                        outcome.violations.append(f"raised {error!r}")
                outcome.sent += 1
                outcome.lost += done and interrupter.raised
                interrupter.wait()
                if not done:
                    outcome.violations += changes(family, model, before, outputs)
                outcome.violations += belongings.leaked()
                if outcome.sent % FULL_FIT_EVERY == 0 and not done:
                    family.fit(model, others)
                    if not same(family.outputs(model, data), whole):
                        outcome.violations.append("a fit after an interrupt gives another model")
                    done = True
                if done:
                    model = family.fitted(0)
        finally:
            interrupter.close()
    if outcome.lost > 2 + MAX_LOST * outcome.sent:
        outcome.violations.append(f"{outcome.lost} interrupts were lost")
    outcome.seconds = time.monotonic() - started
    return outcome


def replaces_an_interrupt(error: Exception) -> bool:
    """Return whether CPython raised this error instead of an interrupt, outside of Bosquet."""
    place = traceback.extract_tb(error.__traceback__)[-1].filename
    return isinstance(error, KeyError) and "/bosquet/" not in place


def interrupt_steps(family: Family, count: int, seed: int) -> Outcome:
    """Do the same for a stream: the estimator must have counted exactly the steps that returned."""
    outcome, draw, started = Outcome(family.name), random.Random(seed), time.monotonic()
    model, data = family.fitted(0), rows(0)
    interrupter = Interrupter()
    try:
        for _ in range(count):
            completed = STEPS[family.name](model)
            try:
                interrupter.start(draw.uniform(0, 0.002), draw.random() < FROM_OUTSIDE)
                while True:
                    family.fit(model, data)
                    completed += 1
            except KeyboardInterrupt:
                outcome.sent += 1
                outcome.landed += 1
            interrupter.wait()
            counted = STEPS[family.name](model)
            if counted != completed:
                outcome.violations.append(f"counted {counted - completed:+} steps")
    finally:
        interrupter.close()
    outcome.seconds = time.monotonic() - started
    return outcome


def changes(family: Family, model: Any, before: dict[str, Any], outputs: list[Any]) -> list[str]:
    """Return the differences between the model and its state before."""
    now = model.__dict__
    names = {name for name in {*before, *now} if before.get(name) is not now.get(name)}
    found = [f"another {name}" for name in sorted(names)]
    if not same(family.outputs(model, rows(0)), outputs):
        found.append("other outputs")
    return found


def terminate(family: Family, count: int, seed: int) -> Outcome:
    """Do the same with SIGTERM: the process must end quickly, by the signal, and leave no file."""
    outcome, draw, started = Outcome(family.name), random.Random(seed), time.monotonic()
    data = rows(1)
    duration = duration_of(family, data)
    with own_temporary_folder() as folder:
        for _ in range(count):
            process = os.fork()
            if process == 0:
                os.setpgid(0, 0)
                model = family.fitted(0)
                while True:
                    family.fit(model, data)
            time.sleep(0.02 + draw.uniform(0, 3 * duration))
            os.kill(process, signal.SIGTERM)
            outcome.sent += 1
            outcome.violations += exit_violations(process, folder)
            outcome.landed += 1
    outcome.seconds = time.monotonic() - started
    return outcome


def exit_violations(process: int, folder: Path) -> list[str]:
    found, deadline = [], time.monotonic() + LONGEST
    while not (ended := os.waitpid(process, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return [f"a process took more than {LONGEST:g} s to end"]
        time.sleep(0.001)
    if not os.WIFSIGNALED(ended[1]) or os.WTERMSIG(ended[1]) != signal.SIGTERM:
        found.append(f"a process ended with status {ended[1]}, not by the signal")
    try:
        os.killpg(process, 0)
        found.append("a process left children")
    except ProcessLookupError:
        pass
    return found + [f"a process left the file {path.name}" for path in folder.iterdir()]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("families", nargs="*", help="all if none is named")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--terminate", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(HEADER, flush=True)
    outcomes = []
    for name in given.families or FAMILIES:
        work = interrupt_steps if name in STEPS else interrupt
        work = terminate if given.terminate else work
        outcomes.append(work(FAMILIES[name], given.count, given.seed))
        print(outcomes[-1], flush=True)
    wrong = sum(len(outcome.violations) for outcome in outcomes)
    landed = sum(outcome.landed for outcome in outcomes)
    print(
        f"{sum(o.sent for o in outcomes)} sent, {landed} landed inside a call, {wrong} violations"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())

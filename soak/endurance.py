"""The loop: run each kind of work in turn, measure it, and report at the end."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from soak.memory_trend import Trend, trend
from soak.resources import Held, held, resident

Work = Callable[[np.random.Generator, Path], None]

# Rounds over all works before anything is measured: pools of threads start, modules are imported.
WARM_UP = 2
# Time limit for threads and children to end, in seconds, also on a busy machine.
PATIENCE = 10.0


@dataclass
class Account:
    """Memory and left-over resources of one kind of work."""

    grown: list[float] = field(
        default_factory=lambda: [0.0]
    )  # bytes so far, after each piece of work
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def trend(self) -> Trend:
        return trend(self.grown)


@dataclass
class Report:
    """The results of all kinds of work, and the memory of the process after each round."""

    accounts: dict[str, Account]
    memory: list[float]

    @property
    def problems(self) -> list[str]:
        found = [
            f"{name} leaves behind {what}" for name, a in self.accounts.items() for what in a.left
        ]
        for name, account in self.accounts.items():
            if account.trend.grows:
                found.append(f"{name} grows by {in_megabytes(account.trend)}")
        whole = trend(self.memory)
        if whole.grows:
            found.append(f"the process grows by {in_megabytes(whole)}")
        return found

    def __str__(self) -> str:
        lines = [
            "| work | pieces | seconds | growth per piece | grows | left behind |",
            "|---|---|---|---|---|---|",
        ]
        for name, account in self.accounts.items():
            lines.append(
                f"| {name} | {len(account.grown) - 1} | {account.seconds:.1f}"
                f" | {account.trend.slope / 1024:+.1f} KB | {'YES' if account.trend.grows else 'no'}"
                f" | {'; '.join(account.left) or 'nothing'} |"
            )
        first, last = self.memory[0] / 2**20, self.memory[-1] / 2**20
        lines.append(
            f"\nmemory: {first:.0f} MB after warm-up, {last:.0f} MB at the end; the trend is"
        )
        lines[-1] += (
            f" {trend(self.memory).slope / 1024:+.1f} KB per round ({len(self.memory)} rounds)"
        )
        return "\n".join(lines)


def in_megabytes(found: Trend) -> str:
    return f"{found.growth / 2**20:.1f} MB in {found.steps} pieces of work"


def endure(
    works: Mapping[str, Work],
    seconds: float,
    folder: Path,
    seed: int = 0,
    warm_up: int = WARM_UP,
    patience: float = PATIENCE,
) -> Report:
    """Run all kinds of work in turn for this many seconds; they write to `folder`, which is also TMPDIR."""
    random = np.random.default_rng(seed)
    for _, work in itertools.product(range(warm_up), works.values()):
        work(random, folder)
    accounts = {name: Account() for name in works}
    memory = [float(resident())]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name in random.permutation(list(works)):
            before, then, start = held(folder), resident(), time.monotonic()
            works[name](random, folder)
            account = accounts[name]
            account.seconds += time.monotonic() - start
            account.grown.append(account.grown[-1] + resident() - then)
            account.left += new_things(folder, before, patience)
        memory.append(float(resident()))
    return Report(accounts, memory)


def new_things(folder: Path, before: Held, patience: float) -> list[str]:
    """Return what a piece of work left behind; threads and children get some time to end."""
    end = time.monotonic() + patience
    while True:
        found = held(folder).more_than(before)
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.05)

"""Worker processes that run cases; a crash, a hang or a memory limit ends a worker, not the run."""

from __future__ import annotations

import faulthandler
import mmap
import multiprocessing
import os
import signal
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from cases import Case, Finding, Kind, order_of, run_case
from limits import Meter, confine

CASE_TIME_LIMIT = 60.0  # time limit of a case in seconds; then its worker is killed
CASES_PER_WORKER = 20_000  # then a new process replaces the worker, so that leaks do not accumulate
OUTCOMES = ("rejected", "loaded", "finding")
_AGAIN = 75  # exit code of a worker that has to be replaced

_fork = multiprocessing.get_context("fork")


class Slot:
    """Memory shared with one worker: its case, start time, phase and number of finished cases."""

    _head = struct.Struct("<qd24s")

    def __init__(self, kinds: list[str]) -> None:
        self.kinds = kinds
        self._counts = struct.Struct(f"<{len(kinds) * len(OUTCOMES)}Q")
        self._memory = mmap.mmap(-1, self._head.size + self._counts.size)
        self.begin(-1)

    def begin(self, number: int) -> None:
        # Not `pack_into`, which writes zeros first: the parent would see a case that started long ago.
        self._memory[: self._head.size] = self._head.pack(number, time.monotonic(), b"make")

    def phase(self, name: str) -> None:
        self._memory[16:40] = name.encode()[:24].ljust(24)

    def now(self) -> tuple[int, float, str]:
        number, since, phase = self._head.unpack_from(self._memory, 0)
        return number, time.monotonic() - since, phase.rstrip(b" \0").decode()

    def count(self, kind: str, outcome: str) -> None:
        counts = list(self._counts.unpack_from(self._memory, self._head.size))
        counts[self.kinds.index(kind) * len(OUTCOMES) + OUTCOMES.index(outcome)] += 1
        self._memory[self._head.size :] = self._counts.pack(*counts)

    def counts(self) -> list[int]:
        return list(self._counts.unpack_from(self._memory, self._head.size))


@dataclass
class Worker:
    slot: Slot
    log: Any
    next_number: int
    process: Any = None
    connection: Connection | None = None


class Pool:
    """Run the cases 0, 1, 2, ... of a seed for some kinds."""

    def __init__(self, kinds: list[Kind], seed: int, workers: int) -> None:
        self.kinds, self.seed = {kind.name: kind for kind in kinds}, seed
        self.order = order_of(kinds)
        self.workers = [
            Worker(Slot(list(self.kinds)), tempfile.TemporaryFile(), number)  # noqa: SIM115
            for number in range(workers)
        ]

    def run(self, seconds: float, most: int, report: Callable[[int], None]) -> Iterator[Finding]:
        """Yield findings until the time or the number of cases is reached."""
        end = time.monotonic() + seconds
        for worker in self.workers:
            self._start(worker, end, most)
        try:
            while any(worker.process is not None for worker in self.workers):
                busy = [w for w in self.workers if w.process is not None]
                wait([x for w in busy for x in (w.connection, w.process.sentinel)], timeout=0.5)
                for worker in busy:
                    yield from self._supervise(worker, end, most)
                report(self.n_done())
        finally:
            for worker in self.workers:
                if worker.process is not None:
                    worker.process.kill()
                    worker.process.join()

    def n_done(self) -> int:
        return sum(sum(worker.slot.counts()) for worker in self.workers)

    def table(self) -> dict[str, list[int]]:
        """Return the number of cases of each outcome by kind."""
        totals = [
            sum(column) for column in zip(*(w.slot.counts() for w in self.workers), strict=True)
        ]
        width = len(OUTCOMES)
        return {kind: totals[i * width : (i + 1) * width] for i, kind in enumerate(self.kinds)}

    def _case(self, number: int) -> Case:
        return Case(self.order[number % len(self.order)], self.seed, number)

    # ------------------------------------------------------------------------------ from the parent
    def _start(self, worker: Worker, end: float, most: int) -> None:
        worker.log.seek(0)
        worker.log.truncate()
        worker.slot.begin(-1)
        worker.connection, theirs = _fork.Pipe(duplex=False)
        worker.process = _fork.Process(target=self._serve, args=(worker, theirs, end, most))
        worker.process.start()
        theirs.close()

    def _supervise(self, worker: Worker, end: float, most: int) -> Iterator[Finding]:
        yield from self._receive_findings(worker)
        hangs = worker.slot.now()[1] > CASE_TIME_LIMIT
        if worker.process.is_alive() and not hangs:
            return
        if hangs:
            os.kill(worker.process.pid, signal.SIGABRT)  # its log then shows the stack
            worker.process.join(timeout=5)
            worker.process.kill()
        worker.process.join()
        yield from self._receive_findings(worker)
        code = worker.process.exitcode
        if code == 0:
            worker.process = None
            return
        number, _, phase = worker.slot.now()
        if code != _AGAIN:
            reason = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            yield self._finding_of_lost_case(
                worker, number, f"{phase}: {'hang' if hangs else reason}"
            )
        worker.next_number = number + len(self.workers)
        self._start(worker, end, most)

    def _receive_findings(self, worker: Worker) -> Iterator[Finding]:
        assert worker.connection is not None
        try:
            while worker.connection.poll():
                yield worker.connection.recv()
        except EOFError:
            return

    def _finding_of_lost_case(self, worker: Worker, number: int, signature: str) -> Finding:
        """Return the finding of a case whose worker ended."""
        worker.log.seek(0)
        log = worker.log.read().decode(errors="replace").split("Extension modules:")[0][-4000:]
        if number < 0:
            raise RuntimeError(f"a worker died before its first case: {signature}\n{log}")
        case = self._case(number)
        worker.slot.count(case.kind, "finding")
        return Finding(case, signature, log)

    # ------------------------------------------------------------------------------- in the worker
    def _serve(self, worker: Worker, connection: Connection, end: float, most: int) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the run
        os.dup2(worker.log.fileno(), 1)
        os.dup2(worker.log.fileno(), 2)
        faulthandler.enable(worker.log)
        warnings.simplefilter("ignore")
        confine()
        meter, slot = Meter(), worker.slot
        last = worker.next_number + CASES_PER_WORKER * len(self.workers)
        for number in range(worker.next_number, min(most, last), len(self.workers)):
            if time.monotonic() > end:
                os._exit(0)
            slot.begin(number)
            case = self._case(number)
            outcome, finding = run_case(self.kinds[case.kind], case, meter, slot.phase)
            slot.count(case.kind, outcome)
            if finding is not None:
                connection.send(finding)
            if meter.is_worn():
                os._exit(_AGAIN)
        sys.stdout.flush()
        os._exit(_AGAIN if last < most else 0)

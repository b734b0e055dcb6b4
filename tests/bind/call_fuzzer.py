"""Call every binding of the native core with unexpected arguments.

    python tests/bind/call_fuzzer.py --seconds 600 --seed 1

Most calls are valid ones (good_calls.py) with one to three arguments changed, the others have random
arguments (hostile_values.py). They run in a separate process with limited memory. A signal, a call that
does not return, and an unexpected exception are findings. They are printed with the call and with the
number of its block; --block runs the same calls again.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

CALLS_PER_BLOCK = 2000
CALLS_PER_WORLD = 500
MEMORY = 2 << 30
# CPU time of all threads, so that a busy machine does not matter. A sanitizer takes ten times as long.
CPU_SECONDS_PER_CALL = 300 if "BOSQUET_CORE" in os.environ else 30
SECONDS_PER_CALL = 600  # wall-clock time, for a call that waits without using the CPU


def describe(name: str, arguments: tuple[Any, ...]) -> str:
    """Return a call as text with shortened arguments."""
    import numpy as np

    def text(value: Any) -> str:
        try:
            if isinstance(value, np.ndarray):
                head = np.array2string(value.reshape(-1)[:6], separator=",").replace("\n", "")
                return f"array{value.shape}:{value.dtype}{head}"
            return repr(value)[:150]
        except Exception:
            return type(value).__name__

    return f"{name}({', '.join(map(text, arguments))})"


def hostile_calls(seed: int, block: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the calls of a block, which depend only on the seed and the number of the block."""
    from good_calls import GoodCalls
    from hostile_values import CLASSES, mutated, some_value

    random = Random(f"{seed} {block}")
    while True:
        rows, levels = random.choice([(40, 4), (40, 4), (40, 300), (2500, 300)])
        calls = GoodCalls(random.randrange(1000), rows, levels).calls
        names = sorted({name for name, _ in calls})
        objects = [value for _, given in calls for value in given if type(value) in CLASSES]
        for _ in range(CALLS_PER_WORLD):
            wanted = random.choice(names)
            name, given = random.choice([call for call in calls if call[0] == wanted])
            arguments = list(given)
            if random.random() < 0.15:
                arguments = [some_value(random, objects) for _ in arguments]
            else:
                for _ in range(random.choice([1, 1, 1, 2, 3])):
                    if arguments:
                        index = random.randrange(len(arguments))
                        arguments[index] = mutated(arguments[index], random, objects)
            yield name, tuple(arguments)


def run_block(seed: int, block: int, calls: int, log: int) -> int:
    """Make the calls of a block; return 1 if one raised an exception that is not allowed, else 0."""
    from good_calls import function_of
    from hostile_values import HostileError

    # AttributeError: reading a write-only property.
    allowed = (ValueError, TypeError, IndexError, MemoryError, AttributeError, HostileError)
    warnings.simplefilter("ignore")
    failures = 0
    for number, (name, arguments) in enumerate(hostile_calls(seed, block)):
        if number == calls:
            return int(failures > 0)
        text = f"call {number} of block {block}: {describe(name, arguments)}"
        os.pwrite(log, text.encode(errors="backslashreplace")[:4000].ljust(4000), 0)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS_PER_CALL)
        try:
            function_of(name)(*arguments)
        except allowed:
            pass
        except BaseException as error:
            failures += 1
            print(f"{type(error).__name__}: {error}\n  {text}", flush=True)
    return 0


def child(arguments: argparse.Namespace) -> int:
    """Run one block in this process, with limited memory and time."""
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # the timer of run_block; ends the process
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if "BOSQUET_CORE" not in os.environ:  # a sanitizer reserves more than any limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    return run_block(arguments.seed, arguments.block, arguments.calls, arguments.log)


def finding_of(seed: int, block: int, calls: int) -> str | None:
    """Run a block in a separate process; return a description of what went wrong, or None."""
    with tempfile.TemporaryFile() as log, tempfile.TemporaryFile() as output:
        command = [sys.executable, __file__, "--child", "--seed", str(seed), "--block", str(block)]
        command += ["--calls", str(calls), "--log", str(log.fileno())]
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[log.fileno()],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # threads of BLAS take memory
        )

        def last_call() -> str:
            return os.pread(log.fileno(), 4000, 0).decode().strip()

        current, since = "", time.monotonic()
        hung = False
        while process.poll() is None:
            time.sleep(0.05)
            if last_call() != current:
                current, since = last_call(), time.monotonic()
            elif time.monotonic() - since > SECONDS_PER_CALL and not hung:
                hung = True
                process.send_signal(signal.SIGABRT)  # faulthandler prints the stack
        output.seek(0)
        printed = output.read().decode(errors="replace")
        if hung or process.returncode == -signal.SIGPROF:
            return f"no return: {last_call()}\n{printed[-3000:]}"
        if process.returncode < 0:
            name = signal.Signals(-process.returncode).name
            return f"{name}: {last_call()}\n{printed[-3000:]}"
        if any(text in printed for text in ("allocator is out of memory", "size-too-big")):
            return None  # without a sanitizer, the core raises MemoryError here
        if process.returncode != 0:
            return printed[-6000:] + ("" if "call " in printed else last_call())
    return None


def main() -> int:
    """Fuzz for a number of seconds, or run one block again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--block", type=int, help="run only this block")
    parser.add_argument("--calls", type=int, default=CALLS_PER_BLOCK, help="calls per block")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--log", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments)
    started, block, findings = time.monotonic(), arguments.block or 0, 0
    while True:
        finding = finding_of(arguments.seed, block, arguments.calls)
        if finding is not None:
            findings += 1
            print(f"--- seed {arguments.seed}, block {block}\n{finding}", flush=True)
        block += 1
        if arguments.block is not None or time.monotonic() - started > arguments.seconds:
            break
    print(f"{block} blocks of {arguments.calls} calls, seed {arguments.seed}: {findings} findings")
    return int(findings > 0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())

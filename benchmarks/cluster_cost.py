"""How long a round takes on clusters that are not here: `python -m benchmarks.cluster_cost`.

A cost model of one boosting round, with four constants:

    row      seconds per row of a worker, feature and level of a tree (histograms, division of rows)
    scan     seconds per leaf, feature and bin, for the search of splits, which every worker does
    message  seconds per message, beside the latency of the network
    byte     seconds per byte that a worker sends, beside the bandwidth of the network

They are fitted to runs on this machine: one to four workers with one thread each, tables of several sizes,
trees of 31 and 63 leaves, networks with limited bandwidth and added latency. Workers beyond the number of
cores share them, so their own work takes longer. Every second run is not used for the fit; the error of the
model on these runs is reported. The bandwidth is limited between network namespaces, one per worker, which
needs root and the command `ip` (Debian: iproute2); without them, those runs are left out.
"""

import argparse
import math
import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from benchmarks import data
from benchmarks.machine import describe, in_words

ROOT = Path(__file__).parents[1]
CONSTANTS = ("row", "scan", "message", "byte")
FEATURES, BINS = 28, 255
# Messages of a round without sampling of rows: one per three leaves with histograms, and ten short ones.
LEAVES_PER_MESSAGE, SHORT_MESSAGES = 3, 10


@dataclass(frozen=True)
class Work:
    """Rows and trees, and the cluster that grows them. Bandwidth in bytes per second, latency in seconds."""

    rows: int
    workers: int
    leaves: int = 63
    features: int = FEATURES
    bins: int = BINS
    bandwidth: float = math.inf
    latency: float = 0.0
    cores: int = 10**9  # of the machine that all workers share
    threads: int = 1  # of a worker

    @property
    def contention(self):
        return max(1.0, self.workers / self.cores)

    @property
    def messages(self):
        """The messages one after the other (recursive doubling; halves of halves for long arrays)."""
        if self.workers == 1:
            return 0.0
        steps = math.floor(math.log2(self.workers))
        extra = 2 if 2**steps < self.workers else 0
        long = (2 * steps if steps > 1 else 1) + extra
        return SHORT_MESSAGES * (steps + extra) + long * self.leaves / LEAVES_PER_MESSAGE

    @property
    def sent_bytes(self):
        """The bytes that a worker sends."""
        if self.workers == 1:
            return 0.0
        steps = math.floor(math.log2(self.workers))
        share = 1.0 if steps == 1 else 2 * (1 - 1 / 2**steps)
        share += 1.0 if 2**steps < self.workers else 0.0  # a part of a pair with an extra part
        # Some nodes are expanded that the tree does not need.
        return share * 1.25 * self.leaves * self.features * self.bins * 8

    def terms(self):
        """What the constants are multiplied by."""
        own = self.rows / self.workers / self.threads * self.features * math.log2(self.leaves)
        scan = self.leaves * self.features * self.bins / self.threads
        return np.array([own, scan, self.messages, self.sent_bytes]) * self.contention

    def network_seconds(self):
        return self.messages * self.latency + self.sent_bytes / self.bandwidth

    def seconds(self, constants):
        """Seconds per round."""
        return float(self.terms() @ constants) + self.network_seconds()


def works(cores, with_bandwidth):
    """The runs, in an order in which every second one covers all that varies."""
    base = Work(400_000, 2, cores=cores)
    runs = [
        replace(base, rows=r, workers=w)
        for w in (1, 2, 3, 4)
        for r in (100_000, 400_000, 1_000_000)
    ]
    runs += [replace(base, leaves=31, workers=w) for w in (1, 2, 4)]
    runs += [replace(base, latency=t, workers=w) for t in (0.0005, 0.002) for w in (2, 4)]
    if with_bandwidth:
        runs += [
            replace(base, bandwidth=b * 125e6, workers=w) for b in (0.5, 1.0) for w in (2, 3, 4)
        ]
    return runs


# ------------------------------------------------------------------------------------------- workers
def _ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def network_namespaces(count, bandwidth):
    """Namespaces on one bridge, with limited bandwidth in both directions; yields their names."""
    bridge = "bosquet0"
    names = [f"bosquet{k}" for k in range(1, count + 1)]
    rate = [] if math.isinf(bandwidth) else ["rate", f"{int(8 * bandwidth)}bit"]
    with ExitStack() as stack:
        _ip("link", "add", bridge, "type", "bridge")
        stack.callback(_ip, "link", "delete", bridge)
        _ip("address", "add", "10.77.0.254/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for k, name in enumerate(names, 1):
            _ip("netns", "add", name)
            stack.callback(_ip, "netns", "delete", name)
            _ip("link", "add", f"{name}a", "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("link", "set", f"{name}a", "master", bridge, "up")
            _ip("-n", name, "address", "add", f"10.77.0.{k}/24", "dev", "eth0")
            for link in ("lo", "eth0"):
                _ip("-n", name, "link", "set", link, "up")
            if rate:
                limit = ["root", "tbf", *rate, "burst", "256kb", "latency", "400ms"]
                for place in (["ip", "netns", "exec", name, "tc"], ["tc"]):
                    link = "eth0" if len(place) > 1 else f"{name}a"
                    subprocess.run([*place, "qdisc", "add", "dev", link, *limit], check=True)
        yield names


@contextmanager
def cluster_of(work):
    """A client of workers with one thread each, in namespaces if the bandwidth is limited."""
    from distributed import Client, LocalCluster

    if math.isinf(work.bandwidth):
        with (
            LocalCluster(
                n_workers=work.workers, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    with ExitStack() as stack:
        names = stack.enter_context(network_namespaces(work.workers, work.bandwidth))
        cluster = stack.enter_context(
            LocalCluster(n_workers=0, host="10.77.0.254", dashboard_address=":0")
        )
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address,
                   "--nthreads", "1", "--no-dashboard"]  # fmt: skip
        for name in names:
            process = subprocess.Popen(
                ["ip", "netns", "exec", name, *command], cwd=ROOT,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            stack.callback(process.wait)
            stack.callback(process.terminate)
        client = stack.enter_context(Client(cluster))
        client.wait_for_workers(work.workers, timeout=60)
        yield client


def _add_latency(seconds):
    """Let every message of this worker start so much later."""
    from bosquet.dask.exchange import Exchange

    send = getattr(Exchange, "_prompt_send", Exchange._send)

    async def late_send(self, *arguments):
        time.sleep(seconds)  # the event loop has nothing else to do
        await send(self, *arguments)

    Exchange._prompt_send, Exchange._send = send, late_send


def measure(work, repeats=3):
    """Return the seconds of a round.

    The driver receives the rounds of a call together. The first calls and the last one, which may run rounds
    that the fit does not need, are not counted.
    """
    import dask.array as da

    from bosquet.dask import GradientBoostingClassifier, stepper

    stepper.SECONDS_PER_CALL = 0.1

    table = data.binary(work.rows, seed=1)
    with cluster_of(work) as client:
        client.run(_add_latency, work.latency)
        chunk = -(-work.rows // (2 * work.workers))
        X = da.from_array(table.X, chunks=(chunk, work.features)).persist()
        y = da.from_array(table.y, chunks=chunk).persist()

        def seconds():
            times = []
            model = GradientBoostingClassifier(
                n_estimators=60, max_leaf_nodes=work.leaves, max_features=None, early_stopping=False,
                random_state=0, callbacks=[lambda _: times.append(time.perf_counter())],
            )  # fmt: skip
            model.fit(X, y, client=client)
            first_of_call = np.flatnonzero(np.diff(times, prepend=0) > 0.01)[3:]
            first, last = first_of_call[0], first_of_call[-1]
            return (times[last - 1] - times[first - 1]) / (last - first)

        return min(seconds() for _ in range(repeats))


# -------------------------------------------------------------------------------------------- report
def fit_constants(runs, seconds):
    """Least squares of the relative errors, with constants that are not negative."""
    terms = np.array([run.terms() / s for run, s in zip(runs, seconds, strict=True)])
    rest = np.array([1 - run.network_seconds() / s for run, s in zip(runs, seconds, strict=True)])
    scale = terms.max(axis=0)
    return nnls(terms / scale, rest)[0] / scale


FAR_AWAY = {
    "10^8 rows, 10 workers of 8 threads, 10 Gbit/s": Work(
        10**8, 10, bandwidth=1.25e9, latency=1e-4, threads=8
    ),
    "10^9 rows, 100 workers of 8 threads, 10 Gbit/s": Work(
        10**9, 100, bandwidth=1.25e9, latency=1e-4, threads=8
    ),
    "10^9 rows, 100 workers of 8 threads, 1 Gbit/s": Work(
        10**9, 100, bandwidth=1.25e8, latency=1e-4, threads=8
    ),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    with_bandwidth = os.geteuid() == 0 and shutil.which("ip") is not None
    print(in_words(describe()), flush=True)
    if not with_bandwidth:
        print("bandwidth is not limited: that needs root and the command ip")
    runs, seconds = works(os.cpu_count(), with_bandwidth), []
    for run in runs:
        seconds.append(measure(run))
        print(f"{in_short(run):60} {1e3 * seconds[-1]:8.1f} ms per round", flush=True)
    used, others = slice(0, None, 2), slice(1, None, 2)
    constants = fit_constants(runs[used], seconds[used])
    print(
        "constants: "
        + ", ".join(f"{n} {c:.3g} s" for n, c in zip(CONSTANTS, constants, strict=True))
    )
    errors = [run.seconds(constants) / s - 1 for run, s in zip(runs, seconds, strict=True)]
    for run, error in zip(runs, errors, strict=True):
        print(f"{in_short(run):60} {100 * error:+6.0f} %")
    absolute = np.abs(errors[others])
    print(
        f"error on the {len(absolute)} runs that were not used: median {100 * np.median(absolute):.0f} %,"
        f" largest {100 * absolute.max():.0f} %"
    )
    for name, work in FAR_AWAY.items():
        network = work.network_seconds()
        print(
            f"{name}: {work.seconds(constants):.2f} s per round, of which {network:.2f} s on the network;"
            f" {work.messages:.0f} messages one after the other, {work.sent_bytes / 1e6:.1f} MB per worker"
        )


def in_short(work):
    network = ""
    if not math.isinf(work.bandwidth):
        network += f", {work.bandwidth / 125e6:g} Gbit/s"
    if work.latency:
        network += f", {1e3 * work.latency:g} ms"
    return f"{work.rows:,} rows, {work.leaves} leaves, {work.workers} workers{network}"


if __name__ == "__main__":
    main()

"""The machine and the versions of a benchmark."""

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from benchmarks import THREADS

DISTRIBUTIONS = ("bosquet", "lightgbm", "xgboost-cpu", "xgboost", "scikit-learn", "catboost")
OTHERS = ("numpy", "pandas")


def describe():
    """Return date, processor, memory, load and versions."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": THREADS,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: v for name in DISTRIBUTIONS + OTHERS if (v := _version(name))},
    }


def in_words(machine):
    """Return one line for the head of a report."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    line = (
        f"{machine['date']}; {machine['processor']}, {machine['cores']} cores, "
        f"{machine['threads']} threads, {machine['system']}; "
        f"Python {machine['python']}, {versions}."
    )
    if machine["load"] and machine["load"] > 0.5:
        line += f" The machine was busy at the start (load {machine['load']}): ratios are rough."
    return line


def _processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown processor"


def _version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None

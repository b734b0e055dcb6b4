"""Import time, each in a new interpreter, interleaved."""

import subprocess
import sys
from dataclasses import dataclass

from benchmarks.interleave import interleave

STATEMENTS = {
    "Bosquet": "from bosquet import GradientBoostingClassifier",
    "LightGBM": "import lightgbm",
    "XGBoost": "import xgboost",
    "HistGradientBoosting": "from sklearn.ensemble import HistGradientBoostingClassifier",
    "CatBoost": "import catboost",
}

# The statements include dependencies: LightGBM, for example, imports pandas if it is installed.
PROGRAM = """
import time
start = time.perf_counter()
{statement}
print(time.perf_counter() - start)
"""


@dataclass
class Import:
    """A contestant: a name, and the statement it runs."""

    name: str
    statement: str


def run(options):
    """Return the best of five imports each, after one that fills the disk cache."""
    wanted = {library.name for library in options.libraries}
    chosen = [Import(name, line) for name, line in STATEMENTS.items() if name in wanted]
    interleave(chosen, 1, _import)
    outcomes = interleave(chosen, max(5, options.repeats), _import)
    found = {"fastest": "LightGBM"}
    ours, theirs = (outcomes.get(name, {}).get("seconds") for name in ("Bosquet", "LightGBM"))
    if ours and theirs:
        found["ratio"] = ours / theirs
    return {
        "name": "import",
        "title": "import, fresh interpreter",
        "kind": "import",
        "must": 1.0,
        "aim": None,
        "outcomes": outcomes,
        "skipped": {},
        "verdict": found,
    }


def _import(contestant, turn):
    command = [sys.executable, "-c", PROGRAM.format(statement=contestant.statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["import failed"])[-1])
    return {"seconds": float(done.stdout.strip().splitlines()[-1])}

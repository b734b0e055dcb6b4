"""Prediction times: two hundred thousand rows at once, and one row at a time."""

import time
from dataclasses import dataclass
from statistics import median

from benchmarks import data
from benchmarks.interleave import available, fastest, interleave
from benchmarks.libraries import Settings

# lleaves compiles a LightGBM model; it needs a separate environment, and took 0.26 of the time of
# LightGBM where both were measured. A ratio below that is faster than lleaves.
COMPILED_SHARE = 0.26


@dataclass
class Server:
    """A contestant: a name, and its function of an array of rows."""

    name: str
    predict: object


def fit_models(options):
    """Return one model per library, with 100 trees of 63 leaves, and the errors of those that failed."""
    libraries, skipped = available(options.libraries)
    table = data.binary(20_000 if options.quick else 200_000, seed=1)
    models = {}
    for library in libraries:
        try:
            model = library.make("binary", Settings(rounds=options.rounds), [])
            models[library.name] = model.fit(table.X, table.y)
        except Exception as error:  # reported in the table; the others continue
            skipped[library.name] = f"{type(error).__name__}: {error}"
    return models, skipped


def run_batch(options, models, skipped):
    """predict_proba of 200,000 rows."""
    X = data.binary(20_000 if options.quick else 200_000, seed=data.HELD_OUT_SEED).X
    servers = [Server(name, model.predict_proba) for name, model in models.items()]

    def act(server, turn):
        start = time.perf_counter()
        server.predict(X)
        return {"seconds": time.perf_counter() - start}

    outcomes = interleave(servers, max(5, options.repeats), act)
    return {
        "name": "predict",
        "title": f"predict {len(X):,} rows, {options.rounds} trees of 63 leaves",
        "kind": "predict",
        "must": 0.50,
        "aim": 0.25,
        "outcomes": outcomes,
        "skipped": skipped,
        "verdict": _batch_verdict(outcomes),
    }


def _batch_verdict(outcomes):
    def seconds(name):
        return outcomes.get(name, {}).get("seconds")

    found = {"fastest": "XGBoost"}
    if seconds("LightGBM"):
        found["compiled"] = COMPILED_SHARE * seconds("LightGBM")
    if seconds("Bosquet") and seconds("XGBoost"):
        found["ratio"] = seconds("Bosquet") / seconds("XGBoost")
    if seconds("Bosquet") and "compiled" in found:
        found["ratio_compiled"] = seconds("Bosquet") / found["compiled"]
    return found


def run_single(options, models, skipped):
    """One NumPy row: `predict_proba` of every library, and our `predictor()` as well."""
    rows = data.binary(1_000, seed=data.HELD_OUT_SEED).X
    calls = 200 if options.quick else len(rows)
    servers = [Server(name, model.predict_proba) for name, model in models.items()]
    skipped = dict(skipped)
    if "Bosquet" in models:
        try:
            servers.append(Server("Bosquet predictor()", models["Bosquet"].predictor()))
        except Exception as error:  # reported in the table; the others continue
            skipped["Bosquet predictor()"] = f"{type(error).__name__}: {error}"

    def act(server, turn):
        predict, spent = server.predict, []
        for k in range(calls):
            row = rows[k : k + 1]
            start = time.perf_counter()
            predict(row)
            spent.append(time.perf_counter() - start)
        return {"seconds": median(spent)}

    outcomes = interleave(servers, max(5, options.repeats), act)
    return {
        "name": "latency",
        "title": "one row, predict_proba (median call)",
        "kind": "latency",
        "must": 0.30,
        "aim": None,
        "outcomes": outcomes,
        "skipped": skipped,
        "verdict": _single_verdict(outcomes),
    }


def _single_verdict(outcomes):
    peers = [name for name in outcomes if not name.startswith("Bosquet")]
    found = {"fastest": fastest(outcomes, peers)}
    if "seconds" in outcomes.get("Bosquet", {}) and found["fastest"]:
        found["ratio"] = outcomes["Bosquet"]["seconds"] / outcomes[found["fastest"]]["seconds"]
    if "seconds" in outcomes.get("Bosquet predictor()", {}):
        found["predictor"] = outcomes["Bosquet predictor()"]["seconds"]
    return found

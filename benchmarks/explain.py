"""Explanations compared with the peers: `python -m benchmarks.explain`.

SHAP values, interactions and partial dependence of models of the same size on the same data,
interleaved, the best of a few rounds. A peer that is not installed is left out. The partial dependence
of scikit-learn predicts once per grid point; it is timed on a few features and extrapolated, because all
features take minutes.
"""

import argparse
import json
import time
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.interleave import interleave
from benchmarks.machine import describe
from benchmarks.report import markdown_table

TREES, LEAVES, THREADS = 100, 63, 2
FIT_ROWS, GRID = 50_000, 50
SKLEARN_FEATURES = 2
TARGETS = {"values": 0.3, "interactions": 0.3, "dependence": 0.1}


@dataclass
class Contestant:
    """A library, and its function of some rows."""

    name: str
    explain: Any


def bosquet_model(table):
    """Return the model that Bosquet explains."""
    from bosquet import GradientBoostingRegressor

    return GradientBoostingRegressor(
        n_estimators=TREES, max_leaf_nodes=LEAVES, learning_rate=0.1, early_stopping=False,
        n_jobs=THREADS, random_state=0,
    ).fit(table.X, table.y)  # fmt: skip


def lightgbm_model(table):
    """Return a model of the same size in LightGBM."""
    import lightgbm

    return lightgbm.LGBMRegressor(
        n_estimators=TREES, num_leaves=LEAVES, n_jobs=THREADS, verbose=-1
    ).fit(table.X, table.y)


def xgboost_model(table):
    """Return a model of the same size in XGBoost."""
    import xgboost

    return xgboost.XGBRegressor(
        n_estimators=TREES, max_leaves=LEAVES, grow_policy="lossguide", max_depth=0,
        tree_method="hist", n_jobs=THREADS,
    ).fit(table.X, table.y)  # fmt: skip


def contestants(table, ours):
    """Return the libraries for each task."""
    works = {
        "values": [Contestant("Bosquet", lambda X: ours.explain(X))],
        "interactions": [Contestant("Bosquet", lambda X: ours.explain(X, interactions=True))],
        "background of 100": [Contestant("Bosquet", lambda X: ours.explain(X, table.X[:100]))],
    }
    if find_spec("lightgbm"):
        theirs = lightgbm_model(table)
        works["values"].append(
            Contestant("LightGBM", lambda X: theirs.predict(X, pred_contrib=True))
        )
        if find_spec("shap"):
            import shap

            explainer = shap.TreeExplainer(theirs)
            against = shap.TreeExplainer(theirs, table.X[:100])
            works["values"].append(Contestant("shap", explainer.shap_values))
            works["interactions"].append(Contestant("shap", explainer.shap_interaction_values))
            works["background of 100"].append(Contestant("shap", against.shap_values))
    if find_spec("xgboost"):
        import xgboost

        booster = xgboost_model(table).get_booster()
        works["values"].append(
            Contestant("XGBoost", lambda X: booster.predict(xgboost.DMatrix(X), pred_contribs=True))
        )
        works["interactions"].append(
            Contestant(
                "XGBoost", lambda X: booster.predict(xgboost.DMatrix(X), pred_interactions=True)
            )
        )
    return works


def timed(X):
    """Return the time of one run, for `interleave`."""

    def act(contestant, _):
        start = time.perf_counter()
        contestant.explain(X)
        return {"seconds": time.perf_counter() - start}

    return act


def dependence_contestants(model, X, features):
    """Time all features for Bosquet; extrapolate from a few for scikit-learn."""
    from sklearn.inspection import partial_dependence as of_sklearn

    from bosquet.explain import partial_dependence

    def with_sklearn(X):
        for feature in range(features):
            of_sklearn(model, X, [feature], grid_resolution=GRID, method="brute")

    return [
        Contestant("Bosquet", lambda X: partial_dependence(model, X, grid=GRID)),
        Contestant("scikit-learn", with_sklearn),
    ]


def dependence(model, rows, features, repeats):
    """Measure partial dependence of all 28 features."""
    X = data.regression(rows, seed=3).X
    outcomes = interleave(dependence_contestants(model, X, features), repeats, timed(X))
    if "seconds" in outcomes["scikit-learn"]:
        outcomes["scikit-learn"]["seconds"] *= X.shape[1] / features
        outcomes["scikit-learn"]["scaled_from_features"] = features
    return outcomes


def report(results):
    """Return a table with the ratio to the fastest peer."""
    lines = []
    for work, outcomes in results.items():
        peers = [
            o["seconds"] for name, o in outcomes.items() if name != "Bosquet" and "seconds" in o
        ]
        for name, outcome in outcomes.items():
            seconds = outcome.get("seconds")
            ratio = ""
            if name == "Bosquet" and peers and seconds is not None:
                ratio = f"{seconds / min(peers):.3f}"
            shown = outcome.get("error", "") if seconds is None else f"{seconds:.3f}"
            aim = TARGETS.get(work.split(",")[0], "") if name == "Bosquet" else ""
            lines.append([work, name, shown, ratio, str(aim)])
    return markdown_table(["work", "library", "seconds", "of the fastest peer", "target"], lines)


def main():
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000, help="rows to explain")
    parser.add_argument("--dependence-rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    table = data.regression(FIT_ROWS, seed=1)
    X = np.ascontiguousarray(data.regression(given.rows, seed=2).X)
    ours = bosquet_model(table)
    rows_of = {
        "values": given.rows,
        "interactions": given.rows // 10,
        "background of 100": given.rows // 10,
    }
    results = {}
    for work, some in contestants(table, ours).items():
        rows = X[: rows_of[work]]
        results[f"{work}, {len(rows)} rows"] = interleave(some, given.repeats, timed(rows))
    results[f"dependence, {given.dependence_rows} rows, {X.shape[1]} x {GRID} points"] = dependence(
        ours, given.dependence_rows, SKLEARN_FEATURES, min(2, given.repeats)
    )
    text = report(results)
    print(text)
    given.out.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now().strftime("%Y%m%d-%H%M")
    (given.out / f"explain-{stamp}.md").write_text(text + "\n", encoding="utf-8")
    record = {"machine": describe(), "results": results}
    (given.out / f"explain-{stamp}.json").write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

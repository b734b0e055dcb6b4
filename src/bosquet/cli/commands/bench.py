"""`bosquet bench`: speed on this machine, compared with other installed libraries."""

from __future__ import annotations

import importlib
import time
from typing import TYPE_CHECKING, Any

from bosquet._text_table import text_table
from bosquet.cli.arguments import positive_int
from bosquet.cli.commands.info import machine
from bosquet.cli.output import print_note, print_result

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


NAME = "bench"
HELP = "measure speed on this machine and compare it with other installed libraries"
DESCRIPTION = (
    "Fit gradient boosting to simulated rows and predict other rows, with Bosquet, scikit-learn and those of"
    " LightGBM, XGBoost and CatBoost that are installed. All use the same number of rounds, number of leaves,"
    " learning rate and threads, and all rows and columns in every tree. The libraries are run in turn; the"
    " best time of each is reported. This takes about a minute."
)
EXAMPLES = """
bosquet bench
bosquet bench --rows 20000 --turns 1 --json
"""
COLUMNS, LEAVES, RATE = 28, 31, 0.1


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--rows",
        type=positive_int,
        default=100_000,
        metavar="N",
        help="number of rows (default: 100000)",
    )
    parser.add_argument(
        "--rounds",
        type=positive_int,
        default=100,
        metavar="N",
        help="number of boosting rounds (default: 100)",
    )
    parser.add_argument(
        "--turns",
        type=positive_int,
        default=3,
        metavar="N",
        help="number of fits per library; the fastest counts (default: 3)",
    )
    parser.add_argument(
        "--jobs",
        type=positive_int,
        metavar="N",
        help="number of threads (default: one per processor core)",
    )


def run(arguments: Namespace) -> None:
    import numpy as np
    from sklearn.datasets import make_classification
    from sklearn.metrics import log_loss

    about = machine()
    threads = arguments.jobs or about["cores"]
    test = max(arguments.rows // 4, 10)
    X, y = make_classification(
        arguments.rows + test, COLUMNS, n_informative=12, flip_y=0.1, random_state=0
    )
    X_test, y_test, X, y = X[:test], y[:test], X[test:], y[test:]
    libraries = installed_libraries(arguments.rounds, threads)
    results: dict[str, dict[str, float]] = {
        name: {"fit": np.inf, "predict": np.inf, "log_loss": np.nan} for name in libraries
    }
    for turn in range(arguments.turns):
        for name, (cls, settings) in libraries.items():
            print_note(arguments, f"turn {turn + 1} of {arguments.turns}: {name}")
            start = time.perf_counter()
            model = cls(**settings).fit(X, y)
            fit_end = time.perf_counter()
            proba = np.asarray(model.predict_proba(X_test))
            prediction_end = time.perf_counter()
            result = results[name]
            result["fit"] = min(result["fit"], fit_end - start)
            result["predict"] = min(result["predict"], prediction_end - fit_end)
            result["log_loss"] = float(log_loss(y_test, proba[:, 1]))
    report = {
        "machine": about,
        "rows": arguments.rows,
        "columns": COLUMNS,
        "rounds": arguments.rounds,
        "leaves": LEAVES,
        "threads": threads,
        "results": results,
    }
    print_result(arguments, report, results_table(report))


def installed_libraries(rounds: int, threads: int) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return the class and the parameters of every installed library."""
    trees: dict[str, Any] = {"n_estimators": rounds, "learning_rate": RATE, "n_jobs": threads}
    ours: dict[str, Any] = {
        **trees,
        "max_leaf_nodes": LEAVES,
        "early_stopping": False,
        "random_state": 0,
    }
    ours |= {"subsample": 1.0, "max_features": None}
    histogram: dict[str, Any] = {
        "max_iter": rounds,
        "learning_rate": RATE,
        "max_leaf_nodes": LEAVES,
    }
    histogram |= {"early_stopping": False}
    extreme: dict[str, Any] = {
        **trees,
        "grow_policy": "lossguide",
        "max_leaves": LEAVES,
        "max_depth": 0,
    }
    cat: dict[str, Any] = {
        "iterations": rounds,
        "learning_rate": RATE,
        "thread_count": threads,
        "max_leaves": LEAVES,
    }
    cat |= {"grow_policy": "Lossguide", "verbose": False, "allow_writing_files": False}
    candidates: dict[str, tuple[str, str, dict[str, Any]]] = {
        "Bosquet": ("bosquet", "GradientBoostingClassifier", ours),
        "scikit-learn": ("sklearn.ensemble", "HistGradientBoostingClassifier", histogram),
        "LightGBM": ("lightgbm", "LGBMClassifier", {**trees, "num_leaves": LEAVES, "verbose": -1}),
        "XGBoost": ("xgboost", "XGBClassifier", extreme),
        "CatBoost": ("catboost", "CatBoostClassifier", cat),
    }
    libraries = {}
    for name, (module, cls, settings) in candidates.items():
        try:
            libraries[name] = getattr(importlib.import_module(module), cls), settings
        except ImportError:
            continue
    return libraries


def results_table(report: dict[str, Any]) -> str:
    """Return the results as text."""
    results = report["results"]
    ours = results["Bosquet"]
    relative = "relative to Bosquet"
    rows = [["library", "fit, s", relative, "predict, s", relative, "log loss"]]
    for name, result in results.items():
        rows.append(
            [
                name,
                f"{result['fit']:.3f}",
                f"{result['fit'] / ours['fit']:.1f}",
                f"{result['predict']:.3f}",
                f"{result['predict'] / ours['predict']:.1f}",
                f"{result['log_loss']:.4f}",
            ]
        )
    about = report["machine"]
    heading = (
        f"{report['rows']:,} rows x {report['columns']}, {report['rounds']} rounds of {report['leaves']}"
        f" leaves, {report['threads']} threads, {about['instruction_set']}"
    )
    return "\n".join([heading, *text_table(rows)])

"""CART: a tree grown large, and pruned by cross-validation or on a validation set."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bosquet.study.methods.candidates import Found, SelfTuned, TuningTask
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.record import CurvePoint
from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor

# Points of a curve: a path of pruning may have a thousand.
MOST_POINTS = 60
# Rows of the root that every leaf is thought to have: a pure leaf of five rows is not sure of its class.
SMOOTHING = 2.0


def _make(classes: bool, chosen: dict[str, Any], seed: int) -> Any:
    """A tree that prunes itself; `chosen` are parameters of it."""
    if classes:
        return DecisionTreeClassifier(**chosen, smoothing=SMOOTHING, random_state=seed)
    return DecisionTreeRegressor(**chosen, random_state=seed)


def _tunes(classes: bool, least: int, task: TuningTask) -> Found:
    """One fit: the pruning table is the curve, and the tree it leaves is that of all rows."""
    measure = None
    if classes:
        measure = "misclassified" if task.metric.needs == "class" else "deviance"
    chosen = {
        "min_samples_leaf": least,
        "pruning": task.by,
        "pruning_measure": measure,
        "pruning_rule": "1se" if task.one_se else "min",
        "cv": min(task.folds, len(task.y)),
    }
    make = partial(_make, classes, chosen)
    tree = fit_by_design(make(task.seed), task.X, task.y, task.design, task.seed)
    table = tree.pruning_table_
    errors, spreads, title = _as_scores(table, measure, task.metric)
    points: list[CurvePoint] = []
    for line in reversed(_lines(table)):
        leaves = int(table.leaves[line])
        points.append(
            {
                "complexity": float(leaves),
                "label": f"{leaves} leaves" if leaves > 1 else "1 leaf",
                "setting": {"leaves": leaves, "ccp_alpha": float(table.ccp_alphas[line])},
                "score": float(errors[line]),
                "spread": float(spreads[line]),
                "chosen": line == table.chosen,
            }
        )
    leaves = int(tree.get_n_leaves())
    setting = {"leaves": leaves, "ccp_alpha": table.chosen_ccp_alpha, **chosen}
    candidate = Candidate(leaves, f"{leaves} leaves", setting, make)
    by = f"{task.folds}-fold cross-validation" if task.by == "cv" else "validation rows"
    score = float(errors[table.chosen])
    return Found(points, "leaves", True, by, title, candidate, score, None, tree)


def _remakes(classes: bool, setting: dict[str, Any]) -> Candidate | None:
    chosen = {key: value for key, value in setting.items() if key not in ("leaves", "ccp_alpha")}
    if "leaves" not in setting:
        return None
    leaves = setting["leaves"]
    return Candidate(leaves, f"{leaves} leaves", dict(setting), partial(_make, classes, chosen))


def _as_scores(table: Any, measure: str | None, metric: Any) -> tuple[np.ndarray, np.ndarray, str]:
    """Errors of the pruning table as the study's metric where they amount to it."""
    errors, spreads = table.errors, table.standard_errors
    if measure == "deviance":  # -2 ln of the share of the row's class
        return errors / 2, spreads / 2, "Log loss"
    if measure == "misclassified":
        if metric.name == "accuracy":
            return 1 - errors, spreads, metric.title
        return errors, spreads, "Share of errors"
    if metric.name == "rmse":
        root = np.sqrt(errors)
        slope = np.divide(0.5, root, out=np.zeros_like(root), where=root > 0)
        return root, spreads * slope, metric.title
    return errors, spreads, "Mean squared error"


def _lines(table: Any) -> list[int]:
    """Lines of the table for the curve: the ends, the chosen one, and others evenly by log leaves."""
    if len(table) <= MOST_POINTS:
        return list(range(len(table)))
    marks = np.geomspace(table.leaves[0], table.leaves[-1], MOST_POINTS)
    lines = {int(np.abs(table.leaves - mark).argmin()) for mark in marks}
    return sorted(lines | {0, table.chosen, len(table) - 1})


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    classes = shape.task != "regression"
    least = 5 if shape.n_rows >= 500 else 2
    chosen = {"min_samples_leaf": least, "pruning": "cv", "cv": 5}
    if classes:
        chosen["pruning_measure"] = "deviance"
    return [
        SelfTuned(
            complexity=1.0,
            label="pruned by folds",
            setting=chosen,
            make=partial(_make, classes, chosen),
            tunes=partial(_tunes, classes, least),
            remakes=partial(_remakes, classes),
        )
    ]


def _details(fitted: Any) -> dict[str, Any]:
    return {
        "leaves": int(fitted.get_n_leaves()),
        "depth": int(fitted.get_depth()),
        "leaves before pruning": int(fitted.pruning_table_.leaves[0]),
    }


METHODS = [
    Method(
        name="cart",
        title="CART, pruned",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="leaves",
        log=True,
        candidates=_candidates,
        card={
            "readable": ("yes", "a few questions"),
            "score_or_interval": ("partly", "class shares or the spread of a leaf"),
            "consistent": ("partly", "if leaves shrink and fill up as n grows; unstable"),
            "minimax": ("no", "its greedy splits may miss what matters"),
            "non_asymptotic": ("partly", "oracle bounds for the pruning, given the splits"),
            "parameter_free": ("partly", "folds find the size"),
            "online": ("no", "splits are not revised"),
        },
        rows_affordable=FitCost(0.0042, rows=1.05, classes=0.3, encoded=False),
        details=_details,
    )
]

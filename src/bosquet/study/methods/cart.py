"""CART: a large tree, pruned by cross-validation or on a validation set."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bosquet.study.methods.candidates import SelfTuned, SelfTuningResult, TuningTask
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.metrics.metric import Metric
from bosquet.study.record import CurvePoint
from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor

# Points of the curve; a pruning path may have a thousand.
MAX_POINTS = 60
# Prior rows with the class proportions of the root, added to each leaf: a pure leaf of five rows does not
# predict its class with probability 1.
SMOOTHING = 2.0


def _make_tree(is_classification: bool, chosen: dict[str, Any], seed: int) -> Any:
    """Return a tree that prunes itself; `chosen` are its parameters."""
    if is_classification:
        return DecisionTreeClassifier(**chosen, smoothing=SMOOTHING, random_state=seed)
    return DecisionTreeRegressor(**chosen, random_state=seed)


def _tune(is_classification: bool, min_samples_leaf: int, task: TuningTask) -> SelfTuningResult:
    """Fit once: the pruning table is the tuning curve, and the pruned tree is fitted to all rows."""
    measure = None
    if is_classification:
        measure = "misclassified" if task.metric.needs == "class" else "deviance"
    chosen = {
        "min_samples_leaf": min_samples_leaf,
        "pruning": task.scheme,
        "pruning_measure": measure,
        "pruning_rule": "1se" if task.one_se else "min",
        "cv": min(task.folds, len(task.rows)),
    }
    make = partial(_make_tree, is_classification, chosen)
    tree = fit_by_design(make(task.seed), task.rows, task.seed)
    table = tree.pruning_table_
    errors, standard_errors, title = _errors_as_scores(table, measure, task.metric)
    points: list[CurvePoint] = []
    for line in reversed(_lines_of_curve(table)):
        leaves = int(table.leaves[line])
        points.append(
            {
                "complexity": float(leaves),
                "label": f"{leaves} leaves" if leaves > 1 else "1 leaf",
                "setting": {"leaves": leaves, "ccp_alpha": float(table.ccp_alphas[line])},
                "score": float(errors[line]),
                "standard_error": float(standard_errors[line]),
                "chosen": line == table.chosen,
            }
        )
    leaves = int(tree.get_n_leaves())
    setting = {"leaves": leaves, "ccp_alpha": table.chosen_ccp_alpha, **chosen}
    candidate = Candidate(leaves, f"{leaves} leaves", setting, make)
    scheme_title = (
        f"{task.folds}-fold cross-validation" if task.scheme == "cv" else "validation rows"
    )
    score = float(errors[table.chosen])
    return SelfTuningResult(
        points, "leaves", True, scheme_title, title, candidate, score, None, tree
    )


def _candidate_from_setting(is_classification: bool, setting: dict[str, Any]) -> Candidate | None:
    chosen = {key: value for key, value in setting.items() if key not in ("leaves", "ccp_alpha")}
    if "leaves" not in setting:
        return None
    leaves = setting["leaves"]
    return Candidate(
        leaves, f"{leaves} leaves", dict(setting), partial(_make_tree, is_classification, chosen)
    )


def _errors_as_scores(
    table: Any, measure: str | None, metric: Metric
) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the errors of the pruning table, as values of the study's metric if they determine it."""
    errors, standard_errors = table.errors, table.standard_errors
    if measure == "deviance":  # deviance is twice the log loss
        return errors / 2, standard_errors / 2, "Log loss"
    if measure == "misclassified":
        if metric.name == "accuracy":
            return 1 - errors, standard_errors, metric.title
        return errors, standard_errors, "Error rate"
    if metric.name == "rmse":
        root = np.sqrt(errors)
        slope = np.divide(0.5, root, out=np.zeros_like(root), where=root > 0)
        return root, standard_errors * slope, metric.title
    return errors, standard_errors, "Mean squared error"


def _lines_of_curve(table: Any) -> list[int]:
    """Return the lines of the pruning table for the curve.

    These are both ends, the chosen one and others, evenly spaced in the logarithm of the number of leaves.
    """
    if len(table) <= MAX_POINTS:
        return list(range(len(table)))
    marks = np.geomspace(table.leaves[0], table.leaves[-1], MAX_POINTS)
    lines = {int(np.abs(table.leaves - mark).argmin()) for mark in marks}
    return sorted(lines | {0, table.chosen, len(table) - 1})


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    is_classification = shape.task != "regression"
    min_samples_leaf = 5 if shape.n_rows >= 500 else 2
    chosen = {"min_samples_leaf": min_samples_leaf, "pruning": "cv", "cv": 5}
    if is_classification:
        chosen["pruning_measure"] = "deviance"
    return [
        SelfTuned(
            complexity=1.0,
            label="pruned by cross-validation",
            setting=chosen,
            make=partial(_make_tree, is_classification, chosen),
            tune=partial(_tune, is_classification, min_samples_leaf),
            from_setting=partial(_candidate_from_setting, is_classification),
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
        log_axis=True,
        candidates=_candidates,
        properties={
            "readable": ("yes", "a few questions"),
            "score_or_interval": ("partly", "class proportions or standard deviation of a leaf"),
            "consistent": ("partly", "if leaves shrink while their row counts grow; unstable"),
            "minimax": ("no", "its greedy splits may miss interactions"),
            "non_asymptotic": ("partly", "oracle bounds for the pruning, given the splits"),
            "parameter_free": ("partly", "cross-validation finds the size"),
            "online": ("no", "splits are not revised"),
        },
        rows_affordable=FitCost(0.0042, rows_exponent=1.05, classes_exponent=0.3, encoded=False),
        details=_details,
    )
]

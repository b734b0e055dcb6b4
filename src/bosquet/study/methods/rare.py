"""Methods for rare classes: balanced bagging, and boosting with undersampling (RUSBoost)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from bosquet.bagging import BaggingClassifier
from bosquet.boosting import AdaBoostClassifier
from bosquet.study.methods.adaboost import vote_details
from bosquet.study.methods.candidates import Staged
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.forests import columns_drawn, forest_label
from bosquet.study.methods.gradient import staged_predictions
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.metrics.metric import RARE
from bosquet.study.record import Task
from bosquet.trees import DecisionTreeClassifier

CLASSES: frozenset[Task] = frozenset({"binary", "multiclass"})
LEARNERS = 100
ROUNDS = (10, 25, 50, 100, 200)


def _make_bagging(features: int, min_samples_leaf: int, seed: int) -> Any:
    tree = DecisionTreeClassifier(max_features=features, min_samples_leaf=min_samples_leaf)
    return BaggingClassifier(tree, LEARNERS, balanced=True, oob_score=True, random_state=seed)


def _bagging_candidates(shape: TableShape) -> Sequence[Candidate]:
    columns = shape.n_numbers + shape.n_categories
    return [
        Candidate(
            complexity=q,
            label=forest_label(q, columns, min_samples_leaf),
            setting={
                "n_estimators": LEARNERS,
                "max_features": q,
                "min_samples_leaf": min_samples_leaf,
            },
            make=partial(_make_bagging, q, min_samples_leaf),
        )
        for q in sorted({columns_drawn(columns, True)[-2 if columns > 3 else -1], columns})
        for min_samples_leaf in (3, 1)
    ]


def _make_rusboost(depth: int, variant: str, rounds: int, seed: int) -> Any:
    return AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth),
        rounds,
        variant=variant,
        learning_rate=0.3 if depth > 1 else 1.0,
        sampling="under",
        random_state=seed,
    )


def _rusboost_candidates(shape: TableShape) -> Sequence[Candidate]:
    return [
        Staged(
            complexity=rounds,
            label=f"{rounds} rounds, trees of depth {depth}",
            setting={"n_estimators": rounds, "max_depth": depth, "sampling": "under"},
            make=partial(_make_rusboost, depth, "discrete", rounds),
            family=f"depth {depth}",
            stages=staged_predictions,
        )
        for depth in (1, 4, 8)
        for rounds in ROUNDS
    ]


def _why_unsuited(shape: TableShape) -> str:
    return (
        "" if shape.rarest_share < RARE else f"no class is rare (less than {RARE:.0%} of the rows)"
    )


def _bag_details(fitted: Any) -> dict[str, Any]:
    return {
        "learners": int(fitted.n_estimators_),
        "out-of-bag error": float(fitted.oob_error_),
        "rows per bag": len(fitted.estimators_samples_[0]),
    }


METHODS = [
    Method(
        name="balanced-bagging",
        title="Balanced bagging",
        tasks=CLASSES,
        parameter="columns drawn per node",
        log_axis=False,
        candidates=_bagging_candidates,
        properties={
            "readable": ("no", "a hundred trees"),
            "score_or_interval": ("partly", "votes, as if classes were equally frequent"),
            "consistent": ("partly", "for the balanced error, if its trees are"),
            "minimax": ("no", "not known for CART"),
            "non_asymptotic": ("partly", "squared error at most the mean error of its trees"),
            "parameter_free": ("partly", "the rarest class sets the size of the bags"),
            "online": ("no", "bags are drawn from all rows"),
        },
        scheme="oob",
        rows_affordable=FitCost(0.1, columns_exponent=0.3, fixed=0.5, encoded=False),
        details=_bag_details,
        why_unsuited=_why_unsuited,
    ),
    Method(
        name="rusboost",
        title="RUSBoost",
        tasks=CLASSES,
        parameter="rounds",
        log_axis=True,
        candidates=_rusboost_candidates,
        properties={
            "readable": ("no", "a vote of many trees"),
            "score_or_interval": ("partly", "margins; overconfident probabilities"),
            "consistent": ("no", "not proved with undersampling"),
            "minimax": ("no", "not known"),
            "non_asymptotic": ("yes", "training error at most Π Z for any samples"),
            "parameter_free": ("partly", "the rounds"),
            "online": ("no", "weights need all rows"),
        },
        rows_affordable=FitCost(0.02, columns_exponent=0.3, fixed=0.1, encoded=False),
        details=vote_details,
        why_unsuited=_why_unsuited,
    ),
]

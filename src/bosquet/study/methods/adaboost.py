"""AdaBoost variants, whose complexity is the number of rounds; AdaBoost.R2 for regression."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bosquet.boosting import AdaBoostClassifier, AdaBoostRegressor
from bosquet.study.methods.candidates import Staged
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.gradient import WIDE, staged_predictions
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor

ROUNDS = (10, 25, 50, 100, 200, 400)
ROUNDS_MULTICLASS = (5, 10, 25, 50, 100, 200)
ROUNDS_REGRESSION = (5, 10, 20, 40, 80)
# With at least this many rows, splits are searched in histograms.
BINS_FROM = 5_000


def _make_classifier(
    variant: str, multiclass: str, depth: int, rounds: int, split: str, seed: int
) -> Any:
    learner: Any = None
    if depth > 1 and variant in ("gentle", "logit"):
        learner = DecisionTreeRegressor(max_depth=depth)
    elif depth > 1:
        learner = DecisionTreeClassifier(max_depth=depth)
    return AdaBoostClassifier(
        learner,
        rounds,
        variant=variant,
        multiclass=multiclass,
        split=split,
        random_state=seed,
    )


def _make_regressor(loss: str, depth: int, rounds: int, split: str, seed: int) -> Any:
    learner = DecisionTreeRegressor(max_depth=depth)
    return AdaBoostRegressor(learner, rounds, loss=loss, split=split, random_state=seed)


def _classification_candidates(shape: TableShape) -> Sequence[Candidate]:
    split = "histogram" if shape.n_rows >= BINS_FROM else "exact"
    if shape.n_classes == 2:
        family = [("discrete", "samme", 1), ("real", "samme", 1), ("gentle", "samme", 1)]
        family += [("logit", "samme", 1), ("gentle", "samme", 3)]
    else:
        family = [("gentle", "one-vs-rest", 1), ("discrete", "samme", 3)]
        if shape.n_classes <= 6:
            family += [("gentle", "one-vs-one", 1), ("gentle", "ecoc", 1)]
    candidates: list[Candidate] = []
    for variant, multiclass, depth in family:
        learner = "stumps" if depth == 1 else f"trees of depth {depth}"
        name = f"{variant}, {learner}" + (f", {multiclass}" if shape.n_classes > 2 else "")
        setting = {"variant": variant, "learner": learner}
        if shape.n_classes > 2:
            setting["multiclass"] = multiclass
        candidates += [
            Staged(
                complexity=rounds,
                label=f"{rounds} rounds, {name}",
                setting={"n_estimators": rounds, **setting},
                make=partial(_make_classifier, variant, multiclass, depth, rounds, split),
                family=name,
                stages=staged_predictions,
            )
            for rounds in _numbers_of_rounds(shape)
        ]
    return candidates


def _regression_candidates(shape: TableShape) -> Sequence[Candidate]:
    split = "histogram" if shape.n_rows >= BINS_FROM else "exact"
    return [
        Staged(
            complexity=rounds,
            label=f"{rounds} rounds, {loss} loss, depth {depth}",
            setting={"n_estimators": rounds, "loss": loss, "max_depth": depth},
            make=partial(_make_regressor, loss, depth, rounds, split),
            family=f"{loss} {depth}",
            stages=staged_predictions,
        )
        for loss, depth in (("linear", 3), ("square", 3), ("exponential", 6), ("linear", 8))
        for rounds in ROUNDS_REGRESSION
    ]


def _numbers_of_rounds(shape: TableShape) -> Sequence[int]:
    rounds = ROUNDS if shape.n_classes == 2 else ROUNDS_MULTICLASS
    return rounds if shape.n_indicators <= WIDE else rounds[:4]


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    return (
        _regression_candidates(shape)
        if shape.task == "regression"
        else _classification_candidates(shape)
    )


def vote_details(fitted: Any) -> dict[str, Any]:
    """Return the number of rounds and, from the certificate, the training error bound and the margins."""
    if not hasattr(fitted, "certificate_"):
        return {"rounds": len(fitted.estimators_), "loss": fitted.loss}
    details = {
        "rounds": int(fitted.n_estimators_),
        "variant": fitted.variant,
        "training error": float(fitted.train_score_[fitted.n_estimators_ - 1]),
    }
    certificate = fitted.certificate_
    if certificate.training_error_bound is not None:
        details["bound on the training error"] = float(certificate.training_error_bound[-1])
    if certificate.margins is not None:
        details["median margin"] = float(np.median(certificate.margins))
        details["share of rows with margin <= 0"] = float((certificate.margins <= 0).mean())
    return details


METHODS = [
    Method(
        name="adaboost",
        title="AdaBoost",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="rounds",
        log_axis=True,
        candidates=_candidates,
        properties={
            "readable": ("partly", "with stumps, a sum of one function per column"),
            "score_or_interval": (
                "partly",
                "margins; probabilities overconfident after many rounds",
            ),
            "consistent": ("yes", "with early stopping (Bartlett and Traskin)"),
            "minimax": ("no", "its rates are not optimal"),
            "non_asymptotic": ("yes", "training error at most Π Z, margin bounds for any n"),
            "parameter_free": ("partly", "only the rounds; edges need not be known"),
            "online": ("no", "weights need all rows"),
        },
        rows_affordable=FitCost(
            0.008, columns_exponent=0.7, classes_exponent=0.8, fixed=0.05, encoded=False
        ),
        details=vote_details,
    )
]

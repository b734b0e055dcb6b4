"""The constant rule: what is lost by knowing nothing of a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.dummy import DummyClassifier, DummyRegressor

from bosquet.study._costs import FitCost
from bosquet.study.method import Candidate, Method, TableShape


def _make_classifier(seed: int) -> Any:
    return DummyClassifier(strategy="prior")


def _make_regressor(seed: int) -> Any:
    return DummyRegressor(strategy="mean")


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    if shape.task == "regression":
        return [Candidate(1.0, "the mean", {"says": "the mean"}, _make_regressor)]
    return [Candidate(1.0, "class shares", {"says": "class shares"}, _make_classifier)]


def _details(fitted: Any) -> dict[str, Any]:
    if hasattr(fitted, "class_prior_"):
        shares = zip(fitted.classes_.tolist(), fitted.class_prior_.tolist(), strict=True)
        return {"class shares": {str(label): share for label, share in shares}}
    return {"mean": float(fitted.constant_.ravel()[0])}


METHODS = [
    Method(
        name="constant",
        title="Constant",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="",
        log=False,
        candidates=_candidates,
        card={
            "readable": ("yes", "one number"),
            "score_or_interval": ("partly", "class shares, the same for every row"),
            "consistent": ("no", "it never looks at the row"),
            "minimax": ("no", "its bias stays"),
            "non_asymptotic": ("yes", "the error of a mean, for any n"),
            "parameter_free": ("yes", "nothing to set"),
            "online": ("yes", "a running mean"),
        },
        rows_affordable=FitCost(1e-4, columns=0.0),
        details=_details,
    )
]

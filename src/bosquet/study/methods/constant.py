"""The constant rule, the baseline that ignores the features."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sklearn.dummy import DummyClassifier, DummyRegressor

from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.methods.offsets import OffsetModel, rate_model, with_offset
from bosquet.study.table.offset import OffsetColumn


def _make_classifier(seed: int) -> Any:
    return DummyClassifier(strategy="prior")


def _make_regressor(offset: OffsetColumn | None, seed: int) -> Any:
    return with_offset(DummyRegressor(strategy="mean"), offset)


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    if shape.task == "regression":
        what = "the mean" if shape.offset is None else "the mean rate"
        return [Candidate(1.0, what, {"prediction": what}, partial(_make_regressor, shape.offset))]
    return [
        Candidate(1.0, "class proportions", {"prediction": "class proportions"}, _make_classifier)
    ]


def _details(fitted: Any) -> dict[str, Any]:
    if hasattr(fitted, "class_prior_"):
        shares = zip(fitted.classes_.tolist(), fitted.class_prior_.tolist(), strict=True)
        return {"class proportions": {str(label): share for label, share in shares}}
    what = "mean rate" if isinstance(fitted, OffsetModel) else "mean"
    return {what: float(rate_model(fitted).constant_.ravel()[0])}


METHODS = [
    Method(
        name="constant",
        title="Constant",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="",
        log_axis=False,
        candidates=_candidates,
        properties={
            "readable": ("yes", "one number"),
            "score_or_interval": ("partly", "class proportions, the same for all rows"),
            "consistent": ("no", "it ignores the features"),
            "minimax": ("no", "its bias does not vanish"),
            "non_asymptotic": ("yes", "the error of a mean, for any n"),
            "parameter_free": ("yes", "no hyper-parameter"),
            "online": ("yes", "a running mean"),
        },
        rows_affordable=FitCost(1e-4, columns_exponent=0.0),
        details=_details,
        takes_offset=True,
    )
]

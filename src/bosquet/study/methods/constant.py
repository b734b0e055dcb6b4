"""The constant rule: what is lost by knowing nothing of a row."""

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
        says = "the mean" if shape.offset is None else "the mean rate"
        return [Candidate(1.0, says, {"says": says}, partial(_make_regressor, shape.offset))]
    return [Candidate(1.0, "class shares", {"says": "class shares"}, _make_classifier)]


def _details(fitted: Any) -> dict[str, Any]:
    if hasattr(fitted, "class_prior_"):
        shares = zip(fitted.classes_.tolist(), fitted.class_prior_.tolist(), strict=True)
        return {"class shares": {str(label): share for label, share in shares}}
    says = "mean rate" if isinstance(fitted, OffsetModel) else "mean"
    return {says: float(rate_model(fitted).constant_.ravel()[0])}


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
            "score_or_interval": ("partly", "class shares, the same for all rows"),
            "consistent": ("no", "it ignores the row"),
            "minimax": ("no", "its bias does not vanish"),
            "non_asymptotic": ("yes", "the error of a mean, for any n"),
            "parameter_free": ("yes", "nothing to set"),
            "online": ("yes", "a running mean"),
        },
        rows_affordable=FitCost(1e-4, columns=0.0),
        details=_details,
        takes_offset=True,
    )
]

"""The outcome of one method on one split, and its JSON form."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np

from bosquet.study.record import CurveRecord, EvaluationRecord, Status, to_json_types

# The candidates over which a method is tuned on a split:
# - "all": all its candidates;
# - "near": the candidates next to the choice of the first split;
# - "same": none, the choice of the first split is used.
TuningScope = Literal["all", "near", "same"]


@dataclass
class Outcome:
    """Scores, times, hyper-parameters and predictions of one method on one split."""

    method: str
    split: int
    status: Status
    message: str = ""
    scope: TuningScope = "all"
    rows_used: int = 0
    subsampled: bool = False
    setting: dict[str, Any] = field(default_factory=dict)
    curve: CurveRecord | None = None
    score: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0  # in total
    fit_seconds: float = 0.0  # tuning and fitting
    one_fit_seconds: float = 0.0  # one fit, approximately
    decision_seconds: float = 0.0  # choosing the threshold
    scoring_seconds: float = 0.0  # predicting and scoring the test rows
    predict_microseconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)
    threshold: float | None = None
    finished: bool = True  # False if the time limit ended its rounds or its final fit early
    evaluation: EvaluationRecord | None = None
    predictions: np.ndarray | None = None  # for the test rows of the first split, float32

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON types; predictions become compressed text."""
        state = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        state["predictions"] = None if self.predictions is None else _pack(self.predictions)
        return to_json_types(state)

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Outcome:
        """Return the outcome from the result of `to_json`."""
        field_names = {entry.name for entry in fields(cls)}
        outcome = cls(**{key: value for key, value in state.items() if key in field_names})
        if state.get("predictions") is not None:
            outcome.predictions = _unpack(state["predictions"])
        return outcome


def _pack(predictions: np.ndarray) -> dict[str, Any]:
    data = np.ascontiguousarray(predictions, dtype="<f4")
    text = base64.b64encode(zlib.compress(data.tobytes(), 1)).decode()
    return {"shape": list(data.shape), "float32": text}


def _unpack(state: dict[str, Any]) -> np.ndarray:
    data = zlib.decompress(base64.b64decode(state["float32"]))
    return np.frombuffer(data, dtype="<f4").reshape(state["shape"]).copy()

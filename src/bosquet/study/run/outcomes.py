"""What came of one method on one split, and how it is written down."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np

from bosquet.study.record import Curve, HeldOut, Status, plain

# How a method was tuned on a split: over all its candidates, over those next to the first split's choice,
# or not at all, with the first split's choice.
How = Literal["all", "near", "same"]


@dataclass
class Outcome:
    """A method on a split: its score there and everything the table and the page want to know."""

    method: str
    split: int
    status: Status
    message: str = ""
    how: How = "all"
    rows_used: int = 0
    subsampled: bool = False
    setting: dict[str, Any] = field(default_factory=dict)
    curve: Curve | None = None
    score: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0  # all of it
    fit_seconds: float = 0.0  # tuning and fitting
    one_fit_seconds: float = 0.0  # about
    decision_seconds: float = 0.0  # finding the threshold
    judge_seconds: float = 0.0  # predicting the test rows
    predict_microseconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)
    threshold: float | None = None
    finished: bool = True  # False where the time limit cut its rounds or its last fit short
    held_out: HeldOut | None = None
    answer: np.ndarray | None = None  # float32, of the first split's test rows

    def to_json(self) -> dict[str, Any]:
        """The outcome as JSON, the answers as compressed text."""
        state = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        state["answer"] = None if self.answer is None else _packed(self.answer)
        return plain(state)

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Outcome:
        """The outcome that `to_json` wrote."""
        known = {entry.name for entry in fields(cls)}
        outcome = cls(**{key: value for key, value in state.items() if key in known})
        if state.get("answer") is not None:
            outcome.answer = _unpacked(state["answer"])
        return outcome


def _packed(answer: np.ndarray) -> dict[str, Any]:
    data = np.ascontiguousarray(answer, dtype="<f4")
    text = base64.b64encode(zlib.compress(data.tobytes(), 1)).decode()
    return {"shape": list(data.shape), "float32": text}


def _unpacked(state: dict[str, Any]) -> np.ndarray:
    data = zlib.decompress(base64.b64decode(state["float32"]))
    return np.frombuffer(data, dtype="<f4").reshape(state["shape"]).copy()

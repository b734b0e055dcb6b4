"""Column plans: what each column of the training table is, and how a column of a new table is converted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from bosquet.tables.dates import CYCLES, ELAPSED, FORMATS, PARTS

Kind = Literal["number", "boolean", "category", "ordinal", "date", "left out"]
# Why a column is left out; "" if it is used, or if the design of a study leaves it out.
Reason = Literal["", "constant", "empty", "identifier", "text", "nested"]


@dataclass(frozen=True)
class ColumnPlan:
    """The kind of a column of the training table, and its conversion.

    The plan depends on the whole column and is the same for all fits. What a fit learns from its training
    rows, such as scales and levels, is in the encoder of the model.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : Kind
        What its values are.
    reason : Reason
        Why it is left out.
    decimal : "." or ","
        Decimal separator of numbers stored as text.
    format : str or None
        Format of dates stored as text.
    parts : tuple of str
        Parts of a date that become features.
    levels : tuple of str
        Levels of an ordered category, in their order. Those of other categories are found in each table.
    outputs : tuple of str
        Names of the resulting features: the column itself, the parts of a date, or none.
    """

    name: str
    kind: Kind
    reason: Reason = ""
    decimal: str = "."
    format: str | None = None
    parts: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def used(self) -> bool:
        """Whether the column becomes a feature."""
        return self.kind != "left out"

    @property
    def has_levels(self) -> bool:
        """Whether the feature is a category, ordered or not; other features are numbers."""
        return self.kind in ("category", "ordinal")

    def without_elapsed(self) -> ColumnPlan:
        """Return the plan without elapsed time, unless that is the only part."""
        other_parts = [
            pair for pair in zip(self.parts, self.outputs, strict=False) if pair[0] != ELAPSED
        ]
        if self.kind != "date" or not other_parts:
            return self
        parts, outputs = zip(*other_parts, strict=True)
        return replace(self, parts=parts, outputs=outputs)

    def to_state(self) -> dict[str, Any]:
        """Return the plan as a JSON-serialisable dict, without default values."""
        state: dict[str, Any] = {"name": self.name, "kind": self.kind}
        for key in ("reason", "format", "parts", "levels"):
            value = getattr(self, key)
            if value:
                state[key] = list(value) if isinstance(value, tuple) else value
        if self.decimal != ".":
            state["decimal"] = self.decimal
        if self.used and self.outputs != (self.name,):
            state["outputs"] = list(self.outputs)
        return state

    @classmethod
    def from_state(cls, state: Any) -> ColumnPlan:
        """Return the plan of a state; raise ValueError if the state is invalid."""
        if not isinstance(state, dict) or not set(state) <= set(cls.__dataclass_fields__):
            raise ValueError("invalid column plan: it must be a dict with the keys of ColumnPlan")
        name: Any = state.get("name")
        kind: Any = state.get("kind")
        if not isinstance(name, str) or kind not in get_args(Kind):
            raise ValueError(
                f"invalid column plan: name is {name!r} and kind is {kind!r}; name must be text and kind one"
                f" of {', '.join(map(repr, get_args(Kind)))}"
            )
        lists = {}
        for key in ("parts", "levels", "outputs"):
            texts = state.get(key, [] if key != "outputs" or kind == "left out" else [name])
            if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
                raise ValueError(
                    f"invalid plan of column {name!r}: {key} must be a list of strings"
                )
            lists[key] = tuple(texts)
        plan = cls(
            name,
            kind,
            state.get("reason", ""),
            state.get("decimal", "."),
            state.get("format"),
            **lists,
        )
        n_outputs = len(plan.parts) if kind == "date" else int(kind != "left out")
        if (
            plan.reason not in get_args(Reason)
            or plan.decimal not in (".", ",")
            or plan.format not in (None, *FORMATS)
            or not set(plan.parts) <= {*PARTS, *CYCLES, ELAPSED}
            or len(plan.outputs) != n_outputs
            or len(set(plan.levels)) != len(plan.levels)
            or (plan.reason != "" and kind != "left out")
            or ((plan.format or plan.parts) and kind != "date")
            or (plan.levels and kind != "ordinal")
        ):
            raise ValueError(
                f"invalid plan of column {name!r}: its values contradict each other; use a state of"
                " ColumnPlan.to_state unchanged"
            )
        return plan

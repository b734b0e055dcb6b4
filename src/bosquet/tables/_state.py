"""Conversion of a TableModel to and from the state in a model file."""

from __future__ import annotations

from typing import Any

from bosquet._core import ModelFileError
from bosquet._state.fields import has_value, read_field, read_matrix
from bosquet._state.kinds import ModelKind
from bosquet._state.members import column_kinds
from bosquet._suggestions import with_article
from bosquet.tables.model import TableModel
from bosquet.tables.tidying import TableTidier


def _to_state(model: Any) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """Return the inner model, and the state of the tidier and of the costs."""
    return [("the inner model of the TableModel", model.model)], {
        "table": model.tidier.to_state(),
        "costs": None if model.costs is None else model.costs.tolist(),
    }


def _from_state(_: Any, members: list[Any], state: dict[str, Any]) -> Any:
    if len(members) != 1:
        raise ModelFileError(
            f"invalid model file: a TableModel must have one inner model, got {len(members)}"
        )
    tidier, model = TableTidier.from_state(read_field(state, "table")), members[0]
    names = getattr(model, "feature_names_in_", None)
    if not hasattr(model, "predict") or not hasattr(model, "n_features_in_"):
        raise ModelFileError(
            f"invalid model file: {with_article(type(model).__name__)} cannot be the inner model of a"
            " TableModel"
        )
    if names is not None and list(names) != tidier.feature_names:
        raise ModelFileError(
            "invalid model file: the columns of the model differ from those of the tidier"
        )
    _check_kinds(tidier, model)
    costs = None
    if has_value(state, "costs"):
        classes = getattr(model, "classes_", None)
        if classes is None or isinstance(classes, list) or not hasattr(model, "predict_proba"):
            raise ModelFileError(
                "invalid model file: a TableModel with costs needs an inner classifier with predict_proba"
            )
        costs = read_matrix(state, "costs", (len(classes), len(classes)))
    return TableModel(model, tidier, costs)


def _check_kinds(tidier: Any, model: Any) -> None:
    """Raise ModelFileError if the tidier returns text for a numeric column of the model, or the reverse."""
    kinds_of_outputs = [
        "text" if plan.has_levels else "numbers" for plan in tidier.plans for _ in plan.outputs
    ]
    if model.n_features_in_ != len(kinds_of_outputs):
        raise ModelFileError(
            "invalid model file: the columns of the model differ from those of the tidier"
        )
    for index, kind in column_kinds(model).items():
        if kinds_of_outputs[index] != kind:
            name = tidier.feature_names[index]
            raise ModelFileError(
                f"invalid model file: the tidier returns {kinds_of_outputs[index]} for the column"
                f" {name!r}, but the model needs {kind}"
            )


KINDS = {
    "TableModel": ModelKind(
        "bosquet.tables.model",
        _to_state,
        _from_state,
        check=lambda model: None,
        has_members=True,
        has_parameters=False,
        top_level_only=True,
    )
}

"""A model with the tidying of its table, to a file of one part and back."""

from __future__ import annotations

from typing import Any

from bosquet._core import ModelFileError
from bosquet.io.fields import field, optional, table
from bosquet.io.kinds import Kind
from bosquet.io.members import column_kinds


def _describe(model: Any) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """The model, and the plan of its table."""
    return [("the model of the table", model.model)], {
        "table": model.tidier.to_state(),
        "costs": None if model.costs is None else model.costs.tolist(),
    }


def _build(_: Any, members: list[Any], state: dict[str, Any]) -> Any:
    from bosquet.tables.model import TableModel
    from bosquet.tables.tidying import TableTidier

    if len(members) != 1:
        raise ModelFileError("a model of a table has one part")
    tidier, model = TableTidier.from_state(field(state, "table")), members[0]
    names = getattr(model, "feature_names_in_", None)
    if not hasattr(model, "predict") or not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"a {type(model).__name__} cannot be the model of a table")
    if names is not None and list(names) != tidier.feature_names:
        raise ModelFileError("the model does not fit the columns of the table's plan")
    _check_kinds(tidier, model)
    costs = None
    if optional(state, "costs"):
        classes = getattr(model, "classes_", None)
        if classes is None or isinstance(classes, list) or not hasattr(model, "predict_proba"):
            raise ModelFileError("costs are for classes, and the model of the table has none")
        costs = table(state, "costs", (len(classes), len(classes)))
    return TableModel(model, tidier, costs)


def _check_kinds(tidier: Any, model: Any) -> None:
    """The tidier makes text of the columns that the model takes for text, and numbers of the others."""
    made = [
        "text" if plan.kind in ("category", "ordinal") else "numbers"
        for plan in tidier.plans
        for _ in plan.outputs
    ]
    if model.n_features_in_ != len(made):
        raise ModelFileError("the model does not fit the columns of the table's plan")
    for place, kind in column_kinds(model).items():
        if made[place] != kind:
            name = tidier.feature_names[place]
            raise ModelFileError(
                f"the table's plan makes {made[place]} of the column {name!r}, and the model takes {kind}"
            )


KINDS = {
    "TableModel": Kind(
        "bosquet.tables.model",
        _describe,
        _build,
        check=lambda model: None,
        of_parts=True,
        has_parameters=False,
        outermost=True,
    )
}

"""A model with the tidying of its table, to a file of one part and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bosquet._core import ModelFileError
from bosquet.io.combined_models import part_of

NAME = "TableModel"


def is_table_model(model: Any) -> bool:
    kind = type(model)
    return kind.__name__ == NAME and kind.__module__ == "bosquet.tables.model"


def table_parts(model: Any, write: Callable[[Any], bytes]) -> tuple[list[bytes], dict[str, Any]]:
    """The model as a file, by `write`, and the plan of its table."""
    metadata: dict[str, Any] = {"estimator": NAME, "table": model.tidier.to_state()}
    if model.costs is not None:
        metadata["costs"] = model.costs.tolist()
    return [part_of("the model of the table", model.model, write)], metadata


def table_from(parts: list[bytes], metadata: dict[str, Any], read: Callable[[bytes], Any]) -> Any:
    """The model that `table_parts` described."""
    from bosquet.tables.model import TableModel
    from bosquet.tables.tidying import TableTidier

    if len(parts) != 1:
        raise ModelFileError("a model of a table has one part")
    tidier = TableTidier.from_state(metadata["table"])
    model = read(parts[0])
    names = getattr(model, "feature_names_in_", None)
    if not hasattr(model, "predict") or not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"a {type(model).__name__} cannot be the model of a table")
    if names is not None and list(names) != tidier.feature_names:
        raise ModelFileError("the model does not fit the columns of the table's plan")
    costs = metadata.get("costs")
    if costs is not None and not hasattr(model, "classes_"):
        raise ModelFileError("costs are for classes, and the model of the table has none")
    return TableModel(model, tidier, costs)

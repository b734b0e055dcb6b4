"""Gradient boosting models as metadata of a model file, and as trees of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._fitted import set_feature_attributes
from bosquet._state.columns import check_leaf_sums, set_encoder
from bosquet._state.fields import (
    invalid_field,
    read_choice,
    read_field,
    read_integer,
    read_numbers,
    read_object,
    to_json_numbers,
)
from bosquet._state.kinds import ModelKind
from bosquet._state.labels import labels_state, read_classes
from bosquet._state.tree_sums import TreeSum
from bosquet.boosting.gradient._parameters import CHECKS, check_parameters
from bosquet.boosting.gradient._statistics_state import read_statistics, statistics_state
from bosquet.boosting.gradient._trees import TreeTerms
from bosquet.boosting.gradient.automatic import AUTOMATIC, MULTI_OUTPUT_TREE, is_auto
from bosquet.data import UNSEEN, TableEncoder
from bosquet.losses import NativeLoss, classification_loss, regression_loss
from bosquet.losses.native import CLASSIFICATION, REGRESSION, TRAITS

if TYPE_CHECKING:
    from bosquet._types import State
    from bosquet.boosting.gradient._base import BaseGradientBoosting
    from bosquet.boosting.gradient._target_statistics import TargetStatistics


def _check(model: BaseGradientBoosting) -> None:
    check_parameters(model)


def _to_state(model: BaseGradientBoosting) -> tuple[Ensemble, State]:
    if not isinstance(model._terms, TreeTerms):
        raise ValueError(
            f"{type(model).__name__}(estimator={model.estimator!r}) cannot be saved to a model file, which"
            " stores Bosquet's own learners only (estimator=None); use pickle or joblib"
        )
    if not isinstance(model._loss, NativeLoss):
        raise ValueError("a custom loss cannot be stored in a model file; use pickle or joblib")
    statistics = model._terms.statistics
    return model._terms.ensemble, {
        "encoder": model._encoder.to_state(),
        "loss": model._loss.to_state(),
        "classes": labels_state(getattr(model, "classes_", None)),
        "train_score": to_json_numbers(model.train_score_),
        "validation_score": to_json_numbers(model.validation_score_),
        "validation_loss": to_json_numbers(model.validation_loss_),
        "runs": model._terms.runs,
        "fit_parameters": model.parameters_,
        **({} if statistics is None else {"target_statistics": statistics_state(statistics)}),
    }


def _from_state(model: BaseGradientBoosting, trees: Ensemble, state: State) -> Any:
    check_leaf_sums(trees)
    statistics = _set_columns(model, state, trees)
    if type(model).__name__.endswith("Classifier"):
        model.classes_ = read_classes(state["classes"])
        model._loss = _read_classification_loss(
            read_object(state, "loss"), model.classes_.size, trees
        )
    else:
        model._loss = _read_regression_loss(read_object(state, "loss"), trees)
    model._terms = TreeTerms(trees, read_integer(state, "runs", 1), statistics)
    if trees.n_trees % model._terms.trees_per_round:
        raise ModelFileError(
            f"invalid model file: the file has {trees.n_trees} trees, which is not a multiple of"
            f" {model._terms.trees_per_round}, the number of outputs times 'runs'"
        )
    model.train_score_ = read_numbers(state, "train_score", allow_non_finite=True)
    model.validation_score_ = read_numbers(state, "validation_score", allow_non_finite=True)
    field = "validation_loss" if "validation_loss" in state else "validation_score"
    model.validation_loss_ = read_numbers(state, field, allow_non_finite=True)
    model.parameters_ = _read_fit_parameters(state)
    if trees.vector_leaves != (model.parameters_["multi_strategy"] == MULTI_OUTPUT_TREE):
        raise ModelFileError(
            f"invalid model file: fit_parameters.multi_strategy is {model.parameters_['multi_strategy']!r},"
            f" but the leaves of the trees have {'several values' if trees.vector_leaves else 'one value'}"
        )
    model.timings_ = {}
    return model


def _set_columns(
    model: BaseGradientBoosting, state: State, trees: Ensemble
) -> TargetStatistics | None:
    """Set the encoder of a model; return its target statistics, None without them."""
    if "target_statistics" not in state:
        set_encoder(model, state, trees)
        return None
    encoder = TableEncoder.from_state(read_field(state, "encoder"), max_levels=None)
    encoder.unseen_code = UNSEEN
    set_feature_attributes(model, encoder)
    return read_statistics(read_object(state, "target_statistics"), encoder.n_levels, trees)


def _read_fit_parameters(state: State) -> dict[str, Any]:
    """Read the values that the fit used for the parameters that accept "auto"."""
    values = read_object(state, "fit_parameters")
    if list(values) != sorted(AUTOMATIC):
        raise invalid_field(
            "fit_parameters", list(values), f"the keys {', '.join(sorted(AUTOMATIC))}"
        )
    for name, value in values.items():
        accepts, wanted = CHECKS[name]
        if is_auto(value) or not accepts(value):
            raise invalid_field(f"fit_parameters.{name}", value, wanted)
    return values


# The number of outputs is compared with that of the trees before the loss is built, so that a file cannot
# request a loss of arbitrary size.
def _read_classification_loss(state: State, n_classes: int, trees: Ensemble) -> Any:
    if n_classes < 2 or trees.n_outputs != (1 if n_classes == 2 else n_classes):
        raise ModelFileError(
            f"invalid model file: 'classes' has {n_classes} class(es), but the trees have {trees.n_outputs}"
            " output(s); there must be two classes for one output, otherwise one per output"
        )
    return classification_loss(read_choice(state, "name", CLASSIFICATION), n_classes)


def _read_regression_loss(state: State, trees: Ensemble) -> Any:
    name = read_choice(state, "name", REGRESSION)
    targets = read_integer(state, "targets", 1, trees.n_outputs)
    levels = _read_loss_parameters(state, name)
    if max(targets, len(levels)) != trees.n_outputs:
        raise ModelFileError(
            f"invalid model file: 'targets' is {targets} and 'parameters' has {len(levels)} entries, but the"
            f" trees have {trees.n_outputs} output(s); the larger number must be the number of outputs"
        )
    first = levels[0] if levels else 0.5  # not used by a loss without a parameter
    return regression_loss(
        name, targets, quantile=levels, expectile=levels, alpha=first, power=first
    )


def _read_loss_parameters(state: State, name: str) -> list[float]:
    """Read the parameters of a loss, in the open interval that the core declares for it."""
    parameters: list[float] = read_numbers(state, "parameters").tolist()
    interval = TRAITS[name]["parameter"]
    if interval is None:
        if parameters:
            raise invalid_field("parameters", parameters, f"an empty list for loss={name!r}")
        return parameters
    low, high = interval
    inside = all(low < value < high for value in parameters)
    if not parameters or not inside or len(set(parameters)) < len(parameters):
        wanted = f"a list of distinct numbers in ({low:g}, {high:g}) for loss={name!r}"
        raise invalid_field("parameters", parameters, wanted)
    return parameters


def _trees(model: Any) -> TreeSum | None:
    if not isinstance(model._terms, TreeTerms):
        return None
    loss, ensemble = model._loss, model._terms.ensemble
    return TreeSum(
        ensemble=ensemble,
        response=loss.inverse_link,
        derived=model._terms.statistics,
        linear=not hasattr(model, "classes_") and _has_identity_link(loss, ensemble.n_outputs),
    )


def _has_identity_link(loss: Any, n_outputs: int) -> bool:
    # Signs that alternate between the outputs are not sorted: several levels are no linear response.
    signs = np.where(np.arange(n_outputs) % 2, -1.0, 1.0)
    raw = np.linspace(-2, 2, 5)[:, None] * signs
    return np.array_equal(loss.inverse_link(raw), raw)


KINDS = {
    name: ModelKind(
        "bosquet.boosting",
        _to_state,
        _from_state,
        _check,
        n_outputs=lambda model: int(model._loss.outputs),
        trees=_trees,
    )
    for name in ("GradientBoostingClassifier", "GradientBoostingRegressor")
}

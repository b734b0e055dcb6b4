"""Gradient boosting to the description of a model file, and back."""

from __future__ import annotations

from typing import Any

from bosquet._core import Ensemble, ModelFileError
from bosquet._state.columns import check_leaf_sums, set_encoder
from bosquet._state.fields import (
    read_choice,
    read_integer,
    read_numbers,
    read_object,
    to_json_numbers,
)
from bosquet._state.kinds import ModelKind
from bosquet._state.labels import labels_state, read_classes
from bosquet.boosting._inputs import check_learner
from bosquet.boosting.gradient._parameters import check_parameters
from bosquet.boosting.gradient._trees import TreeTerms
from bosquet.losses import NativeLoss, classification_loss, regression_loss
from bosquet.losses._native import CLASSIFICATION, REGRESSION


def _check(model: Any) -> None:
    check_parameters(model)
    check_learner(model.estimator)


def _to_state(model: Any) -> tuple[Ensemble, dict[str, Any]]:
    if not isinstance(model._terms, TreeTerms):
        raise ValueError(
            "a model with estimator=... holds objects of other libraries, which a model file does not"
            " carry; use pickle or joblib"
        )
    if not isinstance(model._loss_terms, NativeLoss):
        raise ValueError(
            "a model with a loss of your own holds your code, which a model file does not carry;"
            " use pickle or joblib"
        )
    return model._terms.ensemble, {
        "encoder": model._encoder.to_state(),
        "loss": model._loss_terms.to_state(),
        "classes": labels_state(getattr(model, "classes_", None)),
        "train_score": to_json_numbers(model.train_score_),
        "validation_score": to_json_numbers(model.validation_score_),
        "validation_loss": to_json_numbers(model.validation_loss_),
        "runs": model._terms.runs,
    }


def _from_state(model: Any, trees: Ensemble, state: dict[str, Any]) -> Any:
    if trees.vector_leaves:
        raise ModelFileError("the trees add to all outputs at once, which no boosted model's do")
    check_leaf_sums(trees)
    set_encoder(model, state, trees)
    if type(model).__name__.endswith("Classifier"):
        model.classes_ = read_classes(state["classes"])
        model._loss_terms = _loss_of_classes(read_object(state, "loss"), model.classes_.size, trees)
    else:
        model._loss_terms = _loss_of_numbers(read_object(state, "loss"), trees)
    model._terms = TreeTerms(trees, read_integer(state, "runs", 1))
    if trees.n_trees % model._terms.trees_per_round:
        raise ModelFileError("the number of trees does not fit the rounds and runs")
    model.train_score_ = read_numbers(state, "train_score", allow_non_finite=True)
    model.validation_score_ = read_numbers(state, "validation_score", allow_non_finite=True)
    kept = "validation_loss" if "validation_loss" in state else "validation_score"
    model.validation_loss_ = read_numbers(state, kept, allow_non_finite=True)
    model.timings_ = {}
    return model


# The number of outputs is compared with that of the trees before a loss is made for it.
def _loss_of_classes(state: dict[str, Any], n_classes: int, trees: Ensemble) -> Any:
    if n_classes < 2 or trees.n_outputs != (1 if n_classes == 2 else n_classes):
        raise ModelFileError("the number of classes does not fit the trees")
    return classification_loss(read_choice(state, "name", CLASSIFICATION), n_classes)


def _loss_of_numbers(state: dict[str, Any], trees: Ensemble) -> Any:
    name, targets = (
        read_choice(state, "name", REGRESSION),
        read_integer(state, "targets", 1, trees.n_outputs),
    )
    levels = read_numbers(state, "parameters", low=0, high=2).tolist()
    if max(targets, len(levels)) != trees.n_outputs:
        raise ModelFileError("the number of targets, or of quantiles, does not fit the trees")
    only = levels[0] if levels else 0.5
    if name in ("huber", "tweedie") and not 0 < only < 2:
        raise ModelFileError(f"the parameter of the loss {name!r} is out of range")
    return regression_loss(name, targets, quantile=levels, expectile=levels, alpha=only, power=only)


KINDS = {
    name: ModelKind(
        "bosquet.boosting",
        _to_state,
        _from_state,
        _check,
        n_outputs=lambda model: int(model._loss_terms.outputs),
    )
    for name in ("GradientBoostingClassifier", "GradientBoostingRegressor")
}

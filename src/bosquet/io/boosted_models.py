"""Gradient boosting to the description of a model file, and back."""

from __future__ import annotations

from typing import Any

from bosquet._core import Ensemble, ModelFileError
from bosquet.io.columns import check_sums, put_columns
from bosquet.io.fields import choice, gapless, inner, numbers, whole
from bosquet.io.kinds import Kind
from bosquet.io.labels import classes_from, labels_state


def _check(model: Any) -> None:
    from bosquet.boosting._boosted_vote import check_learner
    from bosquet.boosting._parameters import check_parameters

    check_parameters(model)
    check_learner(model.estimator)


def _describe(model: Any) -> tuple[Ensemble, dict[str, Any]]:
    from bosquet.boosting._additive import TreeTerms
    from bosquet.losses import NativeLoss

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
        "train_score": gapless(model.train_score_),
        "validation_score": gapless(model.validation_score_),
        "validation_loss": gapless(model.validation_loss_),
        "runs": model._terms.runs,
    }


def _build(model: Any, trees: Ensemble, state: dict[str, Any]) -> Any:
    from bosquet.boosting._additive import TreeTerms

    if trees.vector_leaves:
        raise ModelFileError("the trees add to all outputs at once, which no boosted model's do")
    check_sums(trees)
    put_columns(model, state, trees)
    if type(model).__name__.endswith("Classifier"):
        model.classes_ = classes_from(state["classes"])
        model._loss_terms = _loss_of_classes(inner(state, "loss"), model.classes_.size, trees)
    else:
        model._loss_terms = _loss_of_numbers(inner(state, "loss"), trees)
    model._terms = TreeTerms(trees, whole(state, "runs", 1))
    if trees.n_trees % model._terms.trees_a_round:
        raise ModelFileError("the number of trees does not fit the rounds and runs")
    model.train_score_ = numbers(state, "train_score", gaps=True)
    model.validation_score_ = numbers(state, "validation_score", gaps=True)
    kept = "validation_loss" if "validation_loss" in state else "validation_score"
    model.validation_loss_ = numbers(state, kept, gaps=True)
    model.timings_ = {}
    return model


# The number of outputs is compared with that of the trees before a loss is made for it.
def _loss_of_classes(state: dict[str, Any], n_classes: int, trees: Ensemble) -> Any:
    from bosquet.losses import classification_loss
    from bosquet.losses._native import CLASSIFICATION

    if n_classes < 2 or trees.n_outputs != (1 if n_classes == 2 else n_classes):
        raise ModelFileError("the number of classes does not fit the trees")
    return classification_loss(choice(state, "name", CLASSIFICATION), n_classes)


def _loss_of_numbers(state: dict[str, Any], trees: Ensemble) -> Any:
    from bosquet.losses import regression_loss
    from bosquet.losses._native import REGRESSION

    name, targets = choice(state, "name", REGRESSION), whole(state, "targets", 1, trees.n_outputs)
    levels = numbers(state, "parameters", low=0, high=2).tolist()
    if max(targets, len(levels)) != trees.n_outputs:
        raise ModelFileError("the number of targets, or of quantiles, does not fit the trees")
    only = levels[0] if levels else 0.5
    if name in ("huber", "tweedie") and not 0 < only < 2:
        raise ModelFileError(f"the parameter of the loss {name!r} is out of range")
    return regression_loss(name, targets, quantile=levels, expectile=levels, alpha=only, power=only)


KINDS = {
    name: Kind("bosquet.boosting", _describe, _build, _check)
    for name in ("GradientBoostingClassifier", "GradientBoostingRegressor")
}

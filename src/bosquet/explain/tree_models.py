"""A common view of fitted models that consist of trees of the C++ core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._fitted import fit_snapshot
from bosquet._sklearn import BaseEstimator, check_is_fitted, effective_threads
from bosquet.boosting.adaboost._base import VoteClassifier
from bosquet.boosting.adaboost.classifier import StagewiseClassifier
from bosquet.boosting.adaboost.votes import TreeVote
from bosquet.boosting.gradient._base import BaseGradientBoosting
from bosquet.boosting.gradient._trees import TreeTerms
from bosquet.data import TableEncoder
from bosquet.forests._base import BaseForest
from bosquet.trees._base import BaseTree

Link = Callable[[np.ndarray], np.ndarray]


@dataclass
class TreeModel:
    """A model as `scale` times a sum of trees over encoded columns.

    `response` maps raw predictions (rows, outputs) to those of `predict_proba` or `predict`, as an array
    (rows, columns).
    """

    ensemble: _core.Ensemble
    encoder: TableEncoder
    scale: float
    threads: int
    output_names: list[str] | None
    response: Link
    linear: bool = False  # whether the mean of the responses is the response of the mean
    has_surrogates: bool = (
        False  # whether missing values follow surrogate splits, which the core ignores
    )

    @property
    def feature_names(self) -> list[str]:
        return feature_names(self.encoder.n_features, self.encoder.feature_names)

    def columns(self, X: Any, owner: str) -> Any:
        """Encoded columns of X; raises ValueError for rows that the trees alone cannot predict."""
        columns = self.encoder.transform(X, owner=owner)
        if self.has_surrogates:
            for column, levels in zip(_as_list(columns), self.encoder.levels, strict=True):
                # The code of a missing category is -1; of a missing number or ordered category, NaN.
                missing = column != column
                if np.any(missing | (column < 0) if levels is not None else missing):
                    raise ValueError(
                        "X has missing values, which follow surrogate splits in this tree, and explanations"
                        " do not support surrogate splits; fit the tree with missing='direction', or"
                        " impute the missing values"
                    )
        return columns

    def raw(self, columns: Any) -> np.ndarray:
        """Raw predictions (rows, outputs)."""
        trees = self.ensemble.n_trees
        return self.scale * self.ensemble.predict_raw(columns, 0, trees, self.threads)


def feature_names(count: int, names: Any) -> list[str]:
    """Names of the columns (default: x0, x1, ...)."""
    return [f"x{f}" for f in range(count)] if names is None else [str(name) for name in names]


def _as_list(columns: Any) -> list[np.ndarray]:
    if isinstance(columns, np.ndarray):
        return list(columns.T)
    return [np.asarray(column) for column in columns]


def tree_model(model: Any) -> TreeModel | None:
    """The trees of a fitted Bosquet model, or None if it does not consist of the core's trees."""
    if isinstance(model, BaseGradientBoosting | BaseForest | BaseTree | VoteClassifier):
        model = fit_snapshot(model)
    if isinstance(model, BaseGradientBoosting):
        check_is_fitted(model, "_terms")
        if not isinstance(model._terms, TreeTerms):
            return None
        return _boosted(model, model._terms.ensemble)
    if isinstance(model, BaseForest):
        return _forest(model)
    if isinstance(model, BaseTree):
        return _single_tree(model)
    if isinstance(model, VoteClassifier):
        check_is_fitted(model, "_vote")
        if not isinstance(model._vote, TreeVote):
            return None
        return _voted(model, model._vote.ensemble)
    return None


def tree_model_or_error(model: Any, function: str) -> TreeModel:
    """The trees of a fitted Bosquet model; raises TypeError, with the name of `function`, if it has none."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    trees = tree_model(model)
    if trees is None:
        raise TypeError(
            f"{function} does not support {type(model).__name__}; it needs a Bosquet model made of trees"
            " (gradient boosting, AdaBoost, a forest or a decision tree)"
        )
    return trees


def _boosted(model: Any, ensemble: _core.Ensemble) -> TreeModel:
    loss, classes = model._loss_terms, getattr(model, "classes_", None)

    def response(raw: np.ndarray) -> np.ndarray:
        return two_dimensional(loss.inverse_link(raw))

    return TreeModel(
        ensemble,
        model._encoder,
        1.0,
        effective_threads(model.n_jobs),
        output_names(ensemble.n_outputs, classes),
        response,
        linear=classes is None and _is_identity(response, ensemble.n_outputs),
    )


def _is_identity(response: Link, outputs: int) -> bool:
    probe = np.linspace(-2, 2, 5)[:, None] + np.zeros(outputs)
    return np.array_equal(response(probe), probe)


def _forest(model: Any) -> TreeModel:
    check_is_fitted(model, "_ensemble")
    ensemble = model._ensemble
    if getattr(model, "voting", "soft") == "hard":
        ensemble = model._hardened or model._harden()
    classes = getattr(model, "classes_", None)
    return TreeModel(
        ensemble,
        model._encoder,
        1 / ensemble.n_trees,
        effective_threads(model.n_jobs),
        output_names(ensemble.n_outputs, classes),
        _probabilities if classes is not None else _identity,
        linear=True,
    )


def _single_tree(model: Any) -> TreeModel:
    check_is_fitted(model, "tree_")
    classes = getattr(model, "classes_", None)
    return TreeModel(
        model._ensemble,
        model._encoder,
        1.0,
        effective_threads(None),
        output_names(model._ensemble.n_outputs, classes),
        _probabilities if classes is not None else _identity,
        linear=True,
        has_surrogates=model.tree_.surrogates.n_splits > 0,
    )


def _voted(model: Any, ensemble: _core.Ensemble) -> TreeModel:
    """AdaBoost and its variants: a weighted vote of trees."""
    # BrownBoost and LPBoost are explained by their sums, not by probabilities.
    decision: Any = model._decision if isinstance(model, StagewiseClassifier) else None

    def response(raw: np.ndarray) -> np.ndarray:
        return two_dimensional(decision.probabilities(decision.decision(raw)))

    return TreeModel(
        ensemble,
        model._encoder,
        1.0,
        effective_threads(model.n_jobs),
        output_names(ensemble.n_outputs, model.classes_),
        _identity if decision is None else response,
        linear=decision is None,
    )


def _identity(raw: np.ndarray) -> np.ndarray:
    return raw


def _probabilities(raw: np.ndarray) -> np.ndarray:
    return raw if raw.shape[1] > 1 else np.column_stack([1 - raw[:, 0], raw[:, 0]])


def two_dimensional(values: np.ndarray) -> np.ndarray:
    return values[:, None] if values.ndim == 1 else values


def output_names(outputs: int, classes: Any) -> list[str] | None:
    """Names of the outputs, or None for a single number; a single output of two classes is the second."""
    if classes is None:
        return None if outputs == 1 else [f"target {k}" for k in range(outputs)]
    if isinstance(classes, list):
        names = [f"target {t}: {name}" for t, some in enumerate(classes) for name in some]
    else:
        names = [str(name) for name in classes]
    if outputs == 1:
        return names[1:2]
    return names if len(names) == outputs else [f"output {k}" for k in range(outputs)]

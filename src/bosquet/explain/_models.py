"""One view of every fitted model: trees of the core where it has them, else predictions alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._fitted import one_fit
from bosquet._sklearn import BaseEstimator, check_is_fitted, effective_threads
from bosquet.boosting._additive import TreeTerms
from bosquet.boosting._base import BaseGradientBoosting
from bosquet.boosting._binary import BinaryVote
from bosquet.boosting._boosted_vote import BoostedVote
from bosquet.boosting._votes import TreeVote
from bosquet.data import TableEncoder
from bosquet.forests._base import BaseForest
from bosquet.trees._base import BaseTree

Link = Callable[[np.ndarray], np.ndarray]


@dataclass
class TreeModel:
    """A model as `scale` times a sum of trees over encoded columns.

    `response` turns raw predictions (rows, outputs) into what `predict_proba` or `predict` says, as an
    array (rows, columns).
    """

    ensemble: _core.Ensemble
    encoder: TableEncoder
    scale: float
    threads: int
    output_names: list[str] | None
    response: Link
    linear: bool = False  # whether the mean response is the response of the mean
    unfollowed: bool = False  # whether missing values follow surrogates and not the trees

    @property
    def feature_names(self) -> list[str]:
        return names_of_features(self.encoder.n_features, self.encoder.feature_names)

    def columns(self, X: Any, owner: str) -> Any:
        """Encoded columns of X; an error where the model would not predict by its trees alone."""
        columns = self.encoder.transform(X, owner=owner)
        if self.unfollowed:
            for column, levels in zip(_each(columns), self.encoder.levels, strict=True):
                # A missing category is coded -1, an ordered one NaN as a missing number is.
                missing = column != column
                if np.any(missing | (column < 0) if levels is not None else missing):
                    raise ValueError(
                        "rows with missing values follow surrogate splits in this tree, which have no"
                        " exact Shapley values; fit it with missing='direction' or fill the values in"
                    )
        return columns

    def raw(self, columns: Any) -> np.ndarray:
        """Raw predictions (rows, outputs)."""
        trees = self.ensemble.n_trees
        return self.scale * self.ensemble.predict_raw(columns, 0, trees, self.threads)


def names_of_features(count: int, names: Any) -> list[str]:
    """The names of columns, or x0, x1, ... where they have none."""
    return [f"x{f}" for f in range(count)] if names is None else [str(name) for name in names]


def _each(columns: Any) -> list[np.ndarray]:
    if isinstance(columns, np.ndarray):
        return list(columns.T)
    return [np.asarray(column) for column in columns]


def tree_model(model: Any) -> TreeModel | None:
    """The trees of a fitted Bosquet model; None for a model that is not made of the core's trees."""
    if isinstance(model, BaseGradientBoosting | BaseForest | BaseTree | BoostedVote | BinaryVote):
        model = one_fit(model)
    if isinstance(model, BaseGradientBoosting):
        check_is_fitted(model, "_terms")
        if not isinstance(model._terms, TreeTerms):
            return None
        return _boosted(model, model._terms.ensemble)
    if isinstance(model, BaseForest):
        return _forest(model)
    if isinstance(model, BaseTree):
        return _single_tree(model)
    if isinstance(model, BoostedVote | BinaryVote):
        check_is_fitted(model, "_vote")
        if not isinstance(model._vote, TreeVote):
            return None
        return _voted(model, model._vote.ensemble)
    return None


def tree_model_or_error(model: Any, what: str) -> TreeModel:
    """The same, for what needs trees."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    found = tree_model(model)
    if found is None:
        raise TypeError(
            f"{what} needs the trees of a Bosquet model (boosted trees, a forest, a tree), and"
            f" {type(model).__name__} has none that it can read"
        )
    return found


def _boosted(model: Any, ensemble: _core.Ensemble) -> TreeModel:
    loss, classes = model._loss_terms, getattr(model, "classes_", None)

    def response(raw: np.ndarray) -> np.ndarray:
        return two_dimensional(loss.inverse_link(raw))

    return TreeModel(
        ensemble,
        model._encoder,
        1.0,
        effective_threads(model.n_jobs),
        names_of_outputs(ensemble.n_outputs, classes),
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
        names_of_outputs(ensemble.n_outputs, classes),
        _shares if classes is not None else _as_it_is,
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
        names_of_outputs(model._ensemble.n_outputs, classes),
        _shares if classes is not None else _as_it_is,
        linear=True,
        unfollowed=model.tree_.surrogates.n_splits > 0,
    )


def _voted(model: Any, ensemble: _core.Ensemble) -> TreeModel:
    """AdaBoost and its relatives: a weighted vote of trees."""
    decision: Any = getattr(model, "_decision", None)  # votes of two classes may have none

    def response(raw: np.ndarray) -> np.ndarray:
        return two_dimensional(decision.probabilities(decision.decision(raw)))

    return TreeModel(
        ensemble,
        model._encoder,
        1.0,
        effective_threads(model.n_jobs),
        names_of_outputs(ensemble.n_outputs, model.classes_),
        _as_it_is if decision is None else response,
        linear=decision is None,
    )


def _as_it_is(raw: np.ndarray) -> np.ndarray:
    return raw


def _shares(raw: np.ndarray) -> np.ndarray:
    return raw if raw.shape[1] > 1 else np.column_stack([1 - raw[:, 0], raw[:, 0]])


def two_dimensional(values: np.ndarray) -> np.ndarray:
    return values[:, None] if values.ndim == 1 else values


def names_of_outputs(outputs: int, classes: Any) -> list[str] | None:
    """One stored output stands for the second of two classes, or for a number."""
    if classes is None:
        return None if outputs == 1 else [f"target {k}" for k in range(outputs)]
    if isinstance(classes, list):
        names = [f"target {t}: {name}" for t, some in enumerate(classes) for name in some]
    else:
        names = [str(name) for name in classes]
    if outputs == 1:
        return names[1:2]
    return names if len(names) == outputs else [f"output {k}" for k in range(outputs)]

"""Named learners: access to their parameters, validation of X, and their predictions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Self

import narwhals.dependencies as libraries
import numpy as np

from bosquet._sklearn import BaseEstimator, tags_of, validate_data
from bosquet.data import decode_dictionaries

if TYPE_CHECKING:
    from bosquet._sklearn import Tags
    from bosquet._types import Estimator, NamedEstimators, TableLike


class NamedLearners(BaseEstimator):
    """Base class of estimators with a parameter `estimators`, a list of (name, estimator) pairs."""

    estimators: NamedEstimators
    n_features_in_: int

    def _named_pairs(self) -> list[tuple[str, Estimator]]:
        """Return the pairs, or an empty list if `estimators` is invalid: get_params must not raise."""
        pairs = self.estimators if isinstance(self.estimators, list | tuple) else []
        valid = all(
            isinstance(p, list | tuple) and len(p) == 2 and isinstance(p[0], str) for p in pairs
        )
        return [(name, learner) for name, learner in pairs] if valid else []

    def _checked_pairs(self) -> list[tuple[str, Estimator]]:
        pairs = self._named_pairs()
        if not pairs:
            raise ValueError(
                f"estimators={self.estimators!r} is not valid: estimators must be a non-empty list of"
                " (name, estimator) pairs"
            )
        times = Counter(name for name, _ in pairs)
        own_parameters = super().get_params(deep=False)
        for name, learner in pairs:
            if times[name] > 1:
                raise ValueError(
                    f"estimators contains the name {name!r} more than once; names must be unique"
                )
            if "__" in name or name in own_parameters:
                raise ValueError(
                    f"an estimator cannot be named {name!r}: a name must not contain '__' and must not be a"
                    f" parameter of {type(self).__name__}"
                )
            if not (hasattr(learner, "fit") and hasattr(learner, "predict")):
                raise ValueError(
                    f"estimator {name!r} is {learner!r}, which has no fit or no predict method; pass an"
                    " estimator of scikit-learn or Bosquet"
                )
        return pairs

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters; with `deep`, also the learners by name and their parameters."""
        parameters = super().get_params(deep=deep)
        for name, learner in self._named_pairs() if deep else []:
            parameters[name] = learner
            if hasattr(learner, "get_params"):
                for key, value in learner.get_params(deep=True).items():
                    parameters[f"{name}__{key}"] = value
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters: ``name`` replaces a learner, ``name__key`` sets one of its parameters."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        names = [name for name, _ in self._named_pairs()]
        replaced = {name: params.pop(name) for name in names if name in params}
        if replaced:
            self.estimators = [(name, replaced.get(name, old)) for name, old in self._named_pairs()]
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        learners = [learner for _, learner in self._named_pairs() if hasattr(learner, "fit")]
        for name in ("allow_nan", "sparse", "categorical", "string"):
            every = all(getattr(tags_of(learner).input_tags, name) for learner in learners)
            setattr(tags.input_tags, name, bool(learners) and every)
        return tags

    def _validate_X(self, X: TableLike, *, reset: bool, n_rows: int = 1) -> Any:
        """Return X as it is passed to the learners: a data frame unchanged, anything else as an array."""
        if libraries.is_pandas_dataframe(X) or libraries.is_polars_dataframe(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if X.shape[0] < n_rows:
                raise ValueError(f"X has {X.shape[0]} sample(s); at least {n_rows} are required")
            return X
        # At predict, only the fitted estimators matter, even if `set_params` has replaced some of them.
        learners = [learner for _, learner in self._named_pairs()] if reset else self.estimators_
        tags = [tags_of(learner).input_tags for learner in learners]
        return validate_data(
            self,
            decode_dictionaries(X),
            reset=reset,
            ensure_min_samples=n_rows,
            dtype="numeric" if any(not tag.string for tag in tags) else None,
            accept_sparse=["csr"] if all(tag.sparse for tag in tags) else False,
            ensure_all_finite=any(not tag.allow_nan for tag in tags),
        )


def predicted_numbers(learner: Estimator, X: TableLike, name: str) -> np.ndarray:
    """Return the predictions of a regressor, of shape (n_samples,)."""
    predictions = np.asarray(learner.predict(X), dtype=float)
    if predictions.ndim == 2 and predictions.shape[1] == 1:
        predictions = predictions[:, 0]
    if predictions.ndim != 1:
        raise ValueError(
            f"estimator {name!r} returned predictions of shape {predictions.shape}; it must predict one"
            " number per row"
        )
    wrong = np.flatnonzero(~np.isfinite(predictions))
    if wrong.size:
        raise ValueError(
            f"estimator {name!r} predicted {predictions[wrong[0]]} for row {wrong[0]}; predictions must"
            " be finite"
        )
    return predictions


def predicted_probabilities(
    learner: Any, X: TableLike, classes: np.ndarray, name: str
) -> np.ndarray:
    """Return the probabilities of all classes, of shape (n_samples, n_classes).

    A class that was not in the training rows of the learner has probability 0.
    """
    if not hasattr(learner, "predict_proba"):
        raise ValueError(
            f"estimator {name!r} ({type(learner).__name__}) has no predict_proba, which is needed to combine"
            " probabilities; use a classifier with predict_proba"
        )
    predicted = np.asarray(learner.predict_proba(X), dtype=float)
    if not np.isfinite(predicted).all():
        raise ValueError(
            f"estimator {name!r} returned NaN or infinite probabilities; probabilities must be finite"
        )
    probabilities = np.zeros((len(predicted), len(classes)))
    probabilities[:, np.searchsorted(classes, learner.classes_)] = predicted
    total = probabilities.sum(axis=1, keepdims=True)
    return np.where(total > 0, probabilities / np.where(total > 0, total, 1), 1 / len(classes))

"""A list of named learners: their parameters, the table they are given, what they answer."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals.dependencies as libraries
import numpy as np

from bosquet._sklearn import BaseEstimator, tags_of, validate_data
from bosquet.data import decode_dictionaries


class NamedLearners(BaseEstimator):
    """Parameters of `estimators`, a list of (name, estimator), reached by name."""

    estimators: Any
    n_features_in_: int

    def _pairs(self) -> list[tuple[str, Any]]:
        """None if `estimators` holds anything else: parameters may be asked for before fit complains."""
        given = self.estimators if isinstance(self.estimators, list | tuple) else []
        good = all(
            isinstance(p, list | tuple) and len(p) == 2 and isinstance(p[0], str) for p in given
        )
        return [(name, learner) for name, learner in given] if good else []

    def _checked_pairs(self) -> list[tuple[str, Any]]:
        pairs = self._pairs()
        if not pairs:
            raise ValueError(
                f"estimators={self.estimators!r} must be a list of (name, estimator) pairs, at least one"
            )
        times = Counter(name for name, _ in pairs)
        own = super().get_params(deep=False)
        for name, learner in pairs:
            if times[name] > 1:
                raise ValueError(f"estimators holds the name {name!r} more than once")
            if "__" in name or name in own:
                raise ValueError(f"a learner cannot be named {name!r}: parameters go by that name")
            if not (hasattr(learner, "fit") and hasattr(learner, "predict")):
                raise ValueError(
                    f"the learner {name!r} is {learner!r}, which has no fit and predict"
                )
        return pairs

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; with `deep`, the learners by their names and their parameters too."""
        parameters = super().get_params(deep=deep)
        for name, learner in self._pairs() if deep else []:
            parameters[name] = learner
            if hasattr(learner, "get_params"):
                for key, value in learner.get_params(deep=True).items():
                    parameters[f"{name}__{key}"] = value
        return parameters

    def set_params(self, **params: Any) -> Any:
        """Set parameters; a learner's name replaces it, ``name__key`` sets one of its own."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        names = [name for name, _ in self._pairs()]
        replaced = {name: params.pop(name) for name in names if name in params}
        if replaced:
            self.estimators = [(name, replaced.get(name, old)) for name, old in self._pairs()]
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learners = [learner for _, learner in self._pairs() if hasattr(learner, "fit")]
        for name in ("allow_nan", "sparse", "categorical", "string"):
            every = all(getattr(tags_of(learner).input_tags, name) for learner in learners)
            setattr(tags.input_tags, name, bool(learners) and every)
        return tags

    def _table(self, X: Any, *, reset: bool, rows: int = 1) -> Any:
        """X as the learners are given it: frames as they are, anything else as an array."""
        if libraries.is_pandas_dataframe(X) or libraries.is_polars_dataframe(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if X.shape[0] < rows:
                raise ValueError(f"X has {X.shape[0]} sample(s), but at least {rows} are needed")
            return X
        # Predictions depend on the fitted estimators, not on what `set_params` replaced since then.
        learners = [one for _, one in self._pairs()] if reset else self.estimators_
        tags = [tags_of(learner).input_tags for learner in learners]
        return validate_data(
            self,
            decode_dictionaries(X),
            reset=reset,
            ensure_min_samples=rows,
            dtype="numeric" if any(not tag.string for tag in tags) else None,
            accept_sparse=["csr"] if all(tag.sparse for tag in tags) else False,
            ensure_all_finite=any(not tag.allow_nan for tag in tags),
        )


def numbers_said(learner: Any, X: Any, name: str) -> np.ndarray:
    """The predictions of a regressor, (rows,)."""
    said = np.asarray(learner.predict(X), dtype=float)
    if said.ndim == 2 and said.shape[1] == 1:
        said = said[:, 0]
    if said.ndim != 1 or not np.isfinite(said).all():
        raise ValueError(f"the learner {name!r} must predict one finite number a row")
    return said


def probabilities_said(learner: Any, X: Any, classes: np.ndarray, name: str) -> np.ndarray:
    """The probabilities of all classes, (rows, classes); 0 for those that the learner never saw."""
    if not hasattr(learner, "predict_proba"):
        raise ValueError(f"the learner {name!r} ({type(learner).__name__}) has no predict_proba")
    said = np.asarray(learner.predict_proba(X), dtype=float)
    if not np.isfinite(said).all():
        raise ValueError(f"the learner {name!r} gave probabilities that are not finite")
    every = np.zeros((len(said), len(classes)))
    every[:, np.searchsorted(classes, learner.classes_)] = said
    total = every.sum(axis=1, keepdims=True)
    return np.where(total > 0, every / np.where(total > 0, total, 1), 1 / len(classes))

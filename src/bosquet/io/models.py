"""Estimators to files and back."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._files import written_whole
from bosquet._fitted import remember_columns
from bosquet.io.combined_models import combined_from, combined_parts
from bosquet.io.container import load_bytes, load_parts, save_bytes, save_parts
from bosquet.io.description import classes_from, classes_state, plain_parameters
from bosquet.io.image_models import NAMES as _IMAGES
from bosquet.io.image_models import image_from, image_metadata
from bosquet.io.mixture_models import mixture_from, mixture_metadata, no_trees
from bosquet.io.robust_models import NAMES as _ROBUST
from bosquet.io.robust_models import robust_from, robust_metadata
from bosquet.io.stacked_models import STACKED, stacked_from, stacked_parts
from bosquet.io.table_models import NAME as _TABLE
from bosquet.io.table_models import is_table_model, table_from, table_parts
from bosquet.io.tree_models import forest_from, forest_metadata, tree_from, tree_metadata
from bosquet.io.vote_models import vote_from, vote_parts
from bosquet.io.wrapped_models import WRAPPERS, wrapped_from, wrapped_parts

# Models made of models made of models ... : no deeper than this.
MOST_NESTED = 3


def save_model(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to `path`, whole or not at all."""
    data = model_bytes(estimator)
    with written_whole(path) as place, open(place, "wb") as file:
        file.write(data)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that ``model.save(path)`` wrote.

    Any file yields a model or a `ModelFileError`, never a crash and never code that the file brought.

    Examples
    --------
    >>> import os, tempfile, bosquet
    >>> model = bosquet.GradientBoostingRegressor(n_estimators=5, min_samples_leaf=1)
    >>> model = model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.bosquet")
    >>> model.save(path)
    >>> bool((bosquet.load(path).predict([[1.5]]) == model.predict([[1.5]])).all())
    True
    """
    with open(path, "rb") as file:
        return model_from_bytes(file.read())


def model_bytes(estimator: Any, nested: int = 0) -> bytes:
    """A fitted estimator as the bytes of a model file.

    `nested` tells how many models it is a member of, one inside the other.
    """
    from bosquet._sklearn import check_is_fitted
    from bosquet.bagging._base import BaseBagging
    from bosquet.bagging.voting import BaseVoting
    from bosquet.boosting._boosted_vote import BoostedVote
    from bosquet.experts import Mixture
    from bosquet.experts._stacking import BaseSuperLearner
    from bosquet.forests._base import BaseForest
    from bosquet.trees.cart import BaseTree
    from bosquet.trust import CalibratedModel, ConformalModel

    if is_table_model(estimator):
        if nested:
            raise ValueError("a model of a table cannot be a member of another model")
        return save_parts(*table_parts(estimator, lambda model: model_bytes(model, 1)))
    if isinstance(estimator, Mixture):
        check_is_fitted(estimator)
        return save_bytes(no_trees(), mixture_metadata(estimator))
    if isinstance(estimator, BaseTree):
        check_is_fitted(estimator, "tree_")
        return save_bytes(estimator._ensemble, tree_metadata(estimator))
    if isinstance(estimator, BaseForest):
        check_is_fitted(estimator, "_ensemble")
        return save_bytes(estimator._ensemble, forest_metadata(estimator))
    if isinstance(
        estimator, BaseBagging | BaseVoting | BaseSuperLearner | CalibratedModel | ConformalModel
    ):
        check_is_fitted(estimator)
        if nested == MOST_NESTED:
            raise ValueError(f"it is nested in more than {MOST_NESTED - 1} other models")
        parts_of = combined_parts
        if isinstance(estimator, BaseSuperLearner):
            parts_of = stacked_parts
        elif isinstance(estimator, CalibratedModel | ConformalModel):
            parts_of = wrapped_parts
        return save_parts(*parts_of(estimator, lambda member: model_bytes(member, nested + 1)))
    if isinstance(estimator, BoostedVote):
        check_is_fitted(estimator, "_vote")
        return save_bytes(*vote_parts(estimator))
    if type(estimator).__name__ in _IMAGES:
        check_is_fitted(estimator, "_vote")
        return save_bytes(no_trees(), image_metadata(estimator))
    if type(estimator).__name__ in _ROBUST:
        check_is_fitted(estimator, "_vote")
        metadata = robust_metadata(estimator)
        return save_bytes(estimator._vote.ensemble, metadata)
    check_is_fitted(estimator, "_terms")
    return _boosting_bytes(estimator)


def _boosting_bytes(estimator: Any) -> bytes:
    from bosquet.boosting._additive import TreeTerms
    from bosquet.losses import NativeLoss

    if not isinstance(estimator._terms, TreeTerms):
        raise ValueError(
            "a model with estimator=... holds objects of other libraries, which a model file does not"
            " carry; use pickle or joblib"
        )
    if not isinstance(estimator._loss_terms, NativeLoss):
        raise ValueError(
            "a model with a loss of your own holds your code, which a model file does not carry;"
            " use pickle or joblib"
        )
    metadata = {
        "estimator": type(estimator).__name__,
        "parameters": plain_parameters(estimator),
        "encoder": estimator._encoder.to_state(),
        "loss": estimator._loss_terms.to_state(),
        "classes": classes_state(getattr(estimator, "classes_", None)),
        "train_score": [float(v) for v in estimator.train_score_],
        "validation_score": [float(v) for v in estimator.validation_score_],
        "runs": estimator._terms.runs,
    }
    return save_bytes(estimator._terms.ensemble, metadata)


def model_from_bytes(data: bytes, nested: int = 0) -> Any:
    """The estimator that `model_bytes` wrote; ModelFileError for anything else."""
    try:
        combined = load_parts(data)
        if combined is None:
            return _estimator_from(*load_bytes(data))
        if nested == MOST_NESTED:
            raise ModelFileError("the models are nested too deeply")
        name, build = combined[1]["estimator"], combined_from
        if name == _TABLE:
            if nested:
                raise ModelFileError("a model of a table cannot be a member of another model")
            return table_from(*combined, lambda part: model_from_bytes(part, 1))
        if name in STACKED:
            build = stacked_from
        elif name in WRAPPERS:
            build = wrapped_from
        return build(*combined, lambda part: model_from_bytes(part, nested + 1))
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, IndexError) as error:
        raise ModelFileError(f"the model's description is not valid: {error}") from error


# Only these; a name in a file never becomes an import.
_TREES = ("DecisionTreeClassifier", "DecisionTreeRegressor")
_FORESTS = (
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
)
_VOTES = ("AdaBoostClassifier", "AnyBoostClassifier")


def _estimator_from(ensemble: Any, metadata: dict[str, Any]) -> Any:
    name = metadata["estimator"]
    if name in _TREES:
        import bosquet.trees

        return tree_from(getattr(bosquet.trees, name), ensemble, metadata)
    if name in _FORESTS:
        import bosquet.forests

        return forest_from(getattr(bosquet.forests, name), ensemble, metadata)
    if name in _VOTES:
        import bosquet.boosting

        return vote_from(getattr(bosquet.boosting, name), ensemble, metadata)
    if name in _ROBUST:
        import bosquet.boosting

        return robust_from(getattr(bosquet.boosting, name), ensemble, metadata)
    if name in _IMAGES:
        return image_from(ensemble, metadata)
    if name == "Mixture":
        return mixture_from(ensemble, metadata)
    return _boosting_from(ensemble, metadata)


def _boosting_from(ensemble: Any, metadata: dict[str, Any]) -> Any:
    from bosquet.boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from bosquet.boosting._additive import TreeTerms
    from bosquet.boosting._parameters import check_parameters
    from bosquet.data import TableEncoder
    from bosquet.losses import NativeLoss
    from bosquet.losses._native import CLASSIFICATION, REGRESSION

    known = {c.__name__: c for c in (GradientBoostingClassifier, GradientBoostingRegressor)}
    name = metadata["estimator"]
    if name not in known:
        raise ModelFileError(f"the model is a {name!r}, which this version does not know")
    model = known[name]()
    model.set_params(**metadata["parameters"])
    check_parameters(model)

    encoder = TableEncoder.from_state(metadata["encoder"])
    loss = NativeLoss.from_state(metadata["loss"])
    classifier = name == "GradientBoostingClassifier"
    if loss.name not in (CLASSIFICATION if classifier else REGRESSION):
        raise ModelFileError(f"the loss {loss.name!r} does not belong to a {name}")
    if encoder.n_features != ensemble.n_features or loss.outputs != ensemble.n_outputs:
        raise ModelFileError("the trees do not fit the model's description")
    if ensemble.vector_leaves:
        raise ModelFileError("the trees add to all outputs at once, which no boosted model's do")
    if list(encoder.categories) != list(ensemble.categories):
        raise ModelFileError("the trees' categories do not fit the model's description")
    if classifier:
        model.classes_ = classes_from(metadata["classes"])
        if model.classes_.size != max(2, loss.outputs):
            raise ModelFileError("the number of classes does not fit the trees")
    model._terms, model._loss_terms = TreeTerms(ensemble, int(metadata.get("runs", 1))), loss
    if model._terms.runs < 1 or ensemble.n_trees % model._terms.trees_a_round:
        raise ModelFileError("the number of trees does not fit the rounds and runs")
    remember_columns(model, encoder)
    model.train_score_ = np.asarray(metadata["train_score"], dtype=float)
    model.validation_score_ = np.asarray(metadata["validation_score"], dtype=float)
    model.timings_ = {}
    return model

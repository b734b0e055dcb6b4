"""The kinds of models, with the facts that model files and explanations need of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet._state.tree_sums import TreeSum

# What a file contains besides the state: trees, or other models, each with its name in error messages.
Content = Ensemble | list[tuple[str, Any]]


def _own_encoder(model: Any) -> Any:
    return getattr(model, "_encoder", None)


def _own_outputs(model: Any) -> int:
    return int(getattr(model, "n_outputs_", 1))


def _no_members(model: Any) -> list[tuple[Any, np.ndarray | None]]:
    return []


def _no_bags(model: Any) -> None:
    return None


@dataclass(frozen=True)
class ModelKind:
    """Functions of the fitted models of one kind.

    `to_state`, `from_state` and `check` convert a model to JSON values and back; the others look into it.

    Parameters
    ----------
    module : str
        The module that defines the class. A class name in a file is looked up in this module only.
    to_state : function of the fitted model
        Returns (content, state). The content is the trees, or the member models, each with its name in error
        messages. The state is a dict of JSON values with everything else that a reader needs, except the
        parameters and, with `has_learner`, `estimator_`. Raises ValueError for a model that cannot be
        written.
    from_state : function of (model, content, state)
        Returns the fitted model. `model` already has its parameters (None without `has_parameters`);
        `content` is the trees, or a list of the members. Raises ModelFileError for an invalid state. It need
        not look for missing or unknown keys: the result is converted to a state again and compared.
    check : function of the unfitted estimator
        Raises the error of `fit` for invalid parameters.
    n_outputs : function of the fitted model
        Returns the number of values that a regressor predicts per row.
    members : function of the fitted model
        Returns its member models, each with the columns that it uses (None: all columns).
    weights : function of the fitted model, or None
        Returns the weights of the members. None unless the model predicts the weighted mean of its members'
        predictions or votes.
    encoder : function of the fitted model
        Returns its TableEncoder, or None.
    bagged_rows : function of the fitted model
        Returns the number of rows from which it drew a bag for each member or tree, None if it drew none.
    trees : function of the fitted model, or None
        Returns its trees as a TreeSum, or None if it consists of learners of other libraries. None if no
        model of this kind is a sum of trees.
    """

    module: str
    to_state: Callable[[Any], tuple[Content, dict[str, Any]]]
    from_state: Callable[[Any, Any, dict[str, Any]], Any]
    check: Callable[[Any], None]
    n_outputs: Callable[[Any], int] = _own_outputs
    members: Callable[[Any], list[tuple[Any, np.ndarray | None]]] = _no_members
    weights: Callable[[Any], Sequence[float]] | None = None
    encoder: Callable[[Any], Any] = _own_encoder
    bagged_rows: Callable[[Any], int | None] = _no_bags
    trees: Callable[[Any], TreeSum | None] | None = None
    has_members: bool = False  # whether the file contains member models instead of trees
    has_learner: bool = False  # whether `estimator_` is the base estimator of boosting or bagging
    has_parameters: bool = True
    top_level_only: bool = False  # whether it cannot be a member of another model


# The module of states for each class, with a dict KINDS by class name. Only the module of the model that is
# written, read or explained is imported.
STATE_MODULES = {
    "GradientBoostingClassifier": "bosquet.boosting.gradient._state",
    "GradientBoostingRegressor": "bosquet.boosting.gradient._state",
    "DecisionTreeClassifier": "bosquet.trees._state",
    "DecisionTreeRegressor": "bosquet.trees._state",
    "ExtraTreesClassifier": "bosquet.forests._state",
    "ExtraTreesRegressor": "bosquet.forests._state",
    "RandomForestClassifier": "bosquet.forests._state",
    "RandomForestRegressor": "bosquet.forests._state",
    "AdaBoostClassifier": "bosquet.boosting.adaboost._vote_state",
    "AnyBoostClassifier": "bosquet.boosting.adaboost._vote_state",
    "AdaBoostRegressor": "bosquet.boosting.adaboost._robust_state",
    "BrownBoostClassifier": "bosquet.boosting.adaboost._robust_state",
    "LPBoostClassifier": "bosquet.boosting.adaboost._robust_state",
    "BaggingClassifier": "bosquet.bagging._state",
    "BaggingRegressor": "bosquet.bagging._state",
    "VotingClassifier": "bosquet.bagging._state",
    "VotingRegressor": "bosquet.bagging._state",
    "Mixture": "bosquet.experts._mixture_state",
    "SuperLearnerClassifier": "bosquet.experts._stacking_state",
    "SuperLearnerRegressor": "bosquet.experts._stacking_state",
    "CalibratedModel": "bosquet.trust._state",
    "ConformalModel": "bosquet.trust._state",
    "BinomialRegression": "bosquet.glm._state",
    "LinearModel": "bosquet.glm._state",
    "LogLinearModel": "bosquet.glm._state",
    "MultinomialRegression": "bosquet.glm._state",
    "PoissonRegression": "bosquet.glm._state",
    "HaarBoostClassifier": "bosquet.vision._state",
    "TableModel": "bosquet.tables._state",
}


def kind_by_name(name: str) -> ModelKind | None:
    """Return the kind of a model by the name of its class, None for an unknown name."""
    if name not in STATE_MODULES:
        return None
    kind: ModelKind = import_module(STATE_MODULES[name]).KINDS[name]
    return kind


def kind_of(model: Any) -> ModelKind | None:
    """Return the kind of a model, None for an estimator of another library or of a subclass."""
    return _kind_of_class(type(model))


def nearest_kind(model: Any) -> ModelKind | None:
    """Return the kind of a model or of the nearest base class that has one, None if there is none."""
    kinds = map(_kind_of_class, type(model).__mro__)
    return next((kind for kind in kinds if kind is not None), None)


def _kind_of_class(estimator: type) -> ModelKind | None:
    kind = kind_by_name(estimator.__name__)
    is_ours = kind is not None and class_by_name(estimator.__name__) is estimator
    return kind if is_ours else None


def class_by_name(name: str) -> Any:
    """Return the class of a model, or of an aggregation rule of experts, by its name; None if unknown."""
    kind = kind_by_name(name)
    if kind is not None:
        return getattr(import_module(kind.module), name)
    rules = import_module("bosquet.experts.rules").RULES
    return next((rule for rule in rules.values() if rule.__name__ == name), None)


def with_checked_parameters(estimator: Any) -> Any:
    """Return the estimator if its parameters are valid; raise the error of its `fit` otherwise."""
    kind = kind_by_name(type(estimator).__name__)
    if kind is not None:
        kind.check(estimator)
    else:
        check_parameters(estimator, estimator.checks)
    return estimator


def no_trees() -> Ensemble:
    """Return the empty content of a model without trees."""
    return Ensemble(n_features=0, n_outputs=1, base=[0.0], categories=[])


def check_no_trees(trees: Ensemble) -> None:
    """Raise ModelFileError if the file of a model without trees contains trees."""
    if trees.n_trees or trees.n_features or trees.n_outputs != 1:
        raise ModelFileError(
            "invalid model file: the file contains trees, but a model of this class has none"
        )

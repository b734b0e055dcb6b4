"""Every kind of model that a file can hold: where its class is, how it is described and built again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from bosquet._core import Ensemble

# What a file holds besides the description: trees, or other models, each with words that name it.
Content = Ensemble | list[tuple[str, Any]]


@dataclass(frozen=True)
class Kind:
    """A kind of model. `bosquet.io.models` does what all kinds have in common.

    Parameters
    ----------
    home : str
        The module that has the class by its name. A name in a file never becomes an import of its own.
    describe : function of the fitted model
        Its trees, or its members with words that name them, and what else a reader needs, as a dict of what
        JSON has. Without the parameters, and without `estimator_` if `has_learner`.
    build : function of (model, content, description)
        The fitted model. `model` has its parameters already (None without `has_parameters`); `content` is the
        trees, or a list of the members. ModelFileError for a description that cannot be; it need not look for
        keys that are missing or too many, since what was built is described again and compared.
    check : function of the unfitted estimator
        Raise an error as `fit` does where parameters are out of range.
    """

    home: str
    describe: Callable[[Any], tuple[Content, dict[str, Any]]]
    build: Callable[[Any, Any, dict[str, Any]], Any]
    check: Callable[[Any], None]
    of_parts: bool = False  # whether the file holds members, and no trees
    has_learner: bool = False  # whether `estimator_` is what was boosted or bagged
    has_parameters: bool = True
    outermost: bool = False  # whether it cannot be a member of another model


_FAMILIES = (
    "boosted_models",
    "tree_models",
    "forest_models",
    "vote_models",
    "robust_models",
    "combined_models",
    "stacked_models",
    "wrapped_models",
    "mixture_models",
    "glm_models",
    "image_models",
    "table_models",
)


@cache
def kinds() -> dict[str, Kind]:
    """Every kind of model by the name of its class."""
    families = (import_module(f"bosquet.io.{family}") for family in _FAMILIES)
    return {name: kind for family in families for name, kind in family.KINDS.items()}


def class_of(name: str) -> Any:
    """The class of a model, or of a rule of experts, by its name; None where there is none."""
    kind = kinds().get(name)
    if kind is not None:
        return getattr(import_module(kind.home), name)
    from bosquet.experts.rules import RULES

    return next((rule for rule in RULES.values() if rule.__name__ == name), None)


def checked(estimator: Any) -> Any:
    """The estimator, if its parameters are such as its `fit` accepts; its error otherwise."""
    kind = kinds().get(type(estimator).__name__)
    if kind is not None:
        kind.check(estimator)
    else:
        from bosquet._parameters import check_parameters

        check_parameters(estimator, estimator.checks)
    return estimator

"""Mixtures of experts to the description of a model file, and back: no trees, only what was learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet.io.columns import names_state, put_names
from bosquet.io.fields import field, flag, inner, listed, numbers, optional, table, whole
from bosquet.io.kinds import Kind
from bosquet.io.labels import labels_state


def no_trees() -> Ensemble:
    """What stands where a model file holds trees."""
    return Ensemble(n_features=0, n_outputs=1, base=[0.0], categories=[])


def check_no_trees(trees: Ensemble) -> None:
    if trees.n_trees or trees.n_features or trees.n_outputs != 1:
        raise ModelFileError("the model holds no trees, and the file does")


def _check(mixture: Any) -> None:
    """The parameters are checked when the game starts."""


def _describe(mixture: Any) -> tuple[Ensemble, dict[str, Any]]:
    from bosquet.experts._game import open_step
    from bosquet.experts.losses import UserLoss

    mixture._check_unchanged()
    if isinstance(mixture._loss, UserLoss):
        raise ValueError(
            "a mixture with a loss of your own holds your code, which a model file does not carry; use"
            " pickle or joblib"
        )
    pending = open_step(mixture._core)
    return no_trees(), {
        "classes": labels_state(mixture._classes),
        "experts": int(mixture.n_features_in_),
        "names": names_state(mixture),
        "horizon": mixture._horizon,
        "seed": int(mixture._seed),
        "warned": bool(mixture._warned),
        "state": mixture._core.state(),
        "open": None if pending is None else [part.tolist() for part in pending],
    }


def _build(mixture: Any, trees: Ensemble, state: dict[str, Any]) -> Any:
    check_no_trees(trees)
    learned, experts = inner(state, "state"), whole(state, "experts", 1)
    _check_sizes(mixture, learned, experts, state)
    horizon = whole(state, "horizon", 1) if optional(state, "horizon") else None
    mixture._start(experts, horizon, whole(state, "seed", 0, 2**64 - 1))
    mixture._warned = flag(state, "warned")
    put_names(mixture, state, "names", experts)
    known = mixture._core.state()
    if learned.keys() != known.keys():
        raise ModelFileError("the state of the mixture does not fit its rule")
    fields = {name: numbers(learned, name, len(known[name])).tolist() for name in known}
    mixture._resume(fields, _open_step(mixture, state))
    return mixture


def _check_sizes(
    mixture: Any, learned: dict[str, Any], experts: int, state: dict[str, Any]
) -> None:
    """What the game takes memory for stands in the file: the experts, the classes, the rule's matrix."""
    from bosquet.experts.rules import rule_of

    numbers(learned, "played", experts)
    if rule_of(mixture.rule).name == "ridge":
        numbers(learned, "rule.root", experts**2)
    if isinstance(mixture.classes, int):
        listed(inner(state, "classes"), "values", mixture.classes)


def _open_step(mixture: Any, state: dict[str, Any]) -> Any:
    if not optional(state, "open"):
        return None
    step = dict(zip(("forecasts", "awake"), field(state, "open"), strict=True))
    rows, experts = int(mixture.block), mixture.n_features_in_
    if rows > len(step["forecasts"]):
        raise ModelFileError("the open step does not have the shape of a step")
    forecasts = table(step, "forecasts", (rows, int(np.prod(mixture._step_shape))))
    awake = table(step, "awake", (rows, experts), low=0, high=1)
    return forecasts, awake.astype(np.uint8)


# What a mixture predicts depends on the shape that it is asked in, which a model around it does not know.
KINDS = {"Mixture": Kind("bosquet.experts", _describe, _build, _check, outermost=True)}

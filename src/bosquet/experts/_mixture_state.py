"""Conversion of mixtures of experts to states of model files and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._state.columns import feature_names_state, set_feature_names
from bosquet._state.fields import (
    has_value,
    read_bool,
    read_field,
    read_integer,
    read_list,
    read_matrix,
    read_numbers,
    read_object,
)
from bosquet._state.kinds import ModelKind, check_no_trees, no_trees
from bosquet._state.labels import labels_state
from bosquet.experts._base_mixture import open_step
from bosquet.experts.losses import CustomExpertLoss
from bosquet.experts.rules import as_rule

if TYPE_CHECKING:
    from bosquet._types import State


def _check(mixture: Any) -> None:
    """Do nothing: the parameters are checked when the mixture is started."""


def _to_state(mixture: Any) -> tuple[Ensemble, State]:
    mixture._check_unchanged()
    if isinstance(mixture._loss, CustomExpertLoss):
        raise ValueError(
            "a mixture with a custom loss contains code, which a model file cannot store; use pickle or"
            " joblib"
        )
    pending = open_step(mixture._core)
    return no_trees(), {
        "classes": labels_state(mixture._classes),
        "experts": int(mixture.n_features_in_),
        "names": feature_names_state(mixture),
        "horizon": mixture._horizon,
        "seed": int(mixture._seed),
        "warned": bool(mixture._warned),
        "state": mixture._core.state(),
        "open": None if pending is None else [array.tolist() for array in pending],
    }


def _from_state(mixture: Any, trees: Ensemble, state: State) -> Any:
    check_no_trees(trees)
    core_state, experts = read_object(state, "state"), read_integer(state, "experts", 1)
    _check_sizes(mixture, core_state, experts, state)
    horizon = read_integer(state, "horizon", 1) if has_value(state, "horizon") else None
    mixture._start(experts, horizon, read_integer(state, "seed", 0, 2**64 - 1))
    mixture._warned = read_bool(state, "warned")
    set_feature_names(mixture, state, "names", experts)
    expected = mixture._core.state()
    if core_state.keys() != expected.keys():
        raise ModelFileError(
            f"invalid model file: 'state' has the keys {sorted(core_state)}; the rule needs"
            f" {sorted(expected)}"
        )
    fields = {
        name: read_numbers(core_state, name, len(expected[name])).tolist() for name in expected
    }
    mixture._resume(fields, _open_step(mixture, state))
    return mixture


def _check_sizes(mixture: Any, core_state: dict[str, Any], experts: int, state: State) -> None:
    """Raise ModelFileError unless the file contains as many numbers as memory is allocated for.

    These are the numbers of the experts, of the classes, and of the matrix of the ridge rule.
    """
    read_numbers(core_state, "weight_sum", experts)
    if as_rule(mixture.rule).name == "ridge":
        read_numbers(core_state, "rule.root", experts**2)
    if isinstance(mixture.classes, int):
        read_list(read_object(state, "classes"), "values", mixture.classes)


def _open_step(mixture: Any, state: State) -> Any:
    if not has_value(state, "open"):
        return None
    step = dict(zip(("forecasts", "awake"), read_field(state, "open"), strict=True))
    rows, experts = int(mixture.block), mixture.n_features_in_
    if rows > len(step["forecasts"]):
        raise ModelFileError(
            f"invalid model file: 'open' has forecasts for {len(step['forecasts'])} rows; it must have {rows}"
        )
    forecasts = read_matrix(step, "forecasts", (rows, int(np.prod(mixture._step_shape))))
    awake = read_matrix(step, "awake", (rows, experts), low=0, high=1)
    return forecasts, awake.astype(np.uint8)


# The predictions of a mixture depend on the shape of its input, which a composite model does not know.
KINDS = {
    "Mixture": ModelKind("bosquet.experts", _to_state, _from_state, _check, top_level_only=True)
}

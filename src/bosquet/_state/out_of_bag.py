"""Out-of-bag errors of a model in its state."""

from __future__ import annotations

from typing import Any

from bosquet._state.fields import read_numbers, to_json_numbers


def out_of_bag_state(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the out-of-bag errors of a model and their curve over the number of members, if it has them."""
    state = {
        name: to_json_numbers([getattr(model, name)]) for name in names if hasattr(model, name)
    }
    if hasattr(model, "oob_curve_"):
        state["oob_curve_"] = to_json_numbers(model.oob_curve_)
    return state


def set_out_of_bag(model: Any, state: dict[str, Any], names: tuple[str, ...]) -> None:
    """Set the attributes from the result of `out_of_bag_state`."""
    for name in names:
        if name in state:
            setattr(model, name, float(read_numbers(state, name, 1, allow_non_finite=True)[0]))
    if "oob_curve_" in state:
        model.oob_curve_ = read_numbers(state, "oob_curve_", allow_non_finite=True)

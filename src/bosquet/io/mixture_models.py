"""Mixtures of experts to the description of a model file, and back: no trees, only what was learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet.io.description import classes_from, classes_state, plain_parameters


def no_trees() -> Ensemble:
    """What stands where a model file holds trees."""
    return Ensemble(n_features=0, n_outputs=1, base=[0.0], categories=[])


def mixture_metadata(mixture: Any) -> dict[str, Any]:
    """Parameters, the state of the rule, and the step that is open, if one is."""
    from bosquet.experts._game import open_step
    from bosquet.experts.losses import UserLoss

    mixture._check_unchanged()
    if isinstance(mixture._loss, UserLoss):
        raise ValueError(
            "a mixture with a loss of your own holds your code, which a model file does not carry; use"
            " pickle or joblib"
        )
    parameters = plain_parameters(mixture)
    for name in ("rule", "random_state", "classes"):
        parameters.pop(name, None)
    rule = mixture._rule
    pending = open_step(mixture._core)
    names = getattr(mixture, "feature_names_in_", None)
    return {
        "estimator": "Mixture",
        "parameters": parameters,
        "rule": {"name": rule.name, "parameters": plain_parameters(rule)},
        "classes": classes_state(mixture._classes),
        "experts": mixture.n_features_in_,
        "names": None if names is None else [str(name) for name in names],
        "horizon": mixture._horizon,
        "seed": mixture._seed,
        "warned": bool(mixture._warned),
        "state": mixture._core.state(),
        "open": None if pending is None else [part.tolist() for part in pending],
    }


def mixture_from(ensemble: Ensemble, metadata: dict[str, Any]) -> Any:
    """The mixture that `mixture_metadata` described."""
    from bosquet.experts import Mixture
    from bosquet.experts.rules import RULES

    if ensemble.n_trees != 0:
        raise ModelFileError("a mixture of experts holds no trees")
    described = metadata["rule"]
    if described["name"] not in RULES:
        raise ModelFileError(f"the rule {described['name']!r} is not one this version knows")
    rule = RULES[described["name"]]().set_params(**described["parameters"])
    mixture = Mixture(rule).set_params(**metadata["parameters"])
    if metadata["classes"] is not None:
        mixture.classes = classes_from(metadata["classes"])
    experts, horizon, seed = metadata["experts"], metadata["horizon"], metadata["seed"]
    # As many numbers as experts stand in the file, so that room for them is never made up.
    if type(experts) is not int or experts != len(metadata["state"]["played"]):
        raise ModelFileError("the number of experts does not fit the state")
    if horizon is not None and (type(horizon) is not int or horizon < 1):
        raise ModelFileError("the number of steps is not valid")
    if type(seed) is not int or not 0 <= seed < 2**64:
        raise ModelFileError("the seed is not valid")
    mixture._start(experts, horizon, seed)
    mixture._warned = bool(metadata["warned"])
    if metadata["names"] is not None:
        names = np.asarray(metadata["names"], dtype=object)
        if names.shape != (experts,) or not all(isinstance(name, str) for name in names):
            raise ModelFileError("the names of the experts do not fit them")
        mixture.feature_names_in_ = names
    mixture._resume(_fields(metadata["state"]), _open_step(mixture, metadata["open"]))
    return mixture


def _fields(state: Any) -> dict[str, list[float]]:
    """Lists of numbers by name; the core checks which, how many and within what."""
    for name, values in state.items():
        if not isinstance(values, list) or not all(type(v) in (int, float) for v in values):
            raise ModelFileError(f"the state's {name!r} is not a list of numbers")
    return {name: [float(v) for v in values] for name, values in state.items()}


def _open_step(mixture: Any, parts: Any) -> Any:
    if parts is None:
        return None
    forecasts, awake = (np.asarray(part, dtype=float) for part in parts)
    width = int(np.prod(mixture._step_shape))
    rows = int(mixture.block)
    if forecasts.shape != (rows, width) or awake.shape != (rows, mixture.n_features_in_):
        raise ModelFileError("the open step does not have the shape of a step")
    return forecasts, (awake != 0).astype(np.uint8)

"""Steps whose loss is a function of the user's own: judged here, learned from in the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ExpertMixture
from bosquet.experts.losses import UserLoss


def judge(
    core: ExpertMixture, loss: UserLoss, truths: Any, shape: tuple[int, ...], linearised: bool
) -> dict[str, np.ndarray]:
    """Close the open step of `core`; returns what happened, a row each."""
    forecasts = core.open_forecasts()
    forecasts = forecasts.reshape(len(forecasts), *shape)
    awake = core.open_awake().astype(bool)
    if len(truths) != len(forecasts):
        raise ValueError(f"the step has {len(forecasts)} rows, but {len(truths)} truths came")
    weights, said = core.open_weights(), core.open_predictions()
    losses = np.full(awake.shape, np.nan)
    own, uniform = np.empty(len(said)), np.empty(len(said))
    excess = np.zeros(awake.shape[1])
    for i, truth in enumerate(truths):
        up = awake[i]
        losses[i, up] = loss.values(forecasts[i, up], truth)
        mean = forecasts[i, up].mean(axis=0)
        point = said[i] if len(shape) > 1 else said[i, 0]
        own[i], uniform[i] = loss.values(np.stack([point, mean]), truth)
        if linearised:
            slope = loss.slope(said[i], truth)
            apart = said[i] - forecasts[i, up].reshape(up.sum(), -1)
            excess[up] += apart @ slope
        else:
            level = weights[i, up] @ losses[i, up] if core.draws else own[i]
            excess[up] += level - losses[i, up]
    played: dict[str, np.ndarray] = {"weights": weights}
    played["predictions"] = said if len(shape) > 1 else said[:, 0]
    chosen = core.open_chosen()
    if core.draws:
        played["chosen"] = chosen
        own = losses[np.arange(len(own)), chosen]
    core.close_judged(np.nan_to_num(losses), own, uniform, excess)
    leader = core.totals["regret"].argmax()
    bounds = np.full(len(own), core.bounds()[leader])
    return {**played, "losses": own, "expert_losses": losses, "bounds": bounds}

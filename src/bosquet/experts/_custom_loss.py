"""Steps with a custom loss: the loss is computed in Python, the rule is updated in the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ExpertMixture
from bosquet.experts.losses import CustomExpertLoss


def close_custom_loss_step(
    core: ExpertMixture,
    loss: CustomExpertLoss,
    truths: Any,
    shape: tuple[int, ...],
    linearised: bool,
) -> dict[str, np.ndarray]:
    """Close the open step of `core` and return the arrays to record, with one entry per row."""
    forecasts = core.open_forecasts()
    forecasts = forecasts.reshape(len(forecasts), *shape)
    awake = core.open_awake().astype(bool)
    if len(truths) != len(forecasts):
        raise ValueError(
            f"y has {len(truths)} values, but the open step has {len(forecasts)} rows; pass one value per"
            " row"
        )
    weights, predictions = core.open_weights(), core.open_predictions()
    losses = np.full(awake.shape, np.nan)
    mixture_loss, uniform_loss = np.empty(len(predictions)), np.empty(len(predictions))
    excess = np.zeros(awake.shape[1])
    for i, truth in enumerate(truths):
        present = awake[i]
        losses[i, present] = loss.values(forecasts[i, present], truth)
        mean = forecasts[i, present].mean(axis=0)
        point = predictions[i] if len(shape) > 1 else predictions[i, 0]
        mixture_loss[i], uniform_loss[i] = loss.values(np.stack([point, mean]), truth)
        if linearised:
            slope = loss.slope(predictions[i], truth)
            differences = predictions[i] - forecasts[i, present].reshape(present.sum(), -1)
            excess[present] += differences @ slope
        else:
            expected_loss = (
                weights[i, present] @ losses[i, present] if core.draws else mixture_loss[i]
            )
            excess[present] += expected_loss - losses[i, present]
    record: dict[str, np.ndarray] = {"weights": weights}
    record["predictions"] = predictions if len(shape) > 1 else predictions[:, 0]
    chosen = core.open_chosen()
    if core.draws:
        record["chosen"] = chosen
        mixture_loss = losses[np.arange(len(losses)), chosen]
    core.close_with_losses(np.nan_to_num(losses), mixture_loss, uniform_loss, excess)
    leader = core.totals["regret"].argmax()
    bounds = np.full(len(losses), core.bounds()[leader])
    return {**record, "losses": mixture_loss, "expert_losses": losses, "bounds": bounds}

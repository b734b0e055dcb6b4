"""Plots of mixtures of experts: weights, contributions, losses and regret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._optional import import_pyplot
from bosquet.experts.summary import expert_names
from bosquet.plot._style import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from bosquet.experts import Mixture


def _new_axes(ax: Axes | None) -> Axes:
    return ax or import_pyplot().subplots(figsize=(7, 3.6), layout="constrained")[1]


def _names_of_experts(mixture: Any) -> list[str]:
    return expert_names(mixture)


def _colour_of_expert(mixture: Mixture, expert: int) -> Any:
    """Colour of an expert by the rank of its mean weight, which is the same in all plots of a mixture."""
    order = np.argsort(-np.abs(mixture.weight_history_).mean(axis=0), kind="stable")
    rank = int(np.flatnonzero(order == expert)[0])
    steps = max(min(mixture.n_features_in_, 10) - 1, 1)
    return import_pyplot().get_cmap("viridis")(0.05 + 0.9 * (rank % 10) / steps)


def _largest_experts(
    mixture: Mixture, max_display: int
) -> tuple[list[np.ndarray], list[str], list[Any]]:
    """Return groups of experts, labels and colours: the largest experts singly, the others as one group."""
    weights = np.abs(mixture.weight_history_).mean(axis=0)
    order = np.argsort(-weights, kind="stable")
    shown_groups = [np.array([k]) for k in order[:max_display]]
    names = _names_of_experts(mixture)
    labels = [names[k] for k in order[:max_display]]
    colours = [_colour_of_expert(mixture, k) for k in order[:max_display]]
    if len(order) > max_display:
        shown_groups.append(order[max_display:])
        labels.append(f"{len(order) - max_display} others")
        colours.append("#cccccc")
    return shown_groups, labels, colours


def _finish_axes(ax: Axes, ylabel: str) -> Axes:
    ax.set(xlabel="step", ylabel=ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def expert_weights(mixture: Mixture, ax: Axes | None = None, *, max_display: int = 10) -> Axes:
    """Draw the stacked weights of the experts over time.

    Parameters
    ----------
    mixture : Mixture
        Fitted, with its history.
    ax : matplotlib axes, optional
    max_display : int, default=10
        Number of experts of largest weight that are drawn singly; the others are drawn as one.

    Returns
    -------
    axes
    """
    ax = _new_axes(ax)
    shown_groups, labels, colours = _largest_experts(mixture, max_display)
    weights = mixture.weight_history_
    steps = np.arange(1, len(weights) + 1)
    if (weights < 0).any():  # ridge regression has negative weights, which cannot be stacked
        for group, label, colour in zip(shown_groups, labels, colours, strict=True):
            ax.plot(steps, weights[:, group].sum(axis=1), label=label, color=colour, linewidth=1)
    else:
        # Step t is drawn from t - 0.5 to t + 0.5, so that a single step has a width, too.
        edges = np.concatenate([steps - 0.5, steps[-1:] + 0.5])
        heights = [
            np.append(column := weights[:, group].sum(axis=1), column[-1]) for group in shown_groups
        ]
        ax.stackplot(edges, heights, labels=labels, colors=colours, step="post")
        ax.set_ylim(0, None if weights.sum(axis=1).max() > 1.001 else 1)
    ax.margins(x=0)
    return _finish_axes(ax, "weight")


def expert_contributions(
    mixture: Mixture, F: ArrayLike, ax: Axes | None = None, *, max_display: int = 10
) -> Axes:
    """Draw the stacked contributions of the experts to the prediction, p(j) f(j), and the prediction.

    Parameters
    ----------
    mixture : Mixture
        Fitted to F, with its history; for regression.
    F : array of shape (n_rows, n_experts)
        Forecasts of the experts.
    ax, max_display
        As in `expert_weights`.

    Returns
    -------
    axes
    """
    forecasts = np.asarray(F, dtype=float)
    weights = mixture.weight_history_
    if forecasts.shape != weights.shape:
        raise ValueError(
            f"F has shape {forecasts.shape}, but the mixture was fitted to forecasts of shape"
            f" {weights.shape}; pass these forecasts"
        )
    ax = _new_axes(ax)
    shown_groups, labels, colours = _largest_experts(mixture, max_display)
    contributions = weights * np.nan_to_num(forecasts)
    steps = np.arange(1, len(weights) + 1)
    # Positive and negative contributions are stacked separately; otherwise they would cancel.
    for sign in (1, -1):
        stack = [
            np.maximum(sign * contributions[:, group].sum(axis=1), 0) * sign
            for group in shown_groups
        ]
        if sign == 1 or any((heights < 0).any() for heights in stack):
            ax.stackplot(steps, stack, labels=labels if sign == 1 else (), colors=colours)
    ax.plot(steps, mixture.predictions_, color="black", linewidth=0.8, label="prediction")
    ax.margins(x=0)
    return _finish_axes(ax, "contribution")


def expert_losses(mixture: Mixture, ax: Axes | None = None, *, max_display: int = 10) -> Axes:
    """Draw the cumulative losses of the experts and of the mixture.

    Parameters
    ----------
    mixture : Mixture
        Fitted, with its history.
    ax, max_display
        As in `expert_weights`, but the experts with the lowest loss are drawn. In steps without a forecast
        (a sleeping expert), the loss of the mixture is used.

    Returns
    -------
    axes
    """
    ax = _new_axes(ax)
    mixture_losses = mixture.losses_
    losses = np.where(
        np.isnan(mixture.expert_losses_), mixture_losses[:, None], mixture.expert_losses_
    )
    total = losses.cumsum(axis=0)
    steps, names = np.arange(1, len(mixture_losses) + 1), _names_of_experts(mixture)
    best = np.argsort(total[-1], kind="stable")[:max_display]
    for k in best:
        ax.plot(
            steps, total[:, k], color=_colour_of_expert(mixture, k), linewidth=1, label=names[k]
        )
    ax.plot(steps, mixture_losses.cumsum(), color=ORANGE, linewidth=2, label="mixture")
    return _finish_axes(ax, "cumulative loss")


def expert_regret(mixture: Mixture, ax: Axes | None = None) -> Axes:
    """Draw the regret to the best expert so far, and the regret bound of the rule.

    Parameters
    ----------
    mixture : Mixture
        Fitted, with its history.
    ax : matplotlib axes, optional

    Returns
    -------
    axes
    """
    ax = _new_axes(ax)
    mixture_losses = mixture.losses_
    excess = mixture_losses[:, None] - mixture.expert_losses_
    regret = np.nan_to_num(excess).cumsum(axis=0).max(axis=1)
    steps = np.arange(1, len(mixture_losses) + 1)
    ax.plot(steps, regret, color=BLUE, label="regret to the leader")
    bounds = mixture.bounds_
    if np.isfinite(bounds).any():
        ax.plot(steps, bounds, color=GREY, linestyle="--", label="bound of the rule")
        largest = np.nanmax(bounds[np.isfinite(bounds)])
        spread = np.ptp(regret)
        if largest > 10 * max(spread, 1e-300):  # a large bound would flatten the regret to a line
            ax.set_yscale("symlog", linthresh=max(spread, 1e-12))
    ax.axhline(0, color="black", linewidth=0.6)
    return _finish_axes(ax, "regret")

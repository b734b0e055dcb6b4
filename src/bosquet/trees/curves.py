"""Plots of pruning: estimated error and training cost against the number of leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._optional import import_pyplot
from bosquet.trees.pruning import PruningPath
from bosquet.trees.table import PruningTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MAX_ERROR_BARS = 40  # with more subtrees, standard errors are drawn as a band
_LINE, _CHOSEN = "#0072B2", "#D55E00"


def draw_pruning(table: PruningTable, ax: Axes | None = None) -> Axes:
    """Plot the estimated error of each subtree with its standard error against the number of leaves.

    The upper axis shows the penalty γ per leaf. The chosen subtree is marked. The dotted line is one
    standard error above the smallest error.

    Parameters
    ----------
    table : PruningTable
        From `choose_by_folds`.
    ax : matplotlib Axes, optional
        Default: the axes of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax or import_pyplot().subplots(figsize=(7, 4.2), layout="constrained")[1]
    leaves, errors, se = table.leaves, table.errors, table.standard_errors
    if len(table) <= _MAX_ERROR_BARS:
        ax.errorbar(leaves, errors, se, color=_LINE, marker="o", markersize=4, linewidth=1.4,
                    elinewidth=0.9, capsize=2.5, label="error ± 1 SE")  # fmt: skip
    else:
        ax.fill_between(leaves, errors - se, errors + se, color=_LINE, alpha=0.18, linewidth=0)
        ax.plot(leaves, errors, color=_LINE, linewidth=1.4, label="error ± 1 SE")
    best = int(np.argmin(errors))
    ax.axhline(errors[best] + se[best], color="#777777", linestyle=":", linewidth=1,
               label="smallest error + 1 SE")  # fmt: skip
    rule = "smallest error" if table.rule == "min" else "1-SE rule"
    ax.plot(leaves[table.chosen], errors[table.chosen], marker="o", markersize=11, linestyle="",
            markerfacecolor="none", markeredgecolor=_CHOSEN, markeredgewidth=2, zorder=5,
            label=f"{rule}: {table.chosen_leaves} leaves")  # fmt: skip
    ax.set_ylabel(f"estimated error ({table.loss})" if table.loss else "estimated error")
    _label_leaf_axis(ax, leaves)
    _add_penalty_axis(ax, leaves, table.gammas)
    ax.legend(frameon=False)
    return ax


def draw_scree(path: PruningPath | PruningTable, ax: Axes | None = None) -> Axes:
    """Plot D on the training set against the number of leaves of the nested subtrees.

    Where the curve becomes flat, additional leaves decrease D only a little.

    Parameters
    ----------
    path : PruningPath or PruningTable
    ax : matplotlib Axes, optional
        Default: the axes of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax or import_pyplot().subplots(figsize=(7, 4.2), layout="constrained")[1]
    marker = "o" if len(path.gammas) <= _MAX_ERROR_BARS else None
    ax.plot(path.leaves, path.costs, color=_LINE, marker=marker, markersize=4, linewidth=1.4)
    ax.set_ylabel(f"D on the training set ({path.cost})")
    ax.set_ylim(bottom=0)
    _label_leaf_axis(ax, path.leaves)
    _add_penalty_axis(ax, path.leaves, path.gammas)
    return ax


def _label_leaf_axis(ax: Axes, leaves: np.ndarray) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("leaves")
    ax.yaxis.set_major_formatter("{x:.4g}")
    if leaves.max() > 60:  # a linear axis would compress the small trees, which are of interest
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E4E4E4", linewidth=0.7)
    ax.set_axisbelow(True)


def _add_penalty_axis(ax: Axes, leaves: np.ndarray, gammas: np.ndarray) -> None:
    """Label the upper axis with the penalties of some subtrees; labels do not overlap."""
    top = ax.secondary_xaxis("top")
    low, high = ax.get_xlim()
    log = ax.get_xscale() == "log"
    position = (lambda x: np.log(x / low) / np.log(high / low)) if log else (
        lambda x: (x - low) / (high - low))  # fmt: skip
    shown_steps: list[int] = []
    for step in range(len(gammas) - 1, -1, -1):  # from the root, where the penalties change fastest
        if not shown_steps or position(leaves[step]) - position(leaves[shown_steps[-1]]) > 0.1:
            shown_steps.append(step)
    top.set_xticks(
        [int(leaves[step]) for step in shown_steps],
        [_short_number(gammas[step]) for step in shown_steps],
    )
    top.minorticks_off()
    top.tick_params(length=3, labelsize="small", colors="#555555")
    top.set_xlabel(
        "penalty γ per leaf from which the subtree is optimal", color="#555555", labelpad=6
    )
    top.spines["top"].set_visible(False)


def _short_number(penalty: float) -> str:
    if penalty >= 1e5:
        return f"{penalty:.1e}".replace("e+0", "e").replace("e+", "e")
    return f"{penalty:.2g}" if penalty < 100 else f"{penalty:.0f}"

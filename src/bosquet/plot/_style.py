"""Colours and helpers shared by all plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bosquet._optional import import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


BLUE, ORANGE, GREY = "#3b6ea5", "#d9822b", "#8a8a8a"
GREEN, RED, INK, FAINT = "#2f7d5b", "#b8433f", "#333333", "#e8e8e8"


def new_axes(ax: Axes | None, size: tuple[float, float] = (6, 3.8)) -> Axes:
    """Return `ax`, or the axes of a new figure."""
    return import_pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def hide_spines(ax: Axes) -> None:
    """Hide the top and right spines."""
    ax.spines[["top", "right"]].set_visible(False)


def shades_of(colour: str, number: int) -> list[str]:
    """Return `number` shades of a colour, from a light one to the colour itself."""
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    blend = LinearSegmentedColormap.from_list("shades", ["white", colour])
    return [to_hex(blend(0.35 + 0.65 * (i + 1) / number)) for i in range(number)]

"""Plot of a stream and its detected changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bosquet._parameters import check_value, integer
from bosquet.plot._style import BLUE, GREY, ORANGE, RED, hide_spines, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from bosquet.streams.change import Change


def changes(
    values: ArrayLike, found: Sequence[Change], *, window: int = 100, ax: Axes | None = None
) -> Axes:
    """Draw the running mean of a stream, with the changes that a detector found.

    A solid vertical line marks the detection of a change, a dotted one its estimated start. Horizontal
    lines are the means before and after the change.

    Parameters
    ----------
    values : array of shape (n,)
    found : sequence of Change
        `changes_` of a detector, or the result of `bosquet.streams.change_points`.
    window : int, default=100
        Number of values in the running mean.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    check_value("window", window, integer(1))
    stream = np.asarray(values, dtype=float).ravel()
    ax = new_axes(ax, (8, 3.4))
    sums = np.concatenate([[0.0], np.cumsum(stream)])
    last = np.arange(1, stream.size + 1)
    first = np.maximum(last - window, 0)
    ax.plot(last - 1, (sums[last] - sums[first]) / (last - first), color=BLUE, linewidth=1.2,
            label=f"mean of the last {window}")  # fmt: skip
    for i, change in enumerate(found):
        began, detected = ("estimated start", "detected") if i == 0 else (None, None)
        ax.axvline(change.began, color=GREY, linestyle=":", label=began)
        ax.axvline(change.noticed, color=RED, linewidth=1.5, label=detected)
        for mean, start, end in (
            (change.before, max(change.began - 3 * window, 0), change.began),
            (change.after, change.began, change.noticed),
        ):
            ax.hlines(mean, start, end, color=ORANGE, linewidth=2.2)
    ax.set(xlabel="position in the stream", ylabel="mean", xlim=(0, max(stream.size - 1, 1)))
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    hide_spines(ax)
    return ax

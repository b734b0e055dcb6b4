"""Colours of nodes: hue by class and intensity by probability; in regression trees dark for large means."""

from __future__ import annotations

import numpy as np

from bosquet.trees.formatting import TreeFormatter

# Hues that can be distinguished with any kind of colour vision (after Okabe and Ito). The first two,
# for classes 0 and 1, differ most.
HUES = ["#E69F00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#7A5195"]
_DARK = "#1F5F99"


def class_colour(k: int, intensity: float = 1.0) -> str:
    """Return the colour of class k; intensity 0 is white. After eight classes the hues repeat, lighter."""
    return mix_with_white(HUES[k % len(HUES)], intensity * 0.75 ** (k // len(HUES)))


def mix_with_white(colour: str, intensity: float) -> str:
    """Return `colour` mixed with white; intensity 1 leaves it unchanged."""
    channels = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    mixed = [round(255 + (channel - 255) * intensity) for channel in channels]
    return "#" + "".join(f"{channel:02X}" for channel in mixed)


def node_colours(formatter: TreeFormatter) -> list[str]:
    """Return a fill colour for each node, light enough for black text."""
    tree = formatter.tree
    if formatter.is_classifier:
        uniform = 1 / tree.n_outputs
        purity = np.clip((tree.value.max(axis=1) - uniform) / (1 - uniform), 0, 1)
        return [
            class_colour(formatter.predicted_class(node), 0.08 + 0.5 * float(purity[node]))
            for node in range(tree.n_nodes)
        ]
    mean = tree.value[:, 0]
    low, high = float(mean.min()), float(mean.max())
    relative = (mean - low) / (high - low) if high > low else np.full(len(mean), 0.5)
    return [mix_with_white(_DARK, 0.06 + 0.5 * float(value)) for value in relative]

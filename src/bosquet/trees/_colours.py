"""Colours of nodes: the hue is the class, the strength how sure; or light to dark by mean."""

from __future__ import annotations

import numpy as np

from bosquet.trees.wording import Wording

# Hues that people with any kind of colour vision can tell apart (after Okabe and Ito), the two
# that classes 0 and 1 take being the farthest from each other.
HUES = ["#E69F00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#7A5195"]
_DARK = "#1F5F99"


def class_colour(k: int, strength: float = 1.0) -> str:
    """Colour of class k; `strength` 0 is white. Beyond eight classes hues come again, lighter."""
    return mixed(HUES[k % len(HUES)], strength * 0.75 ** (k // len(HUES)))


def mixed(colour: str, strength: float) -> str:
    """`colour` thinned with white."""
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    mixed_parts = [round(255 + (part - 255) * strength) for part in parts]
    return "#" + "".join(f"{part:02X}" for part in mixed_parts)


def node_colours(words: Wording) -> list[str]:
    """A fill colour for each node, light enough for black text."""
    tree = words.tree
    if words.of_classes:
        even = 1 / tree.n_outputs
        sure = np.clip((tree.value.max(axis=1) - even) / (1 - even), 0, 1)
        return [
            class_colour(words.class_of(node), 0.08 + 0.5 * float(sure[node]))
            for node in range(tree.n_nodes)
        ]
    mean = tree.value[:, 0]
    low, high = float(mean.min()), float(mean.max())
    place = (mean - low) / (high - low) if high > low else np.full(len(mean), 0.5)
    return [mixed(_DARK, 0.06 + 0.5 * float(part)) for part in place]

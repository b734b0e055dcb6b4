"""Ensembles of trees written by hand, which are read from a model file."""

from __future__ import annotations

from typing import Any

from handmade import Leaf, Node, Split, ensemble_bytes, model_file
from random_trees import random_tree

from bosquet import _core

__all__ = ["Leaf", "Node", "Split", "handmade", "random_tree"]


def handmade(trees: list[Node], features: int, **options: Any) -> Any:
    """Return the ensemble of these trees; options are those of `ensemble_bytes`."""
    section = ensemble_bytes(trees, features, **options)
    return _core.read_model(model_file(section, crc=_core.checksum))[0]

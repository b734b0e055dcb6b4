"""Trees that no grower makes, by way of a model file written by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "io"))

from handmade import Leaf, Node, Split, ensemble_bytes, model_file

from bosquet import _core

__all__ = ["Leaf", "Node", "Split", "handmade"]


def handmade(trees: list[Node], features: int, **options: Any) -> Any:
    """The ensemble of these trees; options are those of `ensemble_bytes`."""
    return _core.read_model(model_file(ensemble_bytes(trees, features, **options)))[0]

"""What happened at every step, if it is kept."""

from __future__ import annotations

from typing import Any

import numpy as np


class History:
    """Arrays by name, one entry a step; pieces are put together when somebody looks."""

    def __init__(self) -> None:
        self.pieces: list[dict[str, np.ndarray]] = []

    def add(self, piece: dict[str, np.ndarray]) -> None:
        if piece:
            self.pieces.append(piece)

    def merged(self) -> dict[str, np.ndarray]:
        if len(self.pieces) > 1:
            names = self.pieces[0]
            self.pieces = [{n: np.concatenate([p[n] for p in self.pieces]) for n in names}]
        return self.pieces[0] if self.pieces else {}

    def get(self, name: str) -> Any:
        found = self.merged().get(name)
        if found is None:
            raise AttributeError(
                f"there is no record of {name}: it is kept by fit, and by update and partial_fit with"
                " history=True"
            )
        return found

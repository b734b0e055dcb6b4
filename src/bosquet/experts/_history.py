"""What happened at every step, if it is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

Piece = dict[str, np.ndarray]


class History:
    """Arrays by name, one entry a step. A longer history is another object, and leaves this one as it is."""

    def __init__(self, before: History | None = None, piece: Piece | None = None):
        # The steps before, and those that came last; once somebody looks, nothing and all of them.
        self._parts: tuple[History | None, Piece] = (before, piece or {})

    def plus(self, piece: Piece) -> History:
        """This history, and what came after it."""
        return History(self, piece) if piece else self

    def merged(self) -> Piece:
        """All steps in one piece."""
        pieces: list[Piece] = []
        history: History | None = self
        while history is not None:
            history, piece = history._parts
            if piece:
                pieces.append(piece)
        if len(pieces) > 1:
            pieces.reverse()
            whole = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
        else:
            whole = pieces[0] if pieces else {}
        self._parts = (None, whole)
        return whole

    def get(self, name: str) -> Any:
        found = self.merged().get(name)
        if found is None:
            raise AttributeError(
                f"there is no record of {name}: it is kept by fit, and by update and partial_fit with"
                " history=True"
            )
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return History, (None, self.merged())  # a chain would be pickled link inside link

"""The recorded steps of a mixture."""

from __future__ import annotations

from typing import Any

import numpy as np

Piece = dict[str, np.ndarray]


class History:
    """Arrays by name with one entry per row. Immutable: `extended` returns a longer history."""

    def __init__(self, before: History | None = None, piece: Piece | None = None):
        # A linked list: the earlier steps and the latest piece. `merged` replaces it by one piece.
        self._parts: tuple[History | None, Piece] = (before, piece or {})

    def extended(self, piece: Piece) -> History:
        """Return this history followed by the steps in `piece`."""
        return History(self, piece) if piece else self

    def merged(self) -> Piece:
        """Return all steps as one dict of arrays."""
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

    def get(self, name: str, attribute: str) -> Any:
        """Return the array of this name, which users know as `attribute`."""
        values = self.merged().get(name)
        if values is None:
            raise AttributeError(
                f"{attribute} was not recorded: fit records the steps unless history=False, update and"
                " partial_fit only with history=True"
            )
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickling the linked list would recurse once per piece.
        return History, (None, self.merged())

"""Warnings that point to the line of the user's code, however deep in the library they are issued."""

from __future__ import annotations

import sys
import warnings

# Lines of these packages do not help the user: they call our code on the user's behalf.
_INTERNAL = {__name__.partition(".")[0], "joblib", "sklearn"}


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the first line up the stack that belongs to the user's code.

    A fixed stacklevel would be correct for one path of calls only, and point to a line of this library for
    all others.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package(frame.f_globals) in _INTERNAL:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]

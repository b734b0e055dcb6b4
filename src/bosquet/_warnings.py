"""Warnings that point to the user's line, however deep inside they are given."""

from __future__ import annotations

import sys
import warnings

# Whose lines tell a user nothing: ours, and those that fit our models for somebody.
_BETWEEN = {__name__.partition(".")[0], "joblib", "sklearn"}


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line up the stack that the user may have written.

    A fixed stacklevel is right for one path of calls alone, and shows a line of ours on every other.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package(frame.f_globals) in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]

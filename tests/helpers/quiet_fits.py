"""Calls and fits without warnings that the tests expect but are not about."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a function, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


def fit_quietly(model: Any, *data: Any) -> Any:
    """Return the fitted model, without warnings about few rounds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data)

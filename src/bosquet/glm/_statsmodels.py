"""Access to statsmodels and pandas: imported on first use, with an error that says how to install them."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

_ADVICE = (
    "regression models require statsmodels and pandas; install them with pip install bosquet[glm]"
)


def from_statsmodels(module: str) -> Any:
    """Import a module of statsmodels; raise an ImportError of one line if it is not installed."""
    try:
        return importlib.import_module(f"statsmodels.{module}")
    except ImportError:
        raise ImportError(_ADVICE) from None


def pandas_or_error() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(_ADVICE) from None
    return pandas


def formula_engine() -> str:
    """Return the formula engine that statsmodels is set to: patsy or, from its version 0.15 on, formulaic."""
    options = getattr(from_statsmodels("formula"), "options", None)
    return "patsy" if options is None else str(options.formula_engine)


@contextmanager
def suppress_warnings() -> Iterator[None]:
    """Suppress the warnings of an iteration; its result is checked and reported afterwards."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield

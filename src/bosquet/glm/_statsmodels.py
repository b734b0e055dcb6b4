"""The seam to statsmodels: looked up when first used, asked for by name where it is missing."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

_ADVICE = "regression models need statsmodels and pandas: pip install bosquet[glm]"


def from_statsmodels(module: str) -> Any:
    """A module of statsmodels, or an ImportError of one line that says how to get it."""
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
    """The engine that statsmodels is set to: patsy, or formulaic from its release 0.15 on."""
    options = getattr(from_statsmodels("formula"), "options", None)
    return "patsy" if options is None else str(options.formula_engine)


@contextmanager
def quietly() -> Iterator[None]:
    """Without the warnings of an iteration: what comes of it is judged, and said, afterwards."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield

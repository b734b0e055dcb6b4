"""Access to statsmodels and pandas: imported at first use."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bosquet import _optional
from bosquet._optional import import_optional


def from_statsmodels(module: str) -> Any:
    """Import a module of statsmodels; raise an ImportError with the install command if it is missing."""
    return import_optional(f"statsmodels.{module}", "bosquet.glm", "bosquet[glm]")


def import_pandas() -> Any:
    """Import pandas; raise an ImportError with the install command if it is missing."""
    return _optional.import_pandas("bosquet.glm", "bosquet[glm]")


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

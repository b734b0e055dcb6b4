"""Seconds of a fit on this machine, now: the methods' cost models, corrected by what was measured so far.

A cost model has the right exponents and a constant from another machine. The ratio of measured to modelled
seconds is kept for each cost model; a method that has not been tried yet takes the median of all ratios, so
that a busy machine is noticed after a few methods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bosquet.study.methods.costs import modelled_seconds
from bosquet.study.methods.method import Method, TableShape, all_rows
from bosquet.study.run.outcomes import Outcome

MEASURABLE = 0.05  # seconds below which a fit is all overhead
# Stands beside the ratios that were measured, so that one method alone does not speak for all others.
PRIOR = (1.0, 1.0)
RATIOS = (0.1, 20.0)  # of measured to modelled seconds; what is beyond is taken for a mistake


class Pace:
    """The ratios so far, for a table of one shape."""

    def __init__(self, shape: TableShape):
        self.shape = shape
        self.ratios: dict[Callable[..., int], float] = {}

    def learn(self, method: Method, outcome: Outcome) -> None:
        """Take an outcome into account; the seconds of one that was stopped are a lower bound."""
        stopped = outcome.status == "stopped"
        seconds = outcome.seconds if stopped else outcome.one_fit_seconds
        known = outcome.status in ("done", "stopped") and outcome.rows_used
        if method.rows_affordable is all_rows or not known or seconds < MEASURABLE:
            return
        ratio = seconds / self._modelled(method, outcome.rows_used)
        self.ratios[method.rows_affordable] = float(np.clip(ratio, *RATIOS))

    def ratio(self, method: Method) -> float:
        """Seconds measured for each second of a method's cost model."""
        known = float(np.median([*PRIOR, *self.ratios.values()]))
        return self.ratios.get(method.rows_affordable, known)

    def seconds(self, method: Method, rows: int) -> float:
        """Of one fit to so many rows; 0 for a method without a cost model."""
        if method.rows_affordable is all_rows:
            return 0.0
        return self.ratio(method) * self._modelled(method, rows)

    def rows(self, method: Method, seconds: float) -> int:
        """The rows that one fit of so many seconds has."""
        return int(method.rows_affordable(self.shape, seconds / self.ratio(method)))

    def _modelled(self, method: Method, rows: int) -> float:
        shape: Any = replace(self.shape, n_rows=rows)
        return modelled_seconds(method.rows_affordable, shape, rows)

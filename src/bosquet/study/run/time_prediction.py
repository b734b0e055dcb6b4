"""Predicted duration of a fit on this machine: the cost model of the method, corrected by measured times.

A cost model scales correctly with the table, but its constant was measured on another machine. The ratio of
measured to modelled seconds is kept for each cost model. A method without a measurement uses the median of
all ratios, so that a busy machine is noticed after a few methods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bosquet.study.methods.costs import modelled_seconds
from bosquet.study.methods.method import Method, TableShape, all_rows
from bosquet.study.run.outcomes import Outcome

MEASURABLE = 0.05  # seconds; a shorter fit is mostly overhead and is not used
# Added to the measured ratios, so that a single measurement does not determine the median.
PRIOR_RATIOS = (1.0, 1.0)
RATIO_BOUNDS = (0.1, 20.0)  # of measured to modelled seconds; ratios outside are clipped


class FitTimeModel:
    """Ratios of measured to modelled seconds for the methods of a study."""

    def __init__(self, shape: TableShape):
        self.shape = shape
        self.ratios: dict[Callable[..., int], float] = {}

    def update(self, method: Method, outcome: Outcome) -> None:
        """Use the measured time of an outcome; for a stopped fit it is a lower bound."""
        stopped = outcome.status == "stopped"
        seconds = outcome.seconds if stopped else outcome.one_fit_seconds
        measured = outcome.status in ("done", "stopped") and outcome.rows_used
        if method.rows_affordable is all_rows or not measured or seconds < MEASURABLE:
            return
        ratio = seconds / self._modelled_seconds(method, outcome.rows_used)
        self.ratios[method.rows_affordable] = float(np.clip(ratio, *RATIO_BOUNDS))

    def ratio(self, method: Method) -> float:
        """Return the ratio of measured to modelled seconds of a method."""
        median = float(np.median([*PRIOR_RATIOS, *self.ratios.values()]))
        return self.ratios.get(method.rows_affordable, median)

    def seconds(self, method: Method, n_rows: int) -> float:
        """Return the predicted seconds of a fit to `n_rows` rows; 0 for a method without a cost model."""
        if method.rows_affordable is all_rows:
            return 0.0
        return self.ratio(method) * self._modelled_seconds(method, n_rows)

    def rows(self, method: Method, seconds: float) -> int:
        """Return the number of rows that can be fitted in `seconds`."""
        return int(method.rows_affordable(self.shape, seconds / self.ratio(method)))

    def _modelled_seconds(self, method: Method, n_rows: int) -> float:
        shape: Any = replace(self.shape, n_rows=n_rows)
        return modelled_seconds(method.rows_affordable, shape, n_rows)

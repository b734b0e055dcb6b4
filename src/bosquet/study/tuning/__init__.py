"""Hyper-parameter tuning of one method on its training rows."""

from bosquet.study.table.rows import TableRows
from bosquet.study.tuning.candidate_search import TuningResult
from bosquet.study.tuning.options import TuningOptions
from bosquet.study.tuning.time_limits import TimeLimits
from bosquet.study.tuning.tuner import tune

__all__ = ["TableRows", "TimeLimits", "TuningOptions", "TuningResult", "tune"]

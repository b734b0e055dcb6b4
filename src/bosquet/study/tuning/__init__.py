"""Hyper-parameter tuning of one method on its training rows."""

from bosquet.study.tuning.tuner import Tuned, tune

__all__ = ["Tuned", "tune"]

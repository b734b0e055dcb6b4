"""The choice of a method's hyper-parameters by its training rows alone."""

from bosquet.study.tuning.tuner import Tuned, tune

__all__ = ["Tuned", "tune"]

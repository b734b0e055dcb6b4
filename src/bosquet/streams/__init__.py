"""Detectors of changes in a data stream (drift), with a bound on their false alarms.

>>> import numpy as np
>>> from bosquet.streams import AdaptiveWindow, change_points
>>> wrong = np.random.default_rng(0).random(2000) < np.where(np.arange(2000) < 1200, 0.1, 0.4)
>>> change_points(wrong, AdaptiveWindow(delta=0.01))
[Change(began=1200, noticed=1310, before=0.0942, after=0.432)]
"""

from bosquet.streams.adaptive_window import AdaptiveWindow
from bosquet.streams.change import Change, change_points
from bosquet.streams.page_hinkley import PageHinkley

__all__ = ["AdaptiveWindow", "Change", "PageHinkley", "change_points"]

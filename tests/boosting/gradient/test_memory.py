"""Memory of a boosting round."""

from __future__ import annotations

import subprocess
import sys

ROUND = """
import resource
import numpy as np
from bosquet import _core

rng, none = np.random.default_rng(0), np.empty(0)
x = rng.integers(0, 256, size=(1_500_000, 3)).astype(np.float32)
y = rng.normal(size=(1, len(x)))
bins = _core.learn_bins(x, [], none, 255, 100_000, 0, 2)
matrix = _core.bin_table(x, bins, "auto", 2)
options = {"max_leaf_nodes": 65_535, "min_samples_leaf": 1, "depth_wise": True}
loss = _core.Loss("squared_error", 1, 1, [])
fit = _core.BoostingFit(matrix, bins, y, none, loss, options, "auto", 2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fit.round(_core.Ensemble(3, 1, [0.0], []))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_sums_of_many_leaves_over_many_rows_take_little_memory() -> None:
    # 184 blocks of rows times 65,535 leaves would be 289 MB; the histograms take about 200 MB.
    done = subprocess.run([sys.executable, "-c", ROUND], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 400

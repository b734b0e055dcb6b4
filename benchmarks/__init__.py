"""Speed and accuracy of Bosquet beside its peers.

`python -m benchmarks.run` times the same work in every library, interleaved;
`python -m benchmarks.accuracy` ranks the libraries' defaults on real data.
"""

import os

THREADS = 2
# scikit-learn's histograms take no thread argument, and OpenMP reads this once, when it loads:
# it has to be set before anything else is imported.
os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))

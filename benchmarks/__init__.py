"""Speed and accuracy of Bosquet compared with its peers.

`python -m benchmarks.run` times the same work in every library, interleaved;
`python -m benchmarks.accuracy` ranks the libraries' defaults on real data.
"""

import os

# Threads of every library. BENCHMARK_THREADS=1 is for a machine whose other processors are busy.
THREADS = int(os.environ.get("BENCHMARK_THREADS", "2"))
# scikit-learn's histograms have no argument for threads, and OpenMP reads this variable when it is loaded:
# it has to be set before all other imports.
os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))

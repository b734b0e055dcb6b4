"""One thread of linear algebra a process: tests run in as many processes as there are cores."""

import os

# Before NumPy is there. Threads of BLAS wait by spinning: on the small matrices of tests, beside the other
# processes, they took half of the time of scikit-learn's checks.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

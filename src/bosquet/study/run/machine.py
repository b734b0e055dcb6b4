"""Limits on memory and threads while a study runs."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from bosquet._sklearn import effective_threads

# Below this number of values the threads of a matrix product cost more time than they save, especially if
# other processes use the same processors. Folds are then fitted in parallel instead.
SMALL_TABLE_VALUES = 1_000_000
# Megabytes that scikit-learn may use for a block of distances; its default of 1 GB is too much here.
WORKING_MEMORY = 64


@contextmanager
def limited_resources(n_values: int, fits: int | None = 1) -> Iterator[None]:
    """Limit the working memory; on small tables use one BLAS thread and `fits` parallel fits.

    The parallel fits are those of the members of an ensemble, unless the ensemble itself is one of several
    parallel fits.
    """
    from joblib import parallel_config
    from sklearn import config_context
    from threadpoolctl import threadpool_limits

    small = n_values < SMALL_TABLE_VALUES
    limits: Any = {"blas": 1} if small else {}
    parallel = parallel_config("threading", n_jobs=fits) if small else nullcontext()
    with threadpool_limits(limits), config_context(working_memory=WORKING_MEMORY), parallel:
        yield


def n_parallel_fits(n_jobs: int | None) -> int:
    """Return the number of parallel fits while tuning; by default one per processor."""
    return effective_threads(n_jobs)


def release_memory(*, interrupted: bool = False) -> None:
    """Return freed memory to the operating system; the C library of Linux keeps it otherwise.

    Freed matrices leave gaps in the heap, so the process would otherwise grow with every method. After an
    `interrupted` fit the traceback of the error still refers to the fit; only the garbage collector frees it.
    """
    if interrupted:
        gc.collect()
    with suppress(AttributeError, OSError, TypeError):  # only glibc has malloc_trim
        ctypes.CDLL(None).malloc_trim(0)

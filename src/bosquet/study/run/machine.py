"""What the methods may take of the machine while a study runs."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from bosquet._sklearn import effective_threads

# Below this many values the threads of a matrix product cost more than they bring, and many times more
# where other processes want the same processors. Folds are then tried side by side instead.
SMALL_TABLE = 1_000_000
# Megabytes that scikit-learn may use for distances at a time; its own limit of 1 GB is for large machines.
WORKING_MEMORY = 64


@contextmanager
def modest(n_values: int, fits: int | None = 1) -> Iterator[None]:
    """Little working memory; for small tables matrix products on one thread, and `fits` side by side.

    The latter are those that an ensemble makes of its members, unless it is itself one of several.
    """
    from joblib import parallel_config
    from sklearn import config_context
    from threadpoolctl import threadpool_limits

    small = n_values < SMALL_TABLE
    limits: Any = {"blas": 1} if small else {}
    side_by_side = parallel_config("threading", n_jobs=fits) if small else nullcontext()
    with threadpool_limits(limits), config_context(working_memory=WORKING_MEMORY), side_by_side:
        yield


def fits_at_a_time(n_jobs: int | None) -> int:
    """Fits that tuning tries side by side: as many as there are processors, unless told."""
    return effective_threads(n_jobs)


def give_back_memory(*, broken_off: bool = False) -> None:
    """Hand what methods have freed to the system; the C library of Linux keeps it otherwise.

    Large matrices leave gaps behind, and a study of twenty methods would hold the sum of theirs. A fit that
    was `broken_off` by an error is held by the error's traceback, in a cycle that only the collector ends.
    """
    if broken_off:
        gc.collect()
    with suppress(AttributeError, OSError, TypeError):  # another system has another library
        ctypes.CDLL(None).malloc_trim(0)

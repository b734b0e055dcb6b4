"""The seams to scikit-learn that its releases move: everything version-dependent is in this file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _num_samples as number_of_rows
from sklearn.utils.validation import check_is_fitted as check_by_scikit_learn
from sklearn.utils.validation import has_fit_parameter
from sklearn.utils.validation import validate_data as validate_by_scikit_learn

from bosquet._sparse import checked_sparse, indexable

try:
    # Asks scikit-learn's OpenMP runtime, which threadpoolctl and joblib limit.
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as threads_of_openmp
except ImportError:
    threads_of_openmp = None

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "RegressorMixin",
    "accepts_missing",
    "available_if",
    "check_classification_targets",
    "check_is_fitted",
    "check_random_state",
    "clone",
    "columns_of",
    "effective_threads",
    "has_fit_parameter",
    "in_parallel",
    "is_classifier",
    "is_regressor",
    "number_of_rows",
    "rows_of",
    "seed_from",
    "seeded_clone",
    "tags_of",
    "type_of_target",
    "validate_data",
]


def check_is_fitted(estimator: Any, attribute: str | None = None) -> None:
    """scikit-learn's check and error; its own look takes longer than predicting a row, so ours is first."""
    if attribute is None or attribute not in estimator.__dict__:
        check_by_scikit_learn(estimator, attribute)


def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
    """scikit-learn's check of X, after one of the indices of a sparse matrix, which it trusts."""
    return validate_by_scikit_learn(estimator, checked_sparse(X) if issparse(X) else X, **options)


def effective_threads(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` stands for.

    None means every processor this process may use, less what OMP_NUM_THREADS, joblib (inside its
    workers) or threadpoolctl (``threadpool_limits``) have taken away. A negative number counts
    back from that as scikit-learn does: -1 all, -2 all but one.
    """
    if n_jobs is None:
        return _available_threads()
    if n_jobs == 0:
        raise ValueError(
            "n_jobs=0 has no meaning; use None for all processors or a number of threads"
        )
    if n_jobs < 0:
        return max(1, _available_threads() + 1 + n_jobs)
    return n_jobs


def _available_threads() -> int:
    if threads_of_openmp is not None:
        return max(1, threads_of_openmp())
    processors = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    )
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(processors or 1, int(limit) if limit.isdigit() and int(limit) > 0 else 10**6))


def tags_of(estimator: Any) -> Any:
    """What a scikit-learn estimator says of itself."""
    from sklearn.utils import get_tags

    return get_tags(estimator)


def accepts_missing(estimator: Any) -> bool:
    """Whether a scikit-learn estimator says that it takes NaN."""
    return bool(tags_of(estimator).input_tags.allow_nan)


def rows_of(data: Any, rows: Any) -> Any:
    """Some rows of an array, a frame or a sparse matrix, as what it is."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(indexable(data), rows)


def columns_of(data: Any, columns: Any) -> Any:
    """Some columns, by number, of an array, a frame or a sparse matrix, as what it is."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(indexable(data), columns, axis=1)


def in_parallel(
    function: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None,
    verbose: int = 0,
    threads: bool = False,
) -> list[Any]:
    """What `function` returns for each tuple of arguments, in their order, on joblib's workers.

    `threads` is for work that costs less than sending its arguments to another process.
    """
    # scikit-learn's own, which carry its configuration into the workers.
    from sklearn.utils.parallel import Parallel, delayed

    workers = Parallel(n_jobs=n_jobs, verbose=verbose, prefer="threads" if threads else None)
    return workers(delayed(function)(*arguments) for arguments in calls)


def scorer_parts(
    scorer: Any,
) -> tuple[Callable[..., Any], bool, dict[str, Any], tuple[str, ...]] | None:
    """What `make_scorer` was given; None for anything but its scorers.

    The function, whether greater is better, further arguments of the function, and the methods of an
    estimator that its second argument may come from, in order.
    """
    names = ("_score_func", "_sign", "_kwargs", "_response_method")
    if not all(hasattr(scorer, name) for name in names):
        return None
    function, sign, settings, response = (getattr(scorer, name) for name in names)
    methods = (response,) if isinstance(response, str) else tuple(response)
    return function, sign > 0, dict(settings), methods


def seed_from(random_state: Any) -> int:
    """One integer drawn from a `random_state` of any kind scikit-learn allows."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def seeded_clone(template: Any, random: np.random.RandomState, *, keep_set: bool = False) -> Any:
    """A copy whose every random_state, nested ones too, is drawn from `random`.

    With `keep_set` those that are not None stay: the copy's own luck is then the same at every fit.
    """
    learner = clone(template)
    seeds = {
        name: int(random.randint(np.iinfo(np.int32).max))
        for name, value in sorted(learner.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state"))
        and not (keep_set and value is not None)
    }
    return learner.set_params(**seeds) if seeds else learner

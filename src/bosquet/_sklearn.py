"""All imports from scikit-learn that depend on its version, and small functions around them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

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
from sklearn.utils import Tags
from sklearn.utils import check_random_state as random_state_of
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples as number_of_rows
from sklearn.utils.validation import check_is_fitted as check_by_scikit_learn
from sklearn.utils.validation import has_fit_parameter
from sklearn.utils.validation import validate_data as validate_by_scikit_learn

from bosquet._masks import without_mask
from bosquet._sparse import as_indexable, check_sparse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, RandomState


try:
    # The limits of threadpoolctl and joblib apply to the OpenMP runtime of scikit-learn.
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as threads_of_openmp
except ImportError:
    threads_of_openmp = None

Container = TypeVar("Container")
Result = TypeVar("Result")
Model = TypeVar("Model", bound="Estimator")

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "RegressorMixin",
    "Tags",
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
    "validate_data",
]


def check_is_fitted(estimator: object, attribute: str | None = None) -> None:
    """Raise scikit-learn's NotFittedError unless the estimator is fitted.

    The attribute is tested first: the check of scikit-learn takes longer than the prediction of one row.
    """
    if attribute is None or attribute not in estimator.__dict__:
        check_by_scikit_learn(estimator, attribute)


def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
    """Validate X as scikit-learn does, and also check the indices of a sparse matrix and apply a mask."""
    X = check_sparse(X) if issparse(X) else without_mask(X)
    return validate_by_scikit_learn(estimator, X, **options)


def effective_threads(n_jobs: int | None) -> int:
    """Return the number of threads for a value of `n_jobs`.

    None means all processors that this process may use, within the limits set by OMP_NUM_THREADS, by joblib
    (inside its workers) or by threadpoolctl (``threadpool_limits``). A negative number counts back from this
    number as in scikit-learn: -1 means all processors, -2 all but one.
    """
    if n_jobs is None:
        return _available_threads()
    if n_jobs == 0:
        raise ValueError("n_jobs=0 is not valid: n_jobs must be an integer other than 0, or None")
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


def tags_of(estimator: object) -> Tags:
    """Return the tags of a scikit-learn estimator."""
    from sklearn.utils import get_tags

    return get_tags(estimator)


def accepts_missing(estimator: object) -> bool:
    """Return whether a scikit-learn estimator accepts NaN, according to its tags."""
    return bool(tags_of(estimator).input_tags.allow_nan)


def rows_of(data: Container, rows: ArrayLike | slice) -> Container:
    """Return the given rows of an array, a data frame or a sparse matrix, in the same container."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(as_indexable(data), rows)


def columns_of(data: Container, columns: ArrayLike) -> Container:
    """Return the columns with these indices, in the same container (array, data frame or sparse matrix)."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(as_indexable(data), columns, axis=1)


def in_parallel(
    function: Callable[..., Result],
    calls: Iterable[tuple[object, ...]],
    *,
    n_jobs: int | None,
    verbose: int = 0,
    threads: bool = False,
) -> list[Result]:
    """Return the results of `function` for each tuple of arguments, in order, computed by joblib's workers.

    Use `threads` if the work takes less time than sending its arguments to another process.
    """
    # scikit-learn's wrappers pass its configuration on to the workers.
    from sklearn.utils.parallel import Parallel, delayed

    workers = Parallel(n_jobs=n_jobs, verbose=verbose, prefer="threads" if threads else None)
    return workers(delayed(function)(*arguments) for arguments in calls)


def scorer_parts(
    scorer: object,
) -> tuple[Callable[..., float], bool, dict[str, object], tuple[str, ...]] | None:
    """Return the arguments of `make_scorer` for one of its scorers, None for any other object.

    These are the metric, whether greater is better, further arguments of the metric, and the methods of the
    estimator that its second argument may come from, in order of preference.
    """
    names = ("_score_func", "_sign", "_kwargs", "_response_method")
    if not all(hasattr(scorer, name) for name in names):
        return None
    function, sign, settings, response = (getattr(scorer, name) for name in names)
    methods = (response,) if isinstance(response, str) else tuple(response)
    return function, sign > 0, dict(settings), methods


def check_random_state(random_state: RandomState) -> np.random.RandomState:
    """Return the generator of a `random_state` of any type that scikit-learn accepts."""
    try:
        return random_state_of(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state={random_state!r} is not valid: random_state must be an integer in"
            " [0, 2**32 - 1], a numpy.random.RandomState or None"
        ) from error


def seed_from(random_state: RandomState) -> int:
    """Draw one integer seed from a `random_state` of any type that scikit-learn accepts."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def seeded_clone(template: Model, rng: np.random.RandomState, *, keep_set: bool = False) -> Model:
    """Return a clone in which every `random_state`, also of nested estimators, is drawn from `rng`.

    With `keep_set`, values of `random_state` other than None are kept, so that the clone draws the same
    random numbers in every fit.
    """
    learner = clone(template)
    seeds = {
        name: int(rng.randint(np.iinfo(np.int32).max))
        for name, value in sorted(learner.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state"))
        and not (keep_set and value is not None)
    }
    return learner.set_params(**seeds) if seeds else learner

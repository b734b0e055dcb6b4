"""Options of the tuning of a method."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from bosquet._sklearn import seed_from


@dataclass(frozen=True)
class TuningOptions:
    """How the candidates of a method are compared.

    Parameters
    ----------
    scheme : {"cv", "validation", "oob", "bootstrap", "aic", "bic"} or None, default=None
        Validation scheme. None uses the method's default; from 5,000 rows on a validation set replaces
        cross-validation.
    folds : int, default=5
        Number of folds of "cv". "bootstrap" draws this many samples, but at least ten.
    rule : {"best", "1se"}, default="best"
        Choose the candidate with the best score, or the least complex one within one standard error of it.
    random_state : int, RandomState or None, default=0
        Random seed of the folds and samples, and of the candidates.
    n_jobs : int or None, default=None
        Number of parallel fits, in threads. The result does not depend on it.
    """

    scheme: str | None = None
    folds: int = 5
    rule: str = "best"
    random_state: Any = 0
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.rule not in ("best", "1se"):
            raise ValueError(f"rule={self.rule!r} is not valid: rule must be 'best' or '1se'")

    def seed(self) -> int:
        """Return the seed; a `RandomState` or None draws a new one in each call."""
        is_seed = isinstance(self.random_state, int)
        return self.random_state if is_seed else seed_from(self.random_state)

    @property
    def n_workers(self) -> int:
        """Number of threads for parallel fits."""
        if self.n_jobs is None:
            return 1
        return self.n_jobs if self.n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)

"""Threads and working memory of a study."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.linear_model import LinearRegression
from stand_ins import method

from bosquet import Study
from bosquet.study.run.machine import SMALL_TABLE_VALUES, limited_resources
from bosquet.study.tuning.fit_attempts import try_all
from bosquet.study.tuning.stopping import stop_after


def test_members_of_an_ensemble_are_fitted_in_parallel_if_tables_are_small():
    with limited_resources(SMALL_TABLE_VALUES - 1, 2):
        assert effective_n_jobs(None) == 2
    with limited_resources(SMALL_TABLE_VALUES, 2):
        assert effective_n_jobs(None) == 1
    assert effective_n_jobs(None) == 1


class Noticing(LinearRegression):
    """A model that records how many fits its ensemble would run in parallel."""

    seen: ClassVar[list[int]] = []

    def fit(self, X, y):
        self.seen.append(effective_n_jobs(None))
        return super().fit(X, y)


def test_a_study_fits_members_in_parallel():
    Noticing.seen.clear()
    random = np.random.default_rng(0)
    table = pd.DataFrame({"a": random.normal(size=80), "y": random.normal(size=80)})
    noticing = method("noticing", lambda shape, value, seed: Noticing())
    Study(methods=[noticing], budget=None, repeats=1, n_jobs=2, verbose=0).fit(table, "y")
    assert set(Noticing.seen) == {2}


def test_warnings_of_the_threads_of_a_fit_are_recorded():
    def fit():
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(warnings.warn, ["second", "first"]))

    (tried,) = try_all(fit, [()])
    assert tried.warned == ["first", "second"]


def test_a_fit_that_may_be_stopped_starts_no_threads():
    with limited_resources(10, 2), stop_after(60.0):
        assert effective_n_jobs(None) == 1

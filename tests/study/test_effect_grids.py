"""Where the curves of the chosen method are evaluated."""

import numpy as np
import pandas as pd

from bosquet.study.explain.effects import GRID, _grid_of_column


def test_the_grid_of_a_column_that_is_mostly_zero_includes_zero():
    random = np.random.default_rng(0)
    share = np.where(random.random(1000) < 0.8, 0.0, random.gamma(1.0, 1.0, 1000))
    assert _grid_of_column(pd.Series(share))[0] == 0.0


def test_the_grid_of_many_numbers_covers_the_middle_of_the_rows():
    values = np.r_[np.linspace(0, 1, 1000), -50.0, 50.0]
    points = _grid_of_column(pd.Series(values))
    assert len(points) == GRID
    assert -1 < points[0] < 0.05
    assert 0.95 < points[-1] < 2


def test_few_distinct_numbers_are_all_in_the_grid():
    assert _grid_of_column(pd.Series([3.0, 1.0, 2.0, np.nan, 1.0])).tolist() == [1.0, 2.0, 3.0]

"""covered: whether intervals and sets contain the target."""

import numpy as np
import pytest

from bosquet.trust import covered


def test_intervals_include_their_bounds():
    np.testing.assert_array_equal(covered([0.0, 1.0, 1.1], [[0, 1]] * 3), [True, True, False])


def test_columns_of_sets_are_classes():
    sets = np.array([[True, False, False], [False, True, True]])
    np.testing.assert_array_equal(covered(["c", "c"], sets, classes=["a", "b", "c"]), [False, True])


@pytest.mark.parametrize(
    ("y", "regions", "message"),
    [
        ([1.0], [1.0, 2.0], "regions has shape"),
        ([1.0], [[1.0, 2.0, 3.0]], "bounds need 2 columns"),
        ([1.0, 2.0], [[1.0, 2.0]], "inconsistent numbers"),
        (["a"], [[True, False]], "2 columns of classes, but y has 1 class"),
    ],
)
def test_regions_of_the_wrong_shape_raise(y, regions, message):
    with pytest.raises(ValueError, match=message):
        covered(y, regions)

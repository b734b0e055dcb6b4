"""Whether a region holds the truth, of intervals and of sets."""

import numpy as np
import pytest

from bosquet.trust import covered


def test_bounds_hold_their_own_ends():
    np.testing.assert_array_equal(covered([0.0, 1.0, 1.1], [[0, 1]] * 3), [True, True, False])


def test_a_set_holds_the_class_of_its_column():
    sets = np.array([[True, False, False], [False, True, True]])
    np.testing.assert_array_equal(covered(["c", "c"], sets, classes=["a", "b", "c"]), [False, True])


@pytest.mark.parametrize(
    ("y", "regions", "message"),
    [
        ([1.0], [1.0, 2.0], "regions has shape"),
        ([1.0], [[1.0, 2.0, 3.0]], "bounds need 2 columns"),
        ([1.0, 2.0], [[1.0, 2.0]], "inconsistent numbers"),
        (["a"], [[True, False]], "sets are of 2 classes, but there are 1"),
    ],
)
def test_regions_that_do_not_fit_are_named(y, regions, message):
    with pytest.raises(ValueError, match=message):
        covered(y, regions)

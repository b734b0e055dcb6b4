"""Splits: disjoint sets of rows, stratified by class, reproducible by the seed."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.study.table.splits import seed_of, split_rows, subsample


@settings(max_examples=50, deadline=None)
@given(
    sizes=st.lists(st.integers(2, 60), min_size=2, max_size=6),
    number=st.integers(0, 5),
    seed=st.integers(0, 1000),
)
def test_every_row_is_on_one_side_and_every_class_on_both(sizes, number, seed):
    y = np.repeat(np.arange(len(sizes)), sizes)
    split = split_rows(y, number, seed, stratify=True)
    assert sorted([*split.train, *split.test]) == list(range(len(y)))
    for k, size in enumerate(sizes):
        held = int((y[split.test] == k).sum())
        assert 1 <= held < size
        assert abs(held - 0.2 * size) <= 1.5


def test_splits_of_numbers_hold_out_a_fifth():
    split = split_rows(np.linspace(0, 1, 100), 0, 0, stratify=False)
    assert len(split.test) == 20


def test_the_same_seed_gives_the_same_splits_and_another_number_another_split():
    y = np.zeros(50)
    first = split_rows(y, 0, 7, stratify=False)
    assert first.test.tolist() == split_rows(y, 0, 7, stratify=False).test.tolist()
    assert first.test.tolist() != split_rows(y, 1, 7, stratify=False).test.tolist()
    assert first.test.tolist() != split_rows(y, 0, 8, stratify=False).test.tolist()


def test_a_subsample_keeps_the_shares_of_classes():
    y = np.array([0] * 900 + [1] * 100)
    rows = subsample(y, 100, seed=3, stratify=True)
    assert len(rows) == len(set(rows.tolist())) == 100
    assert int((y[rows] == 1).sum()) == 10


def test_seeds_depend_on_what_they_are_for():
    assert len({seed_of(0, "a"), seed_of(0, "b"), seed_of(1, "a"), seed_of(0, "a", 1)}) == 4

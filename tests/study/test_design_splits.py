"""Splits by a design: no later rows in the training set, whole groups, given splits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.study.table.design import Design
from bosquet.study.table.design_splits import (
    PreparedFolds,
    Splits,
    design_folds,
    design_validation,
    group_fold_numbers,
    time_blocks,
)

some_rows = st.lists(st.integers(0, 30), min_size=10, max_size=120).filter(
    lambda v: len(set(v)) > 1
)


def splits(y=None, **design):
    first = next(iter(design.values()))
    y = np.arange(len(first), dtype=float) if y is None else y
    return Splits(Design(**design), y, 0, stratify=False)


# ------------------------------------------------------------------------------------------- time
@settings(max_examples=100, deadline=None)
@given(some_rows)
def test_training_rows_are_earlier_than_all_test_rows(times):
    time = np.array(times, dtype=float)
    by_time = splits(time=time)
    assert 1 <= by_time.max_splits <= 5
    tested = []
    for number in range(by_time.max_splits):
        split = by_time.split(number)
        assert len(split.train)
        assert time[split.train].max() < time[split.test].min()
        later = time > time[split.test].max()
        assert len(split.train) + len(split.test) + later.sum() == len(time)
        tested += split.test.tolist()
    assert len(set(tested)) == len(tested)
    assert time[by_time.split(0).test].max() == time.max()
    with pytest.raises(ValueError, match="does not exist"):
        by_time.split(by_time.max_splits)


def test_blocks_have_a_tenth_of_the_rows_and_half_of_them_come_before():
    time = np.random.default_rng(0).permutation(1000).astype(float)
    by_time = splits(time=time)
    assert by_time.kind == "time"
    assert [len(by_time.split(k).test) for k in range(by_time.max_splits)] == [100] * 5
    assert [len(by_time.split(k).train) for k in range(by_time.max_splits)] == [
        900,
        800,
        700,
        600,
        500,
    ]
    assert by_time.split(0).test.tolist() == np.flatnonzero(time >= 900).tolist()


def test_two_times_give_one_split():
    assert time_blocks(np.array([1.0] * 50 + [2.0] * 50)) == [(2.0, 2.0)]


@settings(max_examples=100, deadline=None)
@given(some_rows, st.integers(2, 5))
def test_folds_and_validation_rows_of_a_time_are_later_than_what_is_trained_on(times, folds):
    design = Design(time=np.array(times, dtype=float))
    for train, validation in [*design_folds(design, folds, 0), design_validation(design, 0.2, 0)]:
        assert design.time[train].max() < design.time[validation].min()


@settings(max_examples=50, deadline=None)
@given(some_rows, st.integers(2, 5))
def test_prepared_folds_predict_each_row_once_and_keep_equal_times_together(times, folds):
    time = np.array(times, dtype=float)
    parts = PreparedFolds.of(Design(time=time), folds, 0).split()
    assert len(parts) <= folds
    assert sorted(np.concatenate([validation for _, validation in parts]).tolist()) == list(
        range(len(time))
    )
    for train, validation in parts:
        assert not set(time[train]) & set(time[validation])
        assert len(train) + len(validation) == len(time)


# ------------------------------------------------------------------------------------------ group
@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=20, max_size=150).filter(lambda v: len(set(v)) >= 5),
    st.integers(0, 100),
)
def test_groups_are_never_divided_by_a_split_or_a_fold(groups, seed):
    group = np.array(groups)
    design = Design(group=group)
    by_group = Splits(design, np.zeros(len(group)), seed, stratify=False)
    assert by_group.max_splits is None
    split = by_group.split(seed % 3)
    parts = [(split.train, split.test), *design_folds(design, 5, seed)]
    parts += [design_validation(design, 0.2, seed), *PreparedFolds.of(design, 3, seed).split()]
    for train, validation in parts:
        assert len(train)
        assert len(validation)
        assert not set(group[train]) & set(group[validation])
        assert len(train) + len(validation) == len(group)


def test_a_group_split_has_a_fifth_of_the_rows_and_the_classes_in_their_shares():
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(100), 10)
    y = (random.random(100) < 0.3).astype(int)[group]
    by_group = Splits(Design(group=group), y, 0, stratify=True)
    for number in range(5):
        test = by_group.split(number).test
        assert 180 <= len(test) <= 220
        assert abs(y[test].mean() - y.mean()) < 0.03
    again = Splits(Design(group=group), y, 0, stratify=True)
    assert again.split(1).test.tolist() == by_group.split(1).test.tolist()
    assert by_group.split(0).test.tolist() != by_group.split(1).test.tolist()


def test_folds_of_groups_have_nearly_equal_sizes():
    sizes = np.random.default_rng(1).integers(1, 30, 60)
    number = group_fold_numbers(np.repeat(np.arange(60), sizes), 5, 0)
    rows = np.bincount(number)
    assert len(rows) == 5
    assert np.ptp(rows) <= 2
    assert set(group_fold_numbers(np.array([7, 7, 9]), 5, 0)) == {0, 1}


def test_with_time_and_groups_training_rows_are_earlier_and_of_other_groups():
    random = np.random.default_rng(2)
    time = np.arange(1000.0)
    group = (time // 20).astype(int) + random.integers(0, 5, 1000)
    both = splits(time=time, group=group)
    for number in range(both.max_splits):
        split = both.split(number)
        assert time[split.train].max() < time[split.test].min()
        assert not set(group[split.train]) & set(group[split.test])
    with pytest.raises(ValueError, match="pass only time or only group"):
        splits(time=time, group=np.arange(1000) % 5).split(0)


# ------------------------------------------------------------------------------------------ fixed
def test_a_fixed_split_is_used_as_given():
    parts = np.array([0, 1, 2, 1, 0])
    fixed = splits(split=parts)
    assert (fixed.kind, fixed.max_splits) == ("fixed", 3)
    assert fixed.split(1).test.tolist() == [1, 3]
    assert fixed.split(1).train.tolist() == [0, 2, 4]
    once = splits(split=np.array([-1, 0, -1, 0]))
    assert once.max_splits == 1
    assert once.split(0).test.tolist() == [1, 3]


def test_without_a_design_splits_are_those_at_random():
    from bosquet.study.table.splits import split_rows

    y = np.repeat([0, 1], [70, 30])
    ours = Splits(Design(), y, 3, stratify=True).split(2)
    theirs = split_rows(y, 2, 3, stratify=True)
    assert ours.test.tolist() == theirs.test.tolist()
    assert design_folds(Design(), 5, 0) is design_validation(Design(), 0.2, 0) is None
    assert PreparedFolds.of(Design(), 5, 0) is None

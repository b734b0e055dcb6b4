"""Detection of the task from the target, and errors of one line for unusable targets."""

import numpy as np
import pandas as pd
import pytest

from bosquet.study.table.target import read_target


def read(values, task="auto", name="y"):
    return read_target(pd.Series(values), name, task)


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        (["no", "yes"] * 10, "binary", ["no", "yes"]),
        ([True, False] * 10, "binary", [False, True]),
        ([0, 1] * 10, "binary", [0, 1]),
        ([0.5, 1.5] * 10, "binary", ["0.5", "1.5"]),
        ([0, 1, 2] * 10, "multiclass", [0, 1, 2]),
        (list(range(30)), "regression", []),
        (np.linspace(0, 1, 30), "regression", []),
        (pd.Categorical(list("abc") * 10), "multiclass", ["a", "b", "c"]),
        (pd.array([1, 2, None] * 10, dtype="Int64"), "binary", [1, 2]),
    ],
)
def test_the_task_follows_from_the_values(values, task, classes):
    found = read(values)
    assert found.task == task
    assert found.classes.tolist() == classes


def test_few_integers_are_classes_by_default_with_a_note():
    found = read([3, 4, 5, 6] * 10, name="quality")
    assert found.task == "multiclass"
    assert "task='regression'" in found.notes[0]
    assert read([3, 4, 5, 6] * 10, task="regression").task == "regression"


def test_the_rarer_class_is_the_positive_one():
    assert read(["a"] * 5 + ["b"] * 15).positive == 0
    assert read(["a"] * 15 + ["b"] * 5).positive == 1
    assert read(["a"] * 10 + ["b"] * 10).positive == 1
    assert read(["a"] * 195 + ["b"] * 5).is_rare
    assert not read(["a"] * 10 + ["b"] * 10).is_rare


def test_rows_without_a_target_are_left_out_and_counted():
    found = read([1.5, None, 2.25, np.nan, *(np.arange(10) / 3)])
    assert found.has_target.sum() == len(found.y) == 12
    assert found.notes == ["2 rows without a value of 'y' left out."]


def test_values_of_several_types_are_read_as_text():
    found = read([1, "b"] * 10)
    assert found.classes.tolist() == ["1", "b"]
    assert "several types" in found.notes[0]


@pytest.mark.parametrize(
    ("values", "task", "message"),
    [
        ([None] * 20, "auto", "missing in every row; use another"),
        ([7] * 20, "auto", "is 7 in every row, so there is nothing to predict"),
        (
            ["a"],
            "auto",
            "has 1 row with a value of 'y', but at least 10 are needed; add rows",
        ),
        ([], "auto", "missing in every row|has 0 rows"),
        (
            ["a"] * 20 + ["b"],
            "auto",
            r"'y' has 1 class with a single row \('b'\), .*drop these rows, merge the classes",
        ),
        (
            ["a"] * 20 + list("vwxyz"),
            "auto",
            r"'y' has 5 classes with a single row \('v', 'w', 'x', ...\), but every class needs",
        ),
        (["a", "b"] * 10, "regression", "has the value a; pass"),
        (["a", "b", "c"] * 10, "binary", "'y' has 3; pass task='multiclass'"),
        ([1.0, np.inf] * 10, "auto", "infinite in 10 rows"),
        (pd.date_range("2024", periods=20), "auto", "is a date or a duration"),
        ([f"name {k}" for k in range(2000)] * 2, "auto", "has 2,000 classes in 4,000 rows"),
        ([1, 2] * 10, "cluster", "task='cluster' is not valid: task must be one of"),
    ],
)
def test_an_unusable_target_raises_one_line(values, task, message):
    with pytest.raises(ValueError, match=message) as error:
        read(values, task)
    assert "\n" not in str(error.value)


def test_the_positive_class_is_the_rarer_or_the_one_passed():
    labels = pd.Series(["spam"] * 12 + ["ham"] * 30)
    assert read_target(labels, "y").positive == 1
    target = read_target(labels, "y", positive="ham")
    assert (target.positive, target.positive_share) == (0, 30 / 42)
    assert read_target(pd.Series([0, 1, 1] * 9), "y", positive=1).positive == 1
    with pytest.raises(
        ValueError, match="positive='Spam' is not a class of 'y'; did you mean 'spam'"
    ):
        read_target(labels, "y", positive="Spam")
    with pytest.raises(ValueError, match="available: 'ham', 'spam'"):
        read_target(labels, "y", positive="eggs")
    with pytest.raises(ValueError, match="'y' has 3 classes"):
        read_target(pd.Series(["a", "b", "c"] * 9), "y", positive="a")

"""The columns of a design are read; invalid ones raise an error of one line."""

import numpy as np
import pandas as pd
import pytest

from bosquet.study.table.design import Design, read_design

N = 40


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "x": random.normal(size=N),
            "date": pd.date_range("2024-01-01", periods=N, freq="12h").strftime("%Y-%m-%d %H:%M"),
            "year": np.arange(N) // 4 + 2000,
            "who": [f"p{i % 8}" for i in range(N)],
            "w": random.gamma(2, size=N),
            "part": ["train", "test", "Train", "validation"] * 10,
            "fold": np.arange(N) % 3 + 1,
        },
        index=pd.RangeIndex(1, N + 1),
    )


def read(frame, is_classes=False, **given):
    return read_design(frame, given, is_classes=is_classes)


def test_dates_are_read_as_days_and_numbers_as_they_are(frame):
    np.testing.assert_allclose(read(frame, time="date").time, np.arange(N) / 2)
    assert read(frame, time="year").time.tolist() == frame["year"].tolist()
    assert read(frame, time=np.arange(N)).time.tolist() == list(range(N))
    numbered = frame.assign(
        t=np.arange(N)
    )  # a column that tidying leaves out, because it holds row numbers
    assert read(numbered, time="t").time.tolist() == list(range(N))


def test_groups_weights_offsets_and_splits_are_read(frame):
    assert read(frame, group="who").group.tolist() == [i % 8 for i in range(N)]
    weight = read(frame, weight="w").weight
    assert weight.mean() == pytest.approx(1)
    np.testing.assert_allclose(weight / weight[0], frame["w"] / frame["w"].iloc[0])
    assert read(frame, offset="x").offset.tolist() == frame["x"].tolist()
    assert read(frame, split="part").split.tolist() == [-1, 0, -1, -1] * 10
    assert read(frame, split="fold").split.tolist() == (np.arange(N) % 3).tolist()


def test_design_columns_are_not_features_and_rows_can_be_taken(frame):
    design = read(frame, time="date", group="who", weight=np.ones(N))
    assert design.columns == {"time": "date", "group": "who", "weight": ""}
    assert design.left_out == ["who"]
    some = design.take(np.array([3, 5]))
    assert some.time.tolist() == [1.5, 2.5]
    assert some.group.tolist() == [3, 5]
    assert some.offset is None
    assert design
    assert not Design()
    assert not read(frame, time=None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"time": "dat"}, "the time column 'dat' is not in the table; did you mean 'date'?"),
        ({"tim": "date"}, "'tim' is not an option of the design; did you mean 'time'?"),
        (
            {"time": "who"},
            "has 40 of 40 values that are neither dates nor finite numbers, such as 'p0'",
        ),
        ({"time": np.ones(N)}, "the time has the same value in all rows"),
        ({"time": ["2024-01-01"] * 39 + ["soon"]}, "1 of 40 values .* such as 'soon'"),
        ({"time": ["2024-01-01"] * 39 + ["1.2.2024"]}, "more than one format"),
        ({"time": [1.0] * 39 + [np.nan]}, "the time has missing values in 1 row"),
        ({"time": np.r_[np.arange(39.0), np.inf]}, "neither dates nor finite numbers"),
        ({"group": ["a", "b", "c", "d"] * 10}, "4 groups, but cross-validation with 5 folds"),
        ({"group": np.arange(N)}, "a different value in every row"),
        ({"weight": np.arange(N) - 2.5}, "is -2.5 in row 0; weights must be >= 0"),
        ({"weight": np.zeros(N)}, "the weight is 0 in all rows"),
        ({"weight": "who"}, "the weight column 'who' is not numeric"),
        ({"weight": np.r_[np.ones(39), np.inf]}, "not a finite number in row 39"),
        ({"weight": np.ones(7)}, "has 7 values, but the table has 40 rows"),
        ({"split": "who"}, "must contain the words train and test .* got 'p0', 'p1', 'p2'"),
        ({"split": ["train"] * N}, "must contain the words train and test"),
        ({"time": "date", "split": "fold"}, "pass only one of them"),
    ],
)
def test_an_unusable_design_raises_one_line(frame, given, message):
    with pytest.raises(ValueError, match=message) as raised:
        read(frame, **given)
    assert "\n" not in str(raised.value)


def test_a_negative_weight_is_reported_with_the_label_of_its_row(frame):
    frame.loc[17, "w"] = -1.5
    with pytest.raises(ValueError, match=r"the weight column 'w' is -1\.5 in row 17"):
        read(frame, weight="w")


def test_classes_have_no_offset(frame):
    with pytest.raises(ValueError, match="offset needs a numeric target"):
        read(frame, is_classes=True, offset="x")

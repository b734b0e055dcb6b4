"""A tidied table has numbers and categories, and later tables are prepared in the same way."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.tables import TableError, TableTidier, tidy

N = 40


def make_table(**columns):
    base = {"x": np.linspace(0, 1, N), "y": [0, 1] * (N // 2)}
    return pd.DataFrame(base | columns)


def test_an_error_is_one_line_for_any_values():
    for value in ("two\nlines", "x" * 10_000):
        with pytest.raises(TableError, match="in every row") as caught:
            tidy(pd.DataFrame({"a": [1, 2], "b": [value, value]}), "b")
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) <= 1000


def test_dates_become_the_parts_that_vary():
    days = pd.date_range("2024-01-30", periods=N, freq="36h")
    for values in (
        days,
        days.strftime("%d.%m.%Y %H:%M"),
        days.astype(str),
        days.strftime("%b %d, %Y %H:%M"),
    ):
        frame = tidy(make_table(when=values), "y").frame
        assert [c for c in frame if c.startswith("when")] == [
            f"when.{part}" for part in ("month", "day", "weekday", "hour")
        ]
        assert frame["when.weekday"].tolist()[:2] == [2, 3]
        assert frame["when.day"].tolist()[:2] == [30, 31]
        assert frame["when.hour"].tolist()[:2] == [0, 12]


def test_the_order_of_day_and_month_is_detected_or_noted():
    clear = tidy(make_table(when=[f"{d:02d}/02/2024" for d in range(1, 21)] * 2))
    assert clear.tidier.plans[2].format == "%d/%m/%Y"
    unclear = tidy(make_table(when=["01/02/2024", "03/04/2024"] * 20))
    assert "another order of day and month" in " ".join(unclear.notes)


def test_numbers_stored_as_text_become_numbers():
    frame = tidy(make_table(a=["1.5", "2"] * 20, b=[1, "2"] * 20, c=["1,5", "2,25"] * 20)).frame
    assert frame["a"].tolist()[:2] == [1.5, 2]
    assert frame["b"].tolist()[:2] == [1, 2]
    assert frame["c"].tolist()[:2] == [1.5, 2.25]


def test_a_few_words_among_numbers_count_as_missing_and_are_named():
    values = [str(v) for v in range(100, 138)] + ["unknown", "broken"]
    tidied = tidy(make_table(a=values))
    assert tidied.frame["a"].isna().sum() == 2
    assert "'unknown'" in " ".join(tidied.notes)


def test_one_repeated_word_among_numbers_is_a_missing_value():
    values = [str(v / 7) for v in range(100, 125)] + ["not measured"] * 15
    tidied = tidy(make_table(a=values))
    assert tidied.frame["a"].isna().sum() == 15
    assert "'not measured', read as missing" in " ".join(tidied.notes)


def test_mixed_text_and_numbers_are_a_category_with_a_note():
    tidied = tidy(make_table(a=[1, 2, "red", "blue"] * 10))
    assert sorted(tidied.frame["a"].cat.categories) == ["1", "2", "blue", "red"]
    assert any("a: mixed numbers and text" in note for note in tidied.notes)


def test_booleans_are_zero_and_one():
    frame = tidy(
        make_table(a=[True, False] * 20, b=["true", "FALSE"] * 20, c=[True, None] * 20)
    ).frame
    assert frame["a"].tolist()[:2] == [1, 0]
    assert frame["b"].tolist()[:2] == [1, 0]
    assert frame["c"].isna().tolist()[:2] == [False, True]


def test_uninformative_columns_are_left_out_with_a_note():
    tidied = tidy(
        make_table(
            row=range(N),
            user_id=np.arange(N) * 7 % 1000,
            key=[f"k{i}" for i in range(N)],
            story=[f"once upon a time {i}" for i in range(N)],
            same="a",
            none=[None] * N,
            lists=[[1]] * N,
        ),
        "y",
    )
    assert tidied.frame.columns.tolist() == ["x", "y"]
    reasons = {plan.name: plan.reason for plan in tidied.tidier.plans}
    assert reasons == {
        "x": "", "row": "identifier", "user_id": "identifier", "key": "identifier", "story": "text",
        "same": "constant", "none": "empty", "lists": "nested",
    }  # fmt: skip
    assert all(any(name in note for note in tidied.notes) for name in reasons if name != "x")


def test_equal_notes_on_many_columns_are_merged():
    notes = tidy(make_table(**{f"c{i}": 1 for i in range(50)})).notes
    assert notes == ["50 columns (c0, c1, c2, c3, c4 and 45 more): constant; left out"]


def test_rows_without_a_target_are_left_out():
    tidied = tidy(make_table(y=["a", "b", None, "b"] * 10), "y")
    assert len(tidied.frame) == 30
    assert tidied.frame["y"].tolist()[:3] == ["a", "b", "b"]
    assert any("10 rows without" in note for note in tidied.notes)


def test_targets_keep_their_kind():
    def kind(values):
        tidied = tidy(make_table(y=values), "y")
        return tidied.tidier.target_kind, tidied.frame["y"].tolist()[:2]

    assert kind([1.0, None, 0.0, 1.0] * 10) == ("number", [1, 0])
    assert kind([True, False] * 20) == ("class", ["True", "False"])
    assert kind(pd.Categorical([1, 2] * 20)) == ("class", ["1", "2"])
    assert kind(["1,5", "2,5"] * 20) == ("number", [1.5, 2.5])
    assert kind(["no", " yes "] * 20) == ("class", ["no", "yes"])


@pytest.mark.parametrize(
    ("frame", "target", "message"),
    [
        (make_table(), "z", "the target column 'z' is not in the table"),
        (make_table(income=[0, 1] * 20), "incom", "did you mean 'income'"),
        (make_table(y=1), "y", "is 1 in every row"),
        (make_table(y=None), "y", "is missing in every row"),
        (make_table(y=pd.date_range("2024", periods=N)), "y", "is a date"),
        (make_table(y=[np.inf, 1] * 20), "y", "infinite"),
        (make_table(y=[f"n{i}" for i in range(N)]), "y", "40 distinct values in 40 rows"),
        (make_table()[:1], "y", "one row"),
        (make_table()[["y"]], "y", "no column besides the target"),
        (make_table()[:0], "y", "no rows"),
        (
            pd.DataFrame({"y": [0, 1] * 20, "a": [f"word {i}" for i in range(N)]}),
            "y",
            "no usable feature is left",
        ),
        (make_table().set_axis(["y", "y"], axis=1), "y", "more than one column"),
    ],
)
def test_an_unusable_table_raises_one_line(frame, target, message):
    with pytest.raises(TableError, match=message) as caught:
        tidy(frame, target)
    assert "\n" not in str(caught.value)


def test_a_repeated_target_in_a_file_is_rejected():
    import io

    from bosquet.tables import read_table

    frame = read_table(io.BytesIO(b"y,x,y\n1,2,3\n0,3,1\n"))
    with pytest.raises(TableError, match="more than one column"):
        tidy(frame, "y")


def test_duplicate_names_in_a_frame_become_distinct():
    frame = pd.DataFrame([[1, 2, 0], [3, 5, 1]], columns=["a", "a", "y"])
    assert tidy(frame, "y").frame.columns.tolist() == ["a", "a_2", "y"]


def test_parts_of_a_date_do_not_take_the_name_of_a_column():
    frame = tidy(
        make_table(when=pd.date_range("2024", periods=N), **{"when.day": [1.5, 2.5] * 20})
    ).frame
    assert frame["when.day"].tolist()[:2] == [1.5, 2.5]
    assert frame["when.day_"].tolist()[:2] == [1, 2]


def later():
    return pd.DataFrame(
        {
            "size": ["M", "XL"],
            "when": ["24.12.2025", "x"],
            "code": [7, 12],
            "x": ["0,5", "?"],
            "extra": [1, 2],
        }
    )


@pytest.fixture
def fitted():
    train = make_table(
        x=[f"{i / 8:.3f}".replace(".", ",") for i in range(N)],
        when=[f"{1 + i % 28}.{1 + i % 12}.202{i % 5}" for i in range(N)],
        code=["7", "A", "12", "B"] * 10,
        size=pd.Categorical(["S", "M"] * 20, categories=["S", "M", "L"], ordered=True),
        key=[f"k{i}" for i in range(N)],
    )
    return TableTidier().fit(train, "y")


def test_a_new_table_is_converted_like_the_training_table(fitted):
    found = fitted.transform(later())
    assert found.columns.tolist() == fitted.feature_names
    assert found["x"].tolist()[0] == 0.5
    assert np.isnan(found["x"].tolist()[1])
    assert found["when.month"].tolist()[0] == 12
    assert np.isnan(found["when.month"].tolist()[1])
    assert found["code"].tolist() == ["7", "12"]
    assert found["size"].tolist()[0] == "M"
    assert pd.isna(found["size"].tolist()[1])
    assert any(
        "not in the date format of training, treated as missing: 'x'" in note
        for note in fitted.apply(later())[2]
    )


def test_the_state_is_json_and_does_the_same(fitted):
    state = json.loads(json.dumps(fitted.to_state()))
    again = TableTidier.from_state(state)
    pd.testing.assert_frame_equal(again.transform(later()), fitted.transform(later()))
    assert again.to_state() == fitted.to_state()
    assert (again.target, again.target_kind) == ("y", "number")


def test_columns_that_are_missing_or_of_another_kind_are_named(fitted):
    with pytest.raises(TableError, match="lacks the column 'x'"):
        fitted.transform(later().drop(columns="x"))
    with pytest.raises(
        TableError, match="'x' was numeric in training, but now has text such as 'a'"
    ):
        fitted.transform(later().assign(x="a"))
    with pytest.raises(TableError, match="'when' had dates"):
        fitted.transform(later().assign(when="soon"))


def test_a_failed_fit_leaves_the_tidier_unchanged(fitted):
    before = fitted.to_state()
    with pytest.raises(TableError):
        fitted.fit(make_table(), "nowhere")
    assert fitted.to_state() == before


def _broken_states(state):
    yield None
    yield {}
    yield state | {"version": 2}
    yield state | {"columns": []}
    yield state | {"columns": [{"name": 1, "kind": "number"}]}
    yield state | {"columns": [{"name": "a", "kind": "magic"}]}
    yield state | {
        "columns": [{"name": "a", "kind": "date", "parts": ["century"], "outputs": ["b"]}]
    }
    yield state | {"columns": [{"name": "a", "kind": "number", "format": 3}]}
    yield state | {"columns": [{"name": "a", "kind": "number", "format": "%Y/%m/%d"}]}
    yield state | {"columns": [{"name": "a", "kind": "number", "levels": ["b"]}]}
    yield state | {"columns": [{"name": "a", "kind": "number", "reason": "constant"}]}
    date = {"name": "a", "kind": "date", "parts": ["year"], "outputs": ["b"]}
    yield state | {"columns": [date | {"format": "%Q"}]}
    yield state | {"columns": state["columns"] * 2}
    first, *others = state["columns"]
    for name in ("", " ", "x "):
        yield state | {"columns": [first | {"name": name}, *others]}
    yield state | {"target": {"name": 3}}


def test_an_invalid_state_is_rejected(fitted):
    for broken in _broken_states(fitted.to_state()):
        with pytest.raises(ValueError, match=r"\w"):
            TableTidier.from_state(broken)


_cells = st.one_of(
    st.none(), st.integers(-5, 5), st.floats(allow_infinity=True), st.booleans(),
    st.sampled_from(["a", "b", " a", "", "NA", "1", "2024-01-05", "true", "1,5"]), st.dates(),
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.lists(_cells, min_size=4, max_size=30))
def test_any_column_of_cells_gives_numbers_or_categories(cells):
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object), "x": np.arange(len(cells)) ** 2})
    tidier = TableTidier().fit(frame)
    found = TableTidier.from_state(tidier.to_state()).transform(frame)
    for name in found:
        assert found[name].dtype.kind in "iuf" or found[name].dtype.name == "category"
        if found[name].dtype.kind == "f":
            assert not np.isinf(found[name]).any()


def test_a_wide_table_is_treated_as_a_narrow_one():
    random = np.random.default_rng(0)
    wide = pd.DataFrame(random.normal(size=(30, 1500)), columns=[f"v{i}" for i in range(1500)])
    wide["v7"], wide["v8"], wide["v9"] = 1.0, np.nan, range(30)
    wide["user_id"] = np.arange(30) * 7 + 2
    wide.loc[3, "v10"] = np.inf
    wide["colour"] = ["red", "blue"] * 15
    tidier = TableTidier().fit(wide)
    narrow = TableTidier().fit(wide[["v6", "v7", "v8", "v9", "v10", "user_id", "colour"]])
    plans = {plan.name: plan for plan in tidier.plans}
    assert {name: plans[name] for name in ("v6", "v7", "v8", "v9", "user_id", "colour")} == {
        plan.name: plan for plan in narrow.plans if plan.name != "v10"
    }
    found = tidier.transform(wide)
    assert found.columns.tolist() == tidier.feature_names
    assert found.shape == (30, 1498)
    assert np.isnan(found["v10"][3])
    assert found["colour"].tolist() == ["red", "blue"] * 15


@pytest.mark.parametrize("order", ["appended", "beside", "shuffled"])
def test_duplicate_rows_do_not_hide_an_identifier(order):
    random = np.random.default_rng(0)
    n = 200
    frame = pd.DataFrame({"x": random.normal(size=n), "number": np.arange(7, 7 + n)})
    frame["customer_id"] = random.permutation(10 * n)[:n]
    frame["visits"] = random.integers(0, 9, n)
    copied = pd.concat([frame, frame[:20]], ignore_index=True)
    if order == "beside":
        copied = copied.sort_values("number", ignore_index=True)
    if order == "shuffled":
        copied = copied.sample(frac=1, random_state=0, ignore_index=True).drop(columns="number")
    found = {plan.name: plan.reason for plan in TableTidier().fit(copied).plans}
    assert found.pop("number", "identifier") == "identifier"
    assert found == {"x": "", "customer_id": "identifier", "visits": ""}


def test_an_identifier_that_repeats_in_other_rows_is_kept():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=220), "customer_id": [*range(200), *range(20)]})
    assert TableTidier().fit(frame).feature_names == ["x", "customer_id"]


def test_dates_over_time_become_recurring_parts_and_elapsed_time():
    when = pd.date_range("2023-01-01", "2025-01-01", freq="7h")
    table = pd.DataFrame({"when": when.astype(str), "x": np.arange(len(when)) % 17})
    tidier = TableTidier().fit(table, over_time=True)
    parts = [
        "month",
        "day",
        "weekday",
        "hour",
        "year_sine",
        "year_cosine",
        "day_sine",
        "day_cosine",
    ]
    assert tidier.feature_names == [*(f"when.{part}" for part in [*parts, "elapsed"]), "x"]
    assert tidier.notes == ["when: a date, turned into recurring parts and elapsed time in years"]
    again = TableTidier.from_state(tidier.to_state())
    dates = ["2024-07-01 06:00", "2030-01-01 00:00", "2029-12-31 23:59"]
    later = again.transform(pd.DataFrame({"when": dates, "x": 0}))
    np.testing.assert_allclose(later["when.elapsed"], [2024.5, 2030, 2030], atol=0.01)
    np.testing.assert_allclose(later["when.year_cosine"], [-1, 1, 1], atol=0.01)
    np.testing.assert_allclose(later["when.day_sine"], [1, 0, 0], atol=0.01)
    assert later["when.month"].tolist() == [7, 1, 12]


def test_a_part_that_does_not_recur_in_the_table_is_not_a_feature():
    of_a_year = pd.DataFrame({"when": pd.date_range("2024-01-01", "2024-12-01"), "x": 1.5})
    of_a_year.loc[0, "x"] = 2.5
    assert TableTidier().fit(of_a_year, over_time=True).feature_names == [
        "when.day", "when.weekday", "when.elapsed", "x",
    ]  # fmt: skip
    yearly = pd.DataFrame({"when": [f"{year}-05-01" for year in range(1950, 2000)], "x": range(50)})
    tidier = TableTidier().fit(yearly.assign(x=yearly["x"] % 7), over_time=True)
    assert tidier.feature_names == ["when.weekday", "when.elapsed", "x"]
    few = pd.DataFrame({"when": ["2024-01-01", "2024-01-02", "2024-01-03"], "x": [1.5, 2.5, 0.5]})
    tidier = TableTidier().fit(few, over_time=True)
    assert tidier.feature_names == ["when.elapsed", "x"]
    assert tidier.notes == ["when: a date, turned into elapsed time in years"]


def test_missing_dates_have_missing_parts_of_every_kind():
    when = pd.Series(pd.date_range("2022-01-01", periods=1000, freq="26h"))
    when[3] = pd.NaT
    frame = (
        TableTidier().fit(table := pd.DataFrame({"when": when}), over_time=True).transform(table)
    )
    assert frame.iloc[3].isna().all()
    assert frame.drop(index=3).notna().all(axis=None)

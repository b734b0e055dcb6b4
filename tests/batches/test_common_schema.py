import re

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

from decimal import Decimal  # noqa: E402

from example_tables import read_all, write_parquet  # noqa: E402
from pyarrow import dataset  # noqa: E402

from bosquet.batches import open_batches  # noqa: E402


def categories(values, levels, ordered=False, index=None):
    codes = [None if value is None else levels.index(value) for value in values]
    return pa.DictionaryArray.from_arrays(
        pa.array(codes, index or pa.int8()), pa.array(levels, pa.string()), ordered=ordered
    )


def files(folder, *columns):
    """Write files that contain one column `x` each, in a folder."""
    for number, column in enumerate(columns):
        write_parquet(pa.table({"x": column}), folder / f"part-{number}")
    return folder


def opened_both_ways(folder, *columns):
    """Yield the same columns as a source of files and as one of an iterator."""
    yield open_batches(files(folder, *columns))
    yield open_batches(pa.table({"x": column}) for column in columns)


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ([pa.array([1], pa.int32()), pa.array([2**40])], pa.int64()),
        ([pa.array([1], pa.uint8()), pa.array([2], pa.uint16())], pa.uint64()),
        ([pa.array([1], pa.uint8()), pa.array([-2], pa.int8())], pa.int64()),
        ([pa.array([1]), pa.array([0.5])], pa.float64()),
        ([pa.array([0.5], pa.float32()), pa.array([1], pa.int16())], pa.float64()),
        ([pa.array([0.5], pa.float32()), pa.array([0.1])], pa.float64()),
        ([pa.nulls(1), pa.array([1])], pa.int64()),
        ([pa.array(["a"]), pa.nulls(1)], pa.string()),
        ([pa.array(["a"], pa.large_string()), pa.array(["b"])], pa.string()),
        ([pa.array([True]), pa.array([False])], pa.bool_()),
        ([pa.nulls(1), pa.nulls(1)], pa.null()),
    ],
)
def test_types_of_files_are_widened_to_one(columns, kind, tmp_path):
    for source in opened_both_ways(tmp_path, *columns):
        with source:
            assert source.schema.types == [kind]
            table = read_all(source)
            assert table.schema.types == [kind]
            assert table.column(0).to_pylist() == [v for c in columns for v in c.to_pylist()]


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        (pa.array([np.float16(0.5), None], pa.float16()), pa.float32(), [0.5, None]),
        (pa.array([Decimal("0.10"), None]), pa.float64(), [0.1, None]),
        (pa.array(["a", None], pa.string_view()), pa.string(), ["a", None]),
    ],
)
def test_equal_values_have_one_type(column, kind, values):
    if column.type == pa.string_view() and int(pa.__version__.split(".")[0]) < 18:
        pytest.skip("older versions of pyarrow cannot convert it")
    table = read_all(open_batches([pa.table({"x": column})]))
    assert table.schema.types == [kind]
    assert table.column(0).to_pylist() == values


def test_run_end_encoded_columns_are_decoded():
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], pa.array([1.5, 2.5]))
    assert read_all(open_batches([pa.table({"x": runs})])).column(0).to_pylist() == [1.5, 1.5, 2.5]


def test_text_and_categories_of_text_become_categories(tmp_path):
    columns = [pa.array(["a", None]), categories(["b", "a", None], ["c", "a", "b"])]
    for source in opened_both_ways(tmp_path, *columns):
        with source:
            assert source.schema.types == [pa.dictionary(pa.int32(), pa.string())]
            assert read_all(source).column(0).to_pylist() == ["a", None, "b", "a", None]


def test_categories_with_other_levels_in_every_batch_are_one_type():
    frames = [
        pd.DataFrame({"x": pd.Categorical(["a"])}),
        pd.DataFrame({"x": pd.Categorical(["b"])}),
    ]
    with open_batches(iter(frames)) as source:
        assert source.schema.types == [pa.dictionary(pa.int32(), pa.string())]
        assert read_all(source).column(0).to_pylist() == ["a", "b"]


def test_a_missing_value_among_the_levels_is_a_missing_value():
    levels = pa.array(["a", None])
    columns = [pa.DictionaryArray.from_arrays([0, 1], levels) for _ in range(2)]
    table = read_all(open_batches([pa.table({"x": column}) for column in columns]))
    assert table.column(0).to_pylist() == ["a", None, "a", None]


def test_ordered_levels_are_kept_in_their_order(tmp_path):
    columns = [categories(["low"], ["low", "mid", "high"], True), pa.nulls(2)]
    for source in opened_both_ways(tmp_path, *columns):
        with source:
            for batch in source.batches():
                assert batch.column(0).type.ordered
                assert batch.column(0).dictionary.to_pylist() == ["low", "mid", "high"]


def test_the_first_batch_has_the_ordered_levels_even_if_it_has_no_value(tmp_path):
    columns = [pa.nulls(40_000), categories(["high"] * 40_000, ["low", "high"], True)]
    for source in opened_both_ways(tmp_path, *columns):
        with source:
            first, second = source.batches()
            assert first.column(0).null_count == first.num_rows
            for batch in (first, second):
                assert batch.column(0).dictionary.to_pylist() == ["low", "high"]


def test_an_enum_of_polars_is_ordered_in_every_container(tmp_path):
    kind = pl.Enum(["low", "mid", "high"])
    frame = pl.DataFrame({"x": pl.Series(["high", "low"], dtype=kind)})
    frame.write_parquet(tmp_path / "table.parquet")
    for X in (tmp_path / "table.parquet", frame.lazy(), iter([frame])):
        with open_batches(X) as source:
            (batch,) = source.batches()
            assert batch.column(0).type.ordered
            assert batch.column(0).dictionary.to_pylist() == ["low", "mid", "high"]


def test_other_ordered_levels_are_an_error_that_names_the_files_and_the_column(tmp_path):
    columns = [categories(["a"], ["a", "b"], True), categories(["a"], ["b", "a"], True)]
    folder = files(tmp_path, *columns)
    message = (
        f"column 'x' has the ordered levels 'b', 'a' in {folder}/part-1, but 'a', 'b' in"
        f" {folder}/part-0; ordered levels must be the same"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        list(open_batches(folder).batches())
    with pytest.raises(
        ValueError, match="ordered levels 'b', 'a' in batch 1, but 'a', 'b' in batch 0"
    ):
        open_batches(pa.table({"x": column}) for column in columns)


@pytest.mark.parametrize(
    ("columns", "types"),
    [
        ([pa.array([1]), pa.array(["a"])], ("string", "int64")),
        ([pa.array(["a"]), pa.array([0.5])], ("double", "string")),
        ([pa.array([True]), pa.array([1])], ("int64", "bool")),
        (
            [pa.array(["a"]), categories(["a"], ["a"], True)],
            ("ordered categories of string", "string"),
        ),
        (
            [categories(["a"], ["a"]), categories(["a"], ["a"], True)],
            ("ordered categories of string", "unordered categories of string"),
        ),
        ([pa.array([1]), pa.array([1], pa.date32())], ("date32[day]", "int64")),
    ],
)
def test_incompatible_types_are_an_error_that_names_both_files_and_types(columns, types, tmp_path):
    folder = files(tmp_path, *columns)
    message = (
        f"column 'x' has type {types[0]} in {folder}/part-1, but {types[1]} in {folder}/part-0; a column"
        " must have one type"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        open_batches(folder)
    message = f"column 'x' has type {types[0]} in batch 1, but {types[1]} in batch 0"
    with pytest.raises(ValueError, match=re.escape(message)):
        open_batches(pa.table({"x": column}) for column in columns)


def test_the_file_that_decided_a_widened_type_is_named(tmp_path):
    folder = files(tmp_path, pa.nulls(1), pa.array([1]), pa.array(["a"]))
    with pytest.raises(
        ValueError, match=f"string in {folder}/part-2, but int64 in {folder}/part-1"
    ):
        open_batches(folder)


def test_an_integer_that_float64_cannot_hold_is_an_error_if_its_column_becomes_one(tmp_path):
    folder = files(tmp_path, pa.array([2**53 + 1]), pa.array([0.5]))
    with pytest.raises(
        ValueError, match=r"column 'x' of .*part-0 cannot be converted to double, its type"
    ):
        list(open_batches(folder).batches())


def test_the_order_of_columns_may_differ():
    tables = [pa.table({"a": [1], "b": ["x"]}), pa.table({"b": ["y"], "a": [2]})]
    for X in (tables, iter(tables)):
        with open_batches(X) as source:
            assert read_all(source).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


def test_a_column_that_one_file_lacks_is_an_error(tmp_path):
    write_parquet(pa.table({"a": [1], "b": [1]}), tmp_path / "one")
    write_parquet(pa.table({"a": [1]}), tmp_path / "two")
    message = f"{tmp_path}/two has no column 'b', which {tmp_path}/one has; all must have the same columns"
    with pytest.raises(ValueError, match=re.escape(message)):
        open_batches(tmp_path)
    with pytest.raises(ValueError, match=re.escape(f"{tmp_path}/two has no column 'b'")):
        open_batches(dataset.dataset(tmp_path))


def test_a_column_that_only_one_file_has_is_an_error(tmp_path):
    write_parquet(pa.table({"a": [1]}), tmp_path / "one")
    write_parquet(pa.table({"a": [1], "b": [1]}), tmp_path / "two")
    message = f"{tmp_path}/two has a column 'b', which {tmp_path}/one does not have"
    with pytest.raises(ValueError, match=re.escape(message)):
        open_batches(tmp_path)


def test_a_column_with_another_name_is_an_error_that_names_both(tmp_path):
    batches = [pa.table({"price": [1]}), pa.table({"Price": [1]})]
    with pytest.raises(ValueError, match=r"batch 1 has no column 'price' \(but has 'Price'\)"):
        open_batches(iter(batches))


def test_a_file_without_rows_is_skipped_but_its_columns_are_checked(tmp_path):
    write_parquet(pa.table({"x": pa.array([], pa.int64())}), tmp_path / "a")
    write_parquet(pa.table({"x": [0.5]}), tmp_path / "b")
    source = open_batches(tmp_path)
    assert source.n_rows == 1
    assert read_all(source).equals(pa.table({"x": [0.5]}))
    write_parquet(pa.table({"z": pa.array([], pa.int64())}), tmp_path / "c")
    with pytest.raises(ValueError, match=r"c has no column 'x' \(but has 'z'\)"):
        open_batches(tmp_path)


def test_a_batch_without_rows_is_skipped_but_its_columns_are_checked():
    empty = pa.table({"x": pa.array([], pa.int64())})
    with open_batches(iter([empty, pa.table({"x": [0.5]}), empty])) as source:
        assert read_all(source).equals(pa.table({"x": [0.5]}))
    with pytest.raises(ValueError, match="batch 1 has no column 'x'"):
        open_batches(iter([empty, pa.table({"z": pa.array([], pa.int64())})]))

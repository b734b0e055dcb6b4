import os

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

from example_tables import (  # noqa: E402
    ROWS,
    example_table,
    read_all,
    write_arrow,
    write_parquet,
    write_stream,
    write_text,
)
from pyarrow import dataset  # noqa: E402

from bosquet.batches import BatchSource, open_batches  # noqa: E402

TABLE = example_table()
HALVES = (TABLE.slice(0, 400), TABLE.slice(400))


def file_of(write):
    def make(folder):
        write(TABLE, folder / "table")
        return folder / "table"

    return make


def folder_of(write):
    def make(folder):
        (folder / "data").mkdir()
        for number, half in enumerate(HALVES):
            write(half, folder / "data" / f"part-{number}")
        return str(folder / "data")

    return make


def paths_of(folder):
    folder_of(write_parquet)(folder)
    return [str(folder / "data" / "part-0"), folder / "data" / "part-1"]


def lazy_frame(folder):
    write_parquet(TABLE, folder / "table.parquet")
    return pl.scan_parquet(folder / "table.parquet")


class Repeatable:
    def __iter__(self):
        return iter(HALVES)


class Stream:
    """An object that exports an Arrow stream and nothing else."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


KINDS = {
    "Parquet file": file_of(write_parquet),
    "Arrow file": file_of(write_arrow),
    "Arrow stream file": file_of(write_stream),
    "text file": file_of(write_text),
    "Parquet folder": folder_of(write_parquet),
    "Arrow folder": folder_of(write_arrow),
    "Arrow stream folder": folder_of(write_stream),
    "text folder": folder_of(write_text),
    "pattern": lambda folder: folder_of(write_parquet)(folder) + "/part-*",
    "recursive pattern": lambda folder: folder_of(write_parquet)(folder) + "/../**/part-*",
    "list of paths": paths_of,
    "dataset of files": lambda folder: dataset.dataset(folder_of(write_parquet)(folder)),
    "dataset of Arrow files": lambda folder: dataset.dataset(
        folder_of(write_arrow)(folder), format="ipc"
    ),
    "filtered dataset": lambda folder: dataset.dataset(folder_of(write_parquet)(folder)).filter(
        dataset.field("whole") >= 0
    ),
    "union of datasets": lambda folder: dataset.dataset(
        [dataset.dataset(p) for p in paths_of(folder)]
    ),
    "dataset in memory": lambda folder: dataset.dataset(TABLE),
    "lazy frame": lazy_frame,
    "record batch reader": lambda folder: TABLE.to_reader(max_chunksize=300),
    "Arrow stream": lambda folder: Stream(),
    "generator of Arrow tables": lambda folder: (half for half in HALVES),
    "generator of record batches": lambda folder: (b for b in TABLE.to_batches(max_chunksize=70)),
    "generator of pandas frames": lambda folder: (half.to_pandas() for half in HALVES),
    "generator of polars frames": lambda folder: (pl.from_arrow(half) for half in HALVES),
    "iterable": lambda folder: Repeatable(),
    "list of frames": lambda folder: [HALVES[0].to_pandas(), pl.from_arrow(HALVES[1])],
    "tuple of Arrow tables": lambda folder: HALVES,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_source_has_the_rows_of_the_table_in_every_pass(kind, tmp_path):
    with open_batches(KINDS[kind](tmp_path)) as source:
        assert source.column_names == TABLE.column_names
        for _ in range(2):
            assert read_all(source).equals(TABLE)
        assert source.n_rows == ROWS


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_source_reads_selected_columns_in_the_order_asked_for(kind, tmp_path):
    with open_batches(KINDS[kind](tmp_path)) as source:
        assert read_all(source, ["y", "number"]).equals(TABLE.select(["y", "number"]))
        assert read_all(source, ["text"]).equals(TABLE.select(["text"]))


@pytest.mark.parametrize("kind", KINDS)
def test_two_passes_at_the_same_time_do_not_disturb_each_other(kind, tmp_path):
    with open_batches(KINDS[kind](tmp_path)) as source:
        both = zip(source.batches(["y"]), source.batches(["whole"]), strict=True)
        pairs = [(y.column(0), whole.column(0)) for y, whole in both]
    assert pa.chunked_array([y for y, _ in pairs]).equals(TABLE.column("y"))
    assert pa.chunked_array([whole for _, whole in pairs]).equals(TABLE.column("whole"))


@pytest.mark.parametrize("kind", ["Parquet folder", "Arrow file", "text folder", "lazy frame"])
def test_progress_counts_rows_and_bytes_up_to_the_whole_source(kind, tmp_path):
    calls = []
    with open_batches(KINDS[kind](tmp_path)) as source:
        for _ in source.batches(progress=lambda *done: calls.append(done)):
            pass
        assert calls[-1] == (ROWS, source.n_bytes)
    assert source.n_bytes > 0
    assert calls == sorted(calls)


def test_progress_of_a_text_file_advances_within_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("bosquet.batches.text_files._BLOCK", 1 << 16)
    write_text(pa.table({"x": np.arange(400_000)}), tmp_path / "x.csv")
    seen = []
    for _ in open_batches(tmp_path / "x.csv").batches(progress=lambda *done: seen.append(done)):
        pass
    size = os.path.getsize(tmp_path / "x.csv")
    assert seen[-1] == (400_000, size)
    assert any(0 < n_bytes < size for _, n_bytes in seen)


def test_files_of_parquet_and_arrow_know_their_rows_before_they_are_read(tmp_path):
    for kind in ("Parquet folder", "Arrow folder"):
        (tmp_path / kind).mkdir()
        assert open_batches(KINDS[kind](tmp_path / kind)).n_rows == ROWS


def test_a_text_file_knows_its_rows_after_the_first_pass(tmp_path):
    source = open_batches(KINDS["text file"](tmp_path))
    assert source.n_rows is None
    list(source.batches(["y"]))
    assert source.n_rows == ROWS


@pytest.mark.parametrize(
    ("kind", "description"),
    [
        ("Parquet file", "the Parquet file {}"),
        ("text folder", "2 text files in {}/"),
        ("pattern", "2 Parquet files that match {}"),
        ("list of paths", "2 Parquet files"),
        ("lazy frame", "a polars LazyFrame"),
        ("iterable", "an iterator of batches"),
        ("record batch reader", "an Arrow stream"),
        ("dataset of files", "a pyarrow dataset"),
        ("list of frames", "a list of 2 tables"),
    ],
)
def test_the_description_names_the_source(kind, description, tmp_path):
    X = KINDS[kind](tmp_path)
    assert open_batches(X).description == description.format(X)


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((2, 2)),
        [[1, 2], [3, 4]],
        ([1, 2], [3, 4]),
        [],
        TABLE,
        TABLE.to_batches()[0],
        TABLE.column("y"),
        TABLE.to_pandas(),
        TABLE.to_pandas()["y"],
        pl.from_arrow(TABLE),
        pl.Series([1.0]),
        {"a": [1]},
        b"bytes",
        3,
        None,
    ],
    ids=lambda X: type(X).__name__,
)
def test_an_ordinary_table_in_memory_is_not_opened(X):
    assert open_batches(X) is None


def test_a_source_that_is_open_is_returned_as_it_is():
    source = open_batches(iter(HALVES))
    assert isinstance(source, BatchSource)
    assert open_batches(source) is source


def test_pandas_reads_a_text_file_in_chunks_into_a_source(tmp_path):
    write_text(TABLE.select(["whole", "y"]), tmp_path / "table.csv")
    with open_batches(pd.read_csv(tmp_path / "table.csv", chunksize=300)) as source:
        assert read_all(source).equals(TABLE.select(["whole", "y"]))


def test_batches_have_at_most_65536_rows():
    table = pa.table({"x": np.arange(200_000)})
    sizes = [batch.num_rows for batch in open_batches([table]).batches()]
    assert sum(sizes) == 200_000
    assert max(sizes) <= 65_536


def test_batches_of_wide_rows_are_smaller_than_32_megabytes():
    table = pa.table({f"x{index}": np.zeros(20_000) for index in range(400)})
    batches = list(open_batches([table]).batches())
    assert max(batch.nbytes for batch in batches) <= 32 << 20
    assert sum(batch.num_rows for batch in batches) == 20_000


def test_small_batches_are_joined():
    pieces = TABLE.to_batches(max_chunksize=10)
    assert [batch.num_rows for batch in open_batches(pieces).batches()] == [ROWS]


def test_small_batches_of_categories_with_different_levels_are_joined():
    frames = [pd.DataFrame({"c": pd.Categorical([f"level {i}", None])}) for i in range(3)]
    (batch,) = open_batches(frames).batches()
    assert batch.column(0).to_pylist() == ["level 0", None, "level 1", None, "level 2", None]


def test_an_unknown_column_is_an_error_with_the_closest_name():
    source = open_batches(list(HALVES))
    with pytest.raises(
        ValueError, match="column 'numbr' is not in a list of 2 tables; did you mean 'number'"
    ):
        source.batches(["numbr"])


def test_no_column_at_all_is_an_error():
    with pytest.raises(ValueError, match=r"columns=\[\] is not valid"):
        open_batches(list(HALVES)).batches([])


def test_a_source_that_was_closed_is_an_error():
    with open_batches(iter(HALVES)) as source:
        pass
    with pytest.raises(ValueError, match="an iterator of batches is closed; open it again"):
        source.batches()


@pytest.mark.parametrize(
    "empty",
    [
        lambda: iter([]),
        lambda: iter([TABLE.slice(0, 0)]),
        lambda: [TABLE.slice(0, 0)],
        lambda: TABLE.slice(0, 0).to_reader(),
        lambda: pl.from_arrow(TABLE).lazy().filter(pl.col("whole") < 0),
    ],
)
def test_a_source_without_rows_is_an_error(empty):
    with pytest.raises(ValueError, match="has no rows; a table must have at least one"):
        open_batches(empty())


def test_an_open_file_is_an_error_that_asks_for_its_path(tmp_path):
    write_text(TABLE, tmp_path / "table.csv")
    with (
        open(tmp_path / "table.csv", "rb") as file,
        pytest.raises(TypeError, match="pass its path"),
    ):
        open_batches(file)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ((np.zeros((2, 2)), np.zeros(2)), "batch 0 is a tuple; a batch must be .* put the target"),
        (np.zeros((2, 2)), "batch 0 is an ndarray; a batch must be"),
        ("part-0.parquet", r"batch 0 is a str; .* pass paths as a list"),
    ],
)
def test_a_batch_that_is_not_a_table_is_an_error(batch, message):
    with pytest.raises(TypeError, match=message):
        open_batches(iter([batch]))


def test_a_list_of_paths_and_tables_is_an_error():
    with pytest.raises(TypeError, match="a list must contain paths only, or tables only"):
        open_batches(["part-0.parquet", TABLE])


def test_columns_of_pandas_without_text_names_are_an_error():
    frames = iter([pd.DataFrame(np.zeros((2, 2)))])
    with pytest.raises(
        ValueError, match=r"batch 0 has a column named 0, which is not text; .*map\(str\)"
    ):
        open_batches(frames)


def test_a_column_of_pandas_with_numbers_and_text_is_an_error():
    with pytest.raises(ValueError, match=r"batch 1 cannot be converted to Arrow: .* column m"):
        open_batches(iter([pd.DataFrame({"m": [1]}), pd.DataFrame({"m": [1, "a"]})]))


def test_two_columns_of_one_name_are_an_error():
    table = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pytest.raises(
        ValueError, match="table 0 of the list has two columns 'x'; column names must be dist"
    ):
        open_batches([table])


def test_without_pyarrow_the_error_names_the_command_that_installs_it(monkeypatch):
    import importlib

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(
        ImportError, match=r"pyarrow is not installed, .* pip install 'bosquet\[arrow\]'"
    ):
        open_batches("table.parquet")

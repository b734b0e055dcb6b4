import os

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from example_tables import example_table, write_arrow, write_parquet, write_stream, write_text  # noqa: E402

from bosquet.batches import open_batches  # noqa: E402

TABLE = example_table()


@pytest.mark.parametrize("write", [write_parquet, write_arrow])
def test_a_truncated_file_is_an_error_before_any_file_is_read(write, tmp_path):
    for name in ("part-0", "part-1"):
        write(TABLE, tmp_path / name)
    data = (tmp_path / "part-1").read_bytes()
    (tmp_path / "part-1").write_bytes(data[:-100])
    with pytest.raises(
        ValueError, match=r"part-1 cannot be read: .*; it must be complete and readable"
    ):
        open_batches(tmp_path)


def test_a_truncated_arrow_stream_is_an_error_when_it_is_reached(tmp_path):
    write_stream(TABLE, tmp_path / "stream")
    data = (tmp_path / "stream").read_bytes()
    (tmp_path / "stream").write_bytes(data[: len(data) // 2])
    source = open_batches(tmp_path / "stream")
    with pytest.raises(ValueError, match="stream cannot be read"):
        list(source.batches())


def error_of_reading(path):
    """Return the message of the ValueError that a pass raises, None without an error."""
    try:
        with open_batches(path) as source:
            for _ in source.batches():
                pass
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("write", [write_parquet, write_arrow, write_stream])
def test_a_file_with_damaged_bytes_is_read_or_an_error_that_names_it(write, tmp_path):
    write(TABLE, tmp_path / "table")
    data = (tmp_path / "table").read_bytes()
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(60):
        damaged = bytearray(data)
        for position in rng.integers(8, len(data) - 8, 20):
            damaged[position] = rng.integers(256)
        (tmp_path / "table").write_bytes(damaged)
        message = error_of_reading(tmp_path / "table")
        if message is not None:
            failed += 1
            assert str(tmp_path / "table") in message
    assert failed > 0


@pytest.mark.parametrize("write", [write_arrow, write_stream])
def test_a_column_name_that_is_not_text_is_an_error(write, tmp_path):
    write(TABLE, tmp_path / "table")
    data = (tmp_path / "table").read_bytes()
    (tmp_path / "table").write_bytes(data.replace(b"whole", b"wh\xffle"))
    with pytest.raises(ValueError, match="table cannot be read: 'utf-8' codec"):
        open_batches(tmp_path / "table")


def test_a_feather_file_of_version_1_is_an_error(tmp_path):
    (tmp_path / "old").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(ValueError, match="old is a Feather file of version 1; only version 2"):
        open_batches(tmp_path / "old")


@pytest.mark.parametrize("write", [write_parquet, write_arrow, write_stream, write_text])
def test_a_file_that_was_changed_between_two_passes_is_an_error(write, tmp_path):
    path = tmp_path / "table"
    write(TABLE, path)
    source = open_batches(path)
    list(source.batches())
    write(TABLE.slice(0, 500), path)
    with pytest.raises(ValueError, match=r"table was changed while it was in use: .* start again"):
        list(source.batches())


def test_a_file_that_is_changed_during_a_pass_is_an_error(tmp_path):
    path = tmp_path / "table"
    write_text(TABLE, path)
    batches = open_batches(path).batches(progress=lambda rows, size: os.utime(path, (0, 0)))
    with pytest.raises(ValueError, match="table was changed while it was in use"):
        list(batches)


def test_a_file_that_was_deleted_between_two_passes_is_an_error(tmp_path):
    path = tmp_path / "table"
    write_parquet(TABLE, path)
    source = open_batches(path)
    path.unlink()
    with pytest.raises(FileNotFoundError, match="table does not exist; a file must exist until"):
        list(source.batches())


def test_another_number_of_rows_in_a_later_pass_is_an_error():
    from bosquet.batches.parts import Part

    sizes = iter([3, 4])

    def read(wanted):
        yield pa.record_batch({"x": list(range(next(sizes)))}), 0

    source = open_batches([pa.table({"x": [0]})])
    source._parts = [Part("the growing table", pa.schema([("x", pa.int64())]), read)]
    source._rows_of_part = [None]
    list(source.batches())
    with pytest.raises(
        ValueError, match="the growing table has 4 rows in this pass, but had 3 before"
    ):
        list(source.batches())

import gc
import os
import subprocess
import sys
import tempfile
import textwrap
from contextlib import suppress

import pytest

pa = pytest.importorskip("pyarrow")

from example_tables import ROWS, example_table, read_all  # noqa: E402

from bosquet.batches import open_batches  # noqa: E402

TABLE = example_table()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of temporary files for this test only."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def open_temporary_files(folder):
    """Return the files in a folder that are open, with or without a name."""
    links = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the one that lists the folder
            links.append(os.readlink(f"/proc/self/fd/{number}"))
    return [link for link in links if link.startswith(str(folder))]


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")


def test_an_iterator_is_read_once_however_often_its_source_is(folder):
    read = []

    def batches():
        for number in range(3):
            read.append(number)
            yield TABLE

    with open_batches(batches()) as source:
        for _ in range(3):
            assert read_all(source).num_rows == 3 * ROWS
    assert read == [0, 1, 2]


@needs_proc
def test_the_temporary_file_is_in_the_folder_of_temporary_files_without_a_name(folder):
    with open_batches(iter([TABLE])) as source:
        assert len(open_temporary_files(folder)) == 1
        assert os.listdir(folder) == []
        assert source.n_bytes > 0


@needs_proc
def test_the_temporary_file_is_deleted_by_close(folder):
    source = open_batches(iter([TABLE]))
    source.close()
    source.close()
    assert open_temporary_files(folder) == []


@needs_proc
def test_the_temporary_file_is_deleted_with_the_source(folder):
    source = open_batches(iter([TABLE]))
    list(source.batches())
    del source
    gc.collect()
    assert open_temporary_files(folder) == []


@needs_proc
def test_the_temporary_file_is_deleted_after_an_error_of_the_iterator(folder):
    def batches():
        yield TABLE
        raise RuntimeError("the connection was lost")

    with pytest.raises(RuntimeError, match="the connection was lost") as caught:
        open_batches(batches())
    del caught
    gc.collect()
    assert open_temporary_files(folder) == []


@needs_proc
def test_the_temporary_file_is_deleted_after_an_error_in_a_batch(folder):
    with pytest.raises(ValueError, match="batch 1 has no column 'whole'"):
        open_batches(iter([TABLE, TABLE.drop_columns("whole")]))
    gc.collect()
    assert open_temporary_files(folder) == []


def test_nothing_is_left_after_an_interpreter_that_was_killed(tmp_path):
    program = """
        import os, signal
        import pyarrow as pa
        from bosquet.batches import open_batches

        source = open_batches(iter([pa.table({"x": list(range(1000))})]))
        next(source.batches())
        os.kill(os.getpid(), signal.SIGKILL)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        check=False,
    )
    assert run.returncode < 0
    assert os.listdir(tmp_path) == []


def test_nothing_is_printed_if_the_source_is_still_open_when_python_exits():
    program = """
        import pyarrow as pa
        from bosquet.batches import open_batches

        source = open_batches(iter([pa.table({"x": [1]})]))
        batches = source.batches()
        next(batches)
    """
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error_that_names_the_folder_and_the_variable(folder, monkeypatch):
    message = f"{folder}, is full after .* rows of an iterator of batches, .* variable TMPDIR"
    with open("/dev/full", "wb") as full:
        monkeypatch.setattr(tempfile, "TemporaryFile", lambda prefix: full)
        with pytest.raises(OSError, match=message) as caught:
            open_batches(TABLE for _ in range(30))
    assert caught.value.errno == 28


def test_progress_counts_what_is_written(folder):
    calls = []
    tables = [TABLE.take(list(range(ROWS)) * 70) for _ in range(2)]
    with open_batches(iter(tables), progress=lambda *done: calls.append(done)):
        pass
    assert [rows for rows, _ in calls][-1] == 140 * ROWS
    assert len(calls) > 2
    assert calls == sorted(calls)


def test_a_type_that_is_widened_again_and_again_needs_few_rows_in_memory_and_keeps_all(folder):
    columns = [pa.nulls(1), pa.array([1], pa.int8()), pa.array([2]), pa.array([0.5]), pa.array([3])]
    with open_batches(pa.table({"x": column}) for column in columns) as source:
        assert read_all(source).equals(pa.table({"x": [None, 1.0, 2.0, 0.5, 3.0]}))
        assert source.n_rows == 5

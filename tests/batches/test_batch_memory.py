"""Peak memory of passes over a table of 4 million rows and 10 columns, measured in a process of its own."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

ROWS = 4_000_000

PROGRAM = """
    import sys
    import pyarrow as pa, pyarrow.dataset, pyarrow.ipc, pyarrow.parquet as parquet
    from bosquet.batches import open_batches, read_columns
    import bosquet.batches.arrow_datasets, bosquet.batches.files, bosquet.batches.streams

    def peak():
        # Unlike ru_maxrss, it does not begin at the memory of the process that started this one.
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

    path, kind = sys.argv[1:]
    X = path
    if kind == "dataset":
        X = pyarrow.dataset.dataset(path)
    elif kind == "stream":
        file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
        X = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
    elif kind == "iterator":
        file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
        X = (batch.to_pandas() for batch in file.iter_batches())
        import pandas

        pandas.DataFrame({"x": [1]}).sum()
    before = peak()
    with open_batches(X) as source:
        for _ in range(2):
            rows = sum(batch.num_rows for batch in source.batches())
        read_columns(source, ["x0"])
    print(rows, peak() - before)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "table.parquet"
    rng = np.random.default_rng(0)
    schema = pa.schema([(f"x{index}", pa.float32()) for index in range(10)])
    with parquet.ParquetWriter(path, schema, use_dictionary=False, compression="none") as writer:
        values = rng.random((10, ROWS // 4), dtype=np.float32)
        for _ in range(4):
            writer.write_table(pa.table(list(values), schema=schema), row_group_size=ROWS // 4)
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("kind", ["file", "dataset", "stream", "iterator"])
def test_a_pass_needs_less_memory_than_the_table(kind, path):
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(path), kind],
        capture_output=True,
        text=True,
        check=True,
    )
    rows, megabytes = run.stdout.split()
    assert int(rows) == ROWS
    # The table has 160 MB. A column of it has 16 MB, a batch 2.6 MB; Arrow itself holds about 50 MB.
    assert float(megabytes) < 110

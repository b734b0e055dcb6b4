"""A table of every kind of column, and files of it."""

import numpy as np
import pyarrow as pa
from pyarrow import csv, ipc, parquet

ROWS = 1000


def example_table(n_rows=ROWS):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=n_rows)
    return pa.table(
        {
            "whole": pa.array(rng.integers(0, 50, n_rows)),
            "number": pa.array(numbers, mask=numbers > 1),
            "text": pa.array([None, "a", "b", "été"], pa.string()).take(
                pa.array(rng.integers(0, 4, n_rows))
            ),
            "truth": pa.array(rng.integers(0, 2, n_rows).astype(bool)),
            "y": pa.array(rng.integers(0, 3, n_rows)),
        }
    )


def write_parquet(table, path):
    parquet.write_table(table, path, row_group_size=300)


def write_arrow(table, path):
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=300)


def write_stream(table, path):
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=300)


def write_text(table, path):
    csv.write_csv(table, path)


def read_all(source, columns=None):
    return pa.Table.from_batches(source.batches(columns)).combine_chunks()

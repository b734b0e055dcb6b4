"""Datasets of pyarrow as parts of a table.

The types are those of the dataset. A file that lacks one of its columns is an error; pyarrow would fill the
column with missing values. Columns that the dataset does not have are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from .arrow_files import parquet_part
from .parts import BatchAt, Part, file_stamp, naming, only_while_unchanged, with_constants
from .sizes import rows_per_batch
from .source import BatchSource

if TYPE_CHECKING:
    import pyarrow
    from pyarrow.dataset import Dataset, Fragment, Scanner


def open_dataset(dataset: Dataset) -> BatchSource:
    """Open a dataset of files, of other datasets, or of tables in memory."""
    return BatchSource(_parts_of(dataset), "a pyarrow dataset")


def _parts_of(dataset: Dataset) -> list[Part]:
    from pyarrow import dataset as datasets

    if isinstance(dataset, datasets.UnionDataset):
        return [part for child in dataset.children for part in _parts_of(child)]
    try:
        fragments = list(dataset.get_fragments())
    except ValueError:  # a filter belongs to the dataset, not to its fragments
        fragments = []
    if isinstance(dataset, datasets.FileSystemDataset) and fragments:
        return [_file_part(fragment, dataset.schema) for fragment in fragments]
    return [_scanned_part("the pyarrow dataset", dataset.schema, dataset.scanner)]


def _file_part(fragment: Fragment, schema: pyarrow.Schema) -> Part:
    import pyarrow
    from pyarrow import dataset as datasets

    path, system = fragment.path, fragment.filesystem
    constants = datasets.get_partition_keys(fragment.partition_expression)
    with naming(path):
        present = {*fragment.physical_schema.names, *constants}
        columns = pyarrow.schema([field for field in schema if field.name in present])
        local = isinstance(system, pyarrow.fs.LocalFileSystem)
        stamp = file_stamp(path) if local else (0, 0)
        n_bytes = system.get_file_info(path).size
        if isinstance(fragment, datasets.ParquetFileFragment) and _is_whole(fragment):
            part = parquet_part(path, lambda: system.open_input_file(path), n_bytes)
            part = with_constants(
                part,
                {
                    name: pyarrow.scalar(value, schema.field(name).type)
                    for name, value in constants.items()
                    if name in schema.names
                },
            )
            part = replace(part, schema=columns)
        else:
            scan = _with_schema(fragment, schema)
            part = replace(_scanned_part(path, columns, scan), n_bytes=n_bytes)
        return only_while_unchanged(part, path, stamp) if local else part


def _is_whole(fragment: Fragment) -> bool:
    return len(fragment.row_groups) == fragment.metadata.num_row_groups


def _with_schema(fragment: Fragment, schema: pyarrow.Schema) -> Callable[..., Scanner]:
    return lambda **options: fragment.scanner(schema=schema, **options)


def _scanned_part(name: str, schema: pyarrow.Schema, scan: Callable[..., Scanner]) -> Part:
    def read(wanted: pyarrow.Schema) -> Iterator[BatchAt]:
        scanner = scan(
            columns=wanted.names,
            batch_size=rows_per_batch(wanted),
            batch_readahead=1,
            fragment_readahead=1,
        )
        for batch in scanner.to_reader():
            yield batch, 0

    return Part(name, schema, read)

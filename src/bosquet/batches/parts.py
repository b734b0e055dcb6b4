"""Part: a part of a table that is read from its beginning to its end, such as a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pyarrow

# A batch, and the number of bytes of the part that were read so far.
BatchAt: TypeAlias = "tuple[pyarrow.RecordBatch, int]"


@dataclass(frozen=True)
class Part:
    """A part of a table: a file, a table in memory, or a section of a temporary file.

    Attributes
    ----------
    name : str
        Name in messages.
    schema : pyarrow.Schema
        The columns as they are stored.
    read : function of a schema
        Returns an iterator of batches. They have at least the columns of this schema, in any order and of
        any type; its types are those that the caller wants.
    n_rows, n_bytes : int or None
        Size, if it is known without reading the part.
    """

    name: str
    schema: pyarrow.Schema
    read: Callable[[pyarrow.Schema], Iterator[BatchAt]]
    n_rows: int | None = None
    n_bytes: int | None = None


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Turn errors of Arrow and of the operating system into a ValueError that names the part."""
    import pyarrow

    try:
        yield
    except FileNotFoundError as error:
        if error.errno is None:  # raised by a part of this part
            raise
        raise FileNotFoundError(
            f"{name} does not exist; a file must exist until the last pass over it: check the path"
        ) from None
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        cause = " ".join(reason.split())[:300].rstrip(". ")
        raise ValueError(
            f"{name} cannot be read: {cause}; it must be complete and readable: replace it, or leave it out"
        ) from error


def read_part(part: Part, wanted: pyarrow.Schema) -> Iterator[BatchAt]:
    """Read the part; errors name it."""
    with naming(part.name):
        yield from part.read(wanted)


def only_while_unchanged(part: Part, path: str, stamp: tuple[int, int]) -> Part:
    """Return the part with an error if the stamp of its file changes between or during its passes."""

    def check() -> None:
        if file_stamp(path) != stamp:
            raise ValueError(
                f"{part.name} was changed while it was in use: its size or its time of modification is not"
                " the same as at first; a file must not change between the passes over it: start again when"
                " it is complete"
            )

    def read(wanted: pyarrow.Schema) -> Iterator[BatchAt]:
        check()
        yield from part.read(wanted)
        check()

    return replace(part, read=read)


def file_stamp(path: str) -> tuple[int, int]:
    """Return the size of a file and its time of modification."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def with_constants(part: Part, constants: dict[str, pyarrow.Scalar]) -> Part:
    """Return the part with additional columns that have the same value in all rows.

    A column that the part contains is not replaced.
    """
    import pyarrow

    added = {name: value for name, value in constants.items() if name not in part.schema.names}
    if not added:
        return part
    schema = part.schema
    for name, value in added.items():
        schema = schema.append(pyarrow.field(name, value.type))

    def read(wanted: pyarrow.Schema) -> Iterator[BatchAt]:
        stored = [field for field in wanted if field.name not in added]
        # Without any column a reader could not tell the number of rows.
        inner = pyarrow.schema(stored or [part.schema.field(0)])
        for batch, position in part.read(inner):
            arrays = [
                pyarrow.repeat(added[name], batch.num_rows) if name in added else batch.column(name)
                for name in wanted.names
            ]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=wanted.names), position

    return replace(part, schema=schema, read=read)

"""BatchSource: a table that is read in batches, as often as needed."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias

from bosquet._suggestions import hint

from .parts import Part, read_part
from .schemas import CommonSchema
from .sizes import resize

if TYPE_CHECKING:
    import pyarrow

# Called with the numbers of rows and bytes that were read so far in this pass.
Progress: TypeAlias = Callable[[int, int], None]


class BatchSource:
    """A table that need not fit into memory, as batches of Arrow. `open_batches` opens it.

    Every pass yields the same rows in the same order, and all batches have the same types. If a file changes
    between two passes, or if a part has another number of rows than before, an error names it.

    Parameters
    ----------
    parts : sequence of Part
        The parts of the table, in the order of its rows.
    description : str
        The source in messages, such as "3 Parquet files in data/".
    schema : CommonSchema, optional
        Common types of the parts. Default: found here, with an error if they do not match.
    release : function without arguments, optional
        Deletes temporary files. It is called by `close`, when the source is no longer referenced, or when
        Python exits.

    Attributes
    ----------
    column_names : list of str
        Column names, in the order of the first part.
    n_rows : int or None
        Number of rows; None if it is not known before the first complete pass (text files, Arrow streams).
    n_bytes : int or None
        Number of bytes on disk that a pass over all columns reads; None if the table is in memory.
    description : str
    """

    def __init__(
        self,
        parts: Sequence[Part],
        description: str,
        schema: CommonSchema | None = None,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        self.description = description
        self._parts = list(parts)
        self._release = weakref.finalize(self, release)
        self._rows_of_part = [part.n_rows for part in self._parts]
        try:
            self._schema = schema or _schema_of(self._parts)
            self._check_any_rows()
            self._find_levels()
        except BaseException:
            self.close()
            raise

    @property
    def column_names(self) -> list[str]:
        return self._schema.names

    @property
    def schema(self) -> pyarrow.Schema:
        """The names and types of the columns of all batches."""
        return self._schema.select(self.column_names)

    @property
    def n_rows(self) -> int | None:
        known = [rows for rows in self._rows_of_part if rows is not None]
        return sum(known) if len(known) == len(self._parts) else None

    @property
    def n_bytes(self) -> int | None:
        known = [part.n_bytes for part in self._parts if part.n_bytes is not None]
        return sum(known) if len(known) == len(self._parts) else None

    def batches(
        self, columns: Sequence[str] | None = None, progress: Progress | None = None
    ) -> Iterator[pyarrow.RecordBatch]:
        """Read all rows, in batches of at most `BATCH_ROWS` rows and about `BATCH_BYTES` bytes.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns of the batches, in this order. Default: all. Others are not read.
        progress : function (rows, bytes), optional
            Called during the pass with the numbers of rows and bytes that were read so far. The bytes are
            those on disk, up to `n_bytes`; 0 for tables in memory.
        """
        if not self._release.alive:
            raise ValueError(f"{self.description} is closed; open it again to read it")
        names = self.column_names if columns is None else list(columns)
        for name in names:
            if name not in self.column_names:
                raise ValueError(
                    f"column {name!r} is not in {self.description}; {hint(str(name), self.column_names)}"
                )
        if not names:
            raise ValueError("columns=[] is not valid: columns must name at least one column")
        return resize(self._read(names, progress))

    def row_name(self, row: int) -> str:
        """Return the name of a row in messages, after a complete pass: its number in its part, from 0."""
        row, part = self.find_row(row)
        return f"row {row} of {part}" if part else f"row {row}"

    def find_row(self, row: int) -> tuple[int, str]:
        """Return the number of a row in its part, from 0, and the name of the part; "" if it is not known."""
        for part, rows in zip(self._parts, self._rows_of_part, strict=True):
            if row < (rows or 0):
                return row, part.name
            row -= rows or 0
        return row, ""

    def close(self) -> None:
        """Delete temporary files. The source cannot be read afterwards."""
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        rows = "" if self.n_rows is None else f", {self.n_rows} rows"
        return f"<BatchSource: {self.description}, {len(self.column_names)} columns{rows}>"

    def _read(self, names: list[str], progress: Progress | None) -> Iterator[pyarrow.RecordBatch]:
        wanted = self._schema.select(names)
        rows, bytes_before = 0, 0
        for index, part in enumerate(self._parts):
            rows_before = rows
            for batch, position in read_part(part, wanted):
                rows += batch.num_rows
                if progress is not None:
                    progress(rows, bytes_before + position)
                yield self._schema.convert(batch, names, part.name)
            bytes_before += part.n_bytes or 0
            self._check_rows(index, rows - rows_before)
        self._check_any_rows()
        if progress is not None:
            progress(rows, bytes_before)
        import pyarrow

        # Arrow keeps the memory of past batches, up to some hundred megabytes, for the next ones.
        pyarrow.default_memory_pool().release_unused()

    def _check_rows(self, index: int, rows: int) -> None:
        """Check that a part has the same number of rows in every pass."""
        expected = self._rows_of_part[index]
        if expected is None:
            self._rows_of_part[index] = rows
        elif rows != expected:
            raise ValueError(
                f"{self._parts[index].name} has {rows} rows in this pass, but had {expected} before; every"
                " pass must read the same rows: do not change the table while it is in use"
            )

    def _check_any_rows(self) -> None:
        if self.n_rows == 0:
            raise ValueError(
                f"{self.description} has no rows; a table must have at least one: pass data, or a stream that"
                " was not read before"
            )

    def _find_levels(self) -> None:
        """Find the levels of ordered categories, so that all batches have them, also the first."""
        names = self._schema.without_levels()
        if names:
            for _ in self._read(names, None):
                if not self._schema.without_levels():
                    break


def _schema_of(parts: Sequence[Part]) -> CommonSchema:
    schema = CommonSchema()
    for part in parts:
        schema.add(part.name, part.schema)
    return schema

"""Delimited text files, read into columns of numbers, booleans, categories and text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from bosquet.tables.column_kinds import TRUTH
from bosquet.tables.dialects import (
    BLANKS,
    collapse_blanks,
    csv_rows,
    holds_sample,
    layout_of,
)
from bosquet.tables.encodings import FileOfPieces, OpenFile, checked_encoding, open_utf8
from bosquet.tables.errors import TableError, import_pandas
from bosquet.tables.numerals import (
    decimal_mark,
    looks_numeric,
    missing_to_null,
    numbers_of,
    plain_numbers,
)

_SHORT_HEAD, _HEAD = 1 << 20, 1 << 26  # bytes used to detect the layout; more if lines are long
_BLOCK = 1 << 24  # bytes parsed at a time; a row must fit
_STREAM_BLOCK = 1 << 22  # the same if the file is read in blocks
_CELLS_PER_ROW = 1000  # used to detect the decimal separator
_KEPT_AS_CATEGORIES = 0.5  # maximum share of distinct values in a category
_LEVELS_CHECKED = 100  # levels checked for numbers
_GROUP = 256  # columns converted at a time in wide tables
_SAMPLED = 10_000  # rows checked for whether nearly all values differ


class DelimitedText:
    """The rows of a text file as cells of text, all at once or in blocks; its layout is detected.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    columns : list of str
        Distinct names of the columns.
    decimal : "." or ","
        Decimal separator.
    about : dict
        Description of the detected format.
    """

    def __init__(
        self,
        open_file: OpenFile,
        name: str,
        delimiter: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
    ) -> None:
        self.name = name
        self._open_file = open_file
        self._encoding = checked_encoding(open_file, name, encoding)
        head = self._read_head()
        if not head.strip():
            raise TableError(f"{name} is empty; it must contain a table")
        self._layout = layout = layout_of(head, delimiter, header)
        self._above, below = head[: layout.before], head[layout.before :]
        if layout.delimiter == BLANKS:
            below = collapse_blanks(below)
        self._header = below[: layout.skipped]
        if not layout.rows:
            width = layout.n_columns
            raise TableError(
                f"{name} has a header with {width} columns, but no rows below it; pass a file with rows, or"
                " header=False (--header no) if its first line is a row"
            )
        if decimal is None:
            cells = (cell.strip() for row in layout.rows for cell in row[:_CELLS_PER_ROW])
            decimal = decimal_mark(cells, otherwise="," if layout.delimiter == ";" else ".")
        self.decimal = decimal
        self.columns, repeated = distinct_names(layout.names or [""] * layout.n_columns)
        if layout.names is not None and len(layout.names) != layout.n_columns:
            raise self._error()
        self.about = {
            "encoding": self._encoding,
            "delimiter": layout.delimiter,
            "decimal": decimal,
            "header": layout.names is not None,
            "repeated": repeated,
            "notes": [*layout.notes, *repetition_notes(repeated)],
        }

    @property
    def ends_with_delimiter(self) -> bool:
        """Whether the last name is blank, as it is if every row ends with a delimiter."""
        names = self._layout.names
        return names is not None and len(names) > 1 and not names[-1].strip()

    def read(self) -> list[Any]:
        """Return the columns as Arrow arrays of text."""
        from pyarrow import csv as arrow_csv

        with self._parsing(self._open_file) as body:
            table = arrow_csv.read_csv(body, **self._options(_BLOCK))
        return [column.combine_chunks() for column in table.itercolumns()]

    def blocks(self, columns: Sequence[int], open_file: OpenFile) -> Iterator[list[Any]]:
        """Yield these columns of blocks of rows, as Arrow arrays of text, from the file opened like this."""
        from pyarrow import csv as arrow_csv

        with self._parsing(open_file) as body:
            for batch in arrow_csv.open_csv(body, **self._options(_STREAM_BLOCK, columns)):
                yield batch.columns

    def _read_head(self) -> str:
        """Return the beginning of the file: more than the lines that the detection uses."""
        size = _SHORT_HEAD
        while True:
            with open_utf8(self._open_file, self._encoding) as file:
                data = file.read(size)
            head = data.decode("utf-8", errors="ignore")
            if len(data) < size or size == _HEAD or holds_sample(head):
                return head
            size = min(8 * size, _HEAD)

    def _options(self, block: int, columns: Sequence[int] | None = None) -> dict[str, Any]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        layout = self._layout
        names = [str(index) for index in range(layout.n_columns)]
        longest = max(len(layout.delimiter.join(row)) for row in layout.rows)
        return {
            "read_options": arrow_csv.ReadOptions(
                column_names=names, block_size=max(block, 16 * longest)
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=layout.delimiter,
                quote_char=layout.quote,
                double_quote=layout.escape is None,
                escape_char=layout.escape or False,
                newlines_in_values=True,
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=None if columns is None else [str(index) for index in columns],
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
        }

    @contextmanager
    def _parsing(self, open_file: OpenFile) -> Iterator[Any]:
        """Open the rows below the header; a file that cannot be parsed raises TableError with the line."""
        import pyarrow as pa

        with self._open_body(open_file) as file:
            body = _CountingQuotes(file, self._layout.quote.encode())
            try:
                yield body
            except pa.ArrowInvalid as error:
                self._refuse_open_quote()
                raise self._error(str(error)) from None
            if self._layout.escape is None and body.quotes % 2:
                self._refuse_open_quote()

    def _open_body(self, open_file: OpenFile) -> IO[bytes]:
        """Open the rows below the header, as UTF-8."""
        file = open_utf8(open_file, self._encoding)
        _skip(file, self._above)
        if self._layout.delimiter == BLANKS:
            file = io.BufferedReader(
                FileOfPieces(file, _pieces_with_single_blanks(file)), _STREAM_BLOCK
            )
        _skip(file, self._header)
        return file

    @contextmanager
    def _lines(self) -> Iterator[tuple[Iterable[str], int]]:
        """Open the lines from the header on, and count those above it."""
        with open_utf8(self._open_file, self._encoding) as file:
            _skip(file, self._above)
            lines: Iterable[str] = io.TextIOWrapper(file, "utf-8", newline="")
            if self._layout.delimiter == BLANKS:
                lines = map(collapse_blanks, lines)
            yield lines, self._above.count("\n")

    def _refuse_open_quote(self) -> None:
        """Raise TableError for a quote that is never closed; the rest of the file would become one cell."""
        layout = self._layout
        if layout.escape is not None:
            return
        with self._lines() as (lines, above):
            line = above
            rows = csv_rows(lines, layout.delimiter, layout.quote, None, strict=True)
            try:
                for _ in rows:
                    line = above + rows.line_num
            except csv.Error as error:
                if "end of data" in str(error):
                    raise TableError(
                        f"{self.name}, line {line + 1}: a quote that opens in this row is never closed; close"
                        " or remove it"
                    ) from None

    def _error(self, message: str = "") -> TableError:
        """Return the error of a file that cannot be parsed: the first line with a wrong number of cells."""
        layout = self._layout
        has_title_lines = len(layout.notes) > 0
        expected_cells = len(layout.names) if layout.names is not None else layout.n_columns
        with self._lines() as (lines, above):
            rows = csv_rows(lines, layout.delimiter, layout.quote, layout.escape)
            line = 0
            try:
                for row in rows:
                    first = line + 1
                    line = rows.line_num
                    if (
                        row
                        and len(row) != expected_cells
                        and not (has_title_lines and len(row) == 1)
                    ):
                        whose = (
                            "the header has" if layout.names is not None else "the other rows have"
                        )
                        return TableError(
                            f"{self.name}, line {above + first}: {len(row)} {_cell_word(row)}, but {whose}"
                            f" {expected_cells} (delimiter: {layout.delimiter_name}); correct the line or"
                            " pass another delimiter"
                        )
            except csv.Error as error:
                return TableError(f"{self.name}, line {above + line + 1}: {error}")
        return TableError(
            f"{self.name} cannot be read as a table: {' '.join(message.split())[:200]}"
        )


class _CountingQuotes(io.RawIOBase):
    """A binary file whose quotes are counted while it is read."""

    def __init__(self, file: IO[bytes], quote: bytes) -> None:
        self._file = file
        self._quote = quote
        self.quotes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.quotes += data.count(self._quote)
        return data


def _pieces_with_single_blanks(file: IO[bytes]) -> Iterator[bytes]:
    """Read a text in UTF-8 in whole lines, in which runs of blanks become one blank."""
    while data := file.read(_STREAM_BLOCK):
        yield collapse_blanks((data + file.readline()).decode("utf-8")).encode("utf-8")


def _skip(file: IO[bytes], text: str) -> None:
    """Read over a text at the current position."""
    left = len(text.encode("utf-8"))
    while left and (data := file.read(left)):
        left -= len(data)


def read_delimited(
    data: bytes,
    name: str,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Return the frame of a text file, and a description of its detected format."""
    pd = import_pandas()
    text = DelimitedText(lambda: io.BytesIO(data), name, delimiter, decimal, encoding, header)
    frame = pd.DataFrame(dict(enumerate(_to_arrays(text.read(), text.decimal))))
    frame.columns = pd.Index(text.columns, dtype=object)
    if text.ends_with_delimiter and frame.iloc[:, -1].isna().all():
        frame = frame.iloc[:, :-1]
    return frame, text.about


class RepeatedNames(dict[str, list[str]]):
    """New names of columns that share a name, by that name.

    It is never copied, because pandas would copy it in `attrs` for every column.
    """

    def __deepcopy__(self, memo: Any) -> RepeatedNames:
        return self


def distinct_names(header: list[str]) -> tuple[list[str], RepeatedNames]:
    """Return distinct column names and, for each repeated name, the new names of its columns.

    Examples
    --------
    >>> from bosquet.tables.delimited import distinct_names
    >>> distinct_names(["a", "", "a"])
    (['a', 'column_2', 'a_2'], {'a': ['a', 'a_2']})
    """
    blank = [f"column_{index}" for index in range(1, len(header) + 1)]
    stripped = [str(name).strip() or blank[index] for index, name in enumerate(header)]
    used_names = set(stripped)
    if len(used_names) == len(stripped):
        return stripped, RepeatedNames()
    names: list[str] = []
    by_name: dict[str, list[str]] = {}
    for name in stripped:
        renamed = by_name.setdefault(name, [])
        new, number = name, len(renamed) + 1
        while renamed and new in used_names:
            new, number = f"{name}_{number}", number + 1
        used_names.add(new)
        renamed.append(new)
        names.append(new)
    return names, RepeatedNames({name: mine for name, mine in by_name.items() if len(mine) > 1})


def repetition_notes(repeated: RepeatedNames) -> list[str]:
    """Return notes on repeated column names, at most six."""
    notes = [
        f"the column name {name!r} occurs {len(mine)} times; the columns are renamed {', '.join(mine[:4])}"
        + (", ..." if len(mine) > 4 else "")
        for name, mine in list(repeated.items())[:5]
    ]
    if len(repeated) > 5:
        notes.append(f"{len(repeated) - 5} more column names are repeated")
    return notes


def same_named_columns(frame: Any, name: str) -> list[str]:
    """Return the columns of a frame that had the same name as the column `name` when the file was read.

    Examples
    --------
    >>> import io
    >>> from bosquet.tables import read_table
    >>> from bosquet.tables.delimited import same_named_columns
    >>> frame = read_table(io.BytesIO(b"y,x,y\\n1,2,3\\n4,5,6\\n"))
    >>> same_named_columns(frame, "y"), same_named_columns(frame, "x")
    (['y', 'y_2'], ['x'])
    >>> same_named_columns(frame.drop(columns="y_2"), "y")
    ['y']
    """
    repeated = frame.attrs.get("reading", {}).get("repeated", {})
    renamed = next((mine for mine in repeated.values() if name in mine), [name])
    return [column for column in map(str, frame.columns) if column.strip() in renamed]


def _cell_word(row: list[str]) -> str:
    return "cell" if len(row) == 1 else "cells"


def _to_arrays(columns: list[Any], decimal: str) -> list[Any]:
    """Convert text columns to arrays; in wide tables, groups of plain numbers are converted together."""
    if len(columns) <= _GROUP:
        return [_to_array(column, decimal) for column in columns]
    arrays: list[Any] = []
    for start in range(0, len(columns), _GROUP):
        group = columns[start : start + _GROUP]
        numbers = _convert_group(group, decimal)
        arrays += [_to_array(column, decimal) for column in group] if numbers is None else numbers
    return arrays


def _convert_group(group: list[Any], decimal: str) -> list[Any] | None:
    """Convert columns of plain numbers in one call, which is faster than one call per short column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    together = missing_to_null(pa.concat_arrays(group))
    numbers = plain_numbers(together, decimal)
    if numbers is None:
        return None
    values = numbers.to_numpy(zero_copy_only=False).astype(float).reshape(len(group), -1)
    is_whole = pc.match_substring_regex(together, r"^[+-]?\d{1,15}$")
    whole = (
        is_whole.fill_null(False).to_numpy(zero_copy_only=False).reshape(values.shape).all(axis=1)
    )
    return [v.astype(np.int64) if w else v for v, w in zip(values, whole, strict=True)]


def _to_array(column: Any, decimal: str) -> Any:
    """Convert a column of text to numbers, booleans, a category or text."""
    import pandas as pd
    import pyarrow.compute as pc

    values = missing_to_null(column)
    if values.null_count == len(values):
        return pd.array([None] * len(values), dtype="float64")
    numbers = numbers_of(values, decimal)
    if numbers is not None:
        return numbers.to_numpy(zero_copy_only=False)
    if len(values) > _SAMPLED and len(values.slice(0, _SAMPLED).unique()) > 0.9 * _SAMPLED:
        return values.to_pandas()  # nearly all values differ
    coded = values.dictionary_encode()
    levels = coded.dictionary
    if len(levels) <= 8 and {text.lower() for text in levels.to_pylist()} <= TRUTH:
        truth = pc.equal(pc.utf8_lower(values), "true")
        if truth.null_count == 0:
            return truth.to_numpy(zero_copy_only=False)
        return pd.array(truth.to_pylist(), dtype="boolean")
    sample = levels[:_LEVELS_CHECKED].to_pylist()
    all_text = not any(map(looks_numeric, sample))
    if all_text and len(levels) <= _KEPT_AS_CATEGORIES * len(values):
        return coded.to_pandas()
    return values.to_pandas()

"""Detection of the layout of a text file: delimiter, quote character and header.

The chosen delimiter gives the most consistent number of cells per row and the most cells that look like
values (van den Burg and others, "Wrangling messy CSV files by detecting row and type patterns", 2019).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bosquet.tables.dates import looks_like_date
from bosquet.tables.errors import TableError
from bosquet.tables.numerals import MISSING, looks_numeric

DELIMITERS = (",", ";", "\t", "|")
BLANKS = " "  # columns aligned by runs of blanks
_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", BLANKS: "blanks"}

_SAMPLE = 1 << 16  # characters used for the detection ...
_MIN_LINES = 20  # ... or more, if they are fewer lines than this
_MAX_SAMPLE = 1 << 25
_MAX_ROWS = 400
_CELLS_PER_ROW = 200  # whose type is checked; a table may have a hundred thousand columns

_MISSING = frozenset(MISSING)
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # first line of files written by Excel
_UNCLEAN = re.compile(r"[;|\t]|,(?! )|\"")


@dataclass(frozen=True)
class Layout:
    """The layout of a text file."""

    delimiter: str
    quote: str
    escape: str | None
    before: int  # characters of blank lines and comments at the top
    skipped: int  # characters of titles and the header after them
    names: list[str] | None  # column names, None without a header
    n_columns: int
    rows: list[list[str]]  # a sample below the header
    notes: tuple[str, ...] = ()

    @property
    def delimiter_name(self) -> str:
        """Name of the delimiter for messages."""
        return _NAMES.get(self.delimiter, repr(self.delimiter))


def layout_of(text: str, delimiter: str | None = None, header: bool | None = None) -> Layout:
    """Detect the layout of a text.

    Examples
    --------
    >>> from bosquet.tables.dialects import layout_of
    >>> found = layout_of("a;b\\n1,5;2\\n2,5;3\\n")
    >>> found.delimiter, found.names
    (';', ['a', 'b'])
    """
    sample = _first_lines(text)
    before, declared = _skip_preamble(sample)
    sample = sample[before:]
    delimiter = delimiter or declared
    if delimiter is not None:
        _check_delimiter(delimiter)
    best: tuple[float, _Reading] | None = None
    for mark in DELIMITERS if delimiter is None else (delimiter,):
        for quote in _possible_quotes(sample, mark):
            scored = _score_reading(sample, mark, quote)
            if scored is not None and (best is None or scored[0] > best[0]):
                best = scored
    if delimiter is None and (best is None or best[1].width == 1):
        blanks = _score_reading(collapse_blanks(sample), BLANKS, '"')
        if blanks is not None and blanks[1].width > 1 and len({*map(len, blanks[1].rows)}) == 1:
            best, sample = blanks, collapse_blanks(sample)
    if best is None:
        return Layout(delimiter or ",", '"', None, before, 0, None, 1, [])
    return _layout_with_header(best[1], before, header)


def _check_delimiter(delimiter: str) -> None:
    usable = len(delimiter) == 1 and (" " <= delimiter <= "~" or delimiter == "\t")
    if not usable or delimiter in "\"'\\":
        raise TableError(
            f"delimiter={delimiter[:20]!r} is not valid: delimiter must be one ASCII character other than a"
            " quote, a backslash or a line end"
        )


def collapse_blanks(text: str) -> str:
    """Replace runs of blanks by one blank and remove blanks at both ends of lines."""
    return re.sub(r"[ \t]+", BLANKS, re.sub(r"(?m)^[ \t]+|[ \t]+$", "", text))


def _first_lines(text: str) -> str:
    """Return the first complete lines: enough characters and, if the lines are long, enough lines."""
    if len(text) <= _SAMPLE:
        return text
    end, lines = -1, 0
    while lines < _MIN_LINES or end < _SAMPLE:
        end = text.find("\n", end + 1)
        if end < 0:
            return text
        lines += 1
        if end > _MAX_SAMPLE:
            break
    return text[: end + 1]


def holds_sample(head: str) -> bool:
    """Return whether `layout_of` finds in this beginning of a text what it finds in the whole text."""
    return head.count("\n") >= _MIN_LINES and head.rfind("\n") >= _SAMPLE


def _skip_preamble(sample: str) -> tuple[int, str | None]:
    """Return the length of blank lines and comments at the top, and the delimiter of a line "sep=;"."""
    start, declared = 0, None
    while start < len(sample):
        end = sample.find("\n", start)
        end = len(sample) if end < 0 else end + 1
        line = sample[start:end]
        separator = _SEPARATOR_LINE.fullmatch(line)
        if separator is not None and declared is None:
            declared = separator[1]
        elif line.strip() and not (line.startswith("#") and _is_comment(sample, start, end)):
            break
        start = end
    return start, declared


def _is_comment(sample: str, start: int, end: int) -> bool:
    """Return whether a line that begins with # is a comment, not a header.

    A header has as many cells as the row below it.
    """
    line = sample[start:end]
    after = sample[end : sample.find("\n", end) if "\n" in sample[end:] else len(sample)]
    return all(line.count(d) != after.count(d) or not after.count(d) for d in DELIMITERS)


def _possible_quotes(sample: str, delimiter: str) -> tuple[str, ...]:
    d = re.escape(delimiter)
    single = len(re.findall(rf"(?:^|{d})'[^'\n]*'(?={d}|$)", sample[:_SAMPLE], re.MULTILINE)) > 1
    return ('"', "'") if single and '"' not in sample else ('"',)


@dataclass(frozen=True)
class _Reading:
    """The first rows as read with one delimiter and quote, and the character at which each ends."""

    delimiter: str
    quote: str
    escape: str | None
    rows: list[list[str]]
    ends: list[int]
    width: int


def _score_reading(sample: str, delimiter: str, quote: str) -> tuple[float, _Reading] | None:
    """Return the score of a delimiter and quote, and the rows as read with them."""
    escape = "\\" if f"\\{quote}" in sample and quote * 2 not in sample else None
    rows: list[list[str]] = []
    ends: list[int] = []
    lines = _CountingLines(sample)
    try:
        for row in csv_rows(lines, delimiter, quote, escape):
            if row:
                rows.append(row)
                ends.append(lines.taken)
            if len(rows) == _MAX_ROWS:
                break
    except csv.Error:
        return None
    if not rows:
        return None
    patterns = Counter(map(len, rows))
    agreement = sum(n * (max(cells - 1, 0.001) / cells) for cells, n in patterns.items())
    cells = [cell for row in rows[:100] for cell in row[:_CELLS_PER_ROW]]
    clean = sum(map(_is_value, cells)) / len(cells)
    width = max(patterns, key=lambda cells: (patterns[cells], cells))
    score = agreement / len(patterns) * max(clean, 0.001)
    return score, _Reading(delimiter, quote, escape, rows, ends, width)


class _CountingLines:
    """Iterator over the lines of a text that counts the characters it has returned."""

    def __init__(self, text: str):
        self.lines = io.StringIO(text, newline="")
        self.taken = 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.taken += len(line)
            yield line


def csv_rows(
    lines: Iterable[str], delimiter: str, quote: str, escape: str | None, strict: bool = False
) -> Any:
    """Return a `csv.reader`, which also counts the lines."""
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote,
        escapechar=escape,
        doublequote=escape is None,
        strict=strict,
    )


def _is_value(cell: str) -> bool:
    cell = cell.strip()
    return cell in _MISSING or looks_numeric(cell) or not _UNCLEAN.search(cell)


# ------------------------------------------------------------------------------------------ header
def _layout_with_header(reading: _Reading, before: int, header: bool | None) -> Layout:
    rows, ends, width = reading.rows, reading.ends, reading.width
    titles = 0
    while width > 1 and titles < len(rows) - 2 and sum(map(bool, rows[titles])) <= 1 < width:
        if len(rows[titles]) == width:
            break
        titles += 1  # a title above the table is a line with one cell
    first, below = rows[titles], rows[titles + 1 :]
    names: list[str] | None = None
    if len(first) == width - 1 and header is not False and _is_header(["row", *first], below):
        names = ["", *first]  # R writes no name for the column of row names
    elif header or (header is None and _is_header(first, below)):
        names = first
    start = titles + (names is not None)
    lines = "line" if titles == 1 else "lines"
    notes = [f"{titles} title {lines} above the table skipped"] if titles else []
    return Layout(
        reading.delimiter,
        reading.quote,
        reading.escape,
        before,
        ends[start - 1] if start else 0,
        names,
        width if below else len(first),
        rows[start:],
        tuple(notes),
    )


def _is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is a header: names are text, while values below are often not."""
    votes = 0
    for index, name in enumerate(first[:_CELLS_PER_ROW]):
        column = [row[index].strip() for row in below if index < len(row)]
        kinds = Counter(kind_of(cell) for cell in column if cell not in _MISSING)
        kind = max(kinds, key=lambda k: kinds[k]) if kinds else "text"
        if kind != "text" and kinds[kind] >= 0.8 * kinds.total():
            header_kind = kind_of(name)
            votes += (
                1
                if header_kind == "text" and name.strip() not in _MISSING
                else -(header_kind == kind)
            )
        elif name.strip() in set(column):
            votes -= 1  # a value that repeats below
    if votes:
        return votes > 0
    texts = [name.strip() for name in first]
    named = [name for name in texts if name and not looks_numeric(name)]
    return len(named) >= len(texts) - 1 and len(set(texts)) == len(texts)


def kind_of(cell: str) -> Any:
    """Return "number", "date" or "text"."""
    cell = cell.strip()
    if looks_numeric(cell):
        return "number"
    return "date" if looks_like_date(cell) else "text"

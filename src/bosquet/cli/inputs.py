"""Reading of the tables of a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from bosquet._suggestions import hint
from bosquet.cli.arguments import UserError
from bosquet.cli.option_names import with_option_names
from bosquet.cli.output import print_note

if TYPE_CHECKING:
    from argparse import Namespace

    from pandas import DataFrame

    from bosquet.batches import Progress
    from bosquet.study.table.batches import BatchedTable
    from bosquet.tables.sources import RawTable


def read_input_table(arguments: Namespace, path: str | None = None) -> DataFrame:
    """Read the table of the command, without the columns of --drop."""
    from bosquet.tables import read_table
    from bosquet.tables.frames import number_from_one

    frame = read_table(path if path is not None else arguments.data, **_format_options(arguments))
    for note in frame.attrs["reading"]["notes"]:
        print_note(arguments, f"note: {note}")
    frame = number_from_one(frame)
    dropped = dropped_columns([str(name) for name in frame.columns], getattr(arguments, "drop", []))
    return frame.drop(columns=dropped) if dropped else frame


def open_input_table(arguments: Namespace) -> RawTable:
    """Open the table of the command, a file, a folder or a pattern, to be read in batches."""
    from bosquet.tables.sources import open_raw_table

    n_bytes = sum(
        os.path.getsize(file) for file in input_files(arguments.data) if os.path.isfile(file)
    )
    with missing_files(), pass_progress(arguments, "reading text", None, n_bytes) as progress:
        table = open_raw_table(arguments.data, progress=progress, **_format_options(arguments))
    for note in table.notes:
        print_note(arguments, f"note: {note}")
    return table


def pass_progress(
    arguments: Namespace, title: str, n_rows: int | None, n_bytes: int | None
) -> AbstractContextManager[Progress | None]:
    """Show the progress of a pass over a table on a terminal, unless the command is quiet."""
    from bosquet._progress import shown_pass

    return shown_pass(title, n_rows, n_bytes, shown=sys.stderr.isatty() and not arguments.quiet)


@contextmanager
def missing_files() -> Iterator[None]:
    """Turn the error of a file that does not exist into one line."""
    try:
        yield
    except FileNotFoundError as error:
        raise UserError(str(error)) from None


def is_several_files(path: str) -> bool:
    """Return whether the path of a table is a folder or a pattern."""
    import glob

    return os.path.isdir(path) or (glob.has_magic(path) and not os.path.exists(path))


def input_files(path: str) -> list[str]:
    """Return the files of a table: those of a folder or a pattern, or the file itself."""
    from bosquet.batches.paths import find_files

    if os.path.exists(path) and not os.path.isdir(path):
        return [path]
    try:
        return [file.path for file in find_files([path])[0]]
    except (FileNotFoundError, ValueError):  # reported when the table is opened
        return [path]


def _format_options(arguments: Namespace) -> dict[str, Any]:
    """Return the options for the format of a text file."""
    delimiter = getattr(arguments, "delimiter", None)
    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise UserError(f"--delimiter {delimiter!r} is not valid; pass one character or tab")
    return {
        "delimiter": delimiter,
        "decimal": getattr(arguments, "decimal", None),
        "encoding": getattr(arguments, "encoding", None),
        "header": {"yes": True, "no": False}.get(getattr(arguments, "header", None) or ""),
    }


def dropped_columns(names: list[str], dropped: list[str]) -> list[str]:
    """Return the columns of --drop; an entry may be several names separated by commas."""
    removed = []
    for value in dropped:
        for name in [value] if value in names else [name.strip() for name in value.split(",")]:
            if name not in names:
                raise UserError(f"--drop: column {name!r} is not in the table; {hint(name, names)}")
            removed.append(name)
    return removed


def training_table(arguments: Namespace) -> Any:
    """Read the training table of a command, tidied and with its target, and print its notes."""
    from bosquet.study.table.reading import read_study_table

    frame = read_input_table(arguments)
    positive = getattr(arguments, "positive", None)
    table = read_study_table(frame, arguments.target, arguments.task, positive, any_width=True)
    _print_notes_of_table(arguments, table.notes)
    return table


def batched_training_table(arguments: Namespace) -> BatchedTable:
    """Open the training table of a command to be read in batches, and print its notes."""
    from bosquet.study.table.batches import read_batched_table

    raw = open_input_table(arguments)
    dropped = dropped_columns(raw.column_names, arguments.drop)
    table = read_batched_table(
        raw,
        arguments.target,
        arguments.task,
        arguments.positive,
        dropped,
        lambda title, source: pass_progress(arguments, title, source.n_rows, source.n_bytes),
    )
    _print_notes_of_table(arguments, table.notes)
    return table


def _print_notes_of_table(arguments: Namespace, notes: list[str]) -> None:
    for note in notes:
        print_note(arguments, f"note: {with_option_names(note)}")

"""Reading of the tables of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bosquet._suggestions import hint
from bosquet.cli.arguments import UserError
from bosquet.cli.option_names import with_option_names
from bosquet.cli.output import print_note

if TYPE_CHECKING:
    from argparse import Namespace

    from pandas import DataFrame


def read_input_table(arguments: Namespace, path: str | None = None) -> DataFrame:
    """Read the table of the command, without the columns of --drop."""
    from bosquet.tables import read_table
    from bosquet.tables.frames import number_from_one

    header = {"yes": True, "no": False}.get(getattr(arguments, "header", None) or "")
    delimiter = getattr(arguments, "delimiter", None)
    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise UserError(f"--delimiter {delimiter!r} is not valid; pass one character or tab")
    frame = read_table(
        path if path is not None else arguments.data,
        delimiter=delimiter,
        decimal=getattr(arguments, "decimal", None),
        encoding=getattr(arguments, "encoding", None),
        header=header,
    )
    for note in frame.attrs["reading"]["notes"]:
        print_note(arguments, f"note: {note}")
    return drop_columns(number_from_one(frame), getattr(arguments, "drop", []))


def drop_columns(frame: DataFrame, dropped: list[str]) -> DataFrame:
    """Return the table without some columns; an entry may be several names separated by commas."""
    names = [str(name) for name in frame.columns]
    removed = []
    for value in dropped:
        for name in [value] if value in names else [name.strip() for name in value.split(",")]:
            if name not in names:
                raise UserError(f"--drop: column {name!r} is not in the table; {hint(name, names)}")
            removed.append(name)
    return frame.drop(columns=removed) if removed else frame


def training_table(arguments: Namespace) -> Any:
    """Read the training table of a command, tidied and with its target, and print its notes."""
    from bosquet.study.table.reading import read_study_table

    frame = read_input_table(arguments)
    positive = getattr(arguments, "positive", None)
    table = read_study_table(frame, arguments.target, arguments.task, positive, any_width=True)
    for note in table.notes:
        print_note(arguments, f"note: {with_option_names(note)}")
    return table

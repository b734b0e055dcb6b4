"""The tables that a command reads."""

from __future__ import annotations

from typing import Any

from bosquet._suggestions import hint
from bosquet.cli.arguments import UserError
from bosquet.cli.output import say


def read(arguments: Any, path: str | None = None) -> Any:
    """The table that the command was given, without the columns that it shall not use."""
    from bosquet.tables import read_table
    from bosquet.tables.frames import counted_from_one

    header = {"yes": True, "no": False}.get(getattr(arguments, "header", None) or "")
    delimiter = getattr(arguments, "delimiter", None)
    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise UserError(f"--delimiter {delimiter!r} must be one character, or tab")
    frame = read_table(
        path if path is not None else arguments.data,
        delimiter=delimiter,
        decimal=getattr(arguments, "decimal", None),
        encoding=getattr(arguments, "encoding", None),
        header=header,
    )
    for note in frame.attrs["reading"]["notes"]:
        say(arguments, f"note: {note}")
    return without(counted_from_one(frame), getattr(arguments, "drop", []))


def without(frame: Any, dropped: list[str]) -> Any:
    """The table without some columns, given by name, also several parted by commas."""
    names = [str(name) for name in frame.columns]
    gone = []
    for given in dropped:
        for name in [given] if given in names else [part.strip() for part in given.split(",")]:
            if name not in names:
                raise UserError(f"--drop: there is no column {name!r}; {hint(name, names)}")
            gone.append(name)
    return frame.drop(columns=gone) if gone else frame


def learned_table(arguments: Any) -> Any:
    """The table of a command that learns, tidied, with its target; notes are said."""
    from bosquet.study.table.reading import read_study_table

    frame = read(arguments)
    positive = getattr(arguments, "positive", None)
    table = read_study_table(frame, arguments.target, arguments.task, positive, any_width=True)
    for note in table.notes:
        say(arguments, f"note: {note}")
    return table

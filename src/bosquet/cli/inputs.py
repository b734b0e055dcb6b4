"""What a command reads: tables, and model files."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from bosquet.cli.arguments import UserError
from bosquet.cli.output import say


def read(arguments: Any, path: str | None = None) -> Any:
    """The table that the command was given, without the columns that it shall not use."""
    from bosquet.tables import read_table

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
    return without(frame, getattr(arguments, "drop", []))


def without(frame: Any, dropped: list[str]) -> Any:
    """The table without some columns, given by name, also several parted by commas."""
    names = [str(name) for name in frame.columns]
    gone = []
    for given in dropped:
        for name in [given] if given in names else [part.strip() for part in given.split(",")]:
            if name not in names:
                near = get_close_matches(name, names, 1, 0.6)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise UserError(f"--drop: there is no column {name!r}{hint}")
            gone.append(name)
    return frame.drop(columns=gone) if gone else frame


def learned_table(arguments: Any) -> Any:
    """The table of a command that learns, tidied, with its target; notes are said."""
    from bosquet.study._reading import read_study_table

    frame = read(arguments)
    refuse_repeated(frame, arguments.target)
    table = read_study_table(frame, arguments.target, arguments.task)
    for note in table.notes:
        say(arguments, f"note: {note}")
    return table


def refuse_repeated(frame: Any, target: str) -> None:
    """A target whose name several columns had is not told apart by reading."""
    for note in frame.attrs.get("reading", {}).get("notes", []):
        if f"the column name {target!r} occurs" in note:
            raise UserError(f"several columns are called {target!r}: rename all but the target")


def load_model(path: str) -> Any:
    """The model in a file."""
    import bosquet

    try:
        return bosquet.load(path)
    except FileNotFoundError:
        raise UserError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder: name a model file") from None
    except bosquet.ModelFileError as error:
        raise UserError(f"{path}: {' '.join(str(error).split())}") from None


def table_model(path: str) -> Any:
    """The model in a file, with `features` to make its table of any other."""
    from bosquet.tables import TableModel

    model = load_model(path)
    return model if isinstance(model, TableModel) else _Untidied(model)


class _Untidied:
    """A model that was saved without the tidying of its table: columns are taken by name."""

    target = None

    def __init__(self, model: Any):
        if not hasattr(model, "predict"):
            raise UserError(f"a {type(model).__name__} does not predict from tables")
        self.model = model
        self.is_classifier = hasattr(model, "classes_")
        self.classes_ = getattr(model, "classes_", None)

    def features(self, frame: Any) -> Any:
        from bosquet.tables import TableError

        names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            return frame
        absent = [name for name in names if name not in frame.columns]
        if absent:
            raise TableError(
                f"the table lacks the column {absent[0]!r} that the model was fitted to"
            )
        return frame[list(names)]

    def predict(self, frame: Any) -> Any:
        return self.model.predict(self.features(frame))

    def predict_proba(self, frame: Any) -> Any:
        return self.model.predict_proba(self.features(frame))

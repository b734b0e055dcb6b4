"""What a command does with a model's file: Bosquet's own, or, where the user trusts it, a pickle."""

from __future__ import annotations

import os
import warnings
from typing import Any

from bosquet.cli.arguments import STDIN, UserError

MODEL_FILE = b"\x89BSQ"
PICKLE = b"\x80"  # of protocol 2 and later, which all writers of today use


def model_argument(parser: Any) -> None:
    """A model to read, and what its file has to be."""
    parser.add_argument(
        "model", help="model file written by fit, by study --save or by model.save in Python"
    )
    trust_arguments(parser)


def trust_arguments(parser: Any) -> None:
    """Loading a pickle runs whatever is in it; that is for the user to allow. A model file may be signed."""
    parser.add_argument(
        "--trust",
        action="store_true",
        help="allow loading a pickle (.pkl); a pickle can run any code, so allow it only for files you trust",
    )
    key_arguments(parser, "refuse a model file that is not signed with this key")


def key_arguments(parser: Any, what: str) -> None:
    """A key, by the file or the variable that holds it: others on the machine can read a command line."""
    group = parser.add_argument_group(f"signature: {what} (at least 32 random bytes)")
    group.add_argument("--key-file", metavar="FILE", help="file whose bytes are the key")
    group.add_argument("--key-env", metavar="NAME", help="environment variable that holds the key")


def key_of(arguments: Any) -> bytes | None:
    """The key that a command was given, if it was."""
    from bosquet.io.signatures import check_key

    file, name = arguments.key_file, arguments.key_env
    if file is None and name is None:
        return None
    if file is not None and name is not None:
        raise UserError("--key-file and --key-env both name a key: give one of them")
    if file is None:
        if name not in os.environ:
            raise UserError(f"--key-env {name}: there is no such environment variable")
        key, option = os.fsencode(os.environ[name]), f"--key-env {name}"
    else:
        option = f"--key-file {file}"
        try:
            with open(file, "rb") as opened:
                key = opened.read()
        except OSError as error:
            raise UserError(f"{option}: {error.strerror or error}") from None
    try:
        check_key(key)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None
    return key


def begins_with(path: str, mark: bytes) -> bool:
    """Whether a file is there and begins so; a pipe is left alone, for it is read but once."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(mark)) == mark
    except OSError:
        return False


def load_model(path: str, arguments: Any) -> Any:
    """The model in a file, if it is what the arguments of the command ask for."""
    import bosquet

    if path == STDIN:
        raise UserError(
            "a model is read from a file, not from the standard input: write it to one, and name that"
        )
    key = key_of(arguments)
    if begins_with(path, PICKLE):
        if key is not None:
            raise UserError(f"{path} is a pickle, which has no signature: leave the key out")
        return _unpickled(path, arguments.trust)
    try:
        return bosquet.load(path, key)
    except FileNotFoundError:
        raise UserError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder: name a model file") from None
    except bosquet.ModelFileError as error:
        raise UserError(f"{path}: {' '.join(str(error).split())}") from None


def _unpickled(path: str, trust: bool) -> Any:
    """What was pickled, once the user has said that the file's code may run."""
    import pickle

    if not trust:
        raise UserError(
            f"{path} is a pickle, and loading one runs whatever code is in it: add --trust if you know where"
            " it comes from"
        )
    try:
        with warnings.catch_warnings(), open(path, "rb") as file:
            # scikit-learn warns, in a paragraph for each part, of a file that another version wrote.
            warnings.simplefilter("ignore")
            model = pickle.load(file)
    except Exception as error:  # anything may come of running what a file says
        line = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise UserError(f"{path} is a pickle that does not load: {line}") from None
    if not hasattr(model, "predict"):
        raise UserError(f"{path} holds no model but a {type(model).__name__}")
    return model


def table_model(path: str, arguments: Any) -> Any:
    """The model in a file, as a model that predicts from tables: a `TableModel` or a `ChosenModel`."""
    from bosquet.study.chosen_model import ChosenModel
    from bosquet.tables import TableModel
    from bosquet.tables.model import ColumnsByName

    model = load_model(path, arguments)
    if isinstance(model, TableModel | ChosenModel):
        return model
    if not hasattr(model, "predict"):
        raise UserError(f"a {type(model).__name__} does not predict from tables")
    return TableModel(model, ColumnsByName(model))

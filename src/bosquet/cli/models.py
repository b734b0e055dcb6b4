"""Model files of commands: files of Bosquet or, with --trust, pickles."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from bosquet._suggestions import with_article
from bosquet.cli.arguments import STDIN, UserError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


PICKLE = b"\x80"  # first byte of protocol 2 and later


def model_argument(parser: ArgumentParser) -> None:
    """Add the model file to read, and the options for trust and signature."""
    parser.add_argument(
        "model", help="model file written by fit, by study --save or by model.save in Python"
    )
    trust_arguments(parser)


def trust_arguments(parser: ArgumentParser) -> None:
    """Add --trust, which allows pickles because loading one can run any code, and the key options."""
    parser.add_argument(
        "--trust",
        action="store_true",
        help="allow loading a pickle (.pkl); a pickle can run any code, so allow it only for files you trust",
    )
    key_arguments(parser, "A model file that is not signed with it is refused.")


def key_arguments(parser: ArgumentParser, use: str) -> None:
    """Add the options for a key in a file or a variable; other users can read a command line."""
    group = parser.add_argument_group("signature", f"The key has at least 32 random bytes. {use}")
    group.add_argument("--key-file", metavar="FILE", help="file whose bytes are the key")
    group.add_argument("--key-env", metavar="NAME", help="environment variable that holds the key")


def read_key(arguments: Namespace) -> bytes | None:
    """Return the key passed to a command, or None."""
    from bosquet.io.signatures import check_key

    file, name = arguments.key_file, arguments.key_env
    if file is None and name is None:
        return None
    if file is not None and name is not None:
        raise UserError("--key-file and --key-env both define a key; pass only one of them")
    if file is None:
        if name not in os.environ:
            raise UserError(
                f"--key-env {name}: this environment variable is not set; set it to the key"
            )
        key, option = os.fsencode(os.environ[name]), f"--key-env {name}"
    else:
        option = f"--key-file {file}"
        try:
            with open(file, "rb") as opened:
                key = opened.read()
        except OSError as error:
            raise UserError(
                f"{option}: {error.strerror or error}; check the path and the permissions of the file"
            ) from None
    try:
        check_key(key)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None
    return key


def begins_with(path: str, mark: bytes) -> bool:
    """Return whether a regular file begins with these bytes; pipes can be read only once and are not read."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(mark)) == mark
    except OSError:
        return False


def load_model(path: str, arguments: Namespace) -> Any:
    """Load the model in a file, subject to the options for trust and signature."""
    import bosquet

    if path == STDIN:
        raise UserError(
            "a model cannot be read from standard input; write it to a file and pass the file"
        )
    key = read_key(arguments)
    if begins_with(path, PICKLE):
        if key is not None:
            raise UserError(f"{path} is a pickle, which has no signature; remove the key option")
        return _load_pickle(path, arguments.trust)
    try:
        return bosquet.load(path, key)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist; check the path") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a directory; pass a model file") from None
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror or error}; check the permissions of the file"
        ) from None
    except bosquet.ModelFileError as error:
        raise UserError(f"{path}: {' '.join(str(error).split())}") from None


def _load_pickle(path: str, trust: bool) -> Any:
    """Load a pickle, if the user allows it."""
    import pickle

    if not trust:
        raise UserError(
            f"{path} is a pickle, and loading it can run any code; add --trust if you trust its source"
        )
    try:
        with warnings.catch_warnings(), open(path, "rb") as file:
            # scikit-learn warns at length, for each estimator, of a file written by another version.
            warnings.simplefilter("ignore")
            model = pickle.load(file)
    except Exception as error:  # the code in a pickle may raise anything
        line = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise UserError(
            f"{path} is a pickle that cannot be loaded: {line}; use the versions of Python and of the"
            " packages that wrote it"
        ) from None
    if not hasattr(model, "predict"):
        raise UserError(
            f"{path} contains {with_article(type(model).__name__)}, not a model; pass the file of a model"
        )
    return model


def table_model(path: str, arguments: Namespace) -> Any:
    """Load a model that accepts raw tables: a `TableModel` or a `ChosenModel`."""
    from bosquet.study.chosen_model import ChosenModel
    from bosquet.tables import TableModel
    from bosquet.tables.model import ColumnsByName

    model = load_model(path, arguments)
    if isinstance(model, TableModel | ChosenModel):
        return model
    if not hasattr(model, "predict"):
        raise UserError(
            f"{path} contains {with_article(type(model).__name__)}, which cannot predict tables; pass the"
            " file of a classifier or a regressor"
        )
    return TableModel(model, ColumnsByName(model))

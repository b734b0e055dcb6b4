"""What a command does with a model's file: Bosquet's own, or, where the user trusts it, a pickle."""

from __future__ import annotations

import os
import warnings
from typing import Any

from bosquet.cli.arguments import UserError

MODEL_FILE = b"\x89BSQ"
PICKLE = b"\x80"  # of protocol 2 and later, which all writers of today use
STDIN = "-"


def model_argument(parser: Any) -> None:
    """A model to read, and whether its file may run code."""
    parser.add_argument(
        "model", help="a model file of fit, of study --save, or of Python's model.save"
    )
    trust_argument(parser)


def trust_argument(parser: Any) -> None:
    """Loading a pickle runs whatever is in it; that is for the user to allow."""
    parser.add_argument(
        "--trust",
        action="store_true",
        help="load a pickle (.pkl), which may run any code: for files whose origin you know",
    )


def begins_with(path: str, mark: bytes) -> bool:
    """Whether a file is there and begins so; a pipe is left alone, for it is read but once."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(mark)) == mark
    except OSError:
        return False


def load_model(path: str, trust: bool = False) -> Any:
    """The model in a file."""
    import bosquet

    if path == STDIN:
        raise UserError(
            "a model is read from a file, not from the standard input: write it to one, and name that"
        )
    if begins_with(path, PICKLE):
        return _unpickled(path, trust)
    try:
        return bosquet.load(path)
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


def table_model(path: str, trust: bool = False) -> Any:
    """The model in a file, with `features` to make its table of any other."""
    from bosquet.study.chosen import ChosenModel
    from bosquet.tables import TableModel

    model = load_model(path, trust)
    if isinstance(model, TableModel):
        return model
    return _Chosen(model) if isinstance(model, ChosenModel) else _Untidied(model)


class _Chosen:
    """A study's choice, with the tidying of its table and its way to decide, as it was pickled."""

    def __init__(self, chosen: Any):
        self.chosen, self.model = chosen, chosen.estimator
        self.target = chosen.tidier.target
        self.is_classifier = chosen.decision is not None
        self.classes_ = chosen.decision.classes if self.is_classifier else None
        self.features = chosen.tidied
        self.predict = chosen.predict

    def predict_proba(self, frame: Any) -> Any:
        return self.chosen.predict_proba(frame)


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

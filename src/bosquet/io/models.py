"""Estimators to model files and back: what all kinds of models have in common."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

import bosquet
from bosquet._core import Ensemble, ModelFileError
from bosquet._files import written_whole
from bosquet._parameters import NotStored
from bosquet._warnings import warn_user
from bosquet.io.container import load_bytes, load_parts, save_bytes, save_parts
from bosquet.io.fields import field, inner, text
from bosquet.io.kinds import Content, class_of, kinds
from bosquet.io.members import column_kinds
from bosquet.io.parameters import Source, decoded, encoded, estimator_from, parameters_state
from bosquet.io.signatures import check_key, signed, unsigned

# Models made of models made of models ... : no deeper than this.
MOST_NESTED = 3


def save_model(estimator: Any, path: str | os.PathLike[str], key: bytes | None = None) -> None:
    """Write a fitted estimator to `path`, whole or not at all; with a key, signed."""
    if key is not None:
        check_key(key)
    data = model_bytes(estimator)
    if key is not None:
        data = signed(data, key)
    with written_whole(path) as place, open(place, "wb") as file:
        file.write(data)


def load(path: str | os.PathLike[str], key: bytes | None = None) -> Any:
    """Read a model that ``model.save(path)`` wrote.

    Any file yields a valid model or a `ModelFileError`, never a crash and never code that the file brought.

    Parameters
    ----------
    path : path of the file
    key : bytes, optional
        The key that the file must be signed with. A file that is not signed, or signed with another key, or
        changed since, is then refused before anything in it is looked at. Without a key a signature is not
        checked.

    Returns
    -------
    The estimator, fitted. What belongs to the machine it was fitted on, such as `n_jobs`, is as by default.

    Examples
    --------
    >>> import os, tempfile, bosquet
    >>> model = bosquet.GradientBoostingRegressor(n_estimators=5, min_samples_leaf=1)
    >>> model = model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.bosquet")
    >>> model.save(path)
    >>> bool((bosquet.load(path).predict([[1.5]]) == model.predict([[1.5]])).all())
    True
    """
    if key is not None:
        check_key(key)
    with open(path, "rb") as file:
        data = file.read()
    return model_from_bytes(unsigned(data, key))


# ----------------------------------------------------------------------------------------- writing
def model_bytes(estimator: Any, nested: int = 0) -> bytes:
    """A fitted estimator as the bytes of a model file.

    `nested` is how many models it is a member of, one inside the other.
    """
    from bosquet._sklearn import check_is_fitted

    kind = kinds().get(type(estimator).__name__)
    if kind is None or class_of(type(estimator).__name__) is not type(estimator):
        raise ValueError(
            f"a model file holds Bosquet's own models, and a {_full_name(estimator)} is none; use pickle or"
            " joblib"
        )
    if nested and kind.outermost:
        raise ValueError(f"a {type(estimator).__name__} cannot be a member of another model")
    if kind.has_parameters:
        check_is_fitted(estimator)
    content, particulars = kind.describe(estimator)
    if isinstance(content, Ensemble):
        return save_bytes(content, _description(estimator, content, particulars))
    if nested == MOST_NESTED:
        raise ValueError(f"it is nested in more than {MOST_NESTED - 1} other models")
    parts = [_part(words, member, nested) for words, member in content]
    return save_parts(parts, _description(estimator, content, particulars))


def _part(words: str, member: Any, nested: int) -> bytes:
    try:
        return model_bytes(member, nested + 1)
    except ValueError as error:
        raise ValueError(f"{words} ({type(member).__name__}) cannot be saved: {error}") from error


def _full_name(estimator: Any) -> str:
    return f"{type(estimator).__module__}.{type(estimator).__qualname__}"


def _description(estimator: Any, content: Content, particulars: dict[str, Any]) -> dict[str, Any]:
    """What a file says of a model, of which `particulars` are what its kind has to say."""
    name = type(estimator).__name__
    description: dict[str, Any] = {"bosquet": bosquet.__version__, "estimator": name}
    if kinds()[name].has_parameters:
        members = [] if isinstance(content, Ensemble) else [member for _, member in content]
        description["parameters"] = parameters_state(estimator, members)
    if kinds()[name].has_learner:
        description["learner"] = encoded(estimator.estimator_)
    return description | particulars


# ----------------------------------------------------------------------------------------- reading
def model_from_bytes(data: bytes, nested: int = 0) -> Any:
    """The estimator that `model_bytes` wrote; ModelFileError for anything else."""
    try:
        return _read(data, nested)
    except (ModelFileError, Warning):  # a warning is raised where the user's filters ask for that
        raise
    except Exception as error:  # the last net: what the checks of a kind have missed
        words = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ModelFileError(f"the model's description is not valid: {words}") from error


def written_by(data: bytes) -> str:
    """The version of Bosquet that wrote a model file."""
    data = unsigned(data, None)
    _, description = load_parts(data) or load_bytes(data)
    return text(description, "bosquet")


def _read(data: bytes, nested: int) -> Any:
    found = load_parts(data)
    content, description = load_bytes(data) if found is None else found
    version = text(description, "bosquet")
    if found is not None and nested == MOST_NESTED:
        raise ModelFileError("the models are nested too deeply")
    if not _is_newer(version):
        return _built(content, description, nested)
    try:
        return _built(content, description, nested)
    except Exception as error:
        raise ModelFileError(
            f"the model file was written by Bosquet {version}, which is newer than this version,"
            f" {bosquet.__version__}, and cannot be read by it: upgrade ({error})"
        ) from error


def _is_newer(version: str, than: str = bosquet.__version__) -> bool:
    return _numbers_of(version) > _numbers_of(than)


def _numbers_of(version: str) -> tuple[int, ...]:
    found = re.match(r"(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?", version)
    if found is None:
        raise ModelFileError(f"{version[:40]!r} is not a version of Bosquet")
    return tuple(int(number or 0) for number in found.groups())


def _built(content: Any, description: dict[str, Any], nested: int) -> Any:
    name = text(description, "estimator")
    kind = kinds().get(name)
    if kind is None:
        raise ModelFileError(f"the model is a {name!r}, which this version does not know")
    if nested and kind.outermost:
        raise ModelFileError(f"a {name} cannot be a member of another model")
    if description.get("requires"):
        raise ModelFileError(f"its reader has to know {description['requires']!r}")
    if isinstance(content, list) != kind.of_parts:
        raise ModelFileError(f"the file of a {name} holds {'parts' if kind.of_parts else 'trees'}")
    if isinstance(content, list):
        content = [model_from_bytes(part, nested + 1) for part in content]
    version = text(description, "bosquet")
    source = Source(_is_newer(version), content if isinstance(content, list) else [])
    model: Any = None
    missing: dict[str, NotStored] = {}
    if kind.has_parameters:
        parameters = inner(description, "parameters")
        model, missing = estimator_from(class_of(name), parameters, source)
    if kind.has_learner:
        model.estimator_ = decoded(field(description, "learner"), source)
    model = kind.build(model, content, description)
    for parameter, mark in missing.items():
        setattr(model, parameter, mark)
    _check_described_alike(model, description)
    if kind.of_parts and not nested:
        column_kinds(model)
    if source.unknown:
        model._unknown_parameters = source.unknown
        warn_user(
            f"the model was written by Bosquet {version} with {', '.join(source.unknown)}, which this version"
            f" ({bosquet.__version__}) does not have: it predicts as it did, but cannot be fitted again",
            UserWarning,
        )
    return model


def _check_described_alike(model: Any, description: dict[str, Any]) -> None:
    """The model has to be described by what it was built from: what was not understood is refused."""
    version = description["bosquet"]
    made = _description(model, *kinds()[description["estimator"]].describe(model))
    difference = _difference(
        description,
        made | {"bosquet": version},
        may_lack=_is_newer(bosquet.__version__, version),
        may_have=_is_newer(version),
    )
    if difference is not None:
        raise ModelFileError(
            f"{difference.lstrip('.')!r} of the model's description is not what this version would write"
        )


def _difference(read: Any, made: Any, *, may_lack: bool, may_have: bool) -> str | None:
    """Where two descriptions differ, None if nowhere.

    What an older version wrote may lack keys, and what a newer one wrote may have keys that are not known.
    """
    if read == made:
        return None
    pairs: Iterable[tuple[str, Any, Any]]
    if isinstance(read, dict) and isinstance(made, dict):
        lacking, more = made.keys() - read.keys(), read.keys() - made.keys()
        wrong = sorted((set() if may_lack else lacking) | (set() if may_have else more))
        if wrong:
            return f".{wrong[0]}"
        pairs = [(f".{key}", read[key], made[key]) for key in read.keys() & made.keys()]
    elif isinstance(read, list) and isinstance(made, list) and len(read) == len(made):
        pairs = [(f"[{k}]", one, made[k]) for k, one in enumerate(read)]
    else:
        return ""
    for place, one, other in pairs:
        inside = _difference(one, other, may_lack=may_lack, may_have=may_have)
        if inside is not None:
            return place + inside
    return None

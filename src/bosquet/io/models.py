"""Writing and reading of estimators: what all kinds of models have in common."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

import bosquet
from bosquet._core import Ensemble, ModelFileError
from bosquet._files import MODEL_FILE_START, atomic_write
from bosquet._fitted import fit_snapshot
from bosquet._parameters import NotStored
from bosquet._state.fields import read_field, read_object, read_text
from bosquet._state.kinds import Content, ModelKind, class_by_name, kind_by_name, kind_of
from bosquet._state.members import column_kinds
from bosquet._suggestions import with_article
from bosquet._warnings import warn_user
from bosquet.io.container import pack_members, pack_trees, unpack_members, unpack_trees
from bosquet.io.parameters import (
    ReadContext,
    build_estimator,
    decode_value,
    encode_value,
    parameters_state,
)
from bosquet.io.signatures import check_key, sign, strip_signature

# Maximum nesting depth of composite models.
MAX_NESTING = 3


def save_model(estimator: object, path: str | os.PathLike[str], key: bytes | None = None) -> None:
    """Write a fitted estimator to `path` atomically; with a key, the file is signed."""
    if key is not None:
        check_key(key)
    data = model_bytes(estimator)
    if key is not None:
        data = sign(data, key)
    with atomic_write(path) as temporary, open(temporary, "wb") as file:
        file.write(data)


def load(path: str | os.PathLike[str], key: bytes | None = None) -> Any:
    """Read a model that was written by ``model.save(path)``.

    For every file, the result is a valid model or a `ModelFileError`. Loading never executes code from the
    file.

    Parameters
    ----------
    path : str or path-like
        The file to read.
    key : bytes, optional
        The key that the file must be signed with. A file that is not signed, that was signed with another key
        or that was changed since is rejected before its content is read. Without a key, a signature is not
        checked.

    Returns
    -------
    estimator
        The fitted estimator. Parameters of the machine that it was fitted on, such as `n_jobs`, have their
        default values.

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
    return model_from_bytes(strip_signature(_file_bytes(path), key))


def _file_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a model file; of any other file only its first bytes, however large it is."""
    with open(path, "rb") as file:
        start = file.read(len(MODEL_FILE_START))
        return start + file.read() if start == MODEL_FILE_START else start


# ----------------------------------------------------------------------------------------- writing
def model_bytes(estimator: object, nesting: int = 0) -> bytes:
    """Return the model file of a fitted estimator as bytes.

    `nesting` is its nesting depth: 0, or 1 for a member of another model, and so on.
    """
    from bosquet._sklearn import check_is_fitted

    kind = kind_of(estimator)
    if kind is None:
        raise ValueError(
            f"a model file supports Bosquet's own models only, but this is"
            f" {with_article(_full_name(estimator))}; use pickle or joblib"
        )
    if nesting and kind.top_level_only:
        raise ValueError(
            f"{with_article(type(estimator).__name__)} cannot be a member of another model"
        )
    estimator = fit_snapshot(estimator)
    if kind.has_parameters:
        check_is_fitted(estimator)
    content, state = kind.to_state(estimator)
    if isinstance(content, Ensemble):
        return pack_trees(content, _model_metadata(kind, estimator, content, state))
    if nesting == MAX_NESTING:
        raise ValueError(
            f"it is nested in more than {MAX_NESTING - 1} other models, which a model file does not"
            " support; use pickle or joblib"
        )
    member_files = [_member_bytes(label, member, nesting) for label, member in content]
    return pack_members(member_files, _model_metadata(kind, estimator, content, state))


def _member_bytes(label: str, member: Any, nesting: int) -> bytes:
    try:
        return model_bytes(member, nesting + 1)
    except ValueError as error:
        raise ValueError(f"{label} ({type(member).__name__}) cannot be saved: {error}") from error


def _full_name(estimator: object) -> str:
    return f"{type(estimator).__module__}.{type(estimator).__qualname__}"


def _model_metadata(
    kind: ModelKind, estimator: Any, content: Content, state: dict[str, Any]
) -> dict[str, Any]:
    """Return the metadata of a model file: version, class, parameters, and the state of the model."""
    name = type(estimator).__name__
    metadata: dict[str, Any] = {"bosquet": bosquet.__version__, "estimator": name}
    if kind.has_parameters:
        members = [] if isinstance(content, Ensemble) else [member for _, member in content]
        metadata["parameters"] = parameters_state(estimator, members)
    if kind.has_learner:
        metadata["learner"] = encode_value(estimator.estimator_)
    return metadata | state


# ----------------------------------------------------------------------------------------- reading
def model_from_bytes(data: bytes, nesting: int = 0) -> Any:
    """Build the estimator from the result of `model_bytes`; raise ModelFileError for invalid bytes."""
    try:
        return _read_model(data, nesting)
    except (ModelFileError, Warning):  # the user's filters may turn warnings into errors
        raise
    except Exception as error:  # an invalid value that the checks of the kind did not find
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ModelFileError(f"invalid model file: {reason}") from error


def writer_version(data: bytes) -> str:
    """Return the version of Bosquet that wrote a model file."""
    data = strip_signature(data, None)
    _, metadata = unpack_members(data) or unpack_trees(data)
    return read_text(metadata, "bosquet")


def _read_model(data: bytes, nesting: int) -> Any:
    composite = unpack_members(data)
    content, metadata = unpack_trees(data) if composite is None else composite
    version = read_text(metadata, "bosquet")
    if composite is not None and nesting == MAX_NESTING:
        raise ModelFileError(
            f"invalid model file: models are nested more than {MAX_NESTING} levels deep"
        )
    if not _is_newer(version):
        return _build_model(content, metadata, nesting)
    try:
        return _build_model(content, metadata, nesting)
    except Exception as error:
        raise ModelFileError(
            f"the model file was written by Bosquet {version}, and this older version, {bosquet.__version__},"
            f" cannot read it ({error}); upgrade Bosquet"
        ) from error


def _is_newer(version: str, reference: str = bosquet.__version__) -> bool:
    return _version_numbers(version) > _version_numbers(reference)


def _version_numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?", version)
    if match is None:
        raise ModelFileError(
            f"invalid model file: 'bosquet' is {version[:40]!r}; it must be a version such as"
            f" {bosquet.__version__!r}"
        )
    return tuple(int(number or 0) for number in match.groups())


def _build_model(content: Any, metadata: dict[str, Any], nesting: int) -> Any:
    name = read_text(metadata, "estimator")
    kind = kind_by_name(name)
    if kind is None:
        raise ModelFileError(
            f"invalid model file: 'estimator' is {name!r}, which is not a class of Bosquet"
            f" {bosquet.__version__}"
        )
    if nesting and kind.top_level_only:
        raise ModelFileError(
            f"invalid model file: {with_article(name)} cannot be a member of another model"
        )
    if metadata.get("requires"):
        raise ModelFileError(
            f"the model file requires {metadata['requires']!r}, which Bosquet {bosquet.__version__} does"
            " not support; upgrade Bosquet"
        )
    if isinstance(content, list) != kind.has_members:
        raise ModelFileError(
            f"invalid model file: the file of {with_article(name)} must contain"
            f" {'member models' if kind.has_members else 'trees'}"
        )
    if isinstance(content, list):
        content = [model_from_bytes(member_file, nesting + 1) for member_file in content]
    version = read_text(metadata, "bosquet")
    context = ReadContext(_is_newer(version), content if isinstance(content, list) else [])
    model: Any = None
    missing: dict[str, NotStored] = {}
    if kind.has_parameters:
        parameters = read_object(metadata, "parameters")
        model, missing = build_estimator(class_by_name(name), parameters, context)
    if kind.has_learner:
        model.estimator_ = decode_value(read_field(metadata, "learner"), context)
    model = kind.from_state(model, content, metadata)
    for parameter, mark in missing.items():
        setattr(model, parameter, mark)
    _check_round_trip(kind, model, metadata)
    if kind.has_members and not nesting:
        column_kinds(model)
    if context.unknown:
        model._unknown_parameters = context.unknown
        warn_user(
            f"the model file was written by Bosquet {version} with {', '.join(context.unknown)}, which this"
            f" version ({bosquet.__version__}) does not have; predictions are the same, but fitting again"
            " raises an error",
            UserWarning,
        )
    return model


def _check_round_trip(kind: ModelKind, model: Any, metadata: dict[str, Any]) -> None:
    """Raise ModelFileError if writing the model again would give different metadata.

    So a file with a key or a value that the reader does not use is rejected.
    """
    version = metadata["bosquet"]
    rewritten = _model_metadata(kind, model, *kind.to_state(model))
    difference = _first_difference(
        metadata,
        rewritten | {"bosquet": version},
        may_lack=_is_newer(bosquet.__version__, version),
        may_have=_is_newer(version),
    )
    if difference is not None:
        raise ModelFileError(
            f"invalid model file: {difference.lstrip('.')!r} in the metadata is missing, unknown or has a"
            " value that this version does not write"
        )


def _first_difference(read: Any, rewritten: Any, *, may_lack: bool, may_have: bool) -> str | None:
    """Return the path of the first difference between the metadata of two models, None if they are equal.

    A file of an older version may lack keys, and a file of a newer version may have unknown keys.
    """
    if read == rewritten:
        return None
    pairs: Iterable[tuple[str, Any, Any]]
    if isinstance(read, dict) and isinstance(rewritten, dict):
        absent, surplus = rewritten.keys() - read.keys(), read.keys() - rewritten.keys()
        differing_keys = sorted((set() if may_lack else absent) | (set() if may_have else surplus))
        if differing_keys:
            return f".{differing_keys[0]}"
        pairs = [(f".{key}", read[key], rewritten[key]) for key in read.keys() & rewritten.keys()]
    elif isinstance(read, list) and isinstance(rewritten, list) and len(read) == len(rewritten):
        pairs = [(f"[{k}]", value, rewritten[k]) for k, value in enumerate(read)]
    else:
        return ""
    for key, value, rewritten_value in pairs:
        path_inside = _first_difference(
            value, rewritten_value, may_lack=may_lack, may_have=may_have
        )
        if path_inside is not None:
            return key + path_inside
    return None

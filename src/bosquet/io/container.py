"""The container of a model file: a description in JSON, and trees in the core's form or other models."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._core import ModelFileError

# A description holds names of features and of categories; more than this is not one.
MAX_METADATA_BYTES = 1 << 28
# Lists and objects of a description stand inside each other no deeper than this.
MAX_METADATA_DEPTH = 64


def save_bytes(ensemble: _core.Ensemble, metadata: dict[str, Any]) -> bytes:
    """A model file. The same ensemble and metadata give the same bytes.

    Parameters
    ----------
    ensemble : Ensemble
        The trees.
    metadata : dict
        What JSON can hold: text keys, and no NaN or infinity.
    """
    return _core.write_model(ensemble, _text(metadata))


def save_parts(parts: list[bytes], metadata: dict[str, Any]) -> bytes:
    """The model file of a model made of others, each given as its own model file."""
    return _core.write_parts(parts, _text(metadata))


def load_parts(data: bytes) -> tuple[list[bytes], dict[str, Any]] | None:
    """The parts and the metadata of a model made of others, None for any other file."""
    data = data if isinstance(data, bytes) else bytes(memoryview(data))
    if not _core.holds_parts(data):
        return None
    parts, text = _core.read_parts(data)
    return parts, _parse(text)


def _text(metadata: dict[str, Any]) -> bytes:
    if not isinstance(metadata, dict):
        raise TypeError(f"metadata must be a dict, not {type(metadata).__name__}")
    # Escaped to ASCII, so that names with unpaired surrogates, which UTF-8 cannot hold, survive.
    text = json.dumps(metadata, allow_nan=False, separators=(",", ":"))
    if len(text) > MAX_METADATA_BYTES:
        raise ValueError(f"metadata takes {len(text)} bytes, more than {MAX_METADATA_BYTES}")
    data = text.encode("ascii")
    if _depth(data) > MAX_METADATA_DEPTH:
        raise ValueError(f"metadata is nested more than {MAX_METADATA_DEPTH} deep")
    return data


def load_bytes(data: bytes) -> tuple[_core.Ensemble, dict[str, Any]]:
    """The ensemble and the metadata of a model file; ModelFileError for any other bytes.

    Parameters
    ----------
    data : bytes
        The file, as bytes or another object with a buffer.
    """
    ensemble, text = _core.read_model(data if isinstance(data, bytes) else bytes(memoryview(data)))
    return ensemble, _parse(text)


def ensemble_from_bytes(data: bytes) -> _core.Ensemble:
    """The trees alone: what a pickle of an ensemble holds."""
    return _core.read_model(data)[0]


def _parse(text: bytes) -> dict[str, Any]:
    if len(text) > MAX_METADATA_BYTES:
        raise ModelFileError(f"the model's description takes {len(text)} bytes")
    if _depth(text) > MAX_METADATA_DEPTH:
        raise ModelFileError("the model's description is nested too deeply")
    try:
        metadata = json.loads(
            text.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite if _may_overflow(text) else None,
            object_pairs_hook=_distinct,
        )
    except ModelFileError:
        raise
    except RecursionError:
        raise ModelFileError("the model's description is nested too deeply") from None
    except ValueError as error:  # not UTF-8, not JSON, or a number of thousands of digits
        raise ModelFileError(f"the model's description is not JSON: {error}") from error
    if not isinstance(metadata, dict):
        raise ModelFileError("the model's description is not a JSON object")
    return metadata


_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))


def _depth(text: bytes) -> int:
    """How deep lists and objects stand inside each other in a JSON text, found without recursion."""
    if b"\\" in text:
        text = _ESCAPED.sub(b"", text)
    outside = text.translate(None, _NO_BRACKETS).split(b'"')[::2]  # of texts
    brackets = np.frombuffer(b"".join(outside), dtype=np.uint8)
    opens = (brackets == ord("[")) | (brackets == ord("{"))
    return int(np.cumsum(np.where(opens, 1, -1), dtype=np.int32).max(initial=0))


_LARGE_EXPONENT = re.compile(rb"[eE]\+?\d{3}")
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")


def _may_overflow(text: bytes) -> bool:
    """Whether a number may be beyond all doubles; Python reads numbers faster if it need not look at each."""
    many_digits = b"0" * 200 in text.translate(_DIGITS_ALIKE)  # with an exponent of two digits too
    return many_digits or _LARGE_EXPONENT.search(text) is not None


def _refuse_constant(name: str) -> Any:
    raise ModelFileError(f"the model's description contains {name}, which is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ModelFileError("the model's description contains a number that is too large")
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ModelFileError("the model's description names a key twice")
    return result

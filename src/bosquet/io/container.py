"""The container of a model file: JSON metadata, and trees in the format of the core or other models."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet._core import ModelFileError

if TYPE_CHECKING:
    from bosquet._types import State


# The metadata contains names of features and of categories, and is never larger than this.
MAX_METADATA_BYTES = 1 << 28
# Maximum nesting depth of lists and objects in the metadata.
MAX_METADATA_DEPTH = 64


def pack_trees(ensemble: _core.Ensemble, metadata: State) -> bytes:
    """Return a model file as bytes, which depend on the ensemble and the metadata only.

    Parameters
    ----------
    ensemble : Ensemble
        The trees.
    metadata : dict
        JSON values with string keys, without NaN or infinity.
    """
    return _core.write_model(ensemble, _metadata_text(metadata))


def pack_members(members: list[bytes], metadata: State) -> bytes:
    """Return the model file of a composite model, whose members are given as model files."""
    return _core.write_parts(members, _metadata_text(metadata))


def unpack_members(data: bytes) -> tuple[list[bytes], dict[str, Any]] | None:
    """Return the members and the metadata of a composite model, None for any other model file."""
    data = data if isinstance(data, bytes) else bytes(memoryview(data))
    if not _core.holds_parts(data):
        return None
    members, text = _core.read_parts(data)
    return members, _parse_metadata(text)


def _metadata_text(metadata: State) -> bytes:
    if not isinstance(metadata, dict):
        raise TypeError(f"metadata must be a dict, got {type(metadata).__name__}")
    # Escaped to ASCII, because UTF-8 cannot encode names with unpaired surrogates.
    text = json.dumps(metadata, allow_nan=False, separators=(",", ":"))
    if len(text) > MAX_METADATA_BYTES:
        raise ValueError(
            f"the metadata has {len(text)} bytes; a model file supports at most {MAX_METADATA_BYTES}"
        )
    data = text.encode("ascii")
    if _nesting_depth(data) > MAX_METADATA_DEPTH:
        raise ValueError(
            f"the metadata is nested more than {MAX_METADATA_DEPTH} levels deep, which a model file does not"
            " support"
        )
    return data


def unpack_trees(data: bytes) -> tuple[_core.Ensemble, dict[str, Any]]:
    """Return the ensemble and the metadata of a model file; raise ModelFileError for invalid bytes.

    Parameters
    ----------
    data : bytes
        The content of the file, as bytes or another object that supports the buffer protocol.
    """
    ensemble, text = _core.read_model(data if isinstance(data, bytes) else bytes(memoryview(data)))
    return ensemble, _parse_metadata(text)


def _parse_metadata(text: bytes) -> dict[str, Any]:
    if len(text) > MAX_METADATA_BYTES:
        raise ModelFileError(
            f"invalid model file: the metadata has {len(text)} bytes; at most {MAX_METADATA_BYTES} are"
            " supported"
        )
    if _nesting_depth(text) > MAX_METADATA_DEPTH:
        raise ModelFileError(
            f"invalid model file: the metadata is nested more than {MAX_METADATA_DEPTH} levels deep"
        )
    try:
        metadata = json.loads(
            text.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_parse_finite_number if _may_overflow(text) else None,
            object_pairs_hook=_dict_of_distinct_keys,
        )
    except ModelFileError:
        raise
    except RecursionError:
        raise ModelFileError(
            f"invalid model file: the metadata is nested more than {MAX_METADATA_DEPTH} levels deep"
        ) from None
    except ValueError as error:  # not UTF-8, not JSON, or an integer with thousands of digits
        raise ModelFileError(f"invalid model file: the metadata is not JSON: {error}") from error
    if not isinstance(metadata, dict):
        raise ModelFileError("invalid model file: the metadata is not a JSON object")
    return metadata


_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))


def _nesting_depth(text: bytes) -> int:
    """Return the nesting depth of lists and objects in a JSON text, computed without recursion."""
    if b"\\" in text:
        text = _ESCAPED.sub(b"", text)
    outside = text.translate(None, _NO_BRACKETS).split(b'"')[::2]  # outside strings
    brackets = np.frombuffer(b"".join(outside), dtype=np.uint8)
    opens = (brackets == ord("[")) | (brackets == ord("{"))
    return int(np.cumsum(np.where(opens, 1, -1), dtype=np.int32).max(initial=0))


_LARGE_EXPONENT = re.compile(rb"[eE]\+?\d{3}")
_ALL_DIGITS_0 = bytes.maketrans(b"123456789", b"000000000")


def _may_overflow(text: bytes) -> bool:
    """Return whether a number may be too large for float64; without such numbers, parsing is faster."""
    many_digits = b"0" * 200 in text.translate(_ALL_DIGITS_0)  # together with a two-digit exponent
    return many_digits or _LARGE_EXPONENT.search(text) is not None


def _refuse_constant(name: str) -> Any:
    raise ModelFileError(
        f"invalid model file: the metadata contains {name}, which is not valid JSON; numbers must be finite"
    )


def _parse_finite_number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ModelFileError(
            f"invalid model file: the metadata contains the number {digits[:40]}, which is too large for"
            " float64"
        )
    return value


def _dict_of_distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    metadata = dict(pairs)
    if len(metadata) != len(pairs):
        raise ModelFileError("invalid model file: an object in the metadata has a duplicate key")
    return metadata

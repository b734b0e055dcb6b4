"""Signatures of model files: a keyed hash of the whole file, behind it.

HMAC-SHA256 with a key that the user keeps. Whoever does not have the key can neither write a file that its
holder accepts nor change one. It keeps nothing secret.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from bosquet._core import ModelFileError

MARK = b"BSQ-HMAC"  # the last bytes of a signed file
DIGEST_BYTES = 32
LEAST_KEY_BYTES = 32  # as many as the hash has: a shorter key is easier to guess than the hash


def check_key(key: Any) -> None:
    """Raise an error unless `key` can sign."""
    if not isinstance(key, bytes):
        raise TypeError(f"key must be bytes, not {type(key).__name__}")
    if len(key) < LEAST_KEY_BYTES:
        raise ValueError(
            f"the key has {len(key)} bytes: it must have at least {LEAST_KEY_BYTES}, drawn at random, as by"
            f" secrets.token_bytes({LEAST_KEY_BYTES})"
        )


def signed(data: bytes, key: bytes) -> bytes:
    """The file with its signature."""
    return data + _digest(data, key) + MARK


def is_signed(data: bytes) -> bool:
    return data.endswith(MARK)


def unsigned(data: bytes, key: bytes | None) -> bytes:
    """The file without its signature, which has to be that of the key, if one is given."""
    if not is_signed(data):
        if key is None:
            return data
        raise ModelFileError(
            "the model file is not signed, and a key was given: it is not from the holder of the key"
        )
    end = len(data) - len(MARK) - DIGEST_BYTES
    content, digest = data[: max(end, 0)], data[max(end, 0) : -len(MARK)]
    if key is not None and not hmac.compare_digest(digest, _digest(content, key)):
        raise ModelFileError(
            "the signature of the model file does not fit: it was signed with another key, or changed since"
        )
    return content


def _digest(data: bytes, key: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()

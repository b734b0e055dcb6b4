"""Signatures of model files: a keyed hash of the whole file, appended to it.

The signature is an HMAC-SHA256 with a secret key of the user. Without the key, nobody can write or change a
file so that its signature is valid. The content of the file is not encrypted.
"""

from __future__ import annotations

import hashlib
import hmac

from bosquet._core import ModelFileError

SIGNATURE_MARKER = b"BSQ-HMAC"  # the last bytes of a signed file
DIGEST_BYTES = 32
MIN_KEY_BYTES = 32  # the length of the hash: a shorter key is easier to guess than the hash


def check_key(key: object) -> None:
    """Raise an error unless `key` is bytes of sufficient length."""
    if not isinstance(key, bytes):
        raise TypeError(f"key must be bytes, got {type(key).__name__}")
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(
            f"the key has {len(key)} bytes; it must have at least {MIN_KEY_BYTES} random bytes, for example"
            f" secrets.token_bytes({MIN_KEY_BYTES})"
        )


def sign(data: bytes, key: bytes) -> bytes:
    """Return the file with its signature."""
    return data + _digest(data, key) + SIGNATURE_MARKER


def is_signed(data: bytes) -> bool:
    """Return whether a file ends with a signature, without checking it."""
    return data.endswith(SIGNATURE_MARKER)


def strip_signature(data: bytes, key: bytes | None) -> bytes:
    """Return the file without its signature; with a key, raise ModelFileError if it is not valid."""
    if not is_signed(data):
        if key is None:
            return data
        raise ModelFileError(
            "the model file is not signed, but a key was given; load it without the key if you trust the file"
        )
    end = len(data) - len(SIGNATURE_MARKER) - DIGEST_BYTES
    content, digest = data[: max(end, 0)], data[max(end, 0) : -len(SIGNATURE_MARKER)]
    if key is not None and not hmac.compare_digest(digest, _digest(content, key)):
        raise ModelFileError(
            "the signature of the model file is not valid for this key: the file was signed with another"
            " key, or changed since; pass the key that the file was signed with, or get the file again"
        )
    return content


def _digest(data: bytes, key: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()

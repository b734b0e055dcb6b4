"""Signed model files: with a key, only files that were signed with it are accepted."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import bosquet
from bosquet import DecisionTreeClassifier, ModelFileError
from bosquet.io import model_bytes

X, y = load_iris(return_X_y=True)
KEY, OTHER = secrets.token_bytes(32), secrets.token_bytes(40)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.bosquet"
    DecisionTreeClassifier(max_depth=2).fit(X, y).save(path, key=KEY)
    return path


def test_a_signed_file_is_read_with_its_key_and_without_one(path: Path) -> None:
    model = bosquet.load(path, key=KEY)
    assert np.array_equal(model.predict(X), bosquet.load(path).predict(X))


def test_the_signature_is_an_hmac_appended_to_the_file(path: Path) -> None:
    data = path.read_bytes()
    assert data[:-40] == model_bytes(bosquet.load(path))
    assert data[-40:-8] == hmac.new(KEY, data[:-40], hashlib.sha256).digest()
    assert data[-8:] == b"BSQ-HMAC"


def test_a_file_of_another_key_is_rejected(path: Path) -> None:
    with pytest.raises(ModelFileError, match="signed with another key, or changed since"):
        bosquet.load(path, key=OTHER)


def test_a_file_that_is_not_signed_is_rejected_if_a_key_is_given(path: Path) -> None:
    bosquet.load(path).save(path)
    bosquet.load(path)
    with pytest.raises(ModelFileError, match="is not signed"):
        bosquet.load(path, key=KEY)


def test_a_changed_file_is_rejected_wherever_it_was_changed(path: Path) -> None:
    data = path.read_bytes()
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(ModelFileError):
            bosquet.load(path, key=KEY)
    for cut in (
        data[:-1],
        data[1:],
        data[:40],
        data[-40:],
        data[-8:],
        data[-20:],
        b"",
        data + b"x",
    ):
        path.write_bytes(cut)
        with pytest.raises(ModelFileError):
            bosquet.load(path, key=KEY)


def test_the_signature_is_checked_before_anything_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object) -> None:
        raise AssertionError("the file was read")

    monkeypatch.setattr("bosquet.io.models.model_from_bytes", read)
    with pytest.raises(ModelFileError, match="another key"):
        bosquet.load(path, key=OTHER)


@pytest.mark.parametrize("key", ["text" * 10, bytearray(40), 5, memoryview(KEY)], ids=type)
def test_a_key_must_be_bytes(path: Path, key: object) -> None:
    before = path.read_bytes()
    with pytest.raises(TypeError, match="key must be bytes"):
        bosquet.load(path, key=key)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="key must be bytes"):
        DecisionTreeClassifier().fit(X, y).save(path, key=key)  # type: ignore[arg-type]
    assert path.read_bytes() == before


@pytest.mark.parametrize("length", [0, 16, 31])
def test_a_short_key_is_rejected(path: Path, length: int) -> None:
    with pytest.raises(ValueError, match=f"has {length} bytes; it must have at least 32"):
        bosquet.load(path, key=KEY[:length])
    with pytest.raises(ValueError, match="at least 32"):
        DecisionTreeClassifier().fit(X, y).save(path, key=KEY[:length])

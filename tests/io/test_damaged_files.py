"""Whatever happens to a file on its way, loading it raises ModelFileError."""

from __future__ import annotations

import struct

import pytest
from mutations import grown_file, mutations, small_file

from bosquet import _core
from bosquet.io import ModelFileError, load_bytes


def test_a_file_cut_off_anywhere_is_refused() -> None:
    file = small_file()
    for length in range(len(file)):
        with pytest.raises(ModelFileError):
            load_bytes(file[:length])


def test_a_file_with_one_bit_turned_over_is_refused() -> None:
    file = small_file()
    for bit in range(8 * len(file)):
        data = bytearray(file)
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ModelFileError):
            load_bytes(bytes(data))


def test_a_file_with_one_byte_more_is_refused() -> None:
    file = small_file()
    for at in range(len(file) + 1):
        for byte in (b"\x00", b"\xff"):
            with pytest.raises(ModelFileError):
                load_bytes(file[:at] + byte + file[at:])


@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_damaged_files_are_refused(seed: int) -> None:
    files = small_file(), grown_file()
    for file, other in (files, files[::-1]):
        for data in mutations(file, other, seed, 1500):
            with pytest.raises(ModelFileError):
                load_bytes(data)


def test_other_files_are_told_from_damaged_ones() -> None:
    with pytest.raises(ModelFileError, match="not a Bosquet model file"):
        load_bytes(b"PK\x03\x04 something else entirely")
    with pytest.raises(ModelFileError, match="not a Bosquet model file"):
        load_bytes(b"")
    with pytest.raises(ModelFileError, match="damaged"):
        load_bytes(small_file()[:-1] + b"!")
    with pytest.raises(ModelFileError, match=r"should have \d+ bytes"):
        load_bytes(small_file()[:-1])


def test_a_file_of_a_later_format_says_so() -> None:
    file = small_file()
    later = file[:8] + struct.pack("<I", 2) + file[12:]
    with pytest.raises(ModelFileError, match=r"format 2.*newer version"):
        load_bytes(later)


def test_an_error_of_a_file_is_a_value_error() -> None:
    assert issubclass(ModelFileError, ValueError)
    assert ModelFileError is _core.ModelFileError

"""Loading a damaged file raises ModelFileError."""

from __future__ import annotations

import os
import struct
import subprocess
import sys

import pytest
from handmade import seal
from mutations import SMALL_FILES, forest_file, grown_file, mutations, small_file

from bosquet import _core
from bosquet.io import ModelFileError, unpack_trees


@pytest.fixture(params=SMALL_FILES)
def file(request: pytest.FixtureRequest) -> bytes:
    return SMALL_FILES[request.param]


def test_a_truncated_file_is_rejected(file: bytes) -> None:
    unpack_trees(file)
    for length in range(len(file)):
        with pytest.raises(ModelFileError):
            unpack_trees(file[:length])


def test_a_truncated_section_is_rejected_even_with_a_valid_checksum(file: bytes) -> None:
    tree_at = file.index(b"TREE")
    for length in range(tree_at + 12, len(file)):
        cut = file[: tree_at + 4] + struct.pack("<Q", length - tree_at - 12)
        with pytest.raises(ModelFileError):
            unpack_trees(seal(cut + file[tree_at + 12 : length], _core.checksum))


def test_a_file_with_one_flipped_bit_is_rejected(file: bytes) -> None:
    for bit in range(8 * len(file)):
        data = bytearray(file)
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ModelFileError):
            unpack_trees(bytes(data))


def test_a_file_with_an_extra_byte_is_rejected(file: bytes) -> None:
    for at in range(len(file) + 1):
        for byte in (b"\x00", b"\xff"):
            with pytest.raises(ModelFileError):
                unpack_trees(file[:at] + byte + file[at:])


@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_damaged_files_are_rejected(seed: int) -> None:
    files = [small_file(), grown_file(), forest_file(seed=seed), small_file(0)]
    for file, other in zip(files, files[1:] + files[:1], strict=True):
        for data in mutations(file, other, seed, 800):
            with pytest.raises(ModelFileError):
                unpack_trees(data)


def test_other_files_are_distinguished_from_damaged_ones() -> None:
    with pytest.raises(ModelFileError, match="not a Bosquet model file"):
        unpack_trees(b"PK\x03\x04 something else entirely")
    with pytest.raises(ModelFileError, match="not a Bosquet model file"):
        unpack_trees(b"")
    with pytest.raises(ModelFileError, match="damaged"):
        unpack_trees(small_file()[:-1] + b"!")
    with pytest.raises(
        ModelFileError, match=r"has \d+ bytes, but its header gives \d+; copy the file again"
    ):
        unpack_trees(small_file()[:-1])


_LOAD_WITH_2_GB = """
import resource, sys
import bosquet
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    bosquet.load(sys.argv[1])
except bosquet.ModelFileError as error:
    print(error)
"""


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs an endless file")
def test_a_file_that_is_no_model_file_is_not_read_to_its_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOAD_WITH_2_GB, "/dev/zero"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "not a Bosquet model file" in done.stdout, done.stderr[-2000:]


def test_a_file_of_another_format_is_rejected_with_the_reason() -> None:
    file = small_file()
    for version, reason in ((5, "newer version"), (3, "never released"), (0, "never released")):
        other = file[:8] + struct.pack("<I", version) + file[12:]
        with pytest.raises(ModelFileError, match=rf"format {version}.*{reason}"):
            unpack_trees(seal(other))


def test_an_error_of_a_file_is_a_value_error() -> None:
    assert issubclass(ModelFileError, ValueError)
    assert ModelFileError is _core.ModelFileError

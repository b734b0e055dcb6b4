"""A malicious file with a valid checksum is rejected or gives a valid model."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade import (
    COUNTED_COVERS,
    LISTED_NUMBERS,
    LISTED_VECTORS,
    VECTOR_LEAVES,
    Leaf,
    Split,
    ensemble_bytes,
    model_file,
    seal,
    varint,
)
from mutations import SMALL_FILES, grown_file, small_file

from bosquet import _core
from bosquet.io import ModelFileError

HERE = Path(__file__).resolve().parent


def run_hostile(seed: int, count: int) -> tuple[int, int]:
    command = [sys.executable, str(HERE / "hostile.py"), str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"seed {seed}: exit {done.returncode}\n{done.stderr[-2000:]}"
    rejected, accepted = done.stdout.split()
    return int(rejected), int(accepted)


@pytest.mark.parametrize("seed", [1, 2])
def test_thousands_of_mutations_with_valid_checksums_are_rejected_or_work(seed: int) -> None:
    rejected, accepted = run_hostile(seed, 3000)
    assert rejected > 500
    assert accepted > 100  # else the mutations do not get past the first checks


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_a_hundred_thousand_mutations_with_valid_checksums_are_rejected_or_work(seed: int) -> None:
    run_hostile(seed, 10_000)


def read(section: bytes, **options: Any) -> None:
    _core.read_model(model_file(section, **options))


def reals(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def leaf(value: float = 1.0, cover: float = 1.0) -> bytes:
    return varint(0) + struct.pack("<df", value, cover)


def split(head: int, pair: int, test: bytes, gain: float = 1.0, cover: float = 1.0) -> bytes:
    return varint(head) + varint(pair) + test + struct.pack("<ff", gain, cover)


def make_ensemble_section(
    trees: bytes, count: int = 1, flags: int = 0, lists: bytes = b""
) -> bytes:
    """Feature 0 is quantitative with the threshold 0.5, feature 1 has 12 categories."""
    start = varint(flags) + varint(2) + varint(1) + reals(0.0) + varint(0) + varint(12)
    return start + varint(1) + reals(0.5) + varint(0) + lists + varint(count) + trees


FIRST = varint(0)  # the only threshold


def test_an_unchanged_handmade_file_is_read() -> None:
    read(make_ensemble_section(varint(1) + split(1, 0, FIRST) + leaf() + leaf()))
    read(make_ensemble_section(varint(1) + split(1 + 4 + 2, 0, b"\x02\x00\x08") + leaf() + leaf()))


BAD_TREES = {
    "a feature that does not exist": (varint(1) + split(1 + 8, 0, FIRST) + leaf() * 2, "feature"),
    "a head that is too large": (varint(1) + split(2**62, 0, FIRST) + leaf() * 2, "a node"),
    "a threshold that does not exist": (
        varint(1) + split(1, 0, varint(1)) + leaf() * 2,
        "threshold",
    ),
    "a child that does not exist": (varint(1) + split(1, 1, FIRST) + leaf() * 2, "child"),
    "a split in a tree of one leaf": (varint(0) + split(1, 0, FIRST) + leaf() * 2, "child"),
    "a node that is its own child": (
        varint(2) + split(1, 1, FIRST) + leaf() * 2 + split(1, 1, FIRST) + leaf(),
        "before its parent",
    ),
    "a cycle": (
        varint(2) + split(1, 1, FIRST) + leaf() * 2 + split(1, 0, FIRST) + leaf(),
        "before its parent",
    ),
    "a node with two parents": (
        varint(2) + split(1, 0, FIRST) + split(1, 1, FIRST) + split(1, 1, FIRST) + leaf() * 2,
        "two parents",
    ),
    "nodes without a parent": (varint(1) + leaf() * 3, "no parent"),
    "a leaf that is infinite": (varint(0) + leaf(float("inf")), "not finite"),
    "a leaf that is not a number": (varint(0) + leaf(float("nan")), "not finite"),
    "a cover that is not a number": (varint(0) + leaf(1.0, float("nan")), "cover"),
    "a negative cover": (varint(0) + leaf(1.0, -1.0), "cover"),
    "a gain that is not a number": (
        varint(1) + split(1, 0, FIRST, gain=float("nan")) + leaf() * 2,
        "gain",
    ),
    "categories of a quantitative feature": (
        varint(1) + split(1 + 2, 0, b"\x01\x01") + leaf() * 2,
        "quantitative feature",
    ),
    "a category that does not exist": (
        varint(1) + split(1 + 4 + 2, 0, b"\x02\x00\x10") + leaf() * 2,
        "category that does not exist",
    ),
    "a category set that is too large": (
        varint(1) + split(1 + 4 + 2, 0, b"\x05\x00\x00\x00\x00\x01") + leaf() * 2,
        "category set is too large",
    ),
    "a category set that is padded": (
        varint(1) + split(1 + 4 + 2, 0, b"\x02\x01\x00") + leaf() * 2,
        "shortest form",
    ),
    "a category set of a billion bytes": (
        varint(1) + split(1 + 4 + 2, 0, varint(10**9)) + leaf() * 2,
        "larger than the rest of the file",
    ),
    "a tree of a quintillion nodes": (varint(10**18) + leaf(), "larger than the rest of the file"),
    "a tree of a few nodes too many": (
        varint(2) + split(1, 0, FIRST) + leaf() * 2,
        "larger than|ends",
    ),
    "a number that is not in its shortest form": (b"\x80\x00" + leaf(), "shortest form"),
    "a number of eleven bytes": (b"\xff" * 10 + b"\x01" + leaf(), "too large"),
    "more bytes than the trees take": (varint(0) + leaf() + b"\x00", "followed by more bytes"),
}


@pytest.mark.parametrize("name", BAD_TREES)
def test_a_bad_tree_is_rejected_by_name(name: str) -> None:
    tree, message = BAD_TREES[name]
    with pytest.raises(ModelFileError, match=message):
        read(make_ensemble_section(tree))


def test_a_categorical_feature_is_not_split_at_a_threshold() -> None:
    start = varint(0) + varint(1) + varint(1) + reals(0.0) + varint(5)
    start += varint(1) + reals(0.5) + varint(1)
    with pytest.raises(ModelFileError, match="categorical feature"):
        read(start + varint(1) + split(1, 0, FIRST) + leaf() * 2)


BAD_FRAMES = {
    "no output": (varint(1) + varint(0) + varint(0) * 3, "no output"),
    "a billion outputs": (varint(1) + varint(10**9) + reals(0.0), "number of outputs"),
    "a billion features": (varint(10**9) + varint(1) + reals(0.0), "number of features"),
    "a base that is not finite": (varint(0) + varint(1) + reals(float("nan")) + varint(0), "base"),
    "too many categories": (
        varint(1) + varint(1) + reals(0.0) + varint(65_536) + bytes(9),
        "categories",
    ),
    "a billion thresholds": (
        varint(1) + varint(1) + reals(0.0) + varint(0) + varint(10**9) + reals(0.0),
        "thresholds",
    ),
    "thresholds that do not ascend": (
        varint(1) + varint(1) + reals(0.0) + varint(0) + varint(2) + reals(1.0, 1.0) + varint(0),
        "ascending",
    ),
    "a threshold that is not a number": (
        varint(1)
        + varint(1)
        + reals(0.0)
        + varint(0)
        + varint(1)
        + reals(float("nan"))
        + varint(0),
        "threshold",
    ),
    "a billion trees": (varint(0) + varint(1) + reals(0.0) + varint(10**9), "number of trees"),
    "trees that outputs cannot share": (
        varint(0) + varint(2) + reals(0.0, 0.0) + varint(1) + varint(0) + leaf(),
        "multiple of the number of outputs",
    ),
    "nothing": (b"", "ends inside"),
}


@pytest.mark.parametrize("name", BAD_FRAMES)
def test_a_bad_ensemble_is_rejected_by_name(name: str) -> None:
    section, message = BAD_FRAMES[name]
    for flags in (varint(0), varint(1)):
        if name == "trees that outputs cannot share" and flags == varint(1):
            continue  # with vector leaves they need not
        with pytest.raises(ModelFileError, match=message):
            read(flags + section)


def counted_leaf(value: bytes, cover: int = 1) -> bytes:
    return varint(0) + value + varint(cover)


def counted_split(head: int, pair: int, test: bytes) -> bytes:
    return varint(head) + varint(pair) + test + struct.pack("<f", 1.0)


ONE = varint(1) + reals(2.0)  # a list of one number
BAD_FLAGS = {
    "a flag that does not exist": (make_ensemble_section(varint(0) + leaf(), flags=16), "flags"),
    "listed vectors without vector leaves": (
        make_ensemble_section(varint(0) + counted_leaf(FIRST), flags=LISTED_VECTORS, lists=ONE),
        "its leaves are not vectors",
    ),
    "a number that is not in the list": (
        make_ensemble_section(
            varint(0) + varint(0) + varint(1) + bytes(4), flags=LISTED_NUMBERS, lists=ONE
        ),
        "value of a leaf",
    ),
    "a vector that is not in the list": (
        make_ensemble_section(varint(0) + varint(0) + varint(1) + bytes(4), flags=5, lists=ONE),
        "vector of a leaf",
    ),
    "no number to refer to": (
        make_ensemble_section(
            varint(0) + varint(0) + varint(0) + bytes(4), flags=LISTED_NUMBERS, lists=varint(0)
        ),
        "value of a leaf",
    ),
    "a billion listed numbers": (
        make_ensemble_section(varint(0) + leaf(), flags=LISTED_NUMBERS, lists=varint(10**9)),
        "number of listed values",
    ),
    "a billion listed vectors": (
        make_ensemble_section(varint(0) + leaf(), flags=5, lists=varint(10**9)),
        "number of listed vectors",
    ),
    "listed numbers that do not ascend": (
        make_ensemble_section(
            varint(0) + leaf(), flags=LISTED_NUMBERS, lists=varint(2) + reals(2.0, 1.0)
        ),
        "not in ascending order",
    ),
    "a listed number that is infinite": (
        make_ensemble_section(
            varint(0) + leaf(), flags=LISTED_NUMBERS, lists=varint(1) + reals(float("inf"))
        ),
        "not finite",
    ),
    "a listed vector twice": (
        make_ensemble_section(varint(0) + leaf(), flags=5, lists=varint(2) + reals(1.0, 1.0)),
        "not in ascending order",
    ),
    "a listed vector that is not a number": (
        make_ensemble_section(varint(0) + leaf(), flags=5, lists=varint(1) + reals(float("nan"))),
        "not finite",
    ),
    "a vector that is infinite": (
        make_ensemble_section(varint(0) + leaf(float("inf")), flags=VECTOR_LEAVES),
        "not finite",
    ),
    "a count that is no exact float": (
        make_ensemble_section(varint(0) + counted_leaf(reals(1.0), 1 << 24), flags=COUNTED_COVERS),
        "cover of a leaf",
    ),
    "counts whose sum is no exact float": (
        make_ensemble_section(
            varint(1) + counted_split(1, 0, FIRST) + counted_leaf(reals(1.0), 1 << 23) * 2,
            flags=COUNTED_COVERS,
        ),
        "cover of a split",
    ),
    "a cycle of counted splits": (
        make_ensemble_section(
            varint(2)
            + counted_split(1, 1, FIRST)
            + counted_leaf(reals(1.0)) * 2
            + counted_split(1, 1, FIRST)
            + counted_leaf(reals(1.0)),
            flags=COUNTED_COVERS,
        ),
        "before its parent",
    ),
}


@pytest.mark.parametrize("name", BAD_FLAGS)
def test_a_bad_use_of_flags_is_rejected_by_name(name: str) -> None:
    section, message = BAD_FLAGS[name]
    with pytest.raises(ModelFileError, match=message):
        read(section)


def test_a_small_file_cannot_ask_for_much_memory() -> None:
    # A listed vector takes one byte per leaf for any number of outputs, so outputs are limited.
    for outputs, fits in ((32, True), (33, False)):
        section = varint(VECTOR_LEAVES + LISTED_VECTORS + COUNTED_COVERS) + varint(0)
        section += varint(outputs) + reals(*[0.0] * outputs)
        section += varint(1) + reals(*[1.0] * outputs)
        section += varint(1000) + (varint(0) + counted_leaf(FIRST)) * 1000
        if fits:
            read(section)
        else:
            with pytest.raises(ModelFileError, match="too many outputs"):
                read(section)


def test_sections_must_be_in_order() -> None:
    file = small_file()
    tree_at = file.index(b"TREE")
    for data, message in (
        (file[:32] + b"ATEM" + file[36:], "metadata section"),
        (file[:tree_at] + b"EERT" + file[tree_at + 4 :], "ensemble section"),
        (file[:36] + struct.pack("<Q", 2**63) + file[44:], "ends inside the metadata"),
        (file[: tree_at + 4] + struct.pack("<Q", 2**64 - 1) + file[tree_at + 12 :], "ends inside"),
        (file + b"TREE" + bytes(8), "followed by more bytes"),
        (file[:12] + b"\x01" + file[13:], "reserved"),
        (file[:8] + bytes(4) + file[12:], "never released"),
        (file[:32], "ends inside"),
    ):
        with pytest.raises(ModelFileError, match=message):
            _core.read_model(seal(data))


def test_a_model_that_could_not_be_loaded_is_not_written() -> None:
    model = _core.Ensemble(1, 1, [float("inf")], [])
    with pytest.raises(ModelFileError, match="cannot be saved: the base is not finite"):
        _core.write_model(model, b"{}")


def test_a_deep_tree_is_supported() -> None:
    node: Any = Leaf(0.0)
    for i in range(50_000):
        node = Split(0, Leaf(float(i)), node, threshold=float(-i))
    model, _ = _core.read_model(model_file(ensemble_bytes([node], 1), crc=_core.checksum))
    X = np.array([[-49_998.5], [1.0]])
    assert model.predict_rows(X).tolist() == [[49_998.0], [0.0]]
    assert np.array_equal(
        model.predict_raw(np.repeat(X, 600, axis=0), 0, 1)[::600], [[49_998.0], [0.0]]
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_reader_is_clean_under_sanitizers(tmp_path: Path) -> None:
    sources = [HERE / "fuzz_reader.cpp"]
    for package in ("base", "parallel", "data", "trees", "io"):
        found = sorted((HERE.parents[1] / "cpp" / package).glob("*.cpp"))
        assert found, f"cpp/{package} has no source files"
        sources += found
    program, files = tmp_path / "fuzz_reader", []
    parts = _core.write_parts([small_file(), b"", grown_file()], b"{}")
    for name, file in [*SMALL_FILES.items(), ("grown", grown_file()), ("parts", parts)]:
        (tmp_path / name).write_bytes(file)
        files.append(str(tmp_path / name))
    flags = ["-std=c++20", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    flags += ["-DBOSQUET_ISA=baseline", f"-I{HERE.parents[1] / 'cpp'}", "-pthread"]
    subprocess.run(["g++", *flags, *map(str, sources), "-o", str(program)], check=True)
    done = subprocess.run(
        [str(program), "50000", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]


# The limits in SECURITY.md and docs/format.md.
BYTES_A_BYTE, CONSTANT_BYTES = 160, 64 << 20


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_memory_and_time_of_a_load_are_bounded_by_the_size_of_the_file() -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "large_metadata.py"), "500000"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    for name, found in json.loads(done.stdout).items():
        assert found["taken"] <= BYTES_A_BYTE * found["bytes"] + CONSTANT_BYTES, (name, found)
        assert found["seconds"] < 30, (name, found)  # on a busy machine

"""Small models as files, and ways to damage them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
from core_fit import learn_test_bins
from handmade import (
    COUNTED_COVERS,
    LISTED_NUMBERS,
    LISTED_VECTORS,
    VECTOR_LEAVES,
    Leaf,
    Node,
    Split,
    ensemble_bytes,
    model_file,
)
from mutate_bytes import mutated
from random_trees import random_tree

from bosquet import _core

METADATA = b'{"names":["age","\\u00e9tat"],"levels":[1,2.5,null,true],"nested":{"a":[]}}'


def small_trees() -> list[Node]:
    inner = Split(0, Leaf(0.25), Leaf(-3.5), threshold=1.5, missing_left=True, gain=2.0, cover=7.0)
    by_category = Split(1, inner, Leaf(4.0), left_set={0, 3, 11}, gain=3.0, cover=9.0)
    root = Split(2, by_category, Leaf(1e-3), threshold=-0.75, gain=5.0, cover=20.0)
    stump = Split(0, Leaf(1.0), Leaf(2.0), threshold=float("inf"))
    return [root, Leaf(0.5), stump, by_category]


def small_file(flags: int | None = None) -> bytes:
    """An ensemble with every part of the format: outputs, a tree of one leaf, thresholds, categories."""
    section = ensemble_bytes(small_trees(), 3, base=(0.5, -1.0), categories={1: 12}, flags=flags)
    return model_file(section, METADATA, _core.checksum)


def forest_file(flags: int | None = None, seed: int = 0, rows: int = 12) -> bytes:
    """Trees of vector leaves whose covers can be counted."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(rows, 2)), rng.integers(0, 9, rows)])
    pure = [(1.0, 0.0, -0.0), (0.0, 1.0, 0.5), (0.25, 1.0, -1.5)]
    trees = [random_tree(X, rng, lambda: pure[rng.integers(3)], {2: 9}) for _ in range(2)]
    trees.append(Leaf(pure[0], 300.0))
    section = ensemble_bytes(trees, 3, base=(0.5, -1.0, 0.0), categories={2: 9}, flags=flags)
    return model_file(section, METADATA, _core.checksum)


VECTOR_FLAGS = [
    VECTOR_LEAVES + numbers + vectors + covers
    for numbers in (0, LISTED_NUMBERS)
    for vectors in (0, LISTED_VECTORS)
    for covers in (0, COUNTED_COVERS)
]


def small_files() -> dict[str, bytes]:
    """Return a small file for each way to encode one."""
    files = {f"flags {flags}": small_file(flags) for flags in (0, LISTED_NUMBERS)}
    files |= {f"flags {flags}": forest_file(flags) for flags in VECTOR_FLAGS}
    return files


SMALL_FILES = small_files()


def grown_file(seed: int = 0) -> bytes:
    """Trees of the native grower, on numbers, few and many categories."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.normal(size=1500), rng.integers(0, 9, 1500), rng.integers(0, 700, 1500)]
    ).astype(float)
    y = X[:, 0] + (X[:, 1] % 3) + (X[:, 2] % 2)
    levels, empty = [0, 9, 700], np.zeros(0)
    bins = learn_test_bins(X, levels)
    matrix = _core.bin_table(X, bins, "auto", 1)
    options = {"max_leaf_nodes": 12, "min_samples_leaf": 2, "min_samples_category": 1}
    fit = _core.BoostingFit(
        matrix, bins, y[None], empty, _core.Loss("squared_error", 1, 1, []), options, "auto", 1
    )
    fit.start(np.zeros((1, len(X))))
    model = _core.Ensemble(3, 1, [0.0], levels)
    for _ in range(6):
        fit.round(model)
    return _core.write_model(model, METADATA)


def mutations(file: bytes, other: bytes, seed: int, count: int) -> Iterator[bytes]:
    rng = Random(seed)
    made = 0
    while made < count:
        data = mutated(file, other, rng)
        if data != file:
            made += 1
            yield data

"""Load files that are made to use much memory and time; print both as JSON.

python tests/io/large_metadata.py BYTES [NAME ...]
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))

from changed_files import change_metadata, metadata_of, with_metadata
from handmade import file_of, varint

from bosquet import (
    BaggingClassifier,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    Mixture,
    RandomForestClassifier,
    VotingClassifier,
    _core,
)
from bosquet.io import ModelFileError, model_bytes, model_from_bytes
from bosquet.io.container import pack_members, unpack_members

X = np.random.default_rng(0).normal(size=(64, 3))
TREE = DecisionTreeClassifier(max_depth=1)


def file_with(metadata: Any, section: bytes) -> bytes:
    text = json.dumps(metadata).encode()
    return file_of((b"META", text), (b"TREE", section), crc=_core.checksum)


def tiny_trees(size: int) -> bytes:
    """A forest of trees with one leaf, whose 32 proportions take one byte each; every tree twice."""
    y = np.arange(64) % 32
    model = RandomForestClassifier(1, voting="hard", max_depth=1).fit(X, y)
    count = size // 6  # four bytes per tree, and two for its key
    flags = 1 + 2 + 4 + 8  # vector leaves, listed numbers and vectors, counted covers
    shares = [0.0] * 31 + [1.0]
    out = varint(flags) + varint(3) + varint(32) + np.zeros(32).tobytes() + bytes(3) + bytes(3)
    out += varint(2) + np.array([0.0, 1.0]).tobytes()
    out += varint(1) + bytes(int(share) for share in shares)
    out += varint(count) + bytes([0, 0, 0, 1]) * count
    metadata = metadata_of(model_bytes(model)) | {"keys": [0] * count}
    text = json.dumps(metadata, separators=(",", ":")).encode()
    return file_of((b"META", text), (b"TREE", out), crc=_core.checksum)


def wide_labels(size: int) -> bytes:
    """Short labels and a long one: a NumPy array of text would use the long width for all."""
    count = size // 8
    labels = [f"{k:05d}" for k in range(count // 2)] + ["z" * (size // 2)]
    data = model_bytes(GradientBoostingClassifier(n_estimators=1).fit(X, np.arange(64) % 3))
    return change_metadata(data, "classes", to={"type": "str", "values": labels})


def many_outputs(size: int) -> bytes:
    data = model_bytes(GradientBoostingClassifier(n_estimators=1).fit(X, np.arange(64) % 3))
    return change_metadata(data, "loss", "outputs", to=2**31 - 1)


def many_levels(size: int) -> bytes:
    frame = np.column_stack([X[:, 0], np.arange(64) % 3]).astype(object)
    model = DecisionTreeClassifier(categorical_features=[1], max_depth=1)
    data = model_bytes(model.fit(frame, np.arange(64) % 2))
    texts = [f"{k:x}" for k in range(2 * 10**6)]
    return change_metadata(
        data, "encoder", "levels", 1, to={"numbers": [], "texts": sorted(texts[: size // 9])}
    )


def many_columns(size: int) -> bytes:
    data = model_bytes(DecisionTreeClassifier(max_depth=1).fit(X, np.arange(64) % 2))
    names = [f"{k:x}" for k in range(size // 15)]
    data = change_metadata(data, "encoder", "feature_names", to=names)
    return change_metadata(data, "encoder", "levels", to=[None] * len(names))


def many_names(size: int) -> bytes:
    data = model_bytes(VotingClassifier([("a", TREE)]).fit(X, np.arange(64) % 2))
    estimators = metadata_of(data)["parameters"]["estimators"]
    dropped = [{"tuple": [f"d{k}", "drop"]} for k in range(size // 30)]
    return change_metadata(data, "parameters", "estimators", to=estimators + dropped)


def many_constants(size: int) -> bytes:
    """Members that predict a constant class, with an arbitrary number of features."""
    data = model_bytes(BaggingClassifier(TREE, 2, max_features=1).fit(X, np.arange(64) % 2))
    count = size // 8
    metadata = metadata_of(data) | {"n_features": 2**30}
    metadata["constants"] = [None, None] + [0] * count
    metadata["features"] = metadata["features"] + [None] * count
    return with_metadata(data, metadata)


def many_experts(size: int) -> bytes:
    data = model_bytes(Mixture("ridge").fit(X, X[:, 0]))
    metadata = metadata_of(data) | {"experts": size // 2}
    metadata["state"]["weight_sum"] = [0] * (size // 2)
    return with_metadata(data, metadata)


def many_draws(size: int) -> bytes:
    """A conformal model whose bags have as many rows as there are trees."""
    from bosquet import ConformalModel, RandomForestRegressor

    data = model_bytes(ConformalModel(RandomForestRegressor(3, max_depth=1), "oob").fit(X, X[:, 0]))
    parts, metadata = unpack_members(data)  # type: ignore[misc]
    rows = size // 8
    trees = (varint(0) + b"\0" + np.zeros(1).tobytes() + b"\1") * rows
    head = varint(8) + varint(3) + varint(1) + bytes(8) + bytes(3) + bytes(3)
    inner = metadata_of(parts[0]) | {"keys": [0] * rows, "rows": rows, "draws": rows}
    part = file_with(inner, head + varint(rows) + trees)
    metadata["residual"] = [0] * rows
    metadata["held_out"] = {"n_rows": rows, "rows": None}
    return pack_members([part], metadata)


def empty_lists(size: int) -> bytes:
    data = model_bytes(TREE.fit(X, np.arange(64) % 2))
    return change_metadata(data, "nodes", "surrogates", to=[[]] * (size // 3))


def small_objects(size: int) -> bytes:
    data = model_bytes(TREE.fit(X, np.arange(64) % 2))
    return change_metadata(data, "parameters", "class_weight", to=[{"a": 0}] * (size // 8))


def sets_of_large_numbers(size: int) -> bytes:
    """Integers with the same hash."""
    data = model_bytes(TREE.fit(X, np.arange(64) % 2))
    same = [k * (2**61 - 1) for k in range(size // 24)]
    return change_metadata(data, "parameters", "class_weight", to={"set": same})


FILES: dict[str, Callable[[int], bytes]] = {
    make.__name__: make
    for make in (
        wide_labels,
        many_outputs,
        many_levels,
        many_columns,
        many_names,
        many_constants,
        many_experts,
        many_draws,
        empty_lists,
        small_objects,
        sets_of_large_numbers,
        tiny_trees,
    )
}


def loaded(data: bytes) -> dict[str, Any]:
    """Measure the memory and time of loading a file, and return them with the outcome."""
    before, start = peak_reset(), time.perf_counter()
    try:
        outcome = type(model_from_bytes(data)).__name__
    except ModelFileError as error:
        outcome = f"rejected: {str(error)[:80]}"
    seconds = time.perf_counter() - start
    return {"bytes": len(data), "taken": peak() - before, "seconds": seconds, "outcome": outcome}


def main(size: int, names: list[str]) -> None:
    warnings.simplefilter("ignore")
    # Every module that loading needs is imported before anything is measured.
    model_from_bytes(model_bytes(TREE.fit(X, np.arange(64) % 2)))
    print(json.dumps({name: loaded(FILES[name](size)) for name in names or FILES}))


def peak() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def peak_reset() -> int:
    """Reset the peak of the memory use, and return it."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return peak()


if __name__ == "__main__":
    limit = 8 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    main(int(sys.argv[1]), sys.argv[2:])

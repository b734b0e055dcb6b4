"""Load and use files that were changed and given a valid checksum; a crash of this process is a failure.

    python tests/io/hostile.py SEED COUNT

Prints how many files were rejected and how many were valid models.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))

from handmade import VECTOR_LEAVES, seal
from mutations import forest_file, grown_file, mutations, small_file

from bosquet import _core
from bosquet.io import ModelFileError, unpack_trees


def use(model: _core.Ensemble, rng: np.random.Generator) -> None:
    """Call every method that reads the trees. The predictor is compiled for 1200 rows or more."""
    if model.n_features * 1200 > 10_000_000 or model.n_outputs > 1000:
        return
    X = 20 * rng.normal(size=(1200, model.n_features))
    X[rng.random(X.shape) < 0.1] = np.nan
    raw = model.predict_raw(X, 0, model.n_trees)
    if not np.array_equal(raw, model.predict_plain(X), equal_nan=True):
        raise AssertionError("two ways to predict disagree")
    model.predict_rows(X[:3])
    model.apply(X[:70])
    model.importance("gain")
    for t in range(min(3, model.n_trees)):
        model.tree_arrays(t)
    again, _ = _core.read_model(_core.write_model(model, b"{}"))
    if not np.array_equal(raw, again.predict_raw(X, 0, again.n_trees), equal_nan=True):
        raise AssertionError("a model that was loaded does not survive saving")


def main(seed: int, count: int) -> None:
    import resource  # not on every system, and only needed here

    # A false length in a file must not be allocated. A sanitizer reserves more than any limit.
    if "BOSQUET_CORE" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    rng = np.random.default_rng(seed)
    files = [small_file(), grown_file(seed), forest_file(seed=seed, rows=40)]
    files += [small_file(0), forest_file(VECTOR_LEAVES, seed)]
    rejected = accepted = 0
    for file, other in zip(files, files[1:] + files[:1], strict=True):
        for data in mutations(file, other, seed, count // len(files)):
            if len(data) < 32:
                continue
            # The header is tested elsewhere; here only the sections change.
            data = seal(file[:32] + data[32:], _core.checksum)
            try:
                model, _ = unpack_trees(data)
            except ModelFileError:
                rejected += 1
            else:
                accepted += 1
                use(model, rng)
    print(rejected, accepted)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

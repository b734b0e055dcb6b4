"""A loaded model has the same bits as the saved one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from handmade import Leaf, Split, checksum, ensemble_bytes, model_file
from mutations import METADATA, SMALL_FILES, VECTOR_FLAGS, forest_file, grown_file, small_file
from random_trees import random_tree

import bosquet
from bosquet import _core
from bosquet.io import ModelFileError, model_bytes, model_from_bytes, pack_trees, unpack_trees


@pytest.mark.parametrize(
    "file",
    [small_file(), grown_file(), forest_file(), forest_file(rows=500)],
    ids=["handmade", "grown", "forest", "large forest"],
)
def test_saved_loaded_and_saved_again_the_bytes_are_the_same(file: bytes) -> None:
    model, metadata = _core.read_model(file)
    assert metadata == METADATA
    assert _core.write_model(model, metadata) == file
    assert _core.write_model(model.copy(), metadata) == file


def test_the_same_trees_written_in_other_ways_are_the_same_model() -> None:
    for flags in VECTOR_FLAGS:
        model, metadata = _core.read_model(SMALL_FILES[f"flags {flags}"])
        assert model.vector_leaves
        assert _core.write_model(model, metadata) == forest_file()
    for name in ("flags 0", "flags 2"):
        model, metadata = _core.read_model(SMALL_FILES[name])
        assert _core.write_model(model, metadata) == small_file()


def test_the_documented_format_is_complete() -> None:
    # small_file is written by a hundred lines of Python after docs/format.md.
    model, _ = _core.read_model(small_file())
    tree = model.tree_arrays(0)
    assert (model.n_features, model.n_outputs, model.n_trees) == (3, 2, 4)
    assert list(model.base) == [0.5, -1.0]
    assert list(model.categories) == [0, 12, 0]
    assert list(tree["feature"]) == [2, 1, -1, 0, -1, -1, -1]
    assert list(tree["left"]) == [1, 3, -1, 5, -1, -1, -1]
    assert list(tree["right"]) == [2, 4, -1, 6, -1, -1, -1]
    assert tree["left_categories"][1] == [0, 3, 11]
    assert list(tree["missing_left"]) == [False, False, False, True, False, False, False]
    assert list(tree["gain"]) == [5, 3, 0, 2, 0, 0, 0]
    assert list(tree["cover"]) == [20, 9, 1, 7, 1, 1, 1]
    np.testing.assert_array_equal(tree["value"], [np.nan, np.nan, 1e-3, np.nan, 4.0, 0.25, -3.5])
    np.testing.assert_array_equal(
        tree["threshold"], [-0.75, np.nan, np.nan, 1.5, np.nan, np.nan, np.nan]
    )
    # Tree 0 and 2 add to the first output, 1 and 3 to the second.
    row = np.array([2.0, 11.0, -1.0])
    assert model.predict_rows(row).tolist() == [[0.5 - 3.5 + 1.0, -1.0 + 0.5 - 3.5]]


def test_predictions_have_the_same_bits_after_loading() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=3000), rng.integers(-1, 10, 3000), rng.integers(-1, 702, 3000)]
    ).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    model, _ = _core.read_model(grown_file())
    again, _ = unpack_trees(pack_trees(model, {}))
    raw = model.predict_raw(X, 0, model.n_trees)
    assert np.array_equal(raw, again.predict_raw(X, 0, again.n_trees))
    assert np.array_equal(raw, again.predict_plain(X))


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_every_kind_of_number_keeps_its_bits(zero: float) -> None:
    values = [-np.inf, -5e-324, zero, 5e-324, 0.1, 1.7976931348623157e308, np.inf]
    trees = [Split(0, Leaf(-0.0), Leaf(5e-324), threshold=v) for v in values]
    file = model_file(ensemble_bytes(trees, 1))
    model, metadata = _core.read_model(file)
    assert _core.write_model(model, metadata) == file
    found = [model.tree_arrays(t)["threshold"][0] for t in range(model.n_trees)]
    assert [str(v) for v in found] == [str(np.float64(v)) for v in values]
    assert str(model.tree_arrays(0)["value"][1]) == "-0.0"


def test_the_checksum_is_crc_64_xz() -> None:
    assert _core.checksum(b"123456789") == checksum(b"123456789") == 0x995DC9BBDF1939FA
    assert _core.checksum(b"") == 0
    data = np.random.default_rng(0).bytes(1001)
    for size in (1, 7, 8, 9, 64, 1001):
        assert _core.checksum(data[:size]) == checksum(data[:size])


def test_metadata_is_equal_after_loading() -> None:
    model, _ = _core.read_model(small_file())
    metadata = {
        "names": ["plain", "été", "日本", '\x00\n"\\', "\ud800 unpaired", ""],
        "numbers": [0, -1, 2**80, 0.1, 1e308, -0.0],
        "nothing": None,
        "nested": {"b": [], "a": {}},
    }
    _, again = unpack_trees(pack_trees(model, metadata))
    assert again == metadata
    assert list(again["nested"]) == ["b", "a"]


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_any_buffer_can_be_loaded(kind: type) -> None:
    assert unpack_trees(kind(small_file()))[1] == json.loads(METADATA)
    with pytest.raises(TypeError):
        unpack_trees(5)  # type: ignore[arg-type]


def test_values_that_json_lacks_are_rejected_before_writing() -> None:
    model, _ = _core.read_model(small_file())
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON"):
            pack_trees(model, {"x": value})
    with pytest.raises(TypeError):
        pack_trees(model, {"x": object()})
    with pytest.raises(TypeError, match="dict"):
        pack_trees(model, [1])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"{", "not JSON"),
        (b"{}x", "not JSON"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":-Infinity}', "-Infinity"),
        (b'{"a":1e999}', "too large"),
        (b'{"a":1,"a":2}', "duplicate key"),
        (b'{"a":"\xff"}', "not JSON"),
        (b'{"a":' + b"[" * 100_000, "nested more than|not JSON"),
        (b'{"a":' + b"9" * 10_000 + b"}", "not JSON"),
    ],
)
def test_metadata_that_is_not_strict_json_is_rejected(text: bytes, message: str) -> None:
    model, _ = _core.read_model(small_file())
    with pytest.raises(ModelFileError, match=message):
        unpack_trees(_core.write_model(model, text))


def test_vector_leaves_survive_a_file() -> None:
    model, _ = _core.read_model(forest_file())
    tree = model.tree_arrays(2)
    assert (model.n_trees, model.n_outputs, model.vector_leaves) == (3, 3, True)
    assert [str(v) for v in tree["value"][0]] == ["1.0", "0.0", "-0.0"]
    assert list(tree["cover"]) == [300.0]
    covers = model.tree_arrays(0)["cover"]
    left = model.tree_arrays(0)["left"]
    assert covers[0] == 12
    inner = left >= 0
    assert np.array_equal(covers[inner], covers[left[inner]] + covers[left[inner] + 1])


def test_a_boosted_model_of_one_output_does_not_take_trees_of_vector_leaves() -> None:
    model = bosquet.GradientBoostingRegressor(n_estimators=2).fit([[0.0], [1.0]], [0.0, 1.0])
    _, metadata = unpack_trees(model_bytes(model))
    forest = _core.Ensemble(1, 1, [0.0], [0], vector_leaves=True)
    with pytest.raises(ModelFileError, match="multi_strategy is 'one_output_per_tree'"):
        model_from_bytes(pack_trees(forest, metadata))


def test_a_forest_of_pure_leaves_takes_at_most_eight_bytes_per_node() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 28))
    pure = [(1.0, 0.0), (0.0, 1.0)]
    edges = np.quantile(X, np.linspace(0.01, 0.99, 254))
    trees = [random_tree(X, rng, lambda: pure[rng.integers(2)], thresholds=edges)] * 10
    section = ensemble_bytes(trees, 28, base=(0.0, 0.0))
    file = model_file(section, crc=_core.checksum)
    model, metadata = _core.read_model(file)
    assert _core.write_model(model, metadata) == file
    nodes = sum(len(model.tree_arrays(t)["left"]) for t in range(model.n_trees))
    assert nodes > 40_000
    assert len(file) < 8 * nodes


def test_a_file_is_smaller_than_its_nodes_in_memory() -> None:
    model, metadata = _core.read_model(grown_file())
    nodes = sum(len(model.tree_arrays(t)["left"]) for t in range(model.n_trees))
    splits = sum(np.sum(model.tree_arrays(t)["left"] >= 0) for t in range(model.n_trees))
    assert len(_core.write_model(model, b"")) < 24 * nodes + 32 + 700 // 8 * splits
    assert metadata == METADATA

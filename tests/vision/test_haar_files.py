"""Files of HaarBoostClassifier: round trips, and errors for invalid files."""

import copy

import numpy as np
import pytest
from haar_images import bars

import bosquet
from bosquet.io import ModelFileError, model_bytes, model_from_bytes, pack_trees, unpack_trees
from bosquet.vision import HaarBoostClassifier


@pytest.fixture(scope="module", params=["discrete", "gentle"])
def saved(request):
    images, y = bars(80, seed=1)
    names = np.array(["level", "upright"])[1 - y]
    model = HaarBoostClassifier(4, variant=request.param, features="all", window=(8, 8))
    return model.fit(images, names), images


def test_a_loaded_model_predicts_the_same(saved, tmp_path):
    model, images = saved
    model.save(tmp_path / "model.bosquet")
    again = bosquet.load(tmp_path / "model.bosquet")
    assert np.array_equal(again.decision_function(images), model.decision_function(images))
    assert np.array_equal(again.predict(images), model.predict(images))
    assert np.array_equal(again.estimator_weights_, model.estimator_weights_)
    assert np.array_equal(again.estimator_errors_, model.estimator_errors_, equal_nan=True)
    assert np.array_equal(again.mean_image_, model.mean_image_)
    assert again.window_ == model.window_
    assert again.get_params() == model.get_params()


def test_saving_a_loaded_model_gives_the_same_bytes(saved):
    data = model_bytes(saved[0])
    assert model_bytes(model_from_bytes(data)) == data


def paths(node, path=()):
    yield path
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in items:
        if not isinstance(key, int) or key < 2:
            yield from paths(value, (*path, key))


@pytest.mark.parametrize("wrong", [None, -1, "text", [], {}, [1, 2], 1e300, True, 10**30], ids=repr)
def test_a_wrong_value_anywhere_raises_or_is_harmless(saved, wrong):
    model, images = saved
    ensemble, metadata = unpack_trees(model_bytes(model))
    for path in paths(metadata):
        if not path:
            continue
        changed = copy.deepcopy(metadata)
        node = changed
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = wrong
        try:
            read = model_from_bytes(pack_trees(ensemble, changed))
        except ModelFileError:
            continue
        if path[0] != "classes":  # which may be anything that two labels can be
            assert read.decision_function(images).shape == (80,)


def test_a_rectangle_outside_the_window_raises(saved):
    ensemble, metadata = unpack_trees(model_bytes(saved[0]))
    metadata["rectangles"][2][0] = [5, 5, 5, 5]
    with pytest.raises(ModelFileError, match="rectangle 0 of feature 2 is not inside the window"):
        model_from_bytes(pack_trees(ensemble, metadata))

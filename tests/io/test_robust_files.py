"""Files of BrownBoost, LPBoost and AdaBoost.R2: inconsistent metadata is rejected."""

import copy
import json
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier

from bosquet import (
    AdaBoostRegressor,
    BrownBoostClassifier,
    DecisionTreeRegressor,
    LPBoostClassifier,
)
from bosquet.io import ModelFileError, model_bytes, model_from_bytes, pack_trees, unpack_trees

MODELS = [
    BrownBoostClassifier(n_estimators=6),
    LPBoostClassifier(nu=0.3),
    AdaBoostRegressor(n_estimators=4, random_state=0),
    AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), 4, random_state=0),
]


@pytest.fixture(params=MODELS, ids=repr)
def file(request):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    y = X[:, 0] + 0.5 * random.normal(size=60)
    if is_classifier(request.param):
        y = y > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return X, model_bytes(request.param.fit(X, y))


def test_saved_loaded_and_saved_again_the_bytes_are_the_same(file):
    X, data = file
    again = model_from_bytes(data)
    assert model_bytes(again) == data
    assert np.isfinite(again.predict(X)).all()


def places(node, path=()):
    """Return the path of keys of every value in the metadata."""
    yield path
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))


@pytest.mark.parametrize("wrong", [None, -1, "text", [], {}, [1, 2], 1e300], ids=repr)
def test_a_changed_value_is_rejected_or_harmless(file, wrong):
    X, data = file
    trees, metadata = unpack_trees(data)
    for path in list(places(metadata))[1:]:
        broken = copy.deepcopy(metadata)
        inner = broken
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = wrong
        try:
            model = model_from_bytes(pack_trees(trees, broken))
        except ModelFileError:
            continue
        with np.errstate(all="ignore"):
            assert len(model.predict(X)) == len(X), path


@pytest.mark.parametrize("field", ["arrays", "encoder", "classes", "learner", "numbers", "rounds"])
def test_the_error_names_a_missing_field(file, field):
    trees, metadata = unpack_trees(file[1])
    if field == "classes" and metadata["classes"] is None:
        return
    del metadata[field]
    with pytest.raises(ModelFileError, match=f"has no '{field}'"):
        model_from_bytes(pack_trees(trees, metadata))


def test_weights_must_match_the_trees(file):
    trees, metadata = unpack_trees(file[1])
    right = metadata["arrays"]["estimator_weights_"]
    for weights in ([*right, 1.0], [*right[:-1], 0.0], []):
        broken = json.loads(json.dumps(metadata))
        broken["arrays"]["estimator_weights_"] = weights
        with pytest.raises(ModelFileError, match="'estimator_weights_' must contain"):
            model_from_bytes(pack_trees(trees, broken))

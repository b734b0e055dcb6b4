"""The search for the best Haar stump gives the same result as sorting every feature."""

import numpy as np
import pytest
from haar_images import bars
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet import _core
from bosquet.reference import haar as reference
from bosquet.vision import feature_values, haar_features
from bosquet.vision.haar_stumps import HaarLearner, _trimmed_weights
from bosquet.vision.integral import feature_arrays

CRITERIA = ("error", "exponential", "squared")


def search(images, y, features, memory=10**9, isa="auto", threads=1, normalise=True):
    return _core.HaarSearch(
        images,
        (y == 1).view(np.uint8),
        *feature_arrays(features),
        normalise,
        memory,
        isa,
        threads,
    )


def sorted_search(images, y, features, weight, criterion):
    """The best stump by the core's exact search on the matrix of feature values."""
    values = feature_values(images, features)
    return _core.find_best_of_blocks([(0, values)], 2.0 * y - 1, weight, criterion)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_stump_matches_an_exact_search(criterion, seed):
    images, y = bars(90 + 400 * seed, seed=seed, depth=3)
    features = haar_features((8, 8), "all")
    weight = np.random.default_rng(seed).random(y.size) ** 3
    feature, threshold, left, right, criterion_value, gain = search(images, y, features).find_best(
        weight, criterion
    )
    wanted = sorted_search(images, y, features, weight, criterion)
    assert feature == wanted.feature
    assert (left, right) == tuple(wanted.values[:, 0])
    assert (criterion_value, gain) == pytest.approx(
        (wanted.criterion_value, wanted.gain), rel=1e-12
    )
    values = feature_values(images, features[feature])[0]
    assert np.array_equal(values < threshold, values <= wanted.threshold)


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_the_best_stump_is_exact_for_random_weights(seed):
    random = np.random.default_rng(seed)
    images = random.integers(0, random.integers(2, 256), size=(40, 5, 6), dtype=np.uint8)
    y = random.integers(0, 2, size=40)
    weight = random.random(40) * (random.random(40) < random.random()) + 1e-9
    features = haar_features((6, 5), "all")
    criterion = CRITERIA[seed % 3]
    found = search(images, y, features).find_best(weight, criterion)
    wanted = sorted_search(images, y, features, weight, criterion)
    if wanted.feature == -1:  # no split is better than a constant
        assert found[2] == found[3] == wanted.values[0, 0]
    else:
        assert found[0] == wanted.feature
        assert (found[2], found[3]) == tuple(wanted.values[:, 0])


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_search_is_exact_with_outlying_values(criterion):
    images, y = bars(400, seed=11, depth=3)
    images[::40, 1:-1, 1:-1] = 30  # no contrast without the border: values are not normalised
    features = haar_features((8, 8))
    assert np.abs(feature_values(images, features)).max() > 100
    weight = np.random.default_rng(0).random(400)
    found = search(images, y, features).find_best(weight, criterion)
    wanted = sorted_search(images, y, features, weight, criterion)
    assert (found[0], found[2], found[3]) == (wanted.feature, *wanted.values[:, 0])


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_result_does_not_depend_on_memory_threads_or_instructions(criterion):
    images, y = bars(300, seed=5)
    features = haar_features((8, 8))
    whole = search(images, y, features)
    others = [
        search(images, y, features, memory=0),
        search(images, y, features, memory=100_000, threads=3),
        search(images, y, features, isa="baseline", threads=2),
    ]
    assert whole.n_kept == len(features)
    assert [other.n_kept for other in others] == [0, 100_000 // 304, len(features)]
    random = np.random.default_rng(0)
    for _ in range(5):  # later rounds start with the best features of the previous one
        weight = random.random(y.size)
        wanted = whole.find_best(weight, criterion)
        assert all(other.find_best(weight, criterion) == wanted for other in others)


def test_the_stump_of_lowest_error_matches_the_reference():
    images, y = bars(60, side=6, seed=6)
    features = haar_features((6, 6))
    weight = np.random.default_rng(1).random(60)
    weight /= weight.sum()
    scale = np.array([reference.contrast(image) for image in images])
    tables = [(reference.integral(image), None) for image in images]
    values = np.array(
        [
            [reference.feature_value(of_image, feature) for of_image in tables]
            for feature in reference.enumerate_features(6, 6)
        ]
    )
    error, feature, _, left, right = reference.best_stump(values / scale, 2 * y - 1, weight)
    found = search(images, y, features).find_best(weight, "error")
    assert (found[0], found[2], found[3]) == (feature, left, right)
    assert found[4] == pytest.approx(error)


def test_windows_of_weight_zero_have_no_effect():
    images, y = bars(200, seed=7)
    features = haar_features((8, 8))
    weight = np.random.default_rng(2).random(200)
    weight[np.random.default_rng(3).permutation(200)[:150]] = 0
    kept = weight > 0
    found = search(images, y, features).find_best(weight, "error")
    alone = search(images[kept], y[kept], features).find_best(weight[kept], "error")
    assert found[0] == alone[0]
    assert found[2:4] == alone[2:4]
    assert found[4] == pytest.approx(alone[4], rel=1e-12)


def test_identical_windows_give_a_constant_stump():
    images = np.full((20, 6, 6), 9, dtype=np.uint8)
    y = np.arange(20) % 4 == 0
    _, _, left, right, criterion_value, gain = search(images, y, haar_features((6, 6))).find_best(
        np.full(20, 0.05), "error"
    )
    assert left == right == -1
    assert criterion_value == pytest.approx(0.25)
    assert gain == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30).filter(any), st.floats(0.05, 1))
@settings(max_examples=60, deadline=None)
def test_trimming_keeps_the_largest_weights_and_at_least_their_share(weight, share):
    weight = np.array(weight)
    kept = _trimmed_weights(weight, share)
    assert kept.sum() >= share * weight.sum() * (1 - 1e-12)
    dropped = (kept == 0) & (weight > 0)
    if dropped.any():
        assert weight[dropped].max() < kept[kept > 0].min()


def test_a_trimmed_search_finds_the_stump_of_the_largest_weights():
    images, y = bars(200, seed=8)
    weight = np.where(np.arange(200) < 100, 1.0, 1e-4)
    options = {"output_kind": "signs", "normalise": True, "memory": 1.0, "threads": 1}
    features = haar_features((8, 8))
    trimmed = HaarLearner(images, y == 1, features, trim=0.9, **options)
    heavy = HaarLearner(images[:100], y[:100] == 1, features, trim=1.0, **options)
    found, wanted = (
        trimmed.fit(2.0 * y - 1, weight, 0),
        heavy.fit(2.0 * y[:100] - 1, weight[:100], 0),
    )
    assert (found.feature, found.left, found.right) == (wanted.feature, wanted.left, wanted.right)


def test_invalid_weights_raise():
    images, y = bars(20)
    ready = search(images, y, haar_features((8, 8))[:50])
    with pytest.raises(ValueError, match="one entry per window"):
        ready.find_best(np.ones(19), "error")
    with pytest.raises(ValueError, match="row 3 is -1"):
        ready.find_best(np.where(np.arange(20) == 3, -1.0, 1.0), "error")
    with pytest.raises(ValueError, match="criterion='gini' is unknown"):
        ready.find_best(np.ones(20), "gini")

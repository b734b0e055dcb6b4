"""boost_stage: targets, thresholds and reports of the stages of a cascade."""

import numpy as np
import pytest
from haar_images import bars

from bosquet.vision import boost_stage, feature_values, haar_features

FEATURES = haar_features((8, 8))


def windows(n=400, seed=0, depth=3):
    images, y = bars(n, seed=seed, depth=depth)
    return images, y == 1


def sums_of(stage, images):
    sums = np.zeros(len(images))
    for tree in stage.trees:
        values = feature_values(images, FEATURES[tree.feature])[0]
        sums += np.where(values < tree.threshold[0], *tree.leaves.astype(float))
    return sums


@pytest.mark.parametrize("boost", ["gentle", "discrete", "real"])
def test_a_stage_reaches_its_targets(boost):
    images, labels = windows()
    stage, report = boost_stage(
        images, labels, FEATURES, boost=boost, min_hit_rate=0.99, max_false_alarm=0.2
    )
    passes = sums_of(stage, images) >= stage.threshold - 1e-5
    assert report.reached
    assert report.n_stumps == len(stage.trees)
    assert report.hit_rate == passes[labels].mean() >= 0.99
    assert report.false_alarm == passes[~labels].mean() <= 0.2


def test_a_harder_target_needs_more_stumps():
    images, labels = windows()
    easy = boost_stage(images, labels, FEATURES, max_false_alarm=0.5)[1]
    hard = boost_stage(images, labels, FEATURES, max_false_alarm=0.01)[1]
    assert hard.n_stumps > easy.n_stumps


def test_the_threshold_is_the_largest_that_keeps_the_hit_rate():
    images, labels = windows()
    stage, report = boost_stage(images, labels, FEATURES, min_hit_rate=0.9, max_false_alarm=0.1)
    sums = np.sort(sums_of(stage, images)[labels])
    above = sums[sums > stage.threshold + 1e-4]
    assert above.size / sums.size < 0.9 <= report.hit_rate


def test_a_missed_target_gives_a_valid_stage_and_the_reason():
    random = np.random.default_rng(0)
    images = random.integers(0, 256, size=(300, 8, 8), dtype=np.uint8)
    labels = random.random(300) < 0.5
    stage, report = boost_stage(images, labels, FEATURES[:500], max_false_alarm=0.01, max_stumps=3)
    assert not report.reached
    assert len(stage.trees) == 3
    assert "max_stumps=3" in report.message


def test_flat_images_are_not_used_for_training():
    images, labels = windows()
    flat = np.full((60, 8, 8), 90, dtype=np.uint8)
    more = np.concatenate([images, flat])
    truth = np.concatenate([labels, np.arange(60) < 10])
    stage, report = boost_stage(more, truth, FEATURES, weight_trim=1.0)
    alone, _ = boost_stage(images, labels, FEATURES, weight_trim=1.0)
    assert (report.n_flat_positives, report.n_flat_negatives) == (10, 50)
    assert [tree.feature[0] for tree in stage.trees] == [
        tree.feature[0] for tree in alone.trees[: len(stage.trees)]
    ]


def test_the_stage_is_the_same_for_any_number_of_threads():
    images, labels = windows()
    one = boost_stage(images, labels, FEATURES, max_false_alarm=0.1, n_jobs=1)[0]
    many = boost_stage(images, labels, FEATURES, max_false_alarm=0.1, n_jobs=3, memory=0)[0]
    assert one.threshold == many.threshold
    for a, b in zip(one.trees, many.trees, strict=True):
        assert (a.feature, a.threshold) == (b.feature, b.threshold)
        assert np.array_equal(a.leaves, b.leaves)


def test_progress_is_called_and_may_end_the_stage():
    images, labels = windows()
    calls = []

    def progress(stumps, hit_rate, false_alarm):
        calls.append((stumps, hit_rate, false_alarm))
        return stumps == 2

    _, report = boost_stage(images, labels, FEATURES, max_false_alarm=0.001, progress=progress)
    assert [stumps for stumps, _, _ in calls] == [1, 2]
    assert report.message == "stopped by progress"
    assert calls[-1][1:] == (report.hit_rate, report.false_alarm)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": np.ones(400, bool)}, "there are no negative images"),
        ({"labels": np.zeros(400, bool)}, "there are no positive images"),
        ({"labels": np.zeros(3, bool)}, "one bool per image"),
        ({"images": np.zeros((400, 9, 9), np.uint8)}, "9 × 9 pixels, but the window has 8 × 8"),
        ({"images": np.zeros((400, 8, 8))}, "uint8"),
        ({"min_hit_rate": 1.5}, "min_hit_rate=1.5"),
        ({"max_false_alarm": 0}, "max_false_alarm=0"),
        ({"boost": "logit"}, "boost='logit'"),
    ],
)
def test_invalid_input_raises(change, message):
    images, labels = windows()
    arguments = {"images": images, "labels": labels, "features": FEATURES, **change}
    with pytest.raises(ValueError, match=message):
        boost_stage(**arguments)

"""HaarBoostClassifier: comparison with the reference, certificate, scikit-learn API, invalid input."""

import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from haar_images import bars
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import check_estimator

from bosquet.reference import haar as reference
from bosquet.vision import HaarBoostClassifier, ImageConversionWarning, haar_features
from bosquet.vision.images import grey_image


@pytest.fixture(scope="module")
def fitted():
    images, y = bars(200, seed=1)
    return HaarBoostClassifier(12).fit(images, y), images, y


def test_the_vote_matches_the_reference():
    images, y = bars(40, side=6, seed=2)
    model = HaarBoostClassifier(4).fit(images, y)
    wanted = reference.adaboost(images, 2 * y - 1, reference.enumerate_features(6, 6), rounds=4)
    assert model.feature_numbers_.tolist() == [feature for _, feature, *_ in wanted]
    for t, (alpha, _, threshold, left, right) in enumerate(wanted):
        np.testing.assert_allclose(model.leaves_[t], [alpha * left, alpha * right], rtol=1e-9)
        assert model.thresholds_[t] == pytest.approx(threshold, rel=1e-5)


def test_bars_in_new_images_are_classified(fitted):
    model, _, _ = fitted
    images, y = bars(300, seed=9)
    assert model.score(images, y) > 0.95


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
def test_the_certificate_holds_and_bounds_the_training_error(variant):
    images, y = bars(150, seed=3, depth=3)
    model = HaarBoostClassifier(15, variant=variant).fit(images, y)
    certificate = model.certificate_
    assert certificate.holds()
    assert certificate.n_rounds == model.n_estimators_
    assert certificate.product[-1] >= np.mean(model.predict(images) != y)
    margins = (2 * y - 1) * model.decision_function(images)
    assert np.array_equal(certificate.margins > 0, margins > 0)


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
def test_stages_add_up_to_the_vote(variant):
    images, y = bars(150, seed=3, depth=3)
    model = HaarBoostClassifier(8, variant=variant, learning_rate=0.5).fit(images, y)
    stages = list(model.staged_decision_function(images))
    assert len(stages) == len(model) == model.n_estimators_
    assert np.array_equal(stages[-1], model.decision_function(images))
    errors = [np.mean(predicted != y) for predicted in model.staged_predict(images)]
    np.testing.assert_allclose(errors, model.train_score_)
    assert list(model.staged_score(images, y))[-1] == model.score(images, y)
    proba = list(model.staged_predict_proba(images))[-1]
    assert np.array_equal(proba, model.predict_proba(images))
    np.testing.assert_allclose(proba[:, 1], 1 / (1 + np.exp(-2 * stages[-1])))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(images)), proba)


def test_a_perfect_stump_ends_the_fit():
    images, y = bars(40, seed=4)
    images[y == 1, 0:4], images[y == 1, 4:] = 200, 20
    images[y == 0, 0:4], images[y == 0, 4:] = 20, 200
    model = HaarBoostClassifier(50).fit(images, y)
    assert model.n_estimators_ == 1
    assert model.score(images, y) == 1


def test_the_model_is_the_same_for_any_number_of_threads_and_any_memory(fitted):
    model, images, y = fitted
    for options in ({"n_jobs": 1}, {"n_jobs": 3, "memory": 0.0001}):
        other = clone(model).set_params(**options).fit(images, y)
        assert np.array_equal(other.feature_numbers_, model.feature_numbers_)
        assert np.array_equal(other.thresholds_, model.thresholds_)
        assert np.array_equal(other.leaves_, model.leaves_)


def test_feature_numbers_are_indices_of_the_selected_features(fitted):
    model, _, _ = fitted
    every = haar_features(model.window_, "basic")
    assert model.window_ == (8, 8)
    assert np.array_equal(every.rectangles[model.feature_numbers_], model.features_.rectangles)
    assert np.array_equal(every.weights[model.feature_numbers_], model.features_.weights)


def test_the_mean_image_is_that_of_the_second_class(fitted):
    model, images, y = fitted
    np.testing.assert_allclose(model.mean_image_, images[y == 1].mean(axis=0))


def test_integer_weights_are_equivalent_to_repeated_images():
    images, y = bars(80, seed=5, depth=3)
    weight = np.random.default_rng(0).integers(0, 3, size=80)
    weighted = HaarBoostClassifier(5).fit(images, y, sample_weight=weight)
    copied = HaarBoostClassifier(5).fit(np.repeat(images, weight, axis=0), np.repeat(y, weight))
    assert np.array_equal(weighted.feature_numbers_, copied.feature_numbers_)
    np.testing.assert_allclose(weighted.leaves_, copied.leaves_, rtol=1e-9)


def test_balanced_classes_start_with_half_of_the_weight_each():
    images, y = bars(300, seed=6)
    few = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:12]])
    images, y = images[few], y[few]
    balanced = HaarBoostClassifier(3, class_weight="balanced").fit(images, y)
    by_hand = np.where(y == 1, 1 / np.sum(y == 1), 1 / np.sum(y == 0))
    weighted = HaarBoostClassifier(3).fit(images, y, sample_weight=by_hand)
    assert np.array_equal(balanced.feature_numbers_, weighted.feature_numbers_)
    np.testing.assert_allclose(balanced.estimator_errors_, weighted.estimator_errors_)


def test_the_certificate_holds_with_weight_trimming():
    images, y = bars(300, seed=7, depth=3)
    model = HaarBoostClassifier(20, weight_trim=0.9).fit(images, y)
    assert model.certificate_.holds()
    assert model.score(images, y) > 0.95


def test_flat_rows_of_pixels_are_reshaped_to_the_window():
    images = np.random.default_rng(1).integers(0, 256, size=(60, 5, 7), dtype=np.uint8)
    y = np.array(["no", "yes"])[(images[:, :, :3].mean(axis=(1, 2)) > 127).astype(int)]
    stacked = HaarBoostClassifier(5).fit(images, y)
    flat = HaarBoostClassifier(5, window=(7, 5)).fit(images.reshape(60, -1), y)
    assert np.array_equal(stacked.predict(images), flat.predict(images.reshape(60, -1)))
    assert set(flat.predict(images)) == {"no", "yes"}


@pytest.mark.parametrize(
    ("convert", "message"),
    [
        (lambda images: images / 255, "multiplied by 255"),
        (lambda images: images.astype(np.float32), "rounded to integer"),
        (lambda images: np.repeat(images[..., None], 3, axis=3), "colour becomes grey"),
    ],
)
def test_colour_and_floats_are_converted_with_one_warning(fitted, convert, message):
    model, images, y = fitted
    with pytest.warns(UserWarning, match=message):
        other = clone(model).fit(convert(images), y)
    assert np.array_equal(other.feature_numbers_, model.feature_numbers_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(other.predict(convert(images)), model.predict(images))


def test_colours_become_the_same_grey_levels_as_in_a_detector(fitted):
    model, images, _ = fitted
    colours = np.random.default_rng(2).integers(0, 256, size=(*images.shape, 3), dtype=np.uint8)
    with pytest.warns(ImageConversionWarning):
        grey = np.stack([grey_image(image) for image in colours])
    assert np.array_equal(model.decision_function(colours), model.decision_function(grey))


def test_a_dark_float_image_is_read_on_the_scale_of_the_fit():
    images, y = bars(100, seed=8)
    with pytest.warns(UserWarning, match="rounded to integer"):
        model = HaarBoostClassifier(3).fit(images.astype(float), y)
    dark = np.minimum(images[:5], 1)
    assert np.array_equal(
        model.decision_function(dark.astype(float)), model.decision_function(dark)
    )


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (
            np.zeros((4, 8, 8), np.uint8),
            [0, 0, 0, 0],
            "^y has one class only, 0: a classifier needs",
        ),
        (np.zeros((4, 8, 8), np.uint8), [0, 1, 2, 2], "needs two classes, but y has 3"),
        (np.zeros((4, 8, 8), np.uint8), [0, 1, 1], "inconsistent numbers of samples"),
        (np.zeros((4, 64), np.uint8), [0, 1, 0, 1], r"window=\(width, height\)"),
        (np.zeros((4, 2, 8), np.uint8), [0, 1, 0, 1], "have 8 × 2 pixels; at least 3 × 3"),
        (np.zeros((4, 8, 8, 5), np.uint8), [0, 1, 0, 1], "has shape"),
        (np.zeros((0, 8, 8), np.uint8), [], "is empty"),
        (np.full((4, 8, 8), 300), [0, 1, 0, 1], "image 0 has pixels from 300 to 300"),
        (np.full((4, 8, 8), np.nan), [0, 1, 0, 1], "image 0 has NaN"),
        ([np.zeros((8, 8)), np.zeros((9, 9))], [0, 1], "images of equal size"),
        ([["a"]], [0], "array of numbers"),
    ],
)
def test_invalid_input_raises(X, y, message):
    with pytest.raises(ValueError, match=message):
        HaarBoostClassifier(2).fit(X, y)


def test_images_of_another_size_than_the_window_raise(fitted):
    model, images, y = fitted
    with pytest.raises(ValueError, match="8 × 8 pixels, but the window has 24 × 24"):
        HaarBoostClassifier(2, window=(24, 24)).fit(images, y)
    with pytest.raises(ValueError, match="6 × 6 pixels, but the window has 8 × 8"):
        model.predict(images[:, :6, :6])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("features", "many"),
        ("variant", "logit"),
        ("learning_rate", 0),
        ("weight_trim", 0),
        ("memory", -1),
        ("normalise", 1),
        ("window", (2, 2)),
    ],
)
def test_a_parameter_out_of_range_raises(name, value, fitted):
    _, images, y = fitted
    with pytest.raises(ValueError, match=f"{name}="):
        HaarBoostClassifier(**{name: value}).fit(images, y)


def test_a_failed_fit_leaves_the_model_unchanged(fitted):
    model, images, y = fitted
    before = model.predict(images)
    with pytest.raises(ValueError, match="one class"):
        model.fit(images, np.zeros_like(y))
    assert np.array_equal(model.predict(images), before)


def test_identical_images_of_both_classes_raise():
    y = np.arange(20) % 2
    with pytest.raises(ValueError, match="no better than chance"):
        HaarBoostClassifier(3).fit(np.full((20, 6, 6), 7, np.uint8), y)


def test_predict_before_fit_raises():
    with pytest.raises(NotFittedError):
        HaarBoostClassifier().predict(np.zeros((1, 8, 8), np.uint8))


def test_a_pickled_model_predicts_the_same_and_a_clone_has_its_parameters(fitted):
    model, images, _ = fitted
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(images), model.decision_function(images))
    assert clone(model).get_params() == model.get_params()


def test_works_in_a_grid_search(fitted):
    _, images, y = fitted
    search = GridSearchCV(HaarBoostClassifier(3), {"features": ["basic", "core"]}, cv=2)
    assert search.fit(images, y).best_score_ > 0.7


def test_several_classes_go_through_one_against_the_rest():
    images, y = bars(150, seed=11)
    images[::3] = np.random.default_rng(3).integers(40, 220, size=images[::3].shape)
    y[::3] = 2
    model = OneVsRestClassifier(HaarBoostClassifier(10, window=(8, 8)))
    flat = images.reshape(len(images), -1)
    assert model.fit(flat, y).score(flat, y) > 0.8


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc")
def test_the_matrix_of_all_values_is_never_in_memory():
    images, y = bars(2000, side=14, seed=12)
    as_floats = 4 * len(haar_features((14, 14))) * len(images) / 1e6  # 150 MB
    try:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak to the current value
    except OSError:
        pytest.skip("the memory peak cannot be reset on this system")
    before = memory_in_megabytes("VmRSS")
    HaarBoostClassifier(2, memory=0.005, n_jobs=1).fit(images, y)
    assert memory_in_megabytes("VmHWM") - before < as_floats / 3


def memory_in_megabytes(field):
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) / 1e3


def test_check_estimator_skips_estimators_of_images():
    with pytest.warns(Warning, match="Can't test estimator"):
        check_estimator(HaarBoostClassifier())


def test_the_progress_bar_and_callbacks_see_every_round(fitted, capsys):
    _, images, y = fitted
    seen = []
    HaarBoostClassifier(5, callbacks=[lambda info: seen.append(info.iteration)], verbose=1).fit(
        images, y
    )
    assert seen == [1, 2, 3, 4, 5]
    assert "5/5" in capsys.readouterr().err
    short = HaarBoostClassifier(5, callbacks=[lambda info: info.iteration == 2]).fit(images, y)
    assert short.n_estimators_ == 2

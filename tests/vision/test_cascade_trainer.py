"""CascadeTrainer: targets of the stages, mining of negatives, checkpoints and stopping reasons."""

from __future__ import annotations

import json
import os
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from random_cascades import random_cascade, windows_of
from sklearn.base import clone

from bosquet.vision import CascadeFileError, CascadeTrainer, boost_stage
from bosquet.vision.cascade import Cascade
from bosquet.vision.checkpoint import TrainedStage, load_checkpoint, save_checkpoint
from bosquet.vision.evaluation import overlaps
from bosquet.vision.images import resize
from bosquet.vision.mining import mine_negatives

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("BOSQUET_DATA", ROOT.parent / "shared" / "data"))
NAMES = ("feature", "threshold", "left", "right", "leaves")


def rings(n, random, side=12):
    """Bright rings on a dark background, with noise."""
    rows, columns = np.mgrid[:side, :side] - (side - 1) / 2
    distance = np.hypot(rows, columns)
    out = []
    for _ in range(n):
        radius, light = random.uniform(3.5, 4.5), random.uniform(80, 150)
        ring = light * (np.abs(distance - radius) < 1.2)
        out.append(np.clip(40 + ring + random.normal(0, 14, ring.shape), 0, 255))
    return np.array(out).astype(np.uint8)


def scenes(n, random, side=90):
    """Backgrounds: bars, blocks and noise at several sizes."""
    out = []
    for _ in range(n):
        image = random.normal(90, 10, (side, side))
        for _ in range(60):
            x, y = random.integers(0, side, 2)
            w, h = random.integers(1, 14, 2)
            image[y : y + h, x : x + w] += random.normal(0, 50)
        out.append(np.clip(image, 0, 255).astype(np.uint8))
    return out


@pytest.fixture(scope="module")
def material():
    random = np.random.default_rng(0)
    return rings(250, random), scenes(12, random)


@pytest.fixture(scope="module")
def trained_cascade(material):
    trainer = CascadeTrainer(n_stages=5, n_negatives=250, max_false_alarm=0.3, random_state=1)
    return trainer.fit(*material)


def have_same_stages(one: Cascade, other: Cascade) -> bool:
    return len(one.stages) == len(other.stages) and all(
        a.threshold == b.threshold
        and all(
            np.array_equal(getattr(s, name), getattr(t, name))
            for s, t in zip(a.trees, b.trees, strict=True)
            for name in NAMES
        )
        for a, b in zip(one.stages, other.stages, strict=True)
    )


def test_stages_reach_their_targets_on_their_training_images(trained_cascade, material):
    assert 2 <= len(trained_cascade.stages_) == len(trained_cascade.cascade_.stages)
    for stage in trained_cascade.stages_:
        assert stage.reached
        assert stage.hit_rate >= 0.995
        assert stage.false_alarm <= 0.3
    # The detector makes the same decisions as the training.
    expected = np.prod([stage.hit_rate for stage in trained_cascade.stages_])
    assert trained_cascade.cascade_.passes(material[0]).mean() == pytest.approx(expected, abs=0.003)


def test_each_stage_reduces_the_acceptance_of_background_windows(trained_cascade):
    acceptance = [stage.acceptance for stage in trained_cascade.stages_]
    assert all(later < earlier for earlier, later in pairwise(acceptance))


def test_objects_in_a_new_scene_are_detected(trained_cascade):
    random = np.random.default_rng(7)
    image = scenes(1, random, 150)[0]
    places = np.array([[20, 30, 36, 36], [90, 100, 36, 36], [100, 20, 36, 36]])
    for (x, y, w, h), ring in zip(places, rings(3, random), strict=True):
        image[y : y + h, x : x + w] = resize(ring, (w, h))
    found = trained_cascade.cascade_.detect(image, min_neighbors=0).boxes
    assert overlaps(places, found).max(axis=1).min() > 0.6
    assert len(found) < 100  # of about 20,000 windows


def test_opencv_makes_the_same_decisions_as_the_trained_cascade(trained_cascade, tmp_path):
    cv2 = pytest.importorskip("cv2")
    trained_cascade.cascade_.to_opencv(tmp_path / "rings.xml")
    theirs = cv2.CascadeClassifier(str(tmp_path / "rings.xml"))
    random = np.random.default_rng(3)
    image = scenes(1, random, 150)[0]
    image[40:52, 60:72] = rings(1, random)[0]
    ours = trained_cascade.cascade_.detect(image, min_neighbors=0).boxes.tolist()
    assert sorted(ours) == sorted(np.array(theirs.detectMultiScale(image, 1.1, 0)).tolist())
    assert ours
    # Single crops of the window's size.
    crops = np.concatenate([windows_of(image, (12, 12))[::97], rings(40, random)])
    passing = trained_cascade.cascade_.passes(crops)
    assert passing.tolist() == [len(theirs.detectMultiScale(crop, 1.1, 0)) > 0 for crop in crops]
    assert 0 < passing.sum() < len(crops)


def test_mined_windows_pass_the_cascade_and_come_from_the_backgrounds(trained_cascade, material):
    short = trained_cascade.cascade_.first(1)
    mined = mine_negatives(short, material[1], 80, np.random.default_rng(0))
    assert mined.images.shape == (80, 12, 12)
    assert short.passes(mined.images).all()
    assert 0 < mined.acceptance < 1


def test_the_number_of_threads_does_not_change_the_cascade(trained_cascade, material):
    again = clone(trained_cascade).set_params(n_jobs=1).fit(*material)
    assert have_same_stages(again.cascade_, trained_cascade.cascade_)


def test_a_resumed_training_gives_the_same_cascade(trained_cascade, material, tmp_path):
    path = tmp_path / "rings.json"
    clone(trained_cascade).set_params(n_stages=2, checkpoint=path).fit(*material)
    # n_stages only decides when to stop, so it may differ in the second fit.
    again = clone(trained_cascade).set_params(n_stages=5, checkpoint=path).fit(*material)
    assert have_same_stages(again.cascade_, trained_cascade.cascade_)
    assert len(json.loads(path.read_text())["stages"]) == len(trained_cascade.stages_)


def test_an_interrupt_within_a_stage_loses_only_that_stage(
    trained_cascade, material, tmp_path, monkeypatch
):
    path, stages = tmp_path / "rings.json", []

    def killed(*given, **options):
        stages.append(None)
        if len(stages) == 2:
            raise KeyboardInterrupt
        return boost_stage(*given, **options)

    trainer = clone(trained_cascade).set_params(checkpoint=path)
    with monkeypatch.context() as changed:
        changed.setattr("bosquet.vision.trainer.boost_stage", killed)
        with pytest.raises(KeyboardInterrupt):
            trainer.fit(*material)
    assert not hasattr(trainer, "cascade_")
    assert len(json.loads(path.read_text())["stages"]) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["rings.json"]
    assert have_same_stages(trainer.fit(*material).cascade_, trained_cascade.cascade_)


def test_folders_are_read_and_unusable_files_are_skipped_with_a_warning(material, tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    for folder, images in (("objects", material[0][:60]), ("scenes", material[1])):
        (tmp_path / folder).mkdir()
        for number, image in enumerate(images):
            colours = image_module.fromarray(image).convert("RGB")
            colours.resize((40, 40) if folder == "objects" else colours.size).save(
                tmp_path / folder / f"{number:03}.png"
            )
        (tmp_path / folder / "broken.jpg").write_bytes(b"no image")
    image_module.new("L", (9, 9)).save(tmp_path / "scenes" / "small.png")
    trainer = CascadeTrainer((12, 12), n_stages=1, n_negatives=100)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trainer.fit(tmp_path / "objects", str(tmp_path / "scenes"))
    texts = [str(warning.message) for warning in caught]
    assert ["objects" in text and "broken.jpg" in text for text in texts] == [True, False, False]
    assert "scenes" in texts[1]
    assert texts[2].startswith("1 of 13 backgrounds are smaller than the window of 12 × 12")
    assert all(warning.filename == __file__ for warning in caught)
    assert trainer.cascade_.window == (12, 12)
    assert trainer.stages_[0].n_positives == 60


def test_a_checkpoint_of_another_training_raises(material, tmp_path):
    path = tmp_path / "rings.json"
    trainer = CascadeTrainer(n_stages=1, n_negatives=100, checkpoint=path).fit(*material)
    with pytest.raises(ValueError, match="with different max_stumps"):
        clone(trainer).set_params(max_stumps=7).fit(*material)
    with pytest.raises(ValueError, match="with different images"):
        clone(trainer).fit(material[0][1:], material[1])
    path.write_text("{")
    with pytest.raises(CascadeFileError, match=r"rings\.json: the checkpoint is damaged"):
        clone(trainer).fit(*material)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("training", []),
        ("stages", [{"\n": 1}]),
        ("stages", ["stage"]),
        ("stages", 7),
        ("cascade", "\ud800"),
        ("cascade", 1),
    ],
)
def test_a_modified_checkpoint_raises_an_error_of_one_line(key, value, tmp_path):
    path = tmp_path / "rings.json"
    stage = TrainedStage(1, 1, 1.0, 0.5, True, 10, 10, 0.5, 1.0)
    cascade = random_cascade(0, stages=1)
    save_checkpoint(path, cascade, [stage], {"images": "0"})
    assert load_checkpoint(path, {"images": "0"})[1] == [stage]
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(CascadeFileError, match=r"rings\.json: ") as caught:
        load_checkpoint(path, {"images": "0"})
    assert "\n" not in str(caught.value)


def test_a_deeply_nested_checkpoint_raises(tmp_path):
    (tmp_path / "deep").write_text("[" * 100_000)
    with pytest.raises(CascadeFileError, match="deep: the checkpoint is damaged"):
        load_checkpoint(tmp_path / "deep", {})


def test_training_ends_with_a_valid_cascade_if_too_few_negatives_pass(material):
    random = np.random.default_rng(5)
    tiny = scenes(1, random, 20)
    trainer = CascadeTrainer(n_stages=30, n_negatives=200, max_false_alarm=0.4).fit(
        material[0], tiny
    )
    assert 1 <= len(trainer.stages_) < 30
    assert trainer.message_.startswith("too few negatives: ")
    assert trainer.cascade_.passes(material[0]).mean() > 0.9


def test_a_missed_target_raises_a_warning(material):
    trainer = CascadeTrainer(n_stages=2, n_negatives=200, max_stumps=1, max_false_alarm=0.001)
    with pytest.warns(UserWarning, match=r"did not reach max_false_alarm=0\.001 with max_stumps=1"):
        trainer.fit(*material)
    assert not trainer.stages_[0].reached
    assert len(trainer.cascade_.stages) == len(trainer.stages_) == 2


def test_inseparable_classes_end_training_with_a_warning():
    random = np.random.default_rng(0)
    noise = random.integers(0, 256, (200, 10, 10)).astype(np.uint8)
    backgrounds = list(random.integers(0, 256, (6, 60, 60)).astype(np.uint8))
    trainer = CascadeTrainer(n_stages=3, n_negatives=300, max_stumps=2, min_hit_rate=0.999)
    with pytest.warns(UserWarning, match="stage 1 accepts .* cannot be separated from"):
        trainer.fit(noise, backgrounds)
    assert trainer.stages_ == []


def test_a_failed_fit_leaves_the_trainer_unchanged(trained_cascade, material):
    trainer = clone(trained_cascade).set_params(n_stages=1).fit(*material)
    before = trainer.cascade_
    with pytest.raises(ValueError, match="positives is empty"):
        trainer.fit(material[0][:0], material[1])
    assert trainer.cascade_ is before


def test_invalid_input_raises(material):
    objects, backgrounds = material
    with (
        pytest.raises(ValueError, match="no backgrounds"),
        pytest.warns(UserWarning, match="smaller"),
    ):
        CascadeTrainer().fit(objects, [np.zeros((5, 5), np.uint8)])
    with pytest.raises(ValueError, match="positives have 12 × 12 pixels, but the window has 10"):
        CascadeTrainer(window=(10, 10)).fit(objects, backgrounds)
    with pytest.raises(ValueError, match="max_false_alarm=2"):
        CascadeTrainer(max_false_alarm=2).fit(objects, backgrounds)
    with pytest.raises(ValueError, match="all windows of the backgrounds are flat"):
        CascadeTrainer().fit(objects, [np.full((50, 50), 9, np.uint8)])


def test_a_bar_shows_stage_hit_rate_and_false_alarms(material, capsys):
    CascadeTrainer(n_stages=1, n_negatives=100, verbose=1).fit(*material)
    shown = capsys.readouterr().err
    for word in ("stage 1", "hit rate", "false alarms", "left"):
        assert word in shown


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "uiuc_cars").exists(), reason="the UIUC cars data set is missing")
def test_a_cascade_trained_on_cars_is_the_same_in_opencv_on_ten_test_images(tmp_path):
    cv2 = pytest.importorskip("cv2")
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(DATA / "uiuc_cars" / "data.parquet")
    truth = frame.pop("car").to_numpy() == 1
    patches = frame.to_numpy(np.uint8).reshape(-1, 40, 100)
    small = [cv2.resize(patch, (40, 16), interpolation=cv2.INTER_AREA) for patch in patches]
    windows = np.array(small)
    trainer = CascadeTrainer(n_stages=8, n_negatives=500)
    trainer.fit(windows[truth], list(patches[~truth]), windows[~truth])
    trainer.cascade_.to_opencv(tmp_path / "cars.xml")
    theirs = cv2.CascadeClassifier(str(tmp_path / "cars.xml"))
    images = np.load(DATA / "uiuc_cars" / "test_images.npz")
    decided = 0
    for number in range(10):
        image = images[f"single_{number}"]
        ours = trainer.cascade_.detect(image, min_neighbors=0).boxes.tolist()
        assert sorted(ours) == sorted(np.array(theirs.detectMultiScale(image, 1.1, 0)).tolist())
        # Single crops of the window's size.
        crops = windows_of(image, trainer.cascade_.window)[::37]
        passing = trainer.cascade_.passes(crops)
        alone = [len(theirs.detectMultiScale(crop, 1.1, 0)) > 0 for crop in crops]
        np.testing.assert_array_equal(passing, alone)
        decided += int(passing.sum()) + len(ours)
    assert decided > 10

"""
A cascade trained end to end: face detection in photographs
===========================================================

    python examples/plot_cascade.py [picture.png] [--cars folder]

The faces are drawn by the script, the backgrounds are the photographs that scikit-learn ships. With
--cars and the folder of the UIUC car images (data.parquet, test_images.npz, trueLocations.txt), a
second cascade is trained on cars, and the ROC table of its test images is printed and drawn.
"""

import argparse
import re
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from bosquet import plot
from bosquet.vision import CascadeTrainer, ImageConversionWarning, crop_samples, make_samples
from bosquet.vision.images import grey_image

SIDE = 18
VERBOSE = int(sys.stderr.isatty())


def put_face(image, x, y, side, random):
    """Draw a round face with two eyes and a mouth into the image."""
    rows, columns = (np.mgrid[:side, :side] - (side - 1) / 2) / (side / 2)
    away, dark = np.hypot(rows, columns), random.uniform(10, 90)
    drawn = image[y : y + side, x : x + side].astype(float)
    drawn[away < 0.95] = random.uniform(130, 240)
    for eye in (-1, 1):
        place = eye * random.uniform(0.32, 0.4)
        drawn[np.hypot(rows + 0.28, columns - place) < random.uniform(0.12, 0.17)] = dark
    smile, corner = random.uniform(0.52, 0.62), random.uniform(0.18, 0.3)
    drawn[(np.abs(away - smile) < 0.09) & (rows > corner)] = dark
    drawn[away < 0.95] += random.normal(0, 4, int((away < 0.95).sum()))
    image[y : y + side, x : x + side] = np.clip(drawn, 0, 255).astype(np.uint8)


def photographs():
    """Return the grey levels of scikit-learn's two photographs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImageConversionWarning)
        return [grey_image(load_sample_image(name)) for name in ("china.jpg", "flower.jpg")]


def scene(photograph, random, sides=(26, 36, 50, 70, 96)):
    """Return a photograph with faces of several sizes drawn into it, and their boxes."""
    image, boxes = photograph.copy(), []
    while len(boxes) < len(sides):
        side = sides[len(boxes)]
        x = int(random.integers(0, image.shape[1] - side))
        y = int(random.integers(0, image.shape[0] - side))
        if all(abs(x - u) > max(side, w) or abs(y - v) > max(side, w) for u, v, w, _ in boxes):
            put_face(image, x, y, side, random)
            boxes.append((x, y, side, side))
    return image, np.array(boxes)


def train_on_faces():
    """Train a cascade for drawn faces; the right halves of the photographs are backgrounds."""
    random = np.random.default_rng(0)
    backgrounds = [photograph[:, 320:] for photograph in photographs()]
    faces = []
    for number in range(400):
        canvas = backgrounds[number % 2].copy()
        y, x = (int(random.integers(0, extent - 64)) for extent in canvas.shape)
        put_face(canvas, x, y, 64, random)
        faces.append(canvas[y : y + 64, x : x + 64])
    positives = make_samples(faces, 800, window=(SIDE, SIDE), rotation=6, random_state=0)
    trainer = CascadeTrainer(n_stages=14, max_false_alarm=0.4, n_negatives=1000, verbose=VERBOSE)
    return trainer.fit(positives, backgrounds)


def train_on_cars(folder):
    """Train a cascade for side views of cars, and evaluate it on the 170 test images."""
    import pandas

    table = pandas.read_parquet(folder / "data.parquet")
    car = table.pop("car").to_numpy() == 1
    patches = table.to_numpy(np.uint8).reshape(-1, 40, 100)
    halved = np.concatenate([crop_samples(patch, [[0, 0, 100, 40]], (50, 20)) for patch in patches])
    trainer = CascadeTrainer(
        n_stages=12,
        min_hit_rate=0.997,
        max_false_alarm=0.4,
        verbose=VERBOSE,
        checkpoint="cars.json",
    ).fit(halved[car], list(patches[~car]), halved[~car])
    images = np.load(folder / "test_images.npz")
    lines = (folder / "trueLocations.txt").read_text().splitlines()
    boxes = [
        [(int(x), int(y), 100, 40) for y, x in re.findall(r"\((-?\d+),(-?\d+)\)", line)]
        for line in lines[:170]
    ]
    scenes = [images[f"single_{number}"] for number in range(170)]
    return trainer.cascade_.evaluate(
        scenes,
        boxes,
        fewer_stages=5,
        min_neighbors=(1, 2, 3, 5, 8),
        min_size=(80, 32),
        max_size=(125, 50),
    )


def main():
    """Train, detect and draw."""
    parser = argparse.ArgumentParser(description="Train a detector and find faces with it.")
    parser.add_argument("picture", nargs="?", default="cascade.png")
    parser.add_argument("--cars", type=Path, help="folder of the UIUC car images")
    given = parser.parse_args()
    trainer = train_on_faces()
    print(trainer.message_)
    for stage in trainer.stages_:
        print(
            f"stage {stage.stage}: {stage.n_stumps} stumps, {stage.acceptance:.2g} of the windows reach it"
        )
    image, boxes = scene(photographs()[0][:, :320], np.random.default_rng(5))
    found = trainer.cascade_.detect(image)
    print(trainer.cascade_.evaluate([image], [boxes], fewer_stages=1))
    figure, axes = plt.subplots(1, 2 if given.cars else 1, figsize=(11 if given.cars else 6, 7))
    first = axes[0] if given.cars else axes
    plot.detections(image, found, ax=first)
    first.set_title(f"{len(found)} detections, {len(boxes)} faces")
    if given.cars:
        result = train_on_cars(given.cars)
        print(result)
        plot.detection_roc(result, ax=axes[1])
        axes[1].set_title("UIUC cars")
    figure.tight_layout()
    figure.savefig(given.picture, dpi=110)


if __name__ == "__main__":
    main()

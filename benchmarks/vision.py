"""Boosting on Haar features: `python -m benchmarks.vision`.

All basic features of 24 × 24 windows, 5,000 + 5,000 images, 200 rounds of stumps, in a separate process:
time and peak resident size. A tenth of the features is also compared with a version in plain NumPy that
sorts every feature in every round; it runs only a few rounds, and its time is extrapolated to all of
them.
"""

import argparse
import json
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import numpy as np

from benchmarks import resident
from benchmarks.interleave import settle
from benchmarks.machine import describe
from benchmarks.report import markdown_table

SIDE, IMAGES, ROUNDS, THREADS = 24, 10_000, 200, 2
TENTH, SORTED_ROUNDS = 10, 2
MAX_SECONDS, MAX_BYTES, MIN_RATIO = 600, 3_000_000_000, 50
QUICK = {"images": 1000, "rounds": 10}


def windows(images, seed=0):
    """Simulate smooth noise; every other window has a dark band (eyes) and a light ridge (nose)."""
    from scipy.ndimage import gaussian_filter

    random = np.random.default_rng(seed)
    smooth = np.empty((images, SIDE, SIDE))
    for part in np.array_split(np.arange(images), max(1, images // 1000)):
        smooth[part] = gaussian_filter(random.normal(size=(part.size, SIDE, SIDE)), (0, 1.5, 1.5))
    y = np.arange(images) % 2
    smooth[y == 1, 7:11, 4:20] -= 0.03
    smooth[y == 1, 11:18, 10:14] += 0.03
    return np.clip(127 + 190 * smooth, 0, 255).astype(np.uint8), y


def whole(images, rounds):
    """Return time, peak resident size and training error, in this process."""
    from bosquet.vision import HaarBoostClassifier

    X, y = windows(images)
    start = time.perf_counter()
    model = HaarBoostClassifier(rounds, n_jobs=THREADS).fit(X, y)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "bytes": resident.peak(),
        "features": 162_336,
        "training_error": float(model.train_score_[-1]),
        "rounds": model.n_estimators_,
    }


def sorting(values, y, rounds):
    """AdaBoost in plain NumPy: each round sorts every feature, and tries every threshold."""
    signs = 2.0 * y - 1
    weight = np.full(y.size, 1 / y.size)
    chosen = []
    for _ in range(rounds):
        least = np.inf
        for feature, row in enumerate(values):
            order = np.argsort(row)
            left = np.cumsum((weight * signs)[order])
            error = (1 - np.abs(left) - np.abs(left[-1] - left)) / 2
            error[:-1][row[order][1:] == row[order][:-1]] = (
                np.inf
            )  # no threshold between equal values
            cut = int(error.argmin())
            if error[cut] < least:
                least = float(error[cut])
                best = (feature, row[order[cut]], np.sign(left[cut]))
        feature, threshold, side = best
        predicted = np.where(values[feature] <= threshold, side, -side)
        weight *= np.exp(-0.5 * np.log((1 - least) / least) * signs * predicted)
        weight /= weight.sum()
        chosen.append(feature)
    return chosen


def tenth(images, rounds, sorted_rounds):
    """Run ours and the sorting version on a tenth of the features; both must choose the same stumps."""
    from bosquet.boosting.adaboost.stagewise import VARIANTS, boost
    from bosquet.vision import feature_values, haar_features
    from bosquet.vision.haar_stumps import HaarLearner, HaarVote

    X, y = windows(images)
    features = haar_features((SIDE, SIDE))[::TENTH]
    settle()
    start = time.perf_counter()
    learner = HaarLearner(
        X,
        y == 1,
        features,
        output_kind="signs",
        normalise=True,
        trim=1.0,
        memory=2.0,
        threads=THREADS,
    )
    vote = HaarVote(features, True, "signs")
    loop = boost(learner, VARIANTS["discrete"](2.0 * y - 1, np.full(images, 1 / images)), vote)
    for _ in range(rounds):
        next(loop)
    ours = time.perf_counter() - start
    values = feature_values(X, features, n_jobs=THREADS)
    settle()
    start = time.perf_counter()
    chosen = sorting(values, y, sorted_rounds)
    theirs = (time.perf_counter() - start) * rounds / sorted_rounds
    same = chosen == vote.numbers[:sorted_rounds].tolist()
    return {"ours": ours, "theirs": theirs, "features": len(features), "same": same}


def run(images, rounds):
    command = [sys.executable, "-m", "benchmarks.vision", "--whole", str(images), str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    all_features = json.loads(done.stdout.strip().splitlines()[-1])
    part = tenth(images, rounds, SORTED_ROUNDS)
    lines = [
        [
            f"{all_features['features']:,} features × {images:,} images, {rounds} rounds",
            f"{all_features['seconds']:.1f} s",
            f"{MAX_SECONDS} s",
            f"training error {all_features['training_error']:.4f}",
        ],
        [
            "largest resident size of that",
            f"{all_features['bytes'] / 1e9:.2f} GB",
            f"{MAX_BYTES / 1e9:.0f} GB",
            "",
        ],
        [
            f"{part['features']:,} features, compared with sorting in every round in NumPy",
            f"{part['theirs'] / part['ours']:.0f} × faster",
            f"{MIN_RATIO} ×",
            f"{part['ours']:.1f} s compared with {part['theirs']:.0f} s ({SORTED_ROUNDS} rounds, scaled); "
            + ("the same features chosen" if part["same"] else "OTHER FEATURES CHOSEN"),
        ],
    ]
    return lines, {"machine": describe(), "whole": all_features, "tenth": part}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vision", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few images and rounds")
    parser.add_argument(
        "--whole", nargs=2, type=int, metavar=("IMAGES", "ROUNDS"), help="one figure"
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args(arguments)
    if given.whole:
        print(json.dumps(whole(*given.whole)))
        return 0
    lines, raw = run(**(QUICK if given.quick else {"images": IMAGES, "rounds": ROUNDS}))
    text = markdown_table(["work", "Bosquet", "must", ""], lines)
    given.out.mkdir(parents=True, exist_ok=True)
    target = given.out / f"vision-{datetime.now():%Y%m%d-%H%M%S}"
    target.with_suffix(".json").write_text(json.dumps(raw, indent=1))
    target.with_suffix(".md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Detection compared with OpenCV: `python -m benchmarks.vision_detect` (`make bench-detect`).

The cascades that OpenCV ships, on a photograph of 640 × 480 pixels, at the same scales, with two threads
each, interleaved, the best of a few rounds. The benchmark prints whether both find the same windows, or
how many differ. Limit: the time of cv2's detectMultiScale; target: half of it.
"""

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.interleave import interleave
from benchmarks.machine import describe
from benchmarks.report import markdown_table

THREADS, TARGET = 2, 1.0
# Stumps; stumps; trees with two splits; tilted features; trees of tilted features.
CASCADES = (
    "frontalface_default",
    "frontalface_alt",
    "frontalface_alt2",
    "upperbody",
    "lefteye_2splits",
)
CALLS = 5  # in one round


@dataclass
class Contestant:
    """A library, and its function of the image."""

    name: str
    detect: Any


def photograph():
    """Return scikit-learn's photograph of a palace, 640 × 480 pixels, grey."""
    from sklearn.datasets import load_sample_image

    from bosquet.vision.images import grey_image, resize

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return resize(grey_image(load_sample_image("china.jpg")), (640, 480))


def timed(contestant, _):
    """Return the mean time of a few detections, for `interleave`."""
    contestant.detect()  # buffers are allocated once
    start = time.perf_counter()
    for _ in range(CALLS):
        contestant.detect()
    return {"seconds": (time.perf_counter() - start) / CALLS}


def differing(cascade, theirs, image):
    """Return how many windows only one of the two finds."""
    ours = {tuple(box) for box in cascade.detect(image, min_neighbors=0).boxes.tolist()}
    other = {
        tuple(box)
        for box in np.array(theirs.detectMultiScale(image, 1.1, 0)).reshape(-1, 4).tolist()
    }
    return len(ours ^ other)


def measure(repeats):
    """Measure all cascades."""
    import cv2

    from bosquet.vision import Cascade

    cv2.setNumThreads(THREADS)
    image, results = photograph(), {}
    for name in CASCADES:
        path = Path(cv2.data.haarcascades) / f"haarcascade_{name}.xml"
        if not path.exists():
            continue
        cascade, theirs = Cascade.from_opencv(path), cv2.CascadeClassifier(str(path))
        some = [
            Contestant("Bosquet", lambda c=cascade: c.detect(image, n_jobs=THREADS)),
            Contestant("OpenCV", lambda c=theirs: c.detectMultiScale(image, 1.1, 3)),
        ]
        results[name] = interleave(some, repeats, timed)
        results[name]["differing windows"] = differing(cascade, theirs, image)
    return results


def report(results):
    """Return a table with the ratio to OpenCV."""
    lines = []
    for name, outcome in results.items():
        ours, theirs = outcome["Bosquet"]["seconds"], outcome["OpenCV"]["seconds"]
        lines.append(
            [
                name,
                f"{1000 * ours:.1f}",
                f"{1000 * theirs:.1f}",
                f"{ours / theirs:.2f}",
                f"{TARGET:g}",
                str(outcome["differing windows"]),
            ]
        )
    head = ["cascade", "Bosquet ms", "OpenCV ms", "ratio", "target", "differing windows"]
    return markdown_table(head, lines)


def main():
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    if not find_spec("cv2"):
        print("OpenCV is not installed: pip install opencv-python-headless")
        return
    results = measure(given.repeats)
    text = report(results)
    print(text)
    given.out.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now().strftime("%Y%m%d-%H%M")
    (given.out / f"vision-detect-{stamp}.md").write_text(text + "\n", encoding="utf-8")
    record = {"machine": describe(), "results": results}
    (given.out / f"vision-detect-{stamp}.json").write_text(
        json.dumps(record, indent=1), encoding="utf-8"
    )


if __name__ == "__main__":
    main()

"""Faces and cars, faces and all else: AdaBoost over Haar stumps on images of 19 × 19 pixels."""

import numpy as np
from scipy.ndimage import map_coordinates

from bosquet.vision import HaarBoostClassifier
from reproduce.tables import load

SIDE = 19


def images_of(folder, name, target):
    frame = load(folder, name)
    pixels = frame[[f"px{i}" for i in range(SIDE * SIDE)]].to_numpy(np.uint8)
    is_test = (frame["split"] == "test").to_numpy()
    return pixels.reshape(-1, SIDE, SIDE), frame[target].to_numpy(), is_test


def faces_vs_cars(folder, draws=3, rounds=100):
    """Half of the images to learn from, half to judge by: the mean of the two classes' errors."""
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import train_test_split

    X, y, _ = images_of(folder, "faces_vs_cars", "label")
    y = y.astype(str)
    errors = []
    for draw in range(draws):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.5, stratify=y, random_state=draw
        )
        model = HaarBoostClassifier(rounds, class_weight="balanced").fit(X_train, y_train)
        errors.append(100 * (1 - balanced_accuracy_score(y_test, model.predict(X_test))))
    yield f"faces and cars, {rounds} Haar stumps, balanced error %", 2.0, np.mean(errors), (0, 2)


def varied(images, random, closest):
    """Each image a little closer, off its centre, turned by up to 5 degrees, every other one mirrored."""
    count, centre = len(images), (SIDE - 1) / 2
    zoom = random.uniform(closest, 1, count)[:, None, None]
    moved = random.uniform(-1, 1, (2, count))[:, :, None, None] * centre * (1 - zoom)
    angle = np.deg2rad(random.uniform(-5, 5, count))[:, None, None]
    mirrored = random.random(count)[:, None, None] < 0.5
    y, x = np.mgrid[:SIDE, :SIDE] - centre
    rows = zoom * (np.cos(angle) * y - np.sin(angle) * x) + centre + moved[0]
    columns = zoom * (np.sin(angle) * y + np.cos(angle) * x) + centre + moved[1]
    number = np.broadcast_to(np.arange(count)[:, None, None], rows.shape)
    pixels = np.where(mirrored, images[:, :, ::-1], images).astype(float)
    near = map_coordinates(pixels, [number, rows, columns], order=1, mode="nearest")
    return np.clip(np.rint(near), 0, 255).astype(np.uint8)


def cbcl_sample(X, y, copies=(3, 1), closest=0.85, seed=0):
    """The training images, varied copies of the faces and of the others, and the others turned.

    The test faces come from other photographs, cropped closer and less exactly. Varying the others
    alike keeps the vote from telling copies by their blur, and what is no face is none on its side.
    """
    random = np.random.default_rng(seed)
    parts, labels = [X], [y]
    for label, times in zip((1, 0), copies, strict=True):
        for _ in range(times):
            parts.append(varied(X[y == label], random, closest))
            labels.append(np.full(len(parts[-1]), label))
    for quarter in (1, 2, 3):
        parts.append(np.rot90(X[y == 0], quarter, axes=(1, 2)))
        labels.append(np.zeros(len(parts[-1]), dtype=int))
    return np.concatenate(parts), np.concatenate(labels)


def cbcl_faces(folder, rounds=800):
    """Its own test split: 472 faces among 24,044 images."""
    from sklearn.metrics import roc_auc_score

    X, y, is_test = images_of(folder, "cbcl_faces", "face")
    y = y.astype(int)
    model = HaarBoostClassifier(
        rounds, variant="gentle", features="core", class_weight="balanced", memory=3.0
    )
    model.fit(*cbcl_sample(X[~is_test], y[~is_test]))
    area = roc_auc_score(y[is_test], model.decision_function(X[is_test]))
    yield f"CBCL faces, {rounds} Haar stumps, area under the ROC", 0.97, area, (0.97, 1)

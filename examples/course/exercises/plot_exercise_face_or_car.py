r"""
Face or car? Boosting on Haar features
======================================

*Classify small grey images of faces and of cars, with AdaBoost over stumps on the features of Viola
and Jones.*

A feature is a difference of sums over neighbouring rectangles: is this strip darker than that one?
With the *integral image* :math:`I(x, y)`, the sum of all pixels above and to the left, the sum over
any rectangle needs four values,

.. math:: I(x + w, y + h) - I(x, y + h) - I(x + w, y) + I(x, y)

for any size. A small image has tens of thousands of such features. Each round of AdaBoost searches
the best stump over all of them, and so selects the features.

The images are those of the ``faces_vs_cars`` table if the environment variable ``BOSQUET_DATA``
names a folder that has it. Otherwise they are simulated: ovals with dark eyes and mouth, boxes on
two dark wheels, with different brightness and much noise.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from bosquet import plot
from bosquet.vision import HaarBoostClassifier, feature_values, haar_features, integral_image


def drawn_picture(kind, random):
    """Draw a 19 × 19 image of a face or a car with random position, size, brightness and noise."""
    down, across = np.mgrid[0:19, 0:19] - 9 - random.normal(0, 1, 2)[:, None, None]
    size = random.normal(1, 0.1)
    u, v = across / size, down / size
    light = 120 + random.normal(0, 20) + random.normal(0, 4) * across
    if kind == "face":
        shape = 50.0 * (u**2 / 55 + v**2 / 75 < 1)
        shape -= 50 * (np.abs(np.abs(u) - 3.5) < 1.7) * (np.abs(v + 2.5) < 1.3)
        shape -= 40 * (np.abs(u) < 3) * (np.abs(v - 4.5) < 1)
    else:
        shape = 50.0 * (np.abs(u) < 8.5) * (np.abs(v - 1) < 3)
        shape += 25 * (np.abs(u) < 4.5) * (np.abs(v + 4) < 2)
        shape -= 60 * ((np.abs(u) - 5) ** 2 + (v - 4.5) ** 2 < 5)
    return np.clip(light + shape + random.normal(0, 30, (19, 19)), 0, 255).astype(np.uint8)


def pictures():
    """Return the training and test images and their labels."""
    path = Path(os.environ.get("BOSQUET_DATA", "")) / "faces_vs_cars" / "data.parquet"
    if os.environ.get("BOSQUET_DATA") and path.exists():
        import pandas as pd

        table = pd.read_parquet(path)
        images = table.filter(like="px").to_numpy(np.uint8).reshape(-1, 19, 19)
        labels, is_test = table.label.astype(str).to_numpy(), (table.split == "test").to_numpy()
        print("images of the faces_vs_cars table")
        return images[~is_test], labels[~is_test], images[is_test], labels[is_test]
    random = np.random.default_rng(0)
    labels = random.choice(["car", "face"], 1600)
    images = np.stack([drawn_picture(kind, random) for kind in labels])
    print("simulated images")
    return images[:800], labels[:800], images[800:], labels[800:]


X, y, X_test, y_test = pictures()
print(
    f"{len(X)} training images, {np.mean(y == 'face'):.0%} of them faces; {len(X_test)} test images"
)
figure, axes = plt.subplots(2, 10, figsize=(11, 2.4), layout="constrained")
for row, kind in zip(axes, ("face", "car"), strict=True):
    for ax, image in zip(row, X[y == kind], strict=False):
        ax.imshow(image, cmap="gray", vmin=0, vmax=255)
        ax.set_axis_off()
plt.show()

# %%
# The integral image and the features
# -----------------------------------
# Four values of the integral image give the sum over any rectangle. All rectangles that fit into
# the image give this number of features:
s = integral_image(X[0])
print(
    f"from the integral image {s[12, 15] - s[4, 15] - s[12, 3] + s[4, 3]}, by summation"
    f" {X[0][4:12, 3:15].sum()}"
)
features = haar_features((19, 19))
print(f"{len(features)} features of 19 × 19 pixels")

# %%
# One round by hand
# -----------------
# Sort the values of a feature, add up :math:`w_i y_i` in this order, and take the threshold with
# the largest absolute agreement. For all features together on 200 images this is the search of the
# first round.
few = np.r_[np.flatnonzero(y == "face")[:100], np.flatnonzero(y == "car")[:100]]
signs = np.where(y[few] == "face", 1.0, -1.0)
least = 1.0
for start in range(0, len(features), 8000):
    values = feature_values(X[few], features[start : start + 8000])
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    below = np.cumsum(signs[order] / few.size, axis=1)[:, :-1]
    agreement = np.abs(signs.mean() - 2 * below) * (ordered[:, 1:] > ordered[:, :-1])
    least = min(least, (1 - agreement.max()) / 2)
one = HaarBoostClassifier(n_estimators=1).fit(X[few], y[few])
print(
    f"smallest error of a stump: by hand {least:.4f}, by the library {one.certificate_.errors[0]:.4f}"
)

# %%
# All rounds
# ----------
# The test error decreases with the number of features; forty of tens of thousands are used.
model = HaarBoostClassifier(n_estimators=40, class_weight="balanced").fit(X, y)
test = 1 - np.array(list(model.staged_score(X_test, y_test)))
for rounds in (1, 5, 10, 20, 40):
    print(f"{rounds:3d} features: test error {test[rounds - 1]:.4f}")
plot.haar_features_chosen(model, first=6)
plt.show()

# %%
# The first features can be drawn on an image: pixels of blue rectangles are added, pixels of orange
# rectangles are subtracted. The certificate is available as for any AdaBoost: the training error
# with its bound, and the margins.
plot.certificate(model)
plt.show()

# %%
# The images with the smallest margins, some of them misclassified:
score = model.decision_function(X_test) * np.where(y_test == model.classes_[1], 1, -1)
figure, axes = plt.subplots(1, 8, figsize=(11, 1.8), layout="constrained")
for ax, i in zip(axes, np.argsort(score), strict=False):
    ax.imshow(X_test[i], cmap="gray", vmin=0, vmax=255)
    ax.set_title(f"{y_test[i]}, {'wrong' if score[i] <= 0 else 'right'}", fontsize=9)
    ax.set_axis_off()
plt.show()

"""
Faces and cars: image classification with Haar features
=======================================================

The data are small grey images of faces and of side views of cars. A method that uses single pixels
has to learn that neighbouring pixels are related; Haar features, differences of sums over
rectangles, contain this information. How much does this help, and how many of the tens of thousands
of features are needed?
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from case_data import table
from case_pictures import tidy
from sklearn.model_selection import train_test_split

import bosquet
from bosquet import GradientBoostingClassifier, RandomForestClassifier, plot
from bosquet.vision import HaarBoostClassifier

rows = table("faces_vs_cars")
images = rows.filter(like="px").to_numpy(np.uint8).reshape(-1, 19, 19)
labels, is_test = rows["label"].astype(str).to_numpy(), (rows["split"] == "test").to_numpy()

# %%
# 1 to 3. Extract, explore and split
# ----------------------------------
# The mean image of each class in the training and the test set. In the real table the test faces
# come from other photographs than the training faces, in different light, so this test is harder
# than a random split.
figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
for ax, (kind, part) in zip(
    axes, [(k, p) for k in ("face", "car") for p in (False, True)], strict=True
):
    of = (labels == kind) & (is_test == part)
    ax.imshow(images[of].mean(axis=0), cmap="gray")
    ax.set_title(f"{of.sum()} {kind}s, {'test' if part else 'training'}", fontsize=10)
    ax.set_axis_off()
plt.show()

# %%
# 4. Tune
# -------
# The number of rounds is the number of features. A quarter of the training images is the validation
# set.
X, X_valid, y, y_valid = train_test_split(
    images[~is_test], labels[~is_test], test_size=0.25, stratify=labels[~is_test], random_state=0
)
haar = HaarBoostClassifier(n_estimators=30, class_weight="balanced").fit(X, y)


def balanced_error(predicted, truth):
    """Return the mean of the error rates of the two classes: there are more faces than cars."""
    return np.mean([np.mean(predicted[truth == kind] != kind) for kind in np.unique(truth)])


curves = {
    "validation": np.array(
        [balanced_error(predicted, y_valid) for predicted in haar.staged_predict(X_valid)]
    ),
    "test": np.array(
        [
            balanced_error(predicted, labels[is_test])
            for predicted in haar.staged_predict(images[is_test])
        ]
    ),
}
rounds = 1 + int(curves["validation"].argmin())
figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
for (name, curve), colour in zip(curves.items(), ("#3b6ea5", "#d9822b"), strict=True):
    ax.plot(np.arange(1, curve.size + 1), curve, color=colour, label=name)
ax.axvline(rounds, color="#8a8a8a", ls=":", label=f"chosen: {rounds}")
tidy(ax).set(xlabel="features", ylabel="balanced error", ylim=(0, None))
ax.legend(frameon=False)
plt.show()

# %%
# 5 and 6. Compare, and repeat
# ----------------------------
# A forest and gradient boosting use the same images as 361 columns. The comparison is repeated with
# two different samples of 400 training images, both evaluated on the test set.
methods = {
    "Haar features": lambda: HaarBoostClassifier(n_estimators=20, class_weight="balanced"),
    "forest of pixels": lambda: RandomForestClassifier(
        100, class_weight="balanced", random_state=0
    ),
    "boosted pixels": lambda: GradientBoostingClassifier(
        n_estimators=60,
        learning_rate=0.1,
        max_leaf_nodes=8,
        class_weight="balanced",
        random_state=0,
    ),
}
errors = {name: [] for name in methods}
seconds = dict.fromkeys(methods, 0.0)
learning, learned = images[~is_test], labels[~is_test]
for seed in range(2):
    some, _ = train_test_split(
        np.arange(len(learned)), train_size=400, stratify=learned, random_state=seed
    )
    for name, make in methods.items():
        shape = (-1, 19, 19) if name == "Haar features" else (-1, 361)
        begun = time.perf_counter()
        model = make().fit(learning[some].reshape(shape), learned[some])
        seconds[name] += time.perf_counter() - begun
        predicted = model.predict(images[is_test].reshape(shape))
        errors[name].append(balanced_error(predicted, labels[is_test]))
for name, found in errors.items():
    print(
        f"{name:17s} error {np.mean(found):.3f} ({', '.join(f'{e:.3f}' for e in found)}), "
        f"{seconds[name] / 2:.1f} s per fit"
    )

# %%
# 7. Choose
# ---------
# The selected features can be drawn: on the mean car (top) and on the mean face (bottom).
final = HaarBoostClassifier(n_estimators=rounds, class_weight="balanced").fit(learning, learned)
figure, axes = plt.subplots(2, 6, figsize=(10, 4.2), layout="constrained")
for row, kind in zip(axes, ("car", "face"), strict=True):
    plot.haar_features_chosen(
        final, first=6, image=learning[learned == kind].mean(axis=0), axes=row
    )
plt.show()

# %%
# Keep it
# -------
# The model is saved to a file without pickle, and the loaded model makes the same predictions.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "face-or-car.bosquet"
    final.save(path)
    again = bosquet.load(path)
    same = np.array_equal(again.predict(images[is_test]), final.predict(images[is_test]))
    print(f"{path.stat().st_size / 1024:.0f} kB; same predictions: {same}")

# %%
# What was learned
# ----------------
means = {name: float(np.mean(found)) for name, found in errors.items()}
best = min(means, key=means.get)
print(f"- Lowest test error: {best}, {means[best]:.1%}", end="; ")
print(", ".join(f"{name} {value:.1%}" for name, value in means.items() if name != best) + ".")
print(f"- {rounds} of 63,960 features were selected on the validation set.", end=" ")
print(
    f"The error is {curves['validation'][rounds - 1]:.1%} there and "
    f"{curves['test'][rounds - 1]:.1%} on the test set."
)
if curves["test"][rounds - 1] > 2 * curves["validation"][rounds - 1] + 0.01:
    print("- The validation error is too optimistic: the test images come from another source.")

"""
Faces and cars: features that are chosen, not drawn by hand
===========================================================

Small grey pictures of faces and of side views of cars. A method that sees pixels one by one has to
find out that neighbours belong together; Haar features, differences of rectangles, know. Is that
worth something, and how many of the tens of thousands are needed?
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
# The mean picture of each class, and of each part. In the real table faces of the test are from
# other photographs than those of training, in other light: a test that asks for more than a random
# split would.
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
# The number of rounds is the number of features. A quarter of the training pictures is kept aside
# as a validation sample.
X, X_valid, y, y_valid = train_test_split(
    images[~is_test], labels[~is_test], test_size=0.25, stratify=labels[~is_test], random_state=0
)
haar = HaarBoostClassifier(n_estimators=30, class_weight="balanced").fit(X, y)


def balanced_error(said, truth):
    """The mean of the two classes' errors: there are more faces than cars."""
    return np.mean([np.mean(said[truth == kind] != kind) for kind in np.unique(truth)])


curves = {
    "validation": np.array(
        [balanced_error(said, y_valid) for said in haar.staged_predict(X_valid)]
    ),
    "test": np.array(
        [balanced_error(said, labels[is_test]) for said in haar.staged_predict(images[is_test])]
    ),
}
rounds = 1 + int(curves["validation"].argmin())
figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
for (name, curve), colour in zip(curves.items(), ("#3b6ea5", "#d9822b"), strict=True):
    ax.plot(np.arange(1, curve.size + 1), curve, color=colour, label=name)
ax.axvline(rounds, color="#8a8a8a", ls=":", label=f"chosen: {rounds}")
tidy(ax).set(xlabel="features", ylabel="mean of the classes' errors", ylim=(0, None))
ax.legend(frameon=False)
plt.show()

# %%
# 5 and 6. Compare, and repeat
# ----------------------------
# The same pictures as 361 columns, for a forest and for boosted trees; two different samples of
# 400 training pictures to learn from, both judged on the test.
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
        said = model.predict(images[is_test].reshape(shape))
        errors[name].append(balanced_error(said, labels[is_test]))
for name, found in errors.items():
    print(
        f"{name:17s} error {np.mean(found):.3f} ({', '.join(f'{e:.3f}' for e in found)}), "
        f"{seconds[name] / 2:.1f} s a fit"
    )

# %%
# 7. Choose
# ---------
# What the vote looks at can be seen: on the mean car above, on the mean face below.
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
# The model is a file without pickle, and the same after it was read.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "face-or-car.bosquet"
    final.save(path)
    again = bosquet.load(path)
    same = np.array_equal(again.predict(images[is_test]), final.predict(images[is_test]))
    print(f"{path.stat().st_size / 1024:.0f} kB; the same answers: {same}")

# %%
# What was learned
# ----------------
means = {name: float(np.mean(found)) for name, found in errors.items()}
best = min(means, key=means.get)
print(f"- Least error on the test pictures: {best}, {means[best]:.1%}", end="; ")
print(", ".join(f"{name} {value:.1%}" for name, value in means.items() if name != best) + ".")
print(f"- {rounds} of 63,960 features were chosen on validation pictures.", end=" ")
print(
    f"Error there {curves['validation'][rounds - 1]:.1%}, on the test pictures "
    f"{curves['test'][rounds - 1]:.1%}."
)
if curves["test"][rounds - 1] > 2 * curves["validation"][rounds - 1] + 0.01:
    print("- The validation sample was too kind: the test pictures come from elsewhere.")

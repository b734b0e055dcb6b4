"""
Multiclass from binary classifiers: one-vs-rest, one-vs-one, error-correcting codes
===================================================================================

    python examples/plot_codes.py

The script writes codes.png. Each matrix has one row per class and one column per binary problem:
blue and orange are the two sides, white classes are not used. The predicted class is the one whose
code is closest to the binary predictions. Below: the test error on the ten digits against the
number of rounds of boosted stumps.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from bosquet import AdaBoostClassifier

X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
kinds = {
    "one-vs-rest": ("one-vs-rest", "#d9822b"),
    "one-vs-one": ("one-vs-one", "#2f7d5b"),
    "ecoc": ("error-correcting code", "#3b6ea5"),
}
fitted = {
    kind: AdaBoostClassifier(n_estimators=40, multiclass=kind, random_state=0).fit(X, y)
    for kind in kinds
}

figure = plt.figure(figsize=(13, 6.4), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=[1, 1.3])
widths = [fitted[kind].code_.shape[1] for kind in kinds]
panels = top.subplots(1, 3, width_ratios=widths)
signs = ListedColormap(["#e3a467", "#ffffff", "#7396bd"])
curves = bottom.subplots()
for ax, (kind, (title, colour)) in zip(panels, kinds.items(), strict=True):
    code = fitted[kind].code_
    apart = min(
        np.sum(np.abs(a - b)[(a != 0) & (b != 0)]) / 2 for i, a in enumerate(code) for b in code[:i]
    )
    ax.imshow(code, cmap=signs, vmin=-1, vmax=1, aspect="auto")
    ax.set(title=f"{title}:\n{code.shape[1]} problems", xticks=[], yticks=range(10))
    errors = [np.mean(predictions != y_test) for predictions in fitted[kind].staged_predict(X_test)]
    curves.plot(np.arange(1, len(errors) + 1), errors, color=colour, label=title)
    print(f"{title}: codes differ in at least {apart:g} columns, test error {errors[-1]:.3f}")
panels[0].set_ylabel("class")
curves.set(xlabel="rounds per problem", ylabel="test error on ten digits", ylim=(0, None))
curves.spines[["top", "right"]].set_visible(False)
curves.legend(frameon=False)
figure.savefig("codes.png", dpi=100)
print("wrote codes.png")

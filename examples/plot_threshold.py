"""
Class imbalance: precision and recall, and the decision threshold
=================================================================

    python examples/plot_threshold.py

The script writes threshold.png. Three percent of the rows belong to the rare class. Left: precision
against recall on test rows, without and with class weights; the average precision is the area under
the curve. Right: the balanced accuracy of the model without class weights for each threshold. The
threshold 0.5 (dot) finds few rows of the rare class. The threshold that was tuned by
cross-validation on the training rows (dashed) is near the maximum.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    precision_recall_curve,
)
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split

from bosquet import GradientBoostingClassifier

X, y = make_classification(8000, n_informative=6, weights=[0.97], class_sep=0.7, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
boosting = GradientBoostingClassifier(random_state=0)
weighted = GradientBoostingClassifier(class_weight="balanced", random_state=0)
tuned = TunedThresholdClassifierCV(boosting, scoring="balanced_accuracy", cv=3).fit(
    X_train, y_train
)

figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.2), layout="constrained")
models = {
    "without class weights": tuned.estimator_,
    "class weights": weighted.fit(X_train, y_train),
}
for (name, model), colour in zip(models.items(), ("#3b6ea5", "#d9822b"), strict=True):
    scores = model.predict_proba(X_test)[:, 1]
    area = average_precision_score(y_test, scores)
    precision, recall, _ = precision_recall_curve(y_test, scores)
    left.plot(recall, precision, color=colour, label=f"{name}: average precision {area:.2f}")
left.axhline(y_test.mean(), color="#333333", linestyle="--", linewidth=1, label="at random")
left.set(xlabel="recall", ylabel="precision", title="ranking of the rows", ylim=(0, 1.02))

scores = tuned.estimator_.predict_proba(X_test)[:, 1]
thresholds = np.geomspace(0.002, 0.9, 80)
accuracy = [balanced_accuracy_score(y_test, scores >= t) for t in thresholds]
half = balanced_accuracy_score(y_test, scores >= 0.5)
right.plot(thresholds, accuracy, color="#3b6ea5")
right.plot(0.5, half, "o", color="#b8433f", label="threshold 0.5")
right.axvline(tuned.best_threshold_, color="#333333", linestyle="--", label="tuned threshold")
right.set(xscale="log", xlabel="threshold", ylabel="balanced accuracy", title="decision threshold")
for ax in (left, right):
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
best = balanced_accuracy_score(y_test, scores >= tuned.best_threshold_)
print(f"balanced accuracy with threshold 0.5: {half:.2f}")
print(f"balanced accuracy with threshold {tuned.best_threshold_:.3f}: {best:.2f}")
figure.savefig("threshold.png", dpi=100)
print("wrote threshold.png")

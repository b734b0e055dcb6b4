"""
Explaining a model: SHAP values, partial dependence and interactions
====================================================================

    python examples/plot_explain.py [explain.png]

The data are the progression of diabetes after one year (scikit-learn's copy of the data of Efron,
Hastie, Johnstone and Tibshirani, 2004), 442 patients; the model is gradient boosting. The beeswarm
plot shows the contribution of each feature to each prediction, and the waterfall plot the
contributions to one prediction. The curves show the partial dependence on the body mass index, on
average and for single patients. The surface shows its joint effect with s5, the logarithm of a
blood lipid.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from bosquet import GradientBoostingRegressor
from bosquet.explain import (
    individual_conditional_expectation,
    interaction_strength,
    partial_dependence,
)


def draw(path):
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = GradientBoostingRegressor(
        n_estimators=150, learning_rate=0.05, max_leaf_nodes=6, early_stopping=False, random_state=0
    ).fit(X, y)
    explanation = model.explain(X)
    highest = int(explanation.prediction.argmax())
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    explanation.plot.beeswarm(ax=axes[0, 0])
    axes[0, 0].set_title("SHAP values of all patients", fontsize="medium")
    explanation.plot.waterfall(highest, ax=axes[0, 1])
    axes[0, 1].set_title("patient with the highest prediction", fontsize="medium")
    individual_conditional_expectation(model, X, "bmi").plot(ax=axes[1, 0])
    axes[1, 0].set_title("partial dependence on bmi: mean and single patients", fontsize="medium")
    partial_dependence(model, X, ("bmi", "s5")).plot(ax=axes[1, 1])
    axes[1, 1].set_title("partial dependence on bmi and s5", fontsize="medium")
    figure.savefig(path, dpi=100)
    for feature, share in explanation.ranking()[:4]:
        print(f"{feature:4} changes a prediction by {share:.1f} on average")
    for (one, other), strength in interaction_strength(model, X).ranking()[:3]:
        print(f"{one} and {other}: H = {strength:.2f}")
    print(f"Wrote {path}")


if __name__ == "__main__":
    draw(sys.argv[1] if sys.argv[1:] else "explain.png")

"""
Abalone: an age without counting rings
======================================

An abalone's age is counted in rings, under a microscope, after the shell was cut. Could scales and
a ruler do? The target is a number, errors grow with it, and no model will be sure about old
animals: so this page ends with intervals.
"""

import matplotlib.pyplot as plt
import numpy as np
from case_data import table
from case_pictures import importances_and_effects, tidy, tuning_and_scores
from sklearn.model_selection import train_test_split

from bosquet import ConformalModel, GradientBoostingRegressor, Study, plot

shells = table("abalone")

# %%
# 1 and 2. Extract and explore
# ----------------------------
# Weight rises with age and then hardly does; the spread grows all the way. Measurements are all
# about size, and so nearly copies of each other.
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
axes[0].plot(
    shells["shell_weight"],
    shells["rings"] + np.random.default_rng(0).normal(0, 0.2, len(shells)),
    ".",
    ms=2,
    alpha=0.4,
)
tidy(axes[0]).set(xlabel="shell weight", ylabel="rings")
numbers = shells.drop(columns=["sex"])
shown = axes[1].imshow(numbers.corr(method="spearman"), vmin=0, vmax=1, cmap="Blues")
axes[1].set_xticks(range(numbers.shape[1]), numbers.columns, rotation=60, ha="right", fontsize=8)
axes[1].set_yticks(range(numbers.shape[1]), numbers.columns, fontsize=8)
figure.colorbar(shown, ax=axes[1], label="rank correlation")
plt.show()

# %%
# 3 to 6. Split, tune, compare, repeat
# ------------------------------------
METHODS = ["linear", "k-nearest-neighbours", "cart", "random-forest", "gradient-boosting"]
sample = shells.sample(min(2500, len(shells)), random_state=0)
study = Study(task="regression", methods=METHODS, budget="12s", random_state=0, verbose=0)
study.fit(sample, "rings")
print(study)
tuning_and_scores(study)
plt.show()

# %%
# 7. Choose
# ---------
print(study.record_["chosen"]["why"])
importances_and_effects(study)
plt.show()

# %%
# Keep it, with intervals
# -----------------------
# A number alone hides how little is known about old animals. Conformal intervals of 90 % hold for
# any model and any distribution of rows, on average; built on quantiles they also widen where the
# spread does.
X, y = shells.drop(columns="rings"), shells["rings"].astype(float)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
widths, inside = {}, {}
for name, method, learner in (
    ("one width for all", "split", GradientBoostingRegressor(random_state=0)),
    (
        "by quantiles",
        "cqr",
        GradientBoostingRegressor("quantile", quantile=(0.05, 0.5, 0.95), random_state=0),
    ),
):
    model = ConformalModel(learner, method, random_state=0).fit(X_train, y_train)
    low, high = np.asarray(model.predict_interval(X_test, 0.9)).T
    widths[name], inside[name] = high - low, (low <= y_test) & (y_test <= high)
young = (y_test < 9).to_numpy()
for name in widths:
    print(
        f"{name:18s} holds {inside[name].mean():.1%}; of young animals "
        f"{inside[name][young].mean():.1%}, width"
        f" {widths[name][young].mean():.1f}; of old ones "
        f"{inside[name][~young].mean():.1%}, {widths[name][~young].mean():.1f}"
    )
ax = plot.intervals(y_test, np.column_stack([low, high]))
ax.set_title("intervals by quantiles, of some test animals", fontsize=10)
plt.show()

# %%
# What was learned
# ----------------
rmse = study.table_["rmse"]
names = study.table_["title"]
print(
    f"- {names.iloc[0]} errs by {rmse.iloc[0]:.2f} rings (root mean square), the "
    f"linear model by {rmse['linear']:.2f},"
)
print(f"  the constant by {rmse['constant']:.2f}.")
together = [names[m] for m in study.table_.index[1:] if not study.table_.loc[m, "distinguishable"]]
print(f"- Not to be told from the best: {', '.join(together) if together else 'no other method'}.")
ratio = widths["by quantiles"][~young].mean() / widths["by quantiles"][young].mean()
print(
    f"- Intervals of 90 % held {inside['by quantiles'].mean():.1%} of new animals, "
    f"and are {ratio:.1f} times as wide"
)
print("  for animals of nine rings and more as for younger ones.")

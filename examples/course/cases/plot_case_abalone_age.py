"""
Abalone: regression with prediction intervals
=============================================

The age of an abalone is the number of rings of its shell, which are counted under a microscope
after the shell has been cut. Can the age be predicted from weights and lengths instead? The target
is a number, the errors grow with it, and predictions for old animals are uncertain. Therefore this
page ends with prediction intervals.
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
# The weight increases with the age, then hardly any more, and its spread grows. All measurements
# depend on the size, so they are strongly correlated.
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
# A single number does not show how uncertain the age of old animals is. Conformal intervals of 90 %
# have the stated coverage on average, for any model and any distribution. With quantile regression
# they also become wider where the spread is larger.
X, y = shells.drop(columns="rings"), shells["rings"].astype(float)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
widths, inside = {}, {}
for name, method, learner in (
    ("constant width", "split", GradientBoostingRegressor(random_state=0)),
    (
        "quantile-based",
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
        f"{name:18s} covers {inside[name].mean():.1%}; young animals "
        f"{inside[name][young].mean():.1%}, width"
        f" {widths[name][young].mean():.1f}; old animals "
        f"{inside[name][~young].mean():.1%}, width {widths[name][~young].mean():.1f}"
    )
ax = plot.intervals(y_test, np.column_stack([low, high]))
ax.set_title("quantile-based intervals of some test animals", fontsize=10)
plt.show()

# %%
# What was learned
# ----------------
rmse = study.table_["rmse"]
names = study.table_["title"]
print(
    f"- {names.iloc[0]} has an RMSE of {rmse.iloc[0]:.2f} rings, the "
    f"linear model {rmse['linear']:.2f},"
)
print(f"  the constant {rmse['constant']:.2f}.")
together = [names[m] for m in study.table_.index[1:] if not study.table_.loc[m, "distinguishable"]]
print(f"- Not significantly worse: {', '.join(together) if together else 'no other method'}.")
ratio = widths["quantile-based"][~young].mean() / widths["quantile-based"][young].mean()
print(
    f"- Intervals of 90 % covered {inside['quantile-based'].mean():.1%} of new animals, "
    f"and are {ratio:.1f} times as wide"
)
print("  for animals of nine rings and more as for younger ones.")

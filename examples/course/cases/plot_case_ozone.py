"""
Ozone: regression with interactions and missing values
======================================================

The rows are the days of 1976 in Los Angeles: the ozone concentration and the weather. The target is
a number, the effects are non-linear and have interactions, and some measurements are missing. Tree
methods can use rows with missing values; other methods need imputation.
"""

import matplotlib.pyplot as plt
import numpy as np
from case_data import table
from case_pictures import importances_and_effects, tidy, tuning_and_scores
from sklearn.model_selection import KFold, cross_val_predict

from bosquet import GradientBoostingRegressor, LinearModel, RandomForestRegressor, Study, plot
from bosquet.experts import oracle

smog = table("ozone_la")

# %%
# 1 and 2. Extract and explore
# ----------------------------
# Rows without the target are dropped. Which columns have missing values, and what does the ozone
# depend on?
smog = smog.dropna(subset="ozone").drop(columns="day", errors="ignore").reset_index(drop=True)
holes = smog.isna().sum()
print(f"{len(smog)} days; missing: {holes[holes > 0].to_dict()}")
figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", sharey=True)
axes[0].plot(np.arange(len(smog)), smog["ozone"], ".", ms=4, color="#3b6ea5")
axes[1].plot(smog["temperature"], smog["ozone"], ".", ms=4, color="#3b6ea5")
axes[2].plot(smog["inversion_height"], smog["ozone"], ".", ms=4, color="#3b6ea5")
for ax, name in zip(axes, ("day of the year", "temperature", "inversion height"), strict=True):
    tidy(ax).set_xlabel(name)
axes[0].set_ylabel("ozone")
plt.show()

# %%
# 3 to 6. Split, tune, compare, repeat
# ------------------------------------
METHODS = ["linear", "cart", "random-forest", "gradient-boosting"]
study = Study("regression", methods=METHODS, budget="14s", random_state=0, verbose=0)
study.fit(smog, "ozone")
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
# Curves of one column do not show interactions. Ozone is high if it is hot *and* the inversion is
# low. The figure shows the partial dependence of a forest on both columns.
columns = ["temperature", "inversion_height", "wind", "humidity", "visibility"]
X, y = smog[columns].astype(float), smog["ozone"].to_numpy(float)
forest = RandomForestRegressor(200, min_samples_leaf=3, oob_score=True, random_state=0).fit(X, y)
grids = [np.linspace(*X[name].quantile([0.02, 0.98]), 25) for name in columns[:2]]
typical = X.iloc[np.random.default_rng(0).choice(len(X), 40, replace=False)]
surface = np.zeros((25, 25))
for i, temperature in enumerate(grids[0]):
    for j, height in enumerate(grids[1]):
        moved = typical.assign(temperature=temperature, inversion_height=height)
        surface[j, i] = forest.predict(moved).mean()
figure, ax = plt.subplots(figsize=(5.8, 4), layout="constrained")
shown = ax.contourf(*grids, surface, levels=12, cmap="OrRd")
figure.colorbar(shown, ax=ax, label="ozone, mean prediction of a forest")
ax.set(xlabel="temperature", ylabel="inversion height")
plt.show()

# %%
# Keep it: one model, or a mixture?
# ---------------------------------
# The ozone study of the lecture asks how much a combination of models improves. Here are the errors
# of the cross-validated predictions of three models, of their mean, and of the best convex and the
# best linear combination; the last two are chosen in hindsight.
filled = X.fillna(X.median())
models = {
    "linear": (LinearModel(), filled),
    "forest": (forest, X),
    "boosted trees": (GradientBoostingRegressor(min_samples_leaf=5, random_state=0), X),
}
folds = KFold(5, shuffle=True, random_state=0)
F = np.column_stack(
    [cross_val_predict(model, given, y, cv=folds) for model, given in models.values()]
)


def rmse(predicted):
    return float(np.sqrt(np.mean((predicted - y) ** 2)))


alone = {name: rmse(F[:, k]) for k, name in enumerate(models)}
mixed = {
    "their mean": rmse(F.mean(axis=1)),
    "best convex": rmse(F @ oracle(F, y, "convex").weights),
    "best linear": rmse(F @ oracle(F, y, "linear").weights),
}
for name, error in (alone | mixed).items():
    print(f"{name:14s} RMSE {error:.3f}")
# The permutation importance of the forest: the increase of the out-of-bag error when a column is
# permuted.
plot.importances(forest.importance("permutation", X, y))
plt.show()

# %%
# What was learned
# ----------------
scores = study.table_["rmse"]
print(
    f"- {study.table_.title.iloc[0]} has an RMSE of {scores.iloc[0]:.2f}, the linear model "
    f"{scores['linear']:.2f}, the constant {scores['constant']:.2f}."
)
top = [found["feature"] for found in study.record_["chosen"]["importances"][:3]]
print(f"- The most important features of the chosen model are {', '.join(top[:-1])} and {top[-1]}.")
best = min(alone, key=alone.get)
gain = 1 - mixed["best convex"] / alone[best]
print(
    f"- The best convex combination of three models is {gain:.1%} better than the "
    f"best of them ({best})."
)

"""
Electric load: experts weighed as they go
=========================================

Weekly electricity demand, to be told a week ahead. No model is best in every week: one knows the
temperature, one the weeks before, one the kinks. So all of them speak, and each week's forecast
weighs them by what they have lost so far. How much is lost against the best of them, or the best
mixture of them, chosen with hindsight?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from case_data import folder_of, table
from case_pictures import tidy
from sklearn.linear_model import LinearRegression

from bosquet import GradientBoostingRegressor, Mixture, plot
from bosquet.experts import oracle_table

weeks = table("opera_electric_load")

# %%
# 1 to 3. Extract, explore and split
# ----------------------------------
# A year's wave, and more than that in cold weeks. Time has an order: the last 112 weeks are the
# test, and nothing of them is used before its week has come.
start = len(weeks) - 112
figure, axes = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained")
axes[0].plot(weeks["Load"], color="#3b6ea5", lw=0.8)
axes[0].axvspan(start, len(weeks), color="#d9822b", alpha=0.2, label="test")
axes[0].legend(frameon=False)
axes[1].plot(weeks["Temp"], weeks["Load"], ".", ms=4, color="#3b6ea5")
tidy(axes[0]).set(xlabel="week", ylabel="load")
tidy(axes[1]).set(xlabel="temperature", ylabel="load")
plt.show()

# %%
# 4. Tune: three experts
# ----------------------
# *climate* is linear in the temperature's warm and cold part, time and waves of the year; *memory*
# is linear in last week's load and temperature; *boosted* is gradient boosting on the raw columns,
# stopped by itself. Each is fitted to the weeks before the test only.
y = weeks["Load"].to_numpy(float)
year = 2 * np.pi * weeks["NumWeek"].to_numpy(float)
waves = np.column_stack([f(k * year) for k in (1, 2, 3) for f in (np.cos, np.sin)])
cold = np.maximum(15 - weeks["Temp"].to_numpy(float), 0)
time = weeks["Time"].to_numpy(float)
given = {
    "climate": np.column_stack([time, cold, weeks["Temp"], waves]),
    "memory": np.column_stack([weeks[["Load1", "Temp", "Temp1"]], waves[:, :2]]),
    "boosted": weeks[["Time", "NumWeek", "Load1", "Temp", "Temp1"]].to_numpy(float),
}
learners = {
    "climate": LinearRegression(),
    "memory": LinearRegression(),
    "boosted": GradientBoostingRegressor(min_samples_leaf=5, random_state=0),
}
F = pd.DataFrame(
    {name: learners[name].fit(X[:start], y[:start]).predict(X[start:]) for name, X in given.items()}
)
target = y[start:]

# %%
# 5 and 6. Compare, and repeat over every week
# --------------------------------------------
# The table of such a study: each expert, their mean, the best convex and linear combinations in
# hindsight, and rules that learn the weights week by week.
compared = oracle_table(F, target, ["ewa", "ml-poly", "boa"], shifts=[1, 5])
print(compared)

# %%
# 7. Choose: a mixture, and its guarantee
# ---------------------------------------
# ML-Poly has no parameter to set. Weights on top; below what each expert has lost, and the regret
# with its bound.
mixture = Mixture("ml-poly").fit(F, target)
print(mixture)
figure, axes = plt.subplots(3, 1, figsize=(9, 8), layout="constrained", sharex=True)
plot.expert_weights(mixture, ax=axes[0])
plot.expert_losses(mixture, ax=axes[1])
plot.expert_regret(mixture, ax=axes[2])
plt.show()

# %%
# Keep it
# -------
# A mixture goes on learning: a new week's forecasts are mixed by ``predict``, and the load, once
# known, given to ``partial_fit``.
shares = zip(F, mixture.final_weights_, strict=True)
print(f"weights for the week to come: {', '.join(f'{name} {w:.2f}' for name, w in shares)}")

# %%
# With the forecasts that come with R's package opera (a GAM, an autoregressive model and boosted
# trees) the figures of its vignette come out: gam 1479.796, ar 1697.604, gbm 2334.390; the best
# convex combination 1442.428, ML-Poly 1457.476.
folder = folder_of("opera_electric_load")
if folder is not None and (folder / "vignette_experts.csv").exists():
    forecasts = pd.read_csv(folder / "vignette_experts.csv")
    observed = pd.read_csv(folder / "vignette_targets.csv").iloc[:, 0].to_numpy()
    print(oracle_table(forecasts, observed, ["ml-poly"], shifts=[1]))
else:
    print("(the vignette's forecasts are not there)")

# %%
# What was learned
# ----------------
error = {name: float(np.sqrt(np.mean((F[name] - target) ** 2))) for name in F}
online = float(np.sqrt(np.mean((mixture.predictions_ - target) ** 2)))
even = float(np.sqrt(np.mean((F.mean(axis=1) - target) ** 2)))
best = min(error, key=error.get)
print(
    f"- Alone: {', '.join(f'{name} {value:.0f}' for name, value in error.items())}; "
    f"their mean {even:.0f}."
)
print(
    f"- Weighed as they go, without having known which is best: {online:.0f}, which "
    f"is {online / error[best] - 1:+.1%}"
)
print(f"  against the best expert ({best}), whom one knows only afterwards.")

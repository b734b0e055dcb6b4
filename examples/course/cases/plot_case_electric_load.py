"""
Electric load: experts weighed as they go
=========================================

Weekly electricity demand, to be told at the beginning of a week whose temperature is given (as if
the weather were forecast without error). No model is best in every week: one goes by the seasons,
one by the week before, one by steps that it finds itself. So all of them speak, and each week's
forecast weighs them by what they have lost so far. How much is lost against the best of them, or the
best mixture of them, chosen with hindsight?

The real table is the French consumption from 1996 to 2009 that comes with R's package opera, which
is made for such mixtures. Where the first line below says that the table is simulated, the load has
a yearly wave, heating below 15 degrees, slow growth, and errors that linger.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from case_data import folder_of, table
from case_pictures import tidy
from sklearn.linear_model import LinearRegression

from bosquet import GradientBoostingRegressor, Mixture, plot
from bosquet.experts import oracle_table, regret

weeks = table("opera_electric_load")

# %%
# 1 to 3. Extract, explore and split
# ----------------------------------
# A year's wave, and more than that in cold weeks. Time has an order: the last 112 weeks are the
# test. Of a week of the test its temperature and its date are known beforehand, its load only when
# it is over.
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
# All are given the week's temperature. *climate* is linear in it, in the degrees below 15, in time
# and in three waves of the year; *memory* is linear in the temperature, in load and temperature of
# the week before, and in one wave; *boosted* is gradient boosting on the raw columns, which makes
# steps. Each is fitted to the weeks before the test only. Nothing else is tuned than the number of
# rounds of the last, which weeks set aside from them choose.
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
    "boosted": GradientBoostingRegressor(min_samples_leaf=5, early_stopping=True, random_state=0),
}
F = pd.DataFrame(
    {name: learners[name].fit(X[:start], y[:start]).predict(X[start:]) for name, X in given.items()}
)
target = y[start:]
print(f"rounds of boosting: {learners['boosted'].n_estimators_}")

# %%
# 5 and 6. Compare, and repeat over every week
# --------------------------------------------
# The table of such a study has first what is known in hindsight: the mean of the experts, the best
# of them, the best combination with weights that are not negative and sum to 1 (convex) and with
# any weights (linear), and the best sequence of experts that changes once or five times (shifts).
# Then come rules that learn the weights week by week: exponential weights (ewa); weights in
# proportion to the regret to each expert, as far as it is positive (ml-poly); and exponential
# weights of the regret with a rate for each expert (boa, Bernstein online aggregation). A rule's
# regret is its loss less that of the best expert, added up; if it is negative, weights that change
# were better than every expert that stays. (``mape``, further below, is the mean error as a share
# of the load, and the *gradient trick* lets a rule compare itself with the best convex combination
# and not only with the best expert: it is told the slopes of the losses in place of the losses.)
compared = oracle_table(F, target, ["ewa", "ml-poly", "boa"], shifts=[1, 5])
print(compared)

# %%
# 7. Choose: a mixture, and its guarantee
# ---------------------------------------
# ML-Poly has no parameter to set. Weights on top; below what each expert has lost, and the regret
# to the best expert so far, with its bound.
mixture = Mixture("ml-poly").fit(F, target)
print(mixture)
figure, axes = plt.subplots(3, 1, figsize=(9, 8), layout="constrained", sharex=True)
plot.expert_weights(mixture, ax=axes[0])
plot.expert_losses(mixture, ax=axes[1])
plot.expert_regret(mixture, ax=axes[2])
for ax in axes:
    ax.set_xlabel("week of the test")
plt.show()
to_expert, to_convex = (regret(mixture, F, target, kind).total for kind in ("expert", "convex"))
print(f"squared loss a week beside the best expert: {to_expert / len(target):+,.0f}")
print(f"beside the best convex combination: {to_convex / len(target):+,.0f}")

# %%
# Keep it
# -------
# A mixture goes on learning: a new week's forecasts are mixed by ``predict``, and the load, once
# known, given to ``partial_fit``.
shares = zip(F, mixture.final_weights_, strict=True)
print(f"weights for the week to come: {', '.join(f'{name} {w:.2f}' for name, w in shares)}")

# %%
# The package's vignette has forecasts of its own for these weeks, by a GAM, an autoregressive model
# and boosted trees. Where they are at hand, its figures can be had again.
folder = folder_of("opera_electric_load")
if folder is not None and (folder / "vignette_experts.csv").exists():
    forecasts = pd.read_csv(folder / "vignette_experts.csv")
    observed = pd.read_csv(folder / "vignette_targets.csv").iloc[:, 0].to_numpy()
    print(oracle_table(forecasts, observed, ["ml-poly"], shifts=[1]))
    print("the vignette has: gam 1479.796, the best convex combination 1442.428, ML-Poly 1457.476")
else:
    print("(they are not at hand)")

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
print(
    f"  against the best expert ({best}), whom one knows only afterwards, and {online / even - 1:+.1%} "
    "against their mean."
)
won = "beaten" if to_convex < 0 else "not reached"
print(f"- The best convex combination, with weights known only afterwards, was {won}.")

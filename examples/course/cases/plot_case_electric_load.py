"""
Electric load: online aggregation of experts
============================================

The weekly electricity demand is forecast at the beginning of a week whose temperature is given (as
if the weather forecast were exact). No model is best in every week: one uses the seasons, one the
previous week, one is gradient boosting. Therefore all of them make a forecast, and each week's
forecasts are weighted according to the previous losses of the models. How large is the regret with
respect to the best model, or to the best combination, chosen in hindsight?

The real table is the French consumption from 1996 to 2009 that comes with R's package opera, which
is made for such mixtures. If the first line below states that the table is simulated, the load has
a yearly cycle, heating below 15 degrees, slow growth, and autocorrelated errors.
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
# The load has a yearly cycle, and is higher still in cold weeks. The rows are ordered in time: the
# last 112 weeks are the test set. The temperature and the date of a test week are known in advance,
# its load only afterwards.
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
# All experts use the temperature of the week. *climate* is linear in the temperature, in the
# degrees below 15, in time and in three yearly harmonics. *memory* is linear in the temperature, in
# the load and temperature of the previous week, and in one harmonic. *boosted* is gradient boosting
# on the raw columns, a step function. Each is fitted only to the weeks before the test. Only the
# number of rounds of the last is tuned, on a validation set of these weeks.
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
# The table first shows references that are known only in hindsight: the mean of the experts, the
# best expert, the best combination with non-negative weights that sum to 1 (convex) and with any
# weights (linear), and the best sequence of experts with one or five changes (shifts). Then it
# shows rules that learn the weights week by week: exponential weights (ewa); weights proportional
# to the positive part of the regret with respect to each expert (ml-poly); and exponential weights
# of the regret with a learning rate per expert (boa, Bernstein online aggregation). The regret of a
# rule is its cumulative loss minus that of the best expert. If it is negative, changing weights
# were better than every single expert. (``mape``, further below, is the mean absolute percentage
# error. With the *gradient trick* a rule competes with the best convex combination and not only
# with the best expert: it uses the gradients of the losses instead of the losses.)
compared = oracle_table(F, target, ["ewa", "ml-poly", "boa"], shifts=[1, 5])
print(compared)

# %%
# 7. Choose: a mixture, and its guarantee
# ---------------------------------------
# ML-Poly has no parameter to tune. The figure shows the weights (top), the cumulative losses of the
# experts, and the regret with respect to the best expert so far, with its bound.
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
print(f"squared loss per week relative to the best expert: {to_expert / len(target):+,.0f}")
print(f"relative to the best convex combination: {to_convex / len(target):+,.0f}")

# %%
# Keep it
# -------
# A mixture can be updated: ``predict`` mixes the forecasts of a new week, and ``partial_fit`` uses
# its load once it is known.
shares = zip(F, mixture.final_weights_, strict=True)
print(f"weights for the next week: {', '.join(f'{name} {w:.2f}' for name, w in shares)}")

# %%
# The vignette of the package has its own forecasts for these weeks, by a GAM, an autoregressive
# model and boosted trees. If they are available, the figures of the vignette are recomputed here.
folder = folder_of("opera_electric_load")
if folder is not None and (folder / "vignette_experts.csv").exists():
    forecasts = pd.read_csv(folder / "vignette_experts.csv")
    observed = pd.read_csv(folder / "vignette_targets.csv").iloc[:, 0].to_numpy()
    print(oracle_table(forecasts, observed, ["ml-poly"], shifts=[1]))
    print(
        "values of the vignette: gam 1479.796, the best convex combination 1442.428, ML-Poly 1457.476"
    )
else:
    print("(the forecasts of the vignette are not available)")

# %%
# What was learned
# ----------------
error = {name: float(np.sqrt(np.mean((F[name] - target) ** 2))) for name in F}
online = float(np.sqrt(np.mean((mixture.predictions_ - target) ** 2)))
even = float(np.sqrt(np.mean((F.mean(axis=1) - target) ** 2)))
best = min(error, key=error.get)
print(
    f"- RMSE of the experts: {', '.join(f'{name} {value:.0f}' for name, value in error.items())}; "
    f"their mean {even:.0f}."
)
print(
    f"- RMSE of the online mixture, which does not know the best expert: {online:.0f}, which "
    f"is {online / error[best] - 1:+.1%}"
)
print(
    f"  compared with the best expert ({best}), known only in hindsight, and {online / even - 1:+.1%} "
    "compared with their mean."
)
won = "beaten" if to_convex < 0 else "not reached"
print(f"- The best convex combination, known only in hindsight, was {won}.")

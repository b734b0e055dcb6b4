"""
Baseball salaries: two cuts tell most of it
===========================================

What did baseball players earn in 1987, given what they did in 1986? The lecture cuts the plane of
years and hits twice and has a readable answer: newcomers earn little; of the others those with
more hits earn more. How good is that, and what do larger models add?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from case_data import table
from case_pictures import tidy, tuning_and_scores

from bosquet import DecisionTreeRegressor, Study, plot

players = table("hitters")

# %%
# 1 and 2. Extract and explore
# ----------------------------
# Some salaries are unknown and their rows are of no use here. The others are skewed: a few earn
# very much. On the scale of logarithms differences are ratios, and the spread is even.
players = players.dropna(subset="Salary").reset_index(drop=True)
players["log_salary"] = np.log(players.pop("Salary"))
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
axes[0].hist(np.exp(players["log_salary"]), bins=30, color="#3b6ea5")
axes[1].hist(players["log_salary"], bins=30, color="#3b6ea5")
tidy(axes[0]).set(xlabel="salary, thousands of dollars", ylabel="players")
tidy(axes[1]).set(xlabel="logarithm of the salary")
plt.show()

# %%
# The lecture's tree: three leaves, on years and hits.
small = DecisionTreeRegressor(max_leaf_nodes=3)
small.fit(players[["Years", "Hits"]].astype(float), players["log_salary"])
print(small.export_text())
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
shown = left.scatter(
    players["Years"], players["Hits"], c=players["log_salary"], cmap="coolwarm", s=14
)
figure.colorbar(shown, ax=left, label="log salary")
years, hits = np.meshgrid(np.linspace(0, 25, 400), np.linspace(0, 245, 400))
told = small.predict(pd.DataFrame({"Years": years.ravel(), "Hits": hits.ravel()}))
left.contour(
    years, hits, told.reshape(years.shape), levels=np.unique(told)[:-1] + 0.01, colors="#333333"
)
tidy(left).set(xlabel="Years", ylabel="Hits")
plot.tree(small, ax=right)
plt.show()

# %%
# 3 to 6. Split, tune, compare, repeat
# ------------------------------------
# So few rows that a test sample says little: five splits, and intervals that know that the splits
# share rows. This study counts and does not look at the clock: it gives the same table always.
METHODS = ["linear", "cart", "random-forest", "gradient-boosting"]
study = Study("regression", methods=METHODS, budget=None, repeats=5, random_state=0, verbose=0)
study.fit(players, "log_salary")
print(study)
tuning_and_scores(study)
plt.show()

# %%
# How large should the tree be? Cost-complexity pruning has a tree for every price of a leaf;
# cross-validation chooses among them (left). The lecture looks at the scree of the deviance, here of
# the inertia of the training rows, against the leaves (right): steep for the first cuts, then flat.
pruned = DecisionTreeRegressor(pruning="cv", pruning_rule="1se", random_state=0)
pruned.fit(players.drop(columns="log_salary"), players["log_salary"])
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
plot.pruning(pruned, ax=left)
plot.scree(pruned, ax=right)
plt.show()

# %%
# 7. Choose, and keep it
# ----------------------
print(study.record_["chosen"]["why"])
fresh = players.drop(columns="log_salary").head(3)
print(f"first three players: {np.exp(study.predict(fresh)).round()} thousand,", end=" ")
print(f"they earned {np.exp(players['log_salary'].head(3)).round().to_numpy()}")

# %%
# What was learned
# ----------------
rmse = study.table_["rmse"]
residual = players["log_salary"] - small.predict(players[["Years", "Hits"]].astype(float))
explained = 1 - residual.var(ddof=0) / players["log_salary"].var(ddof=0)
leaves = ", ".join(f"{value:.2f}" for value in np.unique(told))
dollars = ", ".join(f"{np.exp(value):.0f}" for value in np.unique(told))
print(
    f"- Two cuts on years and hits make leaves of {leaves}, that is {dollars} thousand dollars, "
    f"and explain {explained:.0%} of the variance (on the rows seen)."
)
print(
    f"- New rows: {study.table_.title.iloc[0]} errs by {rmse.iloc[0]:.2f} in log "
    f"salary, a factor of {np.exp(rmse.iloc[0]):.2f};"
)
print(
    f"  a pruned tree by {rmse['cart']:.2f}, linear regression by "
    f"{rmse['linear']:.2f}, the constant by {rmse['constant']:.2f}."
)
print(f"- With the rule of one standard error the tree keeps {pruned.get_n_leaves()} leaves.")

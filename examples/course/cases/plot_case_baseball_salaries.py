"""
Baseball salaries: a tree with two splits explains most
=======================================================

How much did baseball players earn in 1987, given their statistics of 1986? The lecture splits the
plane of years and hits twice and gets a readable model: newcomers earn little; of the others, those
with more hits earn more. How accurate is this model, and how much do larger models add?
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
# Some salaries are unknown; these rows are dropped. The distribution is skewed: a few players earn
# very much. On the logarithmic scale differences are ratios, and the spread is even.
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
predicted = small.predict(pd.DataFrame({"Years": years.ravel(), "Hits": hits.ravel()}))
left.contour(
    years,
    hits,
    predicted.reshape(years.shape),
    levels=np.unique(predicted)[:-1] + 0.01,
    colors="#333333",
)
tidy(left).set(xlabel="Years", ylabel="Hits")
plot.tree(small, ax=right)
plt.show()

# %%
# 3 to 6. Split, tune, compare, repeat
# ------------------------------------
# With so few rows a single test set is not informative. The study uses five splits, and intervals
# that take into account that the splits share rows. It has no time limit, so it always gives the
# same table.
METHODS = ["linear", "cart", "random-forest", "gradient-boosting"]
study = Study("regression", methods=METHODS, budget=None, repeats=5, random_state=0, verbose=0)
study.fit(players, "log_salary")
print(study)
tuning_and_scores(study)
plt.show()

# %%
# How large should the tree be? Cost-complexity pruning gives a tree for every penalty per leaf;
# cross-validation selects one of them (left). The lecture uses a scree plot of the deviance, here
# of the inertia of the training rows, against the number of leaves (right): steep for the first
# splits, then flat.
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
print(
    f"predictions for the first three players: {np.exp(study.predict(fresh)).round()} thousand,",
    end=" ",
)
print(f"actual salaries {np.exp(players['log_salary'].head(3)).round().to_numpy()}")

# %%
# What was learned
# ----------------
rmse = study.table_["rmse"]
residual = players["log_salary"] - small.predict(players[["Years", "Hits"]].astype(float))
explained = 1 - residual.var(ddof=0) / players["log_salary"].var(ddof=0)
leaves = ", ".join(f"{value:.2f}" for value in np.unique(predicted))
dollars = ", ".join(f"{np.exp(value):.0f}" for value in np.unique(predicted))
print(
    f"- Two splits on years and hits give leaves of {leaves}, that is {dollars} thousand dollars, "
    f"and explain {explained:.0%} of the variance (of the training rows)."
)
print(
    f"- Test RMSE: {study.table_.title.iloc[0]} {rmse.iloc[0]:.2f} in log "
    f"salary, a factor of {np.exp(rmse.iloc[0]):.2f};"
)
print(
    f"  a pruned tree {rmse['cart']:.2f}, linear regression "
    f"{rmse['linear']:.2f}, the constant {rmse['constant']:.2f}."
)
print(f"- With the one-standard-error rule the tree keeps {pruned.get_n_leaves()} leaves.")

"""
Census income: classification with categories and missing values
================================================================

The target of the census table of 1994 is whether a person earned more than 50,000 dollars a year.
The features are age, education, work and family. The table has categories with many levels, missing
values, and so many rows that slow methods take long.
"""

import matplotlib.pyplot as plt
import numpy as np
from case_data import table
from case_pictures import importances_and_effects, tidy, tuning_and_scores

from bosquet import GradientBoostingClassifier, Study, plot

census = table("adult")

# %%
# 1 and 2. Extract and explore
# ----------------------------
# At most a quarter of the people earn that much. The share increases with education; with age it
# increases and then decreases, which a model that is linear in age cannot represent.
high = census["income"].astype(str) == ">50K"
print(
    f"{high.mean():.1%} earn more than 50,000; {census.isna().any(axis=1).mean():.1%} "
    "of rows have a missing value"
)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
for ax, column, width in zip(axes, ("education_num", "age"), (1, 5), strict=True):
    groups = (census[column].astype(float) // width) * width
    shares = high.groupby(groups).mean()
    ax.bar(shares.index, shares, width=0.8 * width, align="edge", color="#3b6ea5")
    tidy(ax).set(xlabel=column, ylabel="share above 50,000")
plt.show()

# %%
# 3 to 6. Split, tune, compare, repeat
# ------------------------------------
# A study of 5,000 rows in twelve seconds is enough to distinguish the methods. The full table of
# 48,000 rows is used below.
sample = census.sample(min(5000, len(census)), random_state=0)
METHODS = ["logistic", "cart", "random-forest", "gradient-boosting"]
study = Study(methods=METHODS, budget="12s", random_state=0, verbose=0).fit(sample, "income")
print(study)

# %%
# Left: the score against the complexity of each method. Right: the scores of the tuned methods.
# Grey dots are the splits. The scores of two methods vary together over the splits, so their
# difference is known more precisely than the intervals of the means suggest.
tuning_and_scores(study)
plt.show()

# %%
# 7. Choose
# ---------
# The importances of the features in the chosen model, and the partial dependence of its probability
# on the two most important ones.
print(study.record_["chosen"]["why"])
importances_and_effects(study)
plt.show()

# %%
# Keep it
# -------
# Gradient boosting can be fitted to all rows in seconds. The last third of the rows is the test set
# (in the real table it is the official test file). The reliability diagram shows whether the
# probabilities are calibrated.
last = len(census) * 2 // 3
columns = census.columns.drop("income")
model = GradientBoostingClassifier(random_state=0).fit(census[columns][:last], high[:last])
X_test, y_test = census[columns][last:], high[last:].to_numpy()
p = model.predict_proba(X_test)[:, 1]
error, constant = np.mean((p > 0.5) != y_test), min(y_test.mean(), 1 - y_test.mean())
plot.reliability(y_test, p)
plt.show()

# %%
# What was learned
# ----------------
scores = study.table_["log_loss"]
best, logistic = study.table_.index[0], scores["logistic"]
print(f"- {study.table_['title'].iloc[0]} has the lowest log loss, {scores.iloc[0]:.3f};", end=" ")
print(f"logistic regression {logistic:.3f}, the pruned tree {scores['cart']:.3f}.")
different = study.table_["distinguishable"].drop(best).drop("constant").sum()
print(f"- {different} of the {len(METHODS) - 1} other methods differ significantly from it.")
print(
    f"- All rows: {last:,} training rows, error {error:.2%} on {len(y_test):,} "
    f"test rows (constant {constant:.2%})."
)
top = [found["feature"] for found in study.record_["chosen"]["importances"][:3]]
print(f"- The most important features are {', '.join(top[:-1])} and {top[-1]}.")

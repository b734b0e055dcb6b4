"""
Fraud: a class that is rare
===========================

Few card payments are frauds. A rule that never says fraud is right about nearly all payments, so
that accuracy is of no use; what counts is how many frauds are found among the payments that are
looked at. The question of this page is also whether weights or resampling for the rare class help.
"""

import matplotlib.pyplot as plt
import numpy as np
from case_data import table
from case_pictures import tidy, tuning_and_scores
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.model_selection import train_test_split

from bosquet import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier, Study

payments = table("creditcard_fraud_10k")

# %%
# 1 and 2. Extract and explore
# ----------------------------
fraud = payments["Class"].astype(int).to_numpy()
columns = payments.columns.drop("Class")
apart = np.abs(payments[columns][fraud == 1].mean() - payments[columns][fraud == 0].mean())
apart = (apart / payments[columns].std()).sort_values(ascending=False)
print(f"{fraud.mean():.2%} of {len(fraud):,} payments are frauds")
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
for ax, name in zip(axes, apart.index[:2], strict=True):
    edges = np.linspace(*payments[name].quantile([0.002, 0.998]), 40)
    for label, colour in ((0, "#3b6ea5"), (1, "#b8433f")):
        shown = payments.loc[fraud == label, name]
        ax.hist(
            shown, edges, density=True, color=colour, alpha=0.6, label=("genuine", "fraud")[label]
        )
    tidy(ax).set(xlabel=name, ylabel="density in each class")
    ax.legend(frameon=False)
plt.show()

# %%
# 3 to 6. Split, tune, compare, repeat
# ------------------------------------
# With a class of less than a tenth the study goes by the average precision, the area under
# precision against recall, and puts methods for rare classes beside the usual ones.
METHODS = ["logistic", "random-forest", "gradient-boosting", "balanced-bagging"]
study = Study("binary", methods=METHODS, budget="14s", random_state=0, verbose=0)
study.fit(payments.sample(min(4000, len(payments)), random_state=0), "Class")
print(study)
tuning_and_scores(study)
plt.show()

# %%
# Weights, bags, or nothing?
# --------------------------
# The same learners with and without help for the rare class. Ranking payments by suspicion is one
# thing, saying yes or no at one half another. Weights in boosting and balanced bags push the
# scores of all rows up, which changes decisions a lot and the ranking little. A forest of full
# trees hardly notices weights: its leaves are pure whatever a row weighs.
X, X_test, y, y_test = train_test_split(
    payments[columns].to_numpy(float), fraud, test_size=0.4, stratify=fraud, random_state=0
)
boosting = {"n_estimators": 150, "max_leaf_nodes": 8, "random_state": 0}
models = {
    "forest": RandomForestClassifier(random_state=0),
    "forest, weighted": RandomForestClassifier(class_weight="balanced", random_state=0),
    "balanced bags": BaggingClassifier(n_estimators=100, balanced=True, random_state=0),
    "boosting": GradientBoostingClassifier(**boosting),
    "boosting, weighted": GradientBoostingClassifier(class_weight="balanced", **boosting),
}
figure, ax = plt.subplots(figsize=(6.8, 4), layout="constrained")
found = {}
for (name, model), style in zip(models.items(), ("-", "--", ":", "-", "--"), strict=True):
    p = model.fit(X, y).predict_proba(X_test)[:, 1]
    precision, recall, _ = precision_recall_curve(y_test, p)
    colour = "#3b6ea5" if "forest" in name else "#2f7d5b" if "bags" in name else "#d9822b"
    ax.plot(recall, precision, style, color=colour, lw=1.3, label=name)
    said = p > 0.5
    found[name] = (
        average_precision_score(y_test, p),
        said[y_test == 1].mean(),
        said[y_test == 0].mean(),
        p,
    )
    print(
        f"{name:19s} average precision {found[name][0]:.3f}; at one half it finds "
        f"{found[name][1]:.1%} of frauds"
        f" and stops {found[name][2]:.2%} of genuine payments"
    )
tidy(ax).set(xlabel="share of frauds found (recall)", ylabel="share of frauds among those named")
ax.legend(frameon=False)
plt.show()

# %%
# 7. Choose, by what mistakes cost
# --------------------------------
# Say a missed fraud costs 100 and a genuine payment stopped costs 3. A reliable probability is
# compared with :math:`3 / 103`; any score can be given the threshold that was cheapest, here on
# one half of the test rows to be judged on the other.
MISSED, STOPPED = 100.0, 3.0
half = np.arange(y_test.size) % 2 == 0


def cost(said, truth):
    return float(np.mean(MISSED * (truth & ~said) + STOPPED * (said & ~truth)))


truth = y_test == 1
costs = {"stop nothing": cost(np.zeros(truth[~half].size, bool), truth[~half])}
for name, (_, _, _, p) in found.items():
    tried = np.unique(np.quantile(p, np.linspace(0, 1, 400)))
    cheapest = min(tried, key=lambda t, p=p: cost(p[half] > t, truth[half]))
    costs[name] = cost(p[~half] > cheapest, truth[~half])
    print(
        f"{name:19s} at one half {cost(p[~half] > 0.5, truth[~half]):.3f}, at "
        f"{cheapest:.3f} {costs[name]:.3f} a payment"
    )

# %%
# The study chose by how well payments are ranked, before anything was said of costs. Threshold and
# costs can change that:
print(f"by average precision: {study.best_.title}. {study.record_['winner']['why']}")
print(f"by cost, of the models above: {min(costs, key=costs.get)}")

# %%
# Keep it
# -------
# What the boosted trees without weights go by, whichever was chosen: the share of the loss that each
# column's splits took away.
used = models["boosting"].feature_importances_
order = np.argsort(used)[::-1][:8]
figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
ax.barh(columns[order], 100 * used[order] / used.max(), color="#3b6ea5")
ax.invert_yaxis()
tidy(ax).set_xlabel("importance, largest 100")
plt.show()

# %%
# What was learned
# ----------------
plain, weighed = found["boosting"], found["boosting, weighted"]
precision = study.table_["average_precision"]
print(
    "- Average precision: "
    f"{', '.join(f'{study.table_.title[m]} {precision[m]:.3f}' for m in precision.index if m != 'constant')}."
)
print(
    f"- Weights changed the average precision of boosting by {weighed[0] - plain[0]:+.3f}",
    end=" ",
)
print(
    f"and the frauds found at one half from {found['boosting'][1]:.1%} to "
    f"{found['boosting, weighted'][1]:.1%}."
)
cheapest = min(costs, key=costs.get)
print(
    f"- Cheapest with its threshold: {cheapest}, {costs[cheapest]:.2f} a payment; "
    f"stopping nothing costs {costs['stop nothing']:.2f}."
)

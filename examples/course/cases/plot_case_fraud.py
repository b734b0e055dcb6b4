"""
Fraud: class imbalance, thresholds and costs
============================================

Few card payments are frauds. A classifier that never predicts fraud is correct for nearly all
payments, so accuracy is not a useful metric; what counts is how many frauds are found among the
payments that are flagged. This page also answers whether weights or resampling for the rare class
help.

The real table is a sample of a table that is often used: payments by European cards in two days of
2013, with all of its 492 frauds and 9,508 of its other payments, so frauds are less rare here than
in the original. For confidentiality its columns V1 to V28 are principal components of the original
features; only the seconds since the first payment and the amount are named. If the first line below
states that the table is simulated, V1 to V10 are noise, and five of them are shifted in most
frauds.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from case_data import table
from case_pictures import tidy, tuning_and_scores
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.model_selection import train_test_split

import bosquet
from bosquet import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier, Study

payments = table("creditcard_fraud_10k")

# %%
# 1 and 2. Extract and explore
# ----------------------------
# The two columns whose means differ most between the classes, in standard deviations.
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
# 3 to 5. Split, tune, compare
# ----------------------------
# The *precision* is the share of frauds among the flagged payments; the *recall* is the share of
# all frauds that are flagged. If more payments are flagged, the recall increases and the precision
# decreases. If a class has less than a tenth of the rows, the study uses the average precision (the
# area under the precision-recall curve) as metric and includes methods for imbalanced classes. With
# a single split the test set has few frauds, so the intervals are wide. Left: the scores during
# tuning. The best of many scores is optimistically biased, so the best method there need not be the
# best on the right.
METHODS = ["logistic", "random-forest", "gradient-boosting", "balanced-bagging"]
study = Study("binary", methods=METHODS, budget=None, repeats=1, random_state=0, verbose=0)
study.fit(payments.sample(min(4000, len(payments)), random_state=0), "Class")
print(study)
tuning_and_scores(study)
plt.show()

# %%
# 6. Repeat: weights, balanced bags, or no correction?
# ----------------------------------------------------
# The same learners with and without a correction for the rare class, on several splits of all
# payments. Ranking the payments and classifying them at a threshold of one half are two different
# tasks. Class weights in boosting and balanced bags increase the scores of all rows. In a forest of
# full trees they do not: its leaves are pure for any weights, and the weights only change the
# splits.
SPLITS = 4
boosting = {"n_estimators": 150, "max_leaf_nodes": 8, "random_state": 0}
models = {
    "forest": RandomForestClassifier(random_state=0),
    "forest, weighted": RandomForestClassifier(class_weight="balanced", random_state=0),
    "balanced bags": BaggingClassifier(n_estimators=100, balanced=True, random_state=0),
    "boosting": GradientBoostingClassifier(**boosting),
    "boosting, weighted": GradientBoostingClassifier(class_weight="balanced", **boosting),
}
scores, truths = {name: [] for name in models}, []
for split in range(SPLITS):
    X, X_test, y, y_test = train_test_split(
        payments[columns].to_numpy(float), fraud, test_size=0.4, stratify=fraud, random_state=split
    )
    truths.append(y_test == 1)
    for name, model in models.items():
        scores[name].append(model.fit(X, y).predict_proba(X_test)[:, 1])

figure, ax = plt.subplots(figsize=(6.8, 4), layout="constrained")
found = {}
for name, style in zip(models, ("-", "--", ":", "-", "--"), strict=True):
    precision, recall, _ = precision_recall_curve(truths[0], scores[name][0])
    colour = "#3b6ea5" if "forest" in name else "#2f7d5b" if "bags" in name else "#d9822b"
    ax.plot(recall, precision, style, color=colour, lw=1.3, label=name)
    pairs = list(zip(truths, scores[name], strict=True))
    found[name] = pd.Series(
        {
            "average precision": np.mean([average_precision_score(t, p) for t, p in pairs]),
            "frauds found at 1/2": np.mean([np.mean(p[t] > 0.5) for t, p in pairs]),
            "genuine stopped at 1/2": np.mean([np.mean(p[~t] > 0.5) for t, p in pairs]),
        }
    )
tidy(ax).set(
    xlabel="share of frauds found (recall)",
    ylabel="share of frauds among the flagged (precision)",
    title="the first split",
)
ax.legend(frameon=False)
plt.show()
found = pd.DataFrame(found).T
print(f"means over {SPLITS} splits, each with {truths[0].sum()} test frauds")
print(found.round(3).to_string())

# %%
# 7. Choose, by the costs of errors
# ---------------------------------
# Suppose that a missed fraud costs 100 and a stopped genuine payment costs 3. If the probability of
# fraud is p, the expected cost of stopping the payment is :math:`3(1-p)`, and of letting it pass
# :math:`100 p`. So a calibrated probability is compared with :math:`\frac{3}{103}`. The scores with
# weights or from balanced bags are not calibrated probabilities, but for any score the cheapest
# threshold can be selected on other rows: here on one half of the test rows, and evaluated on the
# other half.
MISSED, STOPPED = 100.0, 3.0


def cost(flagged, truth):
    return float(np.mean(MISSED * (truth & ~flagged) + STOPPED * (flagged & ~truth)))


def cheapest_threshold(p, truth):
    tried = np.unique(np.quantile(p, np.linspace(0, 1, 400)))
    return min(tried, key=lambda t: cost(p > t, truth))


evaluated = np.arange(truths[0].size) % 2 == 1
costs = {}
for name in models:
    lines = []
    for truth, p in zip(truths, scores[name], strict=True):
        own = cheapest_threshold(p[~evaluated], truth[~evaluated])
        at = {"at 1/2": 0.5, "at 3/103": STOPPED / (STOPPED + MISSED), "own threshold": own}
        lines.append({how: cost(p[evaluated] > t, truth[evaluated]) for how, t in at.items()})
    costs[name] = pd.DataFrame(lines)
mean_costs = pd.DataFrame({name: lines.mean() for name, lines in costs.items()}).T
print("cost per payment, mean over the splits")
print(mean_costs.round(3).to_string())
spread = pd.DataFrame({name: lines["own threshold"] for name, lines in costs.items()}).std().mean()
nothing = np.mean([cost(np.zeros(evaluated.sum(), bool), truth[evaluated]) for truth in truths])
print(
    f"stopping nothing costs {nothing:.3f}; one missed fraud in a test half costs "
    f"{MISSED / evaluated.sum():.3f}; the standard deviation over the splits is about {spread:.3f}"
)

# %%
# The threshold matters, the model hardly does: with their own thresholds, the differences between
# the models are as large as the differences between the splits of one model, and no model is
# significantly cheaper. So the model is chosen by its ranking of the payments, and the threshold by
# the costs.
own = mean_costs["own threshold"]
chosen = found["average precision"].idxmax()
print(
    f"costs at own thresholds: {own.min():.3f} ({own.idxmin()}) to {own.max():.3f} ({own.idxmax()}), a"
    f" difference of {(own.max() - own.min()) * evaluated.sum() / MISSED:.1f} missed frauds in a test"
    " half"
)
print(f"chosen by the study, by average precision on its split: {study.best_.title}")
print(f"best model above, by average precision over the splits: {chosen}")

# %%
# Keep it
# -------
# The chosen model of the last split is saved to a file; the loaded model gives the same scores. The
# figure shows the feature importance of the boosted trees without weights: the reduction of the
# loss by the splits on each column, scaled so that the largest is 100.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "fraud.bosquet"
    models[chosen].save(path)
    again = bosquet.load(path).predict_proba(X_test)[:, 1]
    same = np.array_equal(again, scores[chosen][-1])
    print(f"{chosen}: {path.stat().st_size / 1024:.0f} kB; same scores: {same}")
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
precision, alone = found["average precision"], found["frauds found at 1/2"]
print("- Do weights or resampling improve the ranking? Average precision", end=" ")
print(
    f"of boosting {precision['boosting']:.3f}, with weights {precision['boosting, weighted']:.3f}; "
    f"of the forest {precision['forest']:.3f}, with weights {precision['forest, weighted']:.3f}; "
    f"of balanced bags {precision['balanced bags']:.3f}."
)
helped = precision.drop(["forest", "boosting"]).max() - precision[["forest", "boosting"]].max()
print(
    f"  {'Yes' if helped > 0 else 'No'}: the best with a correction minus the best without is {helped:+.3f}."
)
print(
    f"- Do they improve the decision at one half? Boosting finds {alone['boosting']:.1%} of the frauds, with "
    f"weights {alone['boosting, weighted']:.1%}, and stops "
    f"{found['genuine stopped at 1/2']['boosting, weighted']:.1%} of the genuine payments."
)
print(
    f"- Moving the threshold has the same effect: boosting without weights costs "
    f"{mean_costs['at 1/2']['boosting']:.2f} per payment at one half, "
    f"{mean_costs['at 3/103']['boosting']:.2f} at 3/103 and {own['boosting']:.2f} at its own threshold;"
)
print(
    f"  with weights {own['boosting, weighted']:.2f} at its own. Stopping nothing costs {nothing:.2f}."
)

r"""
Bagging and AdaBoost: answers to the exercise sheet
===================================================

The exercise sheet of the course (*TD: méthodes ensemblistes*) has two parts, bagging and boosting.
For each, with support vector machines or trees as base models, it asks how the training and test
errors depend on the number of models. This page uses simulated data and two moons, with both kinds
of base model, and answers the ten questions of the sheet. The last task, to implement AdaBoost, has
its own page: :doc:`plot_exercise_adaboost_recoded`.

Bagging, the questions
----------------------

S is a training set of m rows, :math:`S_t` the t-th of T samples that are drawn from it, and
:math:`h_t` the model fitted to :math:`S_t`.

*What can be said of the samples* :math:`S_t` *compared with S?* They have the size of S, and are
drawn from it with replacement: some rows occur twice or more, and a sample contains 63.2 % of the
rows on average (see :doc:`plot_exercise_bootstrap`). Given S they are independent and identically
distributed, and so are the models. Without conditioning on S they are not independent: all of them
depend on S, so a peculiarity of S is in each of them.

*What is the computational advantage?* The models are independent of each other: T models can be
fitted in parallel on as many cores as there are (``n_jobs``), and on several machines.

*Why fit the models to different samples?* Models fitted to the same data make the same errors, and
their vote makes them too. For regression there is an identity: the squared error of the mean equals
the mean squared error of the models minus the variance of their predictions around the mean, so
disagreement reduces the error. For votes there is no such identity, but they also gain if the
models misclassify different rows.

*Why sample features as well?* A strong feature is the first split of every tree, which makes the
trees similar. If some models cannot use it, other features are used, and the errors are less
correlated. It is also faster.

*What is* ``oob_score`` *for?* Every model leaves out 36.8 % of the rows on average. Each row is
predicted by the models that left it out, 36.8 % of them on average. The accuracy of these
predictions is ``oob_score_``, and ``1 - oob_score_`` estimates the error on new rows, without a
test set and without another fit.

The code of the sheet in current versions
-----------------------------------------
The sheet passes the weak learner as ``base_estimator``. scikit-learn renamed the parameter to
``estimator`` in version 1.2 and removed the old name in 1.4; Bosquet uses the new name. The sheet
asks for linear models, but ``SVC()`` has a Gaussian kernel by default: both are tried below."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.datasets import make_classification, make_moons
from sklearn.ensemble import AdaBoostClassifier as PeerAdaBoost
from sklearn.ensemble import BaggingClassifier as PeerBagging
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from bosquet import AdaBoostClassifier, BaggingClassifier, DecisionTreeClassifier, plot

X, y = make_classification(
    n_samples=100, n_features=4, n_informative=2, n_redundant=0, random_state=0, shuffle=False
)
try:
    PeerBagging(base_estimator=SVC(), n_estimators=10, random_state=0).fit(X, y)
except TypeError as error:
    print(f"scikit-learn {sklearn.__version__}: {error}")
bag = BaggingClassifier(estimator=SVC(), n_estimators=10, random_state=0).fit(X, y)
print(
    f"Bosquet with estimator=SVC(): accuracy on the {len(y)} rows of the sheet: {bag.score(X, y):.2f}"
)

# %%
# Bagging, in practice
# --------------------
# A hundred rows are too few to measure a test error, so more are drawn from the same distribution,
# with 5 % of the labels drawn again at random, and more moons: 400 training rows and 1,200 test
# rows.
RECIPE = {"n_features": 4, "n_informative": 2, "n_redundant": 0, "random_state": 0}
simulated = make_classification(1600, flip_y=0.05, shuffle=False, **RECIPE)
unspoilt = make_classification(1600, flip_y=0, shuffle=False, **RECIPE)
turned = simulated[1] != unspoilt[1]  # half of the redrawn labels do not change
moons = make_moons(1600, noise=0.2, random_state=0)
*simulated, turned, _ = train_test_split(*simulated, turned, train_size=400, random_state=1)
DATA = {
    "simulated": simulated,
    "moons": train_test_split(*moons, train_size=400, random_state=0),
}
LEARNERS = {
    "linear SVC": SVC(kernel="linear"),
    "SVC": SVC(),
    "tree": DecisionTreeClassifier(random_state=0),
}
for name, (_, _, y, y_test) in DATA.items():
    print(f"{name}: {len(y)} training rows, {len(y_test)} test rows")
print(f"flipped labels in the simulated training rows: {turned.mean():.1%}")

bagged = {}
figure, axes = plt.subplots(2, 3, figsize=(13.5, 6.6), layout="constrained", sharex=True)
for row, (data, (X, X_test, y, y_test)) in zip(axes, DATA.items(), strict=True):
    for ax, (name, learner) in zip(row, LEARNERS.items(), strict=True):
        bag = BaggingClassifier(learner, n_estimators=40, oob_score=True, random_state=0)
        plot.error_curve(bag.fit(X, y), X, y, X_test, y_test, bounds=False, ax=ax)
        models = np.arange(1, 41)
        ax.plot(models, bag.oob_curve_, color="#2f7d5b", lw=1.2, label="out of bag")
        alone = 1 - learner.fit(X, y).score(X_test, y_test)
        ax.axhline(alone, color="#8a8a8a", lw=0.8, ls=":", label=f"one {name} on all rows, test")
        ax.set(ylim=(0, max(ax.get_ylim()[1], 1.05 * np.nanmax(bag.oob_curve_))))
        ax.set_title(f"{data}: bagged {name}", fontsize=10)
        ax.set_xlabel("models")
        ax.legend(frameon=False, fontsize=8)
        first = np.mean(next(iter(bag.staged_predict(X))) != y)
        bagged[data, name] = alone, 1 - bag.score(X_test, y_test)
        print(
            f"{data:10s} {name:11s} one {alone:.3f}   bagged {bagged[data, name][1]:.3f}"
            f"   out of bag {1 - bag.oob_score_:.3f}   first model on training rows {first:.3f}"
        )
plt.show()

# %%
# Results: bagging does not change the SVCs: their decision boundary is much the same on every
# sample, so the vote of forty of them is almost the same classifier. The tree is unstable: with a
# few other rows it has other splits. On the simulated data, whose labels are noisy, bagging reduces
# its error much; on the moons by less than one percentage point, which one test set can hardly
# distinguish from chance. The lines below show the number of test rows. The sheet expects that
# bagging bends the boundary of linear models; it does not, because a vote of nearly equal linear
# classifiers is nearly linear.
#
# A fully grown tree is correct for every row of its sample. The first model still misclassifies
# some training rows that are not in its sample. The vote of forty hardly misclassifies any, which
# is no information about new rows. The out-of-bag curve is noisy at first, because it uses only the
# rows that one or two models left out, and then approaches the test error, as closely as 400 rows
# allow. More models do no harm, but soon no longer improve the error.
for data in DATA:
    gains = [
        f"{name} {1e2 * (one - many):+.1f} ({(one - many) * len(DATA[d][3]):+.0f} rows)"
        for (d, name), (one, many) in bagged.items()
        if d == data
    ]
    print(
        f"{data}: reduction of the test error by bagging, in percentage points: {', '.join(gains)}"
    )
for data in DATA:
    one, many = bagged[data, "tree"]
    chance = 1e2 * np.sqrt((one * (1 - one) + many * (1 - many)) / len(DATA[data][3]))
    print(f"{data}, tree: the standard error of the difference is about {chance:.1f} points")

# %%
# AdaBoost, the questions
# -----------------------
# Let :math:`w_i` be the weights of the rows in round t, :math:`h_t` the model of the round, with
# values -1 and 1, and :math:`\varepsilon_t` the total weight of the rows that it misclassifies.
#
# *How are* :math:`\alpha_t` *and the performance of the model related?* :math:`\alpha_t = \frac12
# \ln((1-\varepsilon_t)/\varepsilon_t)` is 0 for random guessing, increases as the error decreases
# and is unbounded: a model without errors would decide alone. If the model is worse than random
# guessing, :math:`\alpha_t` would be negative, and the loop stops.
#
# *How are the rows weighted?* By :math:`e^{-\alpha_t y_i h_t(x_i)}`: the weight of a misclassified
# row is multiplied by :math:`e^{\alpha_t} = \sqrt{(1-\varepsilon_t)/\varepsilon_t}`, the weight of
# a correctly classified row is divided by it; then all are divided by their sum :math:`Z_t`.
# Afterwards the correctly classified and the misclassified rows have half of the total weight each:
# under the new weights the last model is no better than chance, so the next model has to be
# different.
#
# *Which loss is that?* The exponential loss :math:`e^{-y f(x)}` of the vote :math:`f = \sum_t
# \alpha_t h_t`: the weight of a row is its loss so far, divided by the sum of all losses. It is
# convex and an upper bound of the 0-1 loss. For negative margins the logistic and the hinge loss
# grow linearly, but the exponential loss grows exponentially, so a single outlier can have most of
# the weight. (The logistic loss is drawn as :math:`\log_2(1 + e^{-2 y f})`, which is 1 at 0.)
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
plot.losses(
    {
        "0-1": lambda yf: (yf <= 0).astype(float),
        "exponential": lambda yf: np.exp(-yf),
        "logistic": lambda yf: np.log1p(np.exp(-2 * yf)) / np.log(2),
        "hinge": lambda yf: np.maximum(0, 1 - yf),
    },
    interval=(-3, 2),
    ax=ax,
)
ax.set_ylim(0, 12)
plt.show()

# %%
# *What does the bound imply for infinitely many models?* If every round has an edge :math:`\frac12
# - \varepsilon_t \ge \gamma > 0`, the training error is at most :math:`e^{-2\gamma^2 T}` and tends
# to 0. As it is a multiple of 1/m, it *is* 0 as soon as the bound is below 1/m, that is after more
# than :math:`\frac{\ln m}{2\gamma^2}` rounds:
for gamma in (0.05, 0.1, 0.2):
    rounds = int(np.log(400) / (2 * gamma**2)) + 1
    print(f"m = 400, γ = {gamma}: training error 0 after {rounds} rounds")

# %%
# *Is that feasible?* Only as long as the learner has an edge. It has none if two equal rows have
# different classes, or if the base models are too simple to separate the rows: then the edges tend
# to 0 and the bound no longer decreases. And a training error of 0 is not the goal: the error on
# new rows depends on the margins and on the noise.
#
# AdaBoost, in practice
# ---------------------
# The base models are a stump, a tree with four leaves, and the SVC of the sheet, linear and with
# the Gaussian kernel. The bound on the training error is drawn if it is inside the panel: the
# bounds of the SVCs are above, since their edge is small after the first model.
LEARNERS = {
    "stump": (None, 300),  # the default base learner
    "tree of 4 leaves": (DecisionTreeClassifier(max_leaf_nodes=4, random_state=0), 300),
    "linear SVC": (SVC(kernel="linear"), 60),
    "SVC": (SVC(), 10),
}
boosted, ended, fitted = {}, {}, {}
figure, axes = plt.subplots(2, 4, figsize=(15, 6.4), layout="constrained")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # warns if it stops because a model has no edge
    for row, (data, (X, X_test, y, y_test)) in zip(axes, DATA.items(), strict=True):
        for ax, (name, (learner, rounds)) in zip(row, LEARNERS.items(), strict=True):
            model = AdaBoostClassifier(learner, n_estimators=rounds, random_state=0).fit(X, y)
            plot.error_curve(model, X, y, X_test, y_test, ax=ax)
            ax.set_title(f"{data}: boosted {name}", fontsize=10)
            ax.set_xlabel("models")
            ax.set_ylim(0, 0.42)
            ax.legend(fontsize=8, loc="upper right", framealpha=0.9, edgecolor="none")
            fitted[data, name] = model
            test = 1 - np.array(list(model.staged_score(X_test, y_test)))
            training = model.certificate_.training_errors
            boosted[data, name] = test
            if len(test) < rounds:
                ended[data, name] = model.stopped_because_
            print(
                f"{data:10s} {name:17s} {len(test):3d} rounds   test error first {test[0]:.3f}"
                f"   least {test.min():.3f} (round {test.argmin() + 1})   last {test[-1]:.3f}"
                f"   last training error {training[-1]:.3f}"
            )
plt.show()

# %%
# Results: boosting improves weak models. Stumps gain most, above all on the moons, where a single
# threshold is not accurate: the training error stays below its bounds, and the decision boundary of
# the vote is not a threshold. (The curves are flat at first, because several models are needed to
# outvote the first.) The Gaussian SVC can hardly be improved: it is not a weak learner.
#
# After its minimum the test error increases again. This alone is not evidence, because the minimum
# of 300 values is always below the last one, and there are few rows. The weights show what the late
# rounds fit: on the simulated data, where 5 % of the labels were drawn again, rows with a flipped
# label have a large part of the weight at the end. They are noise, and fitting them probably causes
# the increase.
for data in DATA:
    for name in LEARNERS:
        test = boosted[data, name]
        back = test[-1] - test.min()
        print(
            f"{data:10s} {name:17s} the error of the first model minus the lowest error is "
            f"{1e2 * (test[0] - test.min()):4.1f} points; the last error is {1e2 * back:.1f} points higher "
            f"({back * len(DATA[data][3]):.0f} rows)"
        )
X, _, y, _ = DATA["simulated"]
for name in ("stump", "tree of 4 leaves"):
    weights = np.exp(-np.where(y == 1, 1, -1) * fitted["simulated", name].decision_function(X))
    print(
        f"simulated  {name:17s} turned labels: {turned.mean():.1%} of the rows, "
        f"{weights[turned].sum() / weights.sum():.1%} of the weight after the last round"
    )

# %%
# So the number of rounds has to be selected, for example on a validation set.
#
# The sheet expects that boosting bends the boundary of linear models; with this learner it does
# not. The first linear model is no better than chance under the weights of the second round. The
# second still has an edge, but soon there is none, because a support vector machine minimises the
# hinge loss and not the weighted error. And all later models together do not outvote the first: as
# long as :math:`\alpha_1` is larger than the sum of the others, the vote *is* the first model.
# Stumps are simpler models, but each minimises the weighted error itself.
for (data, name), why in ended.items():
    found = fitted[data, name].certificate_
    print(
        f"{data:10s} {name}: ε {', '.join(f'{e:.3f}' for e in found.errors)}; "
        f"α {', '.join(f'{a:.2f}' for a in found.alphas)}: the first {found.alphas[0]:.2f}, "
        f"all others {found.alphas[1:].sum():.2f}"
    )
    print(f"{'':10s} then it stopped: {why}")

# %%
# **A pitfall on the sheet.** It boosts ``SVC()`` with scikit-learn on 100 rows. scikit-learn passes
# weights that sum to 1 to the SVC, which multiplies its cost C by them: with C/m per row it hardly
# fits the data. Bosquet passes weights with mean 1. If C is multiplied by m, scikit-learn gives the
# same accuracy, so this is the whole difference.
X, y = make_classification(
    n_samples=100, n_features=4, n_informative=2, n_redundant=0, random_state=0, shuffle=False
)
for name, kind, C in (
    ("scikit-learn", PeerAdaBoost, 1),
    ("scikit-learn", PeerAdaBoost, len(y)),
    ("Bosquet", AdaBoostClassifier, 1),
):
    model = kind(SVC(C=C), n_estimators=10, random_state=0).fit(X, y)
    print(f"{name:12s} with C = {C:3d}: training accuracy {model.score(X, y):.2f}")

# %%
# The title of the sheet is *imbalanced learning*, but it has no question about it. Methods for a
# rare class are in the case study of fraud: :doc:`/course/cases/plot_case_fraud`.

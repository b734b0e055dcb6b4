r"""
Bagging and AdaBoost: the exercise sheet, answered
==================================================

The course's exercise sheet (*TD: méthodes ensemblistes*) has two methods, bagging and boosting, and
asks of each, with support vector machines or trees to combine, how the errors in training and test
depend on the number of models; here on simulated data and on two moons, with both kinds of model.
Its ten questions come with it; the last task, to write AdaBoost oneself, has a page of its own:
:doc:`plot_exercise_adaboost_recoded`.

Bagging, the questions
----------------------

S is a training sample of m rows, :math:`S_t` the t-th of T samples that are drawn from it, and
:math:`h_t` the model that was learned from :math:`S_t`.

*What can be said of the samples* :math:`S_t` *beside S?* They have the size of S, and are drawn
from it with replacement: some rows come twice or more, and a sample holds 63.2 % of the rows on
average (:doc:`plot_exercise_bootstrap` has the count). Given S they are independent and
identically distributed, and so are the models. Without S given they are not independent: all of
them know only S, and what is odd about S is in each of them.

*What is the advantage for computing?* No model waits for another: T models are fitted on as many
cores as there are (``n_jobs``), and on as many machines.

*Why learn from different information?* Models that see the same err alike, and a vote of them errs
like one. For numbers that is an identity: the squared error of a mean is the mean of the models'
squared errors less the variance of their answers about it, so that what they disagree on is taken
off. A vote has no such identity, but gains likewise where the models err on different rows.

*Why sample variables as well?* A strong variable comes first in every tree, and makes the trees
alike. Where some models cannot use it, others speak, and errors are less correlated. It is also
faster.

*What is* ``oob_score`` *for?* Every model left out 36.8 % of the rows on average. A row is decided
by the models that left it out, 36.8 % of them on average; the share of rows decided rightly is
``oob_score_``, and what it lacks of 1 estimates the error on new rows, without a test sample and
without another fit.

The sheet's lines today
-----------------------
The sheet passes the weak learner as ``base_estimator``. scikit-learn renamed the parameter to
``estimator`` in version 1.2 and removed the old name in 1.4; Bosquet uses the new name. The sheet
asks for linear machines, but ``SVC()`` has a Gaussian kernel by default: both are tried below."""

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
    f"Bosquet with estimator=SVC(): its accuracy on the sheet's {len(y)} rows: {bag.score(X, y):.2f}"
)

# %%
# Bagging, in practice
# --------------------
# A hundred rows are too few to see a test error by, so more are drawn by the same recipe, with one
# label in twenty drawn anew, and more moons: 400 rows to learn from, 1,200 to test on.
RECIPE = {"n_features": 4, "n_informative": 2, "n_redundant": 0, "random_state": 0}
simulated = make_classification(1600, flip_y=0.05, shuffle=False, **RECIPE)
unspoilt = make_classification(1600, flip_y=0, shuffle=False, **RECIPE)
turned = simulated[1] != unspoilt[1]  # half of the labels drawn anew are those that were there
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
    print(f"{name}: {len(y)} rows to learn from, {len(y_test)} to test on")
print(f"labels turned in the simulated rows to learn from: {turned.mean():.1%}")

bagged = {}
figure, axes = plt.subplots(2, 3, figsize=(13.5, 6.6), layout="constrained", sharex=True)
for row, (data, (X, X_test, y, y_test)) in zip(axes, DATA.items(), strict=True):
    for ax, (name, learner) in zip(row, LEARNERS.items(), strict=True):
        bag = BaggingClassifier(learner, n_estimators=40, oob_score=True, random_state=0)
        plot.error_curve(bag.fit(X, y), X, y, X_test, y_test, bounds=False, ax=ax)
        models = np.arange(1, 41)
        ax.plot(models, bag.oob_curve_, color="#2f7d5b", lw=1.2, label="out of bag")
        alone = 1 - learner.fit(X, y).score(X_test, y_test)
        ax.axhline(alone, color="#8a8a8a", lw=0.8, ls=":", label=f"one {name} of all rows, test")
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
# Described: bagging leaves the SVCs as they were: their frontier is much the same on every sample,
# and a vote of forty like them is one like them. The tree is unstable (another row here or there,
# and it asks other questions): on the simulated data, whose labels are noisy, bagging helps it much,
# on the moons by less than a point, which one test sample hardly tells from chance. The lines below
# say how many test rows that is. The sheet hopes for more than lines from lines; bagging does not
# give that, a vote of lines that hardly differ being nearly a line.
#
# A tree that is grown to the end is right about every row that it has drawn. The first model still
# errs on the training rows, on some of those that it has not drawn; the vote of forty hardly does,
# and that says nothing of new rows. The out-of-bag curve begins wildly, as it counts at first only
# the rows that one model or two left out, and settles near the test error, as near as 400 rows can
# tell. More models do no harm, and soon no more good.
for data in DATA:
    gains = [
        f"{name} {1e2 * (one - many):+.1f} ({(one - many) * len(DATA[d][3]):+.0f} rows)"
        for (d, name), (one, many) in bagged.items()
        if d == data
    ]
    print(f"{data}: points of test error taken away by bagging: {', '.join(gains)}")
for data in DATA:
    one, many = bagged[data, "tree"]
    chance = 1e2 * np.sqrt((one * (1 - one) + many * (1 - many)) / len(DATA[data][3]))
    print(
        f"{data}, tree: on other test rows the difference could easily be {chance:.1f} more or less"
    )

# %%
# AdaBoost, the questions
# -----------------------
# :math:`w_i` are the weights of the rows in round t, :math:`h_t` is the model of the round, with
# values -1 and 1, and :math:`\varepsilon_t` the weight of the rows that it has wrong.
#
# *How are* :math:`\alpha_t` *and the model's performance related?*
# :math:`\alpha_t = \frac12 \ln((1-\varepsilon_t)/\varepsilon_t)` is 0 for a coin, grows as the
# error falls and has no upper end: a model that makes no error would decide alone. Below a coin it
# would be negative, the advice to do the contrary; there the loop stops.
#
# *How are rows weighed?* By :math:`e^{-\alpha_t y_i h_t(x_i)}`: a row that was wrong grows by
# :math:`e^{\alpha_t} = \sqrt{(1-\varepsilon_t)/\varepsilon_t}`, a row that was right shrinks by
# the same factor; then all are divided by their sum :math:`Z_t`. Afterwards the rows that were
# right and those that were wrong have half of the weight each: the model just found is a coin under
# the new weights, and the next one has to know something else.
#
# *Which loss is that?* The exponential loss :math:`e^{-y f(x)}` of the vote
# :math:`f = \sum_t \alpha_t h_t`: the weight of a row is its loss so far, divided by the sum of
# all. It lies above the 0-1 loss and is convex. Far on the wrong side the logistic and the hinge
# loss grow along a line and the exponential loss exponentially, so that a single outlier can hold
# most of the weight. (The logistic loss is drawn as :math:`\log_2(1 + e^{-2 y f})`, to pass through
# 1 at 0.)
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
# *What does the bound promise for infinitely many models?* If every round has an edge
# :math:`\frac12 - \varepsilon_t \ge \gamma > 0`, the training error is at most
# :math:`e^{-2\gamma^2 T}` and tends to 0. As it is a multiple of 1/m, it *is* 0 as soon as the
# bound is below 1/m, that is after more than :math:`\frac{\ln m}{2\gamma^2}` rounds:
for gamma in (0.05, 0.1, 0.2):
    rounds = int(np.log(400) / (2 * gamma**2)) + 1
    print(f"m = 400, γ = {gamma}: no training error after {rounds} rounds")

# %%
# *Is that feasible?* Only while the learner keeps its edge. Two equal rows of different classes
# forbid it, and so does a class of models too poor to tell the rows apart: edges then fade, and
# the bound stands still. And a training error of 0 was not what we wanted: whether new rows are
# told right depends on the margins and on noise.
#
# AdaBoost, in practice
# ---------------------
# A stump, a tree of four leaves, and the sheet's SVC, with a line and with the Gaussian kernel. A
# bound on the training error is drawn where it comes into sight: the SVCs' stay above their panels,
# since after the first model there is little edge left.
LEARNERS = {
    "stump": (None, 300),  # what AdaBoost takes if it is told nothing
    "tree of 4 leaves": (DecisionTreeClassifier(max_leaf_nodes=4, random_state=0), 300),
    "linear SVC": (SVC(kernel="linear"), 60),
    "SVC": (SVC(), 10),
}
boosted, ended, fitted = {}, {}, {}
figure, axes = plt.subplots(2, 4, figsize=(15, 6.4), layout="constrained")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a model with no edge left ends the rounds, and says so
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
# Described: boosting makes much of little. Stumps gain most by it, on the moons above all, where one
# threshold says little: the training error falls under its bounds, and the vote is no longer a
# threshold. (The curves begin flat: it takes some models to outvote the first.) The Gaussian SVC
# leaves little to boost: it is no weak learner.
#
# After its least value the test error rises again. That alone is no news, the least of 300 values
# being below the last whatever happens, and these are few rows. What does tell where late rounds
# go is the weight: on the simulated data, where one label in twenty was drawn anew, rows with a
# turned label have a large part of it in the end. They are noise, and what is learned from them is
# probably what is given back.
for data in DATA:
    for name in LEARNERS:
        test = boosted[data, name]
        back = test[-1] - test.min()
        print(
            f"{data:10s} {name:17s} the vote takes {1e2 * (test[0] - test.min()):4.1f} points off its "
            f"first model at best; rounds after that give {1e2 * back:.1f} back "
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
# So the number of rounds is to be chosen, by a validation sample for one.
#
# The sheet's hope to bend lines by boosting them is not fulfilled by this learner. The first line
# is a coin under the weights that it leaves behind. The second still has an edge, but soon there is
# none, for a support vector machine makes its hinge loss small and not the weighted error. And all
# the later lines together do not outweigh the first: as long as :math:`\alpha_1` is more than the sum
# of the others, the vote *is* the first line. Stumps are poorer rules, but the best of them is looked
# for by the weighted error itself.
for (data, name), why in ended.items():
    found = fitted[data, name].certificate_
    print(
        f"{data:10s} {name}: ε {', '.join(f'{e:.3f}' for e in found.errors)}; "
        f"α {', '.join(f'{a:.2f}' for a in found.alphas)}: the first {found.alphas[0]:.2f}, "
        f"all others {found.alphas[1:].sum():.2f}"
    )
    print(f"{'':10s} then it ended: {why}")

# %%
# **A trap on the sheet.** It boosts ``SVC()`` with scikit-learn on 100 rows. Weights that sum to 1
# are handed to the SVC, which multiplies its cost C by them: with C/m a row it learns nothing.
# Bosquet hands over weights of mean 1. That this is the whole difference shows if scikit-learn's is
# given m times the cost.
X, y = make_classification(
    n_samples=100, n_features=4, n_informative=2, n_redundant=0, random_state=0, shuffle=False
)
for name, kind, C in (
    ("scikit-learn", PeerAdaBoost, 1),
    ("scikit-learn", PeerAdaBoost, len(y)),
    ("Bosquet", AdaBoostClassifier, 1),
):
    model = kind(SVC(C=C), n_estimators=10, random_state=0).fit(X, y)
    print(f"{name:12s} with C = {C:3d}: accuracy on its own training rows {model.score(X, y):.2f}")

# %%
# The sheet's title is *imbalanced learning*, of which it has no question. What to do about a rare
# class is in the case study of fraud: :doc:`/course/cases/plot_case_fraud`.

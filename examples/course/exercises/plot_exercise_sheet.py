r"""
Bagging and AdaBoost: the exercise sheet, answered
==================================================

The sheet asks for two ensembles, of support vector machines and of trees, on simulated data and on
two moons: how their errors in training and test depend on the number of models. Its questions come
with it.

Bagging, the questions
----------------------

*What can be said of the samples* :math:`S_t` *beside S?* They have the size of S, and are drawn
from it with replacement: a sample holds 63.2 % of the rows on average, some twice or more. Given S
they are independent and alike; all of them know only S.

*What is the advantage for computing?* No model waits for another: T models are fitted on as many
cores as there are (``n_jobs``), and on as many machines.

*Why learn from different information?* Models that see the same err alike, and a vote of them errs
like one. The squared error of a mean is the mean error less the models' variance about it, so that
what the models disagree on is taken off.

*Why sample variables as well?* A strong variable comes first in every tree, and makes the trees
alike. Where some models cannot use it, others speak, and errors are less correlated. It is also
faster.

*What is* ``oob_score`` *for?* Every model left out more than a third of the rows. Asked about
those only, the models give an estimate of the error on new rows, without a test sample and without
another fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification, make_moons
from sklearn.ensemble import AdaBoostClassifier as PeerAdaBoost
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from bosquet import AdaBoostClassifier, BaggingClassifier, DecisionTreeClassifier, plot

simulated = make_classification(
    1600, n_features=4, n_informative=2, n_redundant=0, flip_y=0.05, random_state=0
)
DATA = {
    "simulated": train_test_split(*simulated, train_size=400, random_state=1),
    "moons": train_test_split(
        *make_moons(1600, noise=0.2, random_state=0), train_size=400, random_state=0
    ),
}
LEARNERS = {"SVC": SVC(gamma="scale"), "tree": DecisionTreeClassifier(random_state=0)}

# %%
# Bagging, in practice
# --------------------
# Error in training and test against the number of models.
figure, axes = plt.subplots(2, 2, figsize=(11, 6.4), layout="constrained", sharex=True)
for row, (data, (X, X_test, y, y_test)) in zip(axes, DATA.items(), strict=True):
    for ax, (name, learner) in zip(row, LEARNERS.items(), strict=True):
        bag = BaggingClassifier(learner, n_estimators=40, oob_score=True, random_state=0)
        plot.error_curve(bag.fit(X, y), X, y, X_test, y_test, bounds=False, ax=ax)
        alone = 1 - learner.fit(X, y).score(X_test, y_test)
        ax.axhline(alone, color="#8a8a8a", lw=0.8, ls=":")
        ax.set_title(f"{data}: bagged {name} (dotted: one {name} of all rows)", fontsize=10)
        print(
            f"{data:10s} {name:5s} one {alone:.3f}   bagged {1 - bag.score(X_test, y_test):.3f}"
            f"   out of bag {1 - bag.oob_score_:.3f}"
        )
plt.show()

# %%
# The curves fall during the first ten models or so and then stay: more models do no harm, and no
# more good. Bagging helps the tree, which is unstable: another row here or there and it asks other
# questions. The SVC has its frontier from the rows between the classes and is much the same on
# every sample; a vote of forty is as good as one. And a full tree knows its training rows by
# heart, so that its error in training says nothing; the out-of-bag error is as near to the test
# error as 400 rows can tell.
#
# AdaBoost, the questions
# -----------------------
# *How are* :math:`\alpha_t` *and the model's performance related?*
# :math:`\alpha_t = \frac12 \ln((1-\varepsilon_t)/\varepsilon_t)` is 0 for a coin, grows as the
# error falls and has no upper end: a model that makes no error would decide alone. Below a coin it
# would be negative, the advice to do the contrary; there the loop stops.
#
# *How are rows weighed?* By :math:`e^{-\alpha_t y_i h_t(x_i)}`: a row that was wrong grows by
# :math:`e^{\alpha_t} = \sqrt{(1-\varepsilon_t)/\varepsilon_t}`, a row that was right shrinks by
# the same factor. Afterwards both kinds have half of the weight: the model just found is a coin
# under the new weights, and the next one has to know something else.
#
# *Which loss is that?* The exponential loss :math:`e^{-y f(x)}`: the weight of a row is its loss
# so far, divided by the sum of all. It lies above the 0-1 loss and is convex. Far on the wrong side
# the logistic and the hinge loss grow along a line and the exponential loss exponentially, so that
# a single outlier can hold most of the weight. (The logistic loss is drawn as log2(1 + exp(-2m)), to
# pass through 1 at 0.)
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
plot.losses(
    {
        "0-1": lambda m: (m <= 0).astype(float),
        "exponential": lambda m: np.exp(-m),
        "logistic": lambda m: np.log1p(np.exp(-2 * m)) / np.log(2),
        "hinge": lambda m: np.maximum(0, 1 - m),
    },
    interval=(-3, 2),
    ax=ax,
)
ax.set_ylim(0, 12)
plt.show()

# %%
# *What does the bound promise for infinitely many models?* With an edge of at least :math:`\gamma`
# in each round the training error is at most :math:`e^{-2\gamma^2 T}` and tends to 0. As it is a
# multiple of 1/m, it *is* 0 after :math:`T > \ln(m) / 2\gamma^2` rounds.
#
# *Is that feasible?* Only while the learner keeps its edge. Two equal rows of different classes
# forbid it, and so does a class of models too poor to tell the rows apart: edges then fade, and
# the bound stands still. And a training error of 0 was not what we wanted: whether new rows are
# told right depends on the margins and on noise.
#
# AdaBoost, in practice
# ---------------------
# Stumps, a tree of four leaves, and the sheet's SVC.
LEARNERS = {
    "stump": None,
    "tree of 4 leaves": DecisionTreeClassifier(max_leaf_nodes=4, random_state=0),
    "SVC": SVC(gamma="scale"),
}
figure, axes = plt.subplots(2, 3, figsize=(13, 6.4), layout="constrained")
for row, (data, (X, X_test, y, y_test)) in zip(axes, DATA.items(), strict=True):
    for ax, (name, learner) in zip(row, LEARNERS.items(), strict=True):
        rounds = 10 if name == "SVC" else 300
        model = AdaBoostClassifier(learner, n_estimators=rounds, random_state=0).fit(X, y)
        plot.error_curve(model, X, y, X_test, y_test, ax=ax)
        ax.set_title(f"{data}: boosted {name}", fontsize=10)
        test = 1 - np.array(list(model.staged_score(X_test, y_test)))
        print(
            f"{data:10s} {name:17s} {len(test):3d} rounds   first {test[0]:.3f}   least {test.min():.3f}"
            f" (round {test.argmin() + 1})   last {test[-1]:.3f}"
        )
plt.show()

# %%
# Boosting makes much of little: one stump is poor, and a vote of them does as well as bagged
# trees. The training error of stumps and small trees goes on falling under its bound. On the
# simulated data, where one label in twenty was drawn anew, the test error turns: late rounds are
# spent on rows that are noise, and the number of rounds is to be chosen, by a validation sample
# for one. A strong learner leaves nothing to boost: ten SVCs are as good as the first.
#
# **A trap on the sheet.** It boosts ``SVC()`` with scikit-learn on 100 rows. Weights that sum to 1
# are handed to the SVC, which multiplies its cost C by them: with C/m a row it learns nothing.
# Bosquet hands over weights of mean 1.
X, y = make_classification(
    n_samples=100, n_features=4, n_informative=2, n_redundant=0, random_state=0, shuffle=False
)
for name, kind in (("scikit-learn", PeerAdaBoost), ("Bosquet", AdaBoostClassifier)):
    model = kind(SVC(), n_estimators=10, random_state=0).fit(X, y)
    print(f"{name:13s} accuracy on its own training rows: {model.score(X, y):.2f}")

"""ESL 10.2, the boosted columns of Breiman 2001 and Freund and Schapire 1996, and ESL's boosted spam."""

import numpy as np

from bosquet import AdaBoostClassifier, DecisionTreeClassifier, GradientBoostingClassifier
from reproduce.forests import TARGETS, mean_error
from reproduce.tables import labelled

# Breiman 2001, table 2, in %.
BREIMAN_ADABOOST = {"glass": 22.0, "sonar": 15.6, "ionosphere": 6.4, "pima": 26.6}
# Freund and Schapire 1996, in %: C4.5, and C4.5 boosted.
FREUND_SCHAPIRE = {
    "glass": (31.7, 22.7),
    "ionosphere": (8.9, 5.8),
    "sonar": (28.9, 19.0),
    "vehicle": (29.9, 22.6),
}
CLASSES = {**TARGETS, "vehicle": "Class"}
# The Elements of Statistical Learning, in %.
SPAM_BOOSTED = {"trees of 5 leaves": 4.5, "stumps": 4.7}


def spheres(rows, rng):
    """Ten Gaussian columns; the class is whether the squared length is above its median, 9.34."""
    X = rng.normal(size=(rows, 10))
    return X, (X**2).sum(axis=1) > 9.34


def esl_10_2(folder, draws=10, rounds=400):
    """2,000 training rows, 10,000 test rows, ten samples."""
    found = {"one stump": [], "real": [], "discrete": [], "zero": []}
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        X, y = spheres(2000, rng)
        X_test, y_test = spheres(10_000, rng)
        real = AdaBoostClassifier(n_estimators=rounds, variant="real").fit(X, y)
        discrete = AdaBoostClassifier(n_estimators=rounds).fit(X, y)
        found["one stump"].append(1 - next(discrete.staged_score(X_test, y_test)))
        found["real"].append(1 - real.score(X_test, y_test))
        found["discrete"].append(1 - discrete.score(X_test, y_test))
        found["zero"].append(np.argmax(real.train_score_ == 0) + 1)
    percent = {name: 100 * float(np.mean(values)) for name, values in found.items()}
    yield "ESL 10.2: one stump", 45.8, percent["one stump"], 4.0
    yield "ESL 10.2: real AdaBoost, 400 stumps", 5.8, percent["real"], (4.8, 6.0)
    yield "ESL 10.2: discrete AdaBoost, 400 stumps", 12.3, percent["discrete"], 1.0
    yield "ESL 10.2: first round without training errors", 250, float(np.mean(found["zero"])), 75


def breiman_adaboost(folder, repeats=30):
    """Fifty full trees on samples drawn by the weights; a tenth of the rows is the test set."""
    for name, theirs in BREIMAN_ADABOOST.items():
        X, y = labelled(folder, name, CLASSES[name])
        ours = mean_error(
            lambda seed: AdaBoostClassifier(
                DecisionTreeClassifier(max_competitors=0),
                n_estimators=50,
                reweight="resample",
                random_state=seed,
            ),
            X,
            y,
            repeats,
            0.1,
        )
        yield f"Breiman 2001, {name}: AdaBoost", theirs, ours, 4.0


def freund_schapire(folder, repeats=30):
    """Entropy trees with at least two rows per leaf for C4.5; 100 rounds; a tenth is the test set."""

    def tree(seed):
        return DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=2, max_competitors=0, random_state=seed
        )

    for name, (single, boosted) in FREUND_SCHAPIRE.items():
        X, y = labelled(folder, name, CLASSES[name])
        yield (
            f"Freund-Schapire 1996, {name}: one tree",
            single,
            mean_error(tree, X, y, 100, 0.1),  # fast, and the test sets are small
            4.0,
        )
        ours = mean_error(
            lambda seed: AdaBoostClassifier(tree(seed), n_estimators=100, random_state=seed),
            X,
            y,
            repeats,
            0.1,
        )
        yield f"Freund-Schapire 1996, {name}: boosted", boosted, ours, 4.0


def spam_boosted(folder, repeats=3):
    """1536 of 4601 messages are the test set, as in the book."""
    X, y = labelled(folder, "spambase", "class")
    for name, leaves in (("trees of 5 leaves", 5), ("stumps", 2)):
        ours = mean_error(
            lambda seed, leaves=leaves: GradientBoostingClassifier(
                max_leaf_nodes=leaves, random_state=seed
            ),
            X,
            y,
            repeats,
            1536 / 4601,
        )
        yield f"ESL spam: gradient boosting, {name}", SPAM_BOOSTED[name], ours, 4.0

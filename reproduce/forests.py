"""Breiman 1996 and 2001, and the spam table of ESL: errors of trees, bags and forests."""

import numpy as np

from bosquet import BaggingClassifier, DecisionTreeClassifier, RandomForestClassifier
from reproduce.tables import labelled, splits

TARGETS = {"glass": "Type", "sonar": "Class", "ionosphere": "Class", "pima": "diabetes"}

# Breiman 2001, table 2, in %: forest with F = 1, one tree of it (out-of-bag), forest with F selected.
BREIMAN_2001 = {
    "glass": (21.2, 36.9, 20.6),
    "sonar": (18.0, 31.7, 15.9),
    "ionosphere": (7.5, 12.7, 7.1),
    "pima": (24.3, 33.1, 24.2),
}
# Breiman 1996, in %: one pruned tree, fifty bagged.
BREIMAN_1996 = {"glass": (30.4, 23.6), "ionosphere": (11.2, 7.9), "pima": (25.3, 23.9)}
# The Elements of Statistical Learning, in %.
ESL_SPAM = {"CART": 8.7, "bagging": 5.4, "random forest": 4.88}


def mean_error(make, X, y, repeats, held_share):
    """Return the mean test error in % of `make(seed)` over random splits."""
    errors = [
        1 - make(seed).fit(X.iloc[train], y[train]).score(X.iloc[test], y[test])
        for seed, (train, test) in enumerate(splits(len(y), repeats, held_share))
    ]
    return 100 * float(np.mean(errors))


def breiman_2001(folder, repeats=40):
    """A tenth of the rows is the test set; F is chosen between 1 and log2(p) + 1 by the out-of-bag error."""
    for name, (one, tree, selected) in BREIMAN_2001.items():
        X, y = labelled(folder, name, TARGETS[name])
        second = int(np.log2(X.shape[1]) + 1)

        def forest(seed, features):
            return RandomForestClassifier(
                100, max_features=features, voting="hard", oob_score=True, random_state=seed
            )

        chosen, first, single = [], [], []
        for seed, (train, test) in enumerate(splits(len(y), repeats, 0.1)):
            grown = [forest(seed, f).fit(X.iloc[train], y[train]) for f in (1, second)]
            errors = [1 - f.score(X.iloc[test], y[test]) for f in grown]
            best = min(range(2), key=lambda i, grown=grown: grown[i].oob_error_)
            first.append(errors[0])
            chosen.append(errors[best])
            single.append(grown[best].oob_tree_error_)
        for what, theirs, ours in (
            ("forest, F = 1", one, first),
            ("forest, F selected", selected, chosen),
            ("one tree of it", tree, single),
        ):
            yield f"Breiman 2001, {name}: {what}", theirs, 100 * float(np.mean(ours)), 4.0


def breiman_1996(folder, repeats=30):
    """A tenth of the rows is the test set; one tree pruned by cross-validation, and fifty bagged trees."""
    for name, (single, bagged) in BREIMAN_1996.items():
        X, y = labelled(folder, name, TARGETS[name])
        pruned = mean_error(
            lambda seed: DecisionTreeClassifier(pruning="cv", random_state=seed), X, y, repeats, 0.1
        )
        bag = mean_error(
            lambda seed: BaggingClassifier(
                DecisionTreeClassifier(max_competitors=0), n_estimators=50, random_state=seed
            ),
            X,
            y,
            repeats,
            0.1,
        )
        yield f"Breiman 1996, {name}: one tree", single, pruned, 4.0
        yield f"Breiman 1996, {name}: fifty bagged", bagged, bag, 4.0


def esl_spam(folder, repeats=3):
    """1536 of 4601 messages are the test set, as in the book."""
    X, y = labelled(folder, "spambase", "class")
    models = {
        "CART": lambda seed: DecisionTreeClassifier(pruning="cv", random_state=seed),
        "bagging": lambda seed: BaggingClassifier(
            DecisionTreeClassifier(max_competitors=0), n_estimators=100, random_state=seed
        ),
        "random forest": lambda seed: RandomForestClassifier(500, random_state=seed),
    }
    for name, make in models.items():
        ours = mean_error(make, X, y, repeats, 1536 / 4601)
        yield f"ESL spam: {name}", ESL_SPAM[name], ours, 4.0

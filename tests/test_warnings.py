"""A warning points to the line of the caller, not to one inside the library."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV

from bosquet import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BrownBoostClassifier,
    CalibratedModel,
    DecisionTreeClassifier,
    LPBoostClassifier,
    RandomForestClassifier,
)

X, Y = make_moons(60, noise=0.25, random_state=1)
PERFECT = AdaBoostClassifier(DecisionTreeClassifier(), 20, random_state=0)
WARNERS = {
    "the learner itself": lambda: PERFECT.fit(X, Y),
    "inside a wrapper": lambda: CalibratedModel(PERFECT, cv=2).fit(X, Y),
    "inside a wrapper, side by side": lambda: CalibratedModel(PERFECT, cv=2, n_jobs=1).fit(X, Y),
    "inside a bag": lambda: BaggingClassifier(PERFECT, 2, random_state=0).fit(X, Y),
    "inside a search": lambda: GridSearchCV(PERFECT, {"n_estimators": [20]}, cv=2).fit(X, Y),
    "time left": lambda: BrownBoostClassifier(n_estimators=2, target_error=0.05).fit(X, Y),
    "a better vote": lambda: LPBoostClassifier(n_estimators=2, nu=0.05).fit(X, Y),
    "too bad a learner": lambda: AdaBoostRegressor(random_state=0).fit(X[:, :1] * 0, Y),
    "rows in every bag": lambda: RandomForestClassifier(2, oob_score=True, random_state=0).fit(
        X, Y
    ),
    "names of columns": lambda: tree_with_names().predict(np.zeros((1, 2))),
}


def tree_with_names():
    import pandas as pd

    return DecisionTreeClassifier().fit(pd.DataFrame(X, columns=["a", "b"]), Y)


@pytest.mark.parametrize("where", WARNERS)
def test_a_warning_shows_the_line_of_the_caller(where):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        WARNERS[where]()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}

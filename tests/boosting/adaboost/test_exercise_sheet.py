"""The exercise sheet of a course, run as printed except for the import and the new name of base_estimator."""

import numpy as np
import pytest

SHEET = {
    "bagging of support vector machines": """
from sklearn.svm import SVC
from sklearn.datasets import make_classification
from bosquet import BaggingClassifier
X, y = make_classification(n_samples=100, n_features=4, n_informative=2,
                          n_redundant=0, random_state=0, shuffle=False)
clf = BaggingClassifier(estimator=SVC(), n_estimators=10, random_state=0).fit(X, y)
""",
    "bagging of trees": """
from sklearn.tree import DecisionTreeClassifier
from sklearn.datasets import make_classification
from bosquet import BaggingClassifier
X, y = make_classification(n_samples=100, n_features=4, n_informative=2,
                          n_redundant=0, random_state=0, shuffle=False)
clf = BaggingClassifier(n_estimators=10, random_state=0).fit(X, y)
""",
    "AdaBoost of support vector machines": """
from sklearn.svm import SVC
from sklearn.datasets import make_classification
from bosquet import AdaBoostClassifier
X, y = make_classification(n_samples=100, n_features=4, n_informative=2,
    n_redundant=0, random_state=0, shuffle=False)
clf = AdaBoostClassifier(estimator=SVC(), n_estimators=10, random_state=0).fit(X,
    y)
""",
    "AdaBoost of trees": """
from sklearn.tree import DecisionTreeClassifier
from sklearn.datasets import make_classification
from bosquet import AdaBoostClassifier
X, y = make_classification(n_samples=100, n_features=4, n_informative=2,
    n_redundant=0, random_state=0, shuffle=False)
clf = AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
""",
    "AdaBoost on two moons": """
from bosquet import AdaBoostClassifier
from sklearn.datasets import make_moons
X, y = make_moons(n_samples=400, noise=0.2)
clf = AdaBoostClassifier().fit(X, y)
""",
}


@pytest.mark.parametrize("example", list(SHEET))
def test_the_examples_of_the_sheet_run_and_classify_well(example):
    names = {}
    exec(SHEET[example], names)
    assert names["clf"].score(names["X"], names["y"]) > 0.9


def test_recoding_adaboost_from_the_sheet_gives_the_same_votes():
    """Algorithm 1, the second question of the sheet."""
    from sklearn.datasets import make_moons
    from sklearn.tree import DecisionTreeClassifier

    from bosquet import AdaBoostClassifier

    X, labels = make_moons(n_samples=400, noise=0.2, random_state=0)
    y, w, H = 2 * labels - 1, np.full(400, 1 / 400), np.zeros(400)
    for _ in range(10):
        h = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=w).predict(X)
        error = w[h != y].sum()
        alpha = 0.5 * np.log((1 - error) / error)
        w = w * np.exp(-alpha * y * h) / (2 * np.sqrt(error * (1 - error)))
        H += alpha * h
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), 10, random_state=0)
    np.testing.assert_allclose(model.fit(X, labels).decision_function(X), H, rtol=1e-8)

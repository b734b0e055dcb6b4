"""Ensemble learning: boosting, bagging, forests, mixtures of experts and the theory behind them.

>>> from bosquet import GradientBoostingClassifier
>>> model = GradientBoostingClassifier(n_estimators=20, min_samples_leaf=1)
>>> model.fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]).predict([[0.2], [2.9]])
array(['a', 'b'], dtype='<U1')
"""

from bosquet._lazy import lazy_getattr

__version__ = "0.1.0"

_MODULE_OF = {
    "AdaBoostClassifier": "bosquet.boosting",
    "AdaBoostRegressor": "bosquet.boosting",
    "AnyBoostClassifier": "bosquet.boosting",
    "BaggingClassifier": "bosquet.bagging",
    "BaggingRegressor": "bosquet.bagging",
    "BinomialRegression": "bosquet.glm",
    "BrownBoostClassifier": "bosquet.boosting",
    "CalibratedModel": "bosquet.trust",
    "ConformalModel": "bosquet.trust",
    "DecisionTreeClassifier": "bosquet.trees",
    "DecisionTreeRegressor": "bosquet.trees",
    "ExtraTreesClassifier": "bosquet.forests",
    "ExtraTreesRegressor": "bosquet.forests",
    "GradientBoostingClassifier": "bosquet.boosting",
    "GradientBoostingRegressor": "bosquet.boosting",
    "LPBoostClassifier": "bosquet.boosting",
    "LinearModel": "bosquet.glm",
    "LogLinearModel": "bosquet.glm",
    "Mixture": "bosquet.experts",
    "ModelFileError": "bosquet._core",
    "MultinomialRegression": "bosquet.glm",
    "PoissonRegression": "bosquet.glm",
    "RandomForestClassifier": "bosquet.forests",
    "RandomForestRegressor": "bosquet.forests",
    "Study": "bosquet.study.study",
    "SuperLearnerClassifier": "bosquet.experts",
    "SuperLearnerRegressor": "bosquet.experts",
    "VotingClassifier": "bosquet.bagging",
    "VotingRegressor": "bosquet.bagging",
    "load": "bosquet.io",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "AnyBoostClassifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "BinomialRegression",
    "BrownBoostClassifier",
    "CalibratedModel",
    "ConformalModel",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "LPBoostClassifier",
    "LinearModel",
    "LogLinearModel",
    "Mixture",
    "ModelFileError",
    "MultinomialRegression",
    "PoissonRegression",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Study",
    "SuperLearnerClassifier",
    "SuperLearnerRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "__version__",
    "load",
]


__getattr__ = lazy_getattr(__name__, _MODULE_OF)


def __dir__() -> list[str]:
    return sorted(__all__)

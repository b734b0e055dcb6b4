"""The same work in every library: same rounds, leaves, bins, learning rate and smallest leaf.

Everything else is the default of the library. The remaining differences:

- XGBoost limits the sum of hessians in a leaf, not the number of rows. For squared error both are equal;
  for log loss 3 is the sum for twenty rows of a typical leaf.
- CatBoost is included twice: leaf-wise like the others, and with its symmetric trees of depth 6 (64
  leaves). CatBoost grows one tree per round for all classes, the others one tree per class. By default
  it samples 80 % of the rows in each round for two classes.
- LightGBM is included twice: with its defaults, and with quantised gradients.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks import THREADS


@dataclass(frozen=True)
class Settings:
    """The parameters that are the same for all libraries."""

    rounds: int = 100
    leaves: int = 63
    bins: int = 255
    learning_rate: float = 0.1
    min_leaf: int = 20
    seed: int = 0


@dataclass(frozen=True)
class Library:
    """A name for the tables, the module it needs, and how to make its estimator."""

    name: str
    module: str
    make: Callable
    distribution: str
    ours: bool = False

    def missing(self):
        """Return the reason why the library cannot be run here, or None."""
        try:
            importlib.import_module(self.module)
            self.make("binary", Settings(), [])
        except (ImportError, AttributeError, TypeError) as error:
            return f"{type(error).__name__}: {error}"
        return None


def lightgbm(task, given, categorical, **more):
    import lightgbm

    kind = lightgbm.LGBMRegressor if task == "regression" else lightgbm.LGBMClassifier
    return kind(
        n_estimators=given.rounds,
        num_leaves=given.leaves,
        max_bin=given.bins,
        learning_rate=given.learning_rate,
        min_child_samples=given.min_leaf,
        random_state=given.seed,
        n_jobs=THREADS,
        verbose=-1,
        **more,
    )


def lightgbm_quantised(task, given, categorical):
    return lightgbm(task, given, categorical, use_quantized_grad=True)


def xgboost(task, given, categorical):
    import xgboost

    regression = task == "regression"
    kind = xgboost.XGBRegressor if regression else xgboost.XGBClassifier
    return kind(
        n_estimators=given.rounds,
        tree_method="hist",
        grow_policy="lossguide",
        max_leaves=given.leaves,
        max_depth=0,
        max_bin=given.bins,
        learning_rate=given.learning_rate,
        min_child_weight=given.min_leaf if regression else 3,
        random_state=given.seed,
        n_jobs=THREADS,
        enable_categorical=bool(categorical),
    )


def hist_gradient_boosting(task, given, categorical):
    from sklearn import ensemble

    regression = task == "regression"
    name = "HistGradientBoosting" + ("Regressor" if regression else "Classifier")
    return getattr(ensemble, name)(
        max_iter=given.rounds,
        max_leaf_nodes=given.leaves,
        max_bins=given.bins,
        learning_rate=given.learning_rate,
        min_samples_leaf=given.min_leaf,
        early_stopping=False,
        categorical_features="from_dtype",
        random_state=given.seed,
    )


def catboost(task, given, categorical, **shape):
    import catboost

    kind = catboost.CatBoostRegressor if task == "regression" else catboost.CatBoostClassifier
    shape = shape or {
        "grow_policy": "Lossguide",
        "max_leaves": given.leaves,
        "depth": 16,
        "min_data_in_leaf": given.min_leaf,
    }
    return kind(
        iterations=given.rounds,
        border_count=given.bins - 1,
        learning_rate=given.learning_rate,
        random_state=given.seed,
        thread_count=THREADS,
        cat_features=categorical or None,
        allow_writing_files=False,
        verbose=False,
        **shape,
    )


def catboost_symmetric(task, given, categorical):
    return catboost(task, given, categorical, depth=6)


def bosquet(task, given, categorical, **more):
    import bosquet

    regression = task == "regression"
    kind = bosquet.GradientBoostingRegressor if regression else bosquet.GradientBoostingClassifier
    parameters = {
        "n_estimators": given.rounds,
        "max_leaf_nodes": given.leaves,
        "max_bins": given.bins,
        "learning_rate": given.learning_rate,
        "min_samples_leaf": given.min_leaf,
        # Our defaults sample features and shrink leaf values; LightGBM and HGB do neither.
        "max_features": None,
        "l2_regularization": 0.0,
        "early_stopping": False,
        "n_jobs": THREADS,
        "random_state": given.seed,
    }
    return kind(**(parameters | more))


OURS = Library("Bosquet", "bosquet", bosquet, "bosquet", ours=True)
LIGHTGBM = Library("LightGBM", "lightgbm", lightgbm, "lightgbm")
LIGHTGBM_QUANTISED = Library("LightGBM quantised", "lightgbm", lightgbm_quantised, "lightgbm")
XGBOOST = Library("XGBoost", "xgboost", xgboost, "xgboost-cpu")
HGB = Library("HistGradientBoosting", "sklearn.ensemble", hist_gradient_boosting, "scikit-learn")
CATBOOST = Library("CatBoost", "catboost", catboost, "catboost")
CATBOOST_SYMMETRIC = Library("CatBoost depth 6", "catboost", catboost_symmetric, "catboost")

PEERS = [LIGHTGBM, LIGHTGBM_QUANTISED, XGBOOST, HGB, CATBOOST, CATBOOST_SYMMETRIC]
LIBRARIES = [OURS, *PEERS]

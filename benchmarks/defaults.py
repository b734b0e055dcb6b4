"""The scikit-learn class of each library with its defaults, for the accuracy study.

No hyper-parameter is set. Only the seed, two threads and quiet output are set, and the options that a
library needs to accept categorical columns.
"""

import pandas as pd

from benchmarks import THREADS


def as_given(X):
    """Return the frame unchanged."""
    return X


def fill_categories(X):
    """Replace missing categories by a separate level, because CatBoost rejects them."""
    X = X.copy()
    for name in X.columns:
        if isinstance(X[name].dtype, pd.CategoricalDtype):
            X[name] = X[name].astype(object).where(X[name].notna(), "(missing)").astype(str)
    return X


def narrow_categories(X, limit=255):
    """Replace columns of more than 255 levels by their codes, because HistGradientBoosting rejects them."""
    X = X.copy()
    for name in X.columns:
        column = X[name]
        if isinstance(column.dtype, pd.CategoricalDtype) and len(column.cat.categories) > limit:
            X[name] = column.cat.codes.astype(float).where(column.notna())
    return X


def lightgbm(task, seed, categorical):
    import lightgbm

    kind = lightgbm.LGBMRegressor if task == "regression" else lightgbm.LGBMClassifier
    return kind(random_state=seed, n_jobs=THREADS, verbose=-1), as_given


def xgboost(task, seed, categorical):
    import xgboost

    kind = xgboost.XGBRegressor if task == "regression" else xgboost.XGBClassifier
    model = kind(random_state=seed, n_jobs=THREADS, verbosity=0, enable_categorical=True)
    return model, as_given


def hist_gradient_boosting(task, seed, categorical):
    from sklearn import ensemble

    regression = task == "regression"
    kind = (
        ensemble.HistGradientBoostingRegressor
        if regression
        else ensemble.HistGradientBoostingClassifier
    )
    return kind(random_state=seed, categorical_features="from_dtype"), narrow_categories


def catboost(task, seed, categorical):
    import catboost

    kind = catboost.CatBoostRegressor if task == "regression" else catboost.CatBoostClassifier
    model = kind(
        random_state=seed,
        thread_count=THREADS,
        verbose=False,
        allow_writing_files=False,
        cat_features=categorical,
    )
    return model, fill_categories


def bosquet(task, seed, categorical, **parameters):
    import bosquet

    regression = task == "regression"
    kind = bosquet.GradientBoostingRegressor if regression else bosquet.GradientBoostingClassifier
    return kind(random_state=seed, n_jobs=THREADS, **parameters), as_given


# Fast libraries first.
PEERS = {
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "HistGradientBoosting": hist_gradient_boosting,
    "CatBoost": catboost,
}

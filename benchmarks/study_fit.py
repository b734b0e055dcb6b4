"""Fit one system to a training table and predict a test table: `python -m benchmarks.study_fit job.json`.

`benchmarks.study` starts it for each fit, in the environment of the system. The job names the system, the
two tables (Parquet), target, metric, seconds, and the column of time or groups. The predictions are written
to a Parquet file (a column per class, or one of numbers), what the fit took to a JSON file.

Every system is given the metric, the seconds, two threads, and categories and dates as they are in the table;
the rest are its defaults. Validation that respects time or groups is each system's own: `Study.fit(time=,
groups=)`, FLAML's `split_type`, AutoGluon's `validation_structure`, and folds of scikit-learn for LightGBM.
"""

import importlib
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import THREADS, resident

# From this number of rows on, settings of LightGBM are compared on one validation set.
ONE_VALIDATION_SET = 20_000
MAX_ROUNDS, PATIENCE = 2000, 50


def fit_study(train, job):
    from bosquet import Study

    model = Study(
        job["task"], budget=job["seconds"], metric=job["metric"], random_state=0, n_jobs=THREADS, verbose=0
    )  # fmt: skip
    model.fit(train, job["target"], time=job["time"], groups=job["group"])
    chosen = model.record_["chosen"]
    return model.best_, chosen["name"] if chosen else "constant"


def fit_boosting(train, job):
    """Fit default gradient boosting of Bosquet, without a time limit."""
    import bosquet

    numbers = job["task"] == "regression"
    kind = bosquet.GradientBoostingRegressor if numbers else bosquet.GradientBoostingClassifier
    X, y = features(train, job)
    model = kind(random_state=0, n_jobs=THREADS).fit(dates_as_days(X), y)
    return DatesAsDays(model), f"{model.n_iter_} rounds"


def fit_lightgbm(train, job):
    """LightGBM's defaults, then random settings until the time is needed to fit the best one to all rows."""
    X, y = features(train, job)
    X = dates_as_days(X)
    folds = validation_folds(X, y, train, job)
    random = np.random.default_rng(0)
    begin = time.perf_counter()
    best, tried, refit = None, 0, 0.4 * job["seconds"]
    while True:
        end = begin + 0.95 * job["seconds"] - refit
        if best is not None and time.perf_counter() >= end:
            break
        settings = random_settings(random) if tried else {}
        tried += 1
        result = validated(settings, X, y, folds, job, end)
        if result is None:  # stopped by the time limit
            break
        if best is None or result["loss"] < best["loss"]:
            # With a reserve, because the times of fits vary.
            best, refit = result, 1.5 * result["seconds"]
    model = lightgbm_model(job, **best["settings"], n_estimators=best["rounds"])
    return DatesAsDays(model.fit(X, y)), f"{tried} settings, {best['rounds']} rounds"


def lightgbm_model(job, **settings):
    import lightgbm

    kind = lightgbm.LGBMRegressor if job["task"] == "regression" else lightgbm.LGBMClassifier
    return kind(random_state=0, n_jobs=THREADS, verbose=-1, **settings)


def random_settings(random):
    return {
        "learning_rate": float(10 ** random.uniform(-2, -0.5)),
        "num_leaves": int(random.choice([4, 8, 15, 31, 63, 127])),
        "min_child_samples": int(random.choice([5, 10, 20, 50])),
        "subsample": float(random.uniform(0.5, 1)),
        "subsample_freq": 1,
        "colsample_bytree": float(random.uniform(0.4, 1)),
        "reg_lambda": float(10 ** random.uniform(-3, 1)),
    }


def validation_folds(X, y, train, job):
    """Five folds, or the last of them alone on large tables: later rows, other groups, or random rows."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit

    if job["time"]:
        kind, groups = TimeSeriesSplit(5), None
    elif job["group"]:
        kind, groups = GroupKFold(5), train[job["group"]]
    else:
        cls = KFold if job["task"] == "regression" else StratifiedKFold
        kind, groups = cls(5, shuffle=True, random_state=0), None
    folds = list(kind.split(X, y, groups))
    return folds[-1:] if len(X) >= ONE_VALIDATION_SET else folds


def validated(settings, X, y, folds, job, end):
    """Validation loss of some settings, their rounds, and the seconds that a fit to all rows would take.

    None if the clock stops a fit of random settings.

    The first fit (LightGBM's defaults, no settings) keeps the rounds that it has when the time is over.
    Rounds are stopped by log loss or squared error; average precision is too noisy for it.
    """
    import lightgbm
    from sklearn.metrics import average_precision_score

    late = False

    def clock(env):
        nonlocal late
        if time.perf_counter() > end:
            late = True
            raise lightgbm.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

    losses, rounds, seconds = [], [], []
    for fit_rows, validation_rows in folds:
        begin = time.perf_counter()
        X_held, y_held = X.iloc[validation_rows], y.iloc[validation_rows]
        model = lightgbm_model(job, n_estimators=MAX_ROUNDS, **settings)
        callbacks = [lightgbm.early_stopping(PATIENCE, verbose=False), clock]
        model.fit(
            X.iloc[fit_rows], y.iloc[fit_rows], eval_set=[(X_held, y_held)], callbacks=callbacks
        )
        if late and settings:
            return None
        (by_round,) = model.evals_result_["valid_0"].values()
        rounds.append(int(np.argmin(by_round)) + 1)
        share = rounds[-1] / len(by_round) * len(X) / len(fit_rows)
        seconds.append((time.perf_counter() - begin) * share)
        if job["metric"] == "average_precision":
            predicted = model.predict_proba(X_held)[:, 1]
            losses.append(-average_precision_score(y_held == "1", predicted))
        else:
            losses.append(min(by_round))
        if late:
            break
    mean = {"loss": np.mean(losses), "rounds": max(1, int(np.mean(rounds)))}
    return {"settings": settings, "seconds": float(np.mean(seconds)), **mean}


def fit_flaml(train, job):
    from flaml import AutoML

    X, y = features(train, job)
    design = {}
    if job["time"]:
        design = {"split_type": "time"}
    elif job["group"]:
        design = {"split_type": "group", "groups": train[job["group"]].astype(str)}
    metric = {"average_precision": "ap"}.get(job["metric"], job["metric"])
    model = AutoML()
    model.fit(
        X, y, task=job["task"], metric=metric, time_budget=job["seconds"], n_jobs=THREADS, seed=0, verbose=0,
        **design,
    )  # fmt: skip
    return model, f"{model.best_estimator}"


def fit_autogluon(train, job, **options):
    from autogluon.tabular import TabularPredictor

    several = job["task"] != "regression" and train[job["target"]].nunique() > 2
    kinds = {"regression": "regression", "classification": "multiclass" if several else "binary"}
    design = {"time_on": job["time"]} if job["time"] else {"group_on": job["group"]}
    folder = tempfile.mkdtemp(dir=Path(job["predictions"]).parent)
    model = TabularPredictor(
        label=job["target"], problem_type=kinds[job["task"]], path=folder, verbosity=0,
        eval_metric={"rmse": "root_mean_squared_error"}.get(job["metric"], job["metric"]),
        learner_kwargs={"ignored_columns": [job["group"]] if job["group"] else []},
    )  # fmt: skip
    model.fit(
        train, time_limit=job["seconds"], num_cpus=THREADS, num_gpus=0,
        validation_structure=design if job["time"] or job["group"] else None, **options,
    )  # fmt: skip
    return model, f"{model.model_best}, {len(model.model_names())} models"


def fit_autogluon_best(train, job):
    """The preset with bagging and stacking.

    Its test of stacking on a subsample is disabled: it needs ray, without which a test that exceeds its
    time ends the fit ("Learner is already fit").
    """
    return fit_autogluon(train, job, presets="best_quality", dynamic_stacking=False)


SYSTEMS = {
    "study": ("bosquet", fit_study),
    "default boosting": ("bosquet", fit_boosting),
    "LightGBM": ("lightgbm", fit_lightgbm),
    "FLAML": ("flaml", fit_flaml),
    "AutoGluon": ("autogluon.tabular", fit_autogluon),
    "AutoGluon best": ("autogluon.tabular", fit_autogluon_best),
}


def features(frame, job):
    """The columns that models are fitted to, and the target."""
    names = [job["target"], *([job["group"]] if job["group"] else [])]
    return frame.drop(columns=names), frame[job["target"]]


def dates_as_days(X):
    """Replace dates by elapsed days, for models of numbers and categories."""
    dates = X.select_dtypes("datetime").columns
    return X.assign(
        **{c: (X[c] - pd.Timestamp("2000-01-01")) / pd.Timedelta(days=1) for c in dates}
    )


class DatesAsDays:
    """A fitted model that gets elapsed days instead of dates."""

    def __init__(self, model):
        self.model = model

    @property
    def classes_(self):
        return self.model.classes_

    def predict(self, X):
        return self.model.predict(dates_as_days(X))

    def predict_proba(self, X):
        return self.model.predict_proba(dates_as_days(X))


def predictions_of(model, X, task):
    """A column per class, named after it, or the column "prediction"."""
    if task == "regression":
        return pd.DataFrame({"prediction": np.asarray(model.predict(X), dtype=float).ravel()})
    shares = model.predict_proba(X)
    classes = shares.columns if isinstance(shares, pd.DataFrame) else model.classes_
    return pd.DataFrame(np.asarray(shares, dtype=float), columns=[str(c) for c in classes])


def read_tables(job):
    """Both tables; categories of the test table are those of the training table."""
    train, test = pd.read_parquet(job["train"]), pd.read_parquet(job["test"])
    for name in train.columns:
        if isinstance(train[name].dtype, pd.CategoricalDtype):
            test[name] = pd.Categorical(test[name], categories=train[name].cat.categories)
    return train, test


def run(job):
    name, fit = SYSTEMS[job["system"]]
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        return {"missing": str(error)}
    train, test = read_tables(job)
    before = resident.resident()
    resident.forget_peak()
    begin = time.perf_counter()
    model, chosen = fit(train, job)
    spent, held = time.perf_counter() - begin, resident.peak() - before
    begin = time.perf_counter()
    X_test = features(test, job)[0]
    predictions_of(model, X_test, job["task"]).to_parquet(job["predictions"])
    return {
        "chosen": chosen,
        "seconds": round(spent, 1),
        "predict seconds": round(time.perf_counter() - begin, 2),
        "megabytes": round(held / 1e6),
        "version": module.__version__,
    }


if __name__ == "__main__":
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path(job["outcome"]).write_text(json.dumps(run(job)), encoding="utf-8")

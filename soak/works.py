"""Kinds of work: functions of a random generator and a folder to write to, each below a second."""

from __future__ import annotations

import contextlib
import io
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bosquet as bq
from bosquet.cli import main
from bosquet.streams import AdaptiveWindow, PageHinkley

Random = np.random.Generator


def table(random: Random, rows: int = 0) -> pd.DataFrame:
    """Return numbers with missing values and a category; half of the tables use several threads."""
    rows = rows or int(random.choice([200, 6000]))
    X = pd.DataFrame(random.normal(size=(rows, 5)), columns=list("abcde"))
    X = X.mask(random.random(X.shape) < 0.05)
    return X.assign(colour=pd.Categorical(random.choice(["red", "green", "blue", None], rows)))


def numbers_of(X: pd.DataFrame, random: Random) -> np.ndarray:
    signal = np.nan_to_num(X["a"] * X["b"]) + (X["colour"] == "red") + X["c"].isna()
    return np.asarray(signal + 0.3 * random.normal(size=len(X)))


def classes_of(X: pd.DataFrame, random: Random) -> np.ndarray:
    return np.where(numbers_of(X, random) > 0.3, "yes", "no")


def one(random: Random, *choices: Any) -> Any:
    return choices[random.integers(len(choices))]


def gradient_boosting(random: Random, folder: Path) -> None:
    X = table(random)
    options = {
        "n_estimators": 8,
        "growth": one(random, "best", "depth"),
        "subsample": one(random, 1.0, 0.5),
        "early_stopping": one(random, True, False),
        "n_runs": one(random, 1, 2),
        "n_jobs": one(random, 1, 2),
        "random_state": 0,
    }
    if random.random() < 0.5:
        loss = one(random, "squared_error", "absolute_error", "huber", "quantile")
        model: Any = bq.GradientBoostingRegressor(loss, **options).fit(X, numbers_of(X, random))
    else:
        model = bq.GradientBoostingClassifier(**options).fit(X, classes_of(X, random))
    model.predict(X)
    model.predict(X[:1])
    list(model.staged_predict(X[:100]))
    model.predictor()(np.zeros(6))


def trees_and_forests(random: Random, folder: Path) -> None:
    X = table(random, 1500)
    tree = bq.DecisionTreeClassifier(
        missing=one(random, "direction", "surrogate"),
        pruning=one(random, None, "validation"),
        random_state=0,
    )
    tree.fit(X, classes_of(X, random)).export_text()
    kind = one(random, bq.RandomForestRegressor, bq.ExtraTreesRegressor)
    forest = kind(10, bootstrap=True, oob_score=True, keep_rows=True, random_state=0)
    forest.fit(X, numbers_of(X, random)).predict_quantiles(X[:50], [0.1, 0.9])
    forest.proximities(X[:50])
    forest.predict(X)


def boosted_votes(random: Random, folder: Path) -> None:
    X = table(random, 800)
    y = classes_of(X, random)
    learner = one(random, None, bq.DecisionTreeClassifier(max_depth=2))
    kinds = [
        bq.AdaBoostClassifier,
        bq.AnyBoostClassifier,
        bq.BrownBoostClassifier,
        bq.LPBoostClassifier,
    ]
    model = one(random, *kinds)(estimator=learner, n_estimators=15, random_state=0).fit(X, y)
    model.predict(X)
    str(model.certificate_)
    bq.AdaBoostRegressor(n_estimators=5, random_state=0).fit(X, numbers_of(X, random)).predict(X)


def members() -> list[tuple[str, Any]]:
    return [
        ("tree", bq.DecisionTreeClassifier(max_depth=4)),
        ("boosting", bq.GradientBoostingClassifier(n_estimators=5)),
    ]


def models_of_models(random: Random, folder: Path) -> None:
    X = table(random, 400)
    y = classes_of(X, random)
    bq.BaggingClassifier(n_estimators=5, oob_score=True, random_state=0).fit(X, y).predict_proba(X)
    bq.VotingClassifier(members(), voting="soft").fit(X, y).predict(X)
    bq.SuperLearnerClassifier(members(), cv=2, random_state=0).fit(X, y).predict_proba(X)
    bq.CalibratedModel(members()[1][1], cv=2).fit(X, y).predict_proba(X)
    bq.ConformalModel(members()[1][1], random_state=0).fit(X, y).predict_set(X)


def workers_of_joblib(random: Random, folder: Path) -> None:
    X = table(random, 300)
    model = bq.BaggingClassifier(members()[0][1], n_estimators=4, n_jobs=2, random_state=0)
    model.fit(X, classes_of(X, random)).predict(X)


def files(random: Random, folder: Path) -> None:
    X = table(random, 600)
    y = classes_of(X, random)
    kinds = [
        bq.GradientBoostingClassifier(n_estimators=10, random_state=0),
        bq.RandomForestClassifier(10, random_state=0),
        bq.AdaBoostClassifier(n_estimators=10),
        bq.BaggingClassifier(members()[1][1], n_estimators=3, random_state=0),
        bq.CalibratedModel(members()[0][1], cv=2),
    ]
    model = one(random, *kinds).fit(X, y)
    path = folder / "model.bosquet"
    for _ in range(5):
        model.save(path)
        again = bq.load(path)
        again.predict(X)
        pickle.loads(pickle.dumps(again)).predict(X)
    damaged = bytearray(path.read_bytes())
    for _ in range(20):
        damaged[random.integers(len(damaged))] ^= 1
        path.write_bytes(damaged)
        with contextlib.suppress(bq.ModelFileError):
            bq.load(path)
    path.unlink()


def explanations(random: Random, folder: Path) -> None:
    from bosquet.explain import partial_dependence

    X = table(random, 500)
    model = bq.GradientBoostingRegressor(n_estimators=8, n_jobs=2).fit(X, numbers_of(X, random))
    model.explain(X)
    model.explain(X[:50], interactions=True)
    model.explain(X[:20], background=X[:30])
    partial_dependence(model, X, "a")


def streams(random: Random, folder: Path) -> None:
    rule = one(random, "ewa", "ml-poly", "boa", "squint", "fixed-share", "ogd")
    mixture = bq.Mixture(rule, history=one(random, "fit", False))
    truth = random.random(600)
    forecasts = truth[:, None] + random.normal(size=(600, 4))
    for at in range(0, 600, 50):
        mixture.partial_fit(forecasts[at : at + 50], truth[at : at + 50])
        mixture.predict(forecasts[at : at + 1])
    path = folder / "mixture"
    mixture.save(path)
    bq.load(path)
    path.unlink()
    for detector in (AdaptiveWindow(), PageHinkley(0.5)):
        for value in truth:
            detector.update(value)


def threads(random: Random, folder: Path) -> None:
    X = table(random, 3000)
    y = classes_of(X, random)
    model = bq.GradientBoostingClassifier(n_estimators=5, n_jobs=2).fit(X, y)
    calls = [threading.Thread(target=model.predict, args=(X,)) for _ in range(4)]
    calls.append(threading.Thread(target=bq.RandomForestClassifier(5, n_jobs=2).fit, args=(X, y)))
    for call in calls:
        call.start()
    for call in calls:
        call.join()


class Stop(Exception):
    """Raised inside a fit."""


def fits_that_fail(random: Random, folder: Path) -> None:
    def stop(info: Any) -> None:
        raise one(random, Stop, KeyboardInterrupt)

    X = table(random)
    y = classes_of(X, random)
    for kind in (bq.GradientBoostingClassifier, bq.AdaBoostClassifier):
        with contextlib.suppress(Stop, KeyboardInterrupt):
            kind(callbacks=[stop]).fit(X, y)
    for bad in ({"sample_weight": np.full(len(X), np.nan)}, {"sample_weight": -np.ones(len(X))}):
        for model in (bq.GradientBoostingClassifier(), bq.RandomForestClassifier()):
            with contextlib.suppress(ValueError):
                model.fit(X, y, **bad)
    model = bq.GradientBoostingClassifier(n_estimators=2).fit(X, y)
    with contextlib.suppress(ValueError):
        model.predict(X[["a", "b"]])


def containers(random: Random, folder: Path) -> None:
    import polars as pl
    import pyarrow as pa
    from scipy import sparse

    X = table(random, 800)
    y = numbers_of(X, random)
    plain = X.drop(columns="colour")
    arrow = pa.Table.from_pandas(X, preserve_index=False)
    for data in (
        X,
        pl.from_arrow(arrow),
        arrow,
        sparse.csr_array(plain.to_numpy()),
        plain.to_numpy(),
    ):
        bq.GradientBoostingRegressor(n_estimators=2).fit(data, y).predict(data)


def regressions(random: Random, folder: Path) -> None:
    X = table(random, 200)[["a", "b", "colour"]].dropna()
    y = classes_of(X.assign(c=0.0), random)
    bq.BinomialRegression().fit(X, y).predict_proba(X)
    bq.LinearModel().fit(X, X["a"] + random.normal(size=len(X))).anova()


def study(random: Random, folder: Path) -> None:
    X = table(random, 150)
    page = folder / "page.html"
    wishes = {"methods": ["cart", "lda"], "budget": None, "repeats": 1, "verbose": 0}
    done = bq.Study(**wishes, random_state=0).fit(X.assign(y=classes_of(X, random)), "y")
    done.report(page)
    page.unlink()


def command_line(random: Random, folder: Path) -> None:
    X = table(random, 200)
    data, model = folder / "table.csv", folder / "model.bosquet"
    X.assign(y=classes_of(X, random)).to_csv(data, index=False)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        command(["fit", data, "-t", "y", "-o", model, "--set", "n_estimators=5"])
        command(["predict", model, data])
        command(["explain", model, data])
        assert main(["predict", str(folder / "none"), str(data)]) != 0
    data.unlink()
    model.unlink()


def command(words: list[Any]) -> None:
    code = main([str(word) for word in words])
    if code:
        raise RuntimeError(f"bosquet {' '.join(map(str, words))} ended with {code}")


def processes(random: Random, folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "bosquet", "info"], check=True, capture_output=True)


def quiet(work: Callable[[Random, Path], None]) -> Callable[[Random, Path], None]:
    """Ignore warnings about small tables of noise."""

    def silenced(random: Random, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work(random, folder)

    return silenced


WORKS = {
    work.__name__.replace("_", " "): quiet(work)
    for work in (
        gradient_boosting, trees_and_forests, boosted_votes, models_of_models, workers_of_joblib,
        files, explanations, streams, threads, fits_that_fail, containers, regressions, study,
        command_line, processes,
    )
}  # fmt: skip

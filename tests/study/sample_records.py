"""Records of small studies, from small fitted models, for the tests of the report."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sample_parts import (
    certificate_of,
    comparison,
    curve_of,
    dependence_of,
    evaluation,
    explored,
    learning_curve,
    rows_of,
    tree_of,
)
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import bosquet
from bosquet.study.compare.verdict import reach_verdict
from bosquet.study.explain.learning_curve import forecast
from bosquet.study.record import MethodProperties, MethodRecord, Record

REPEATS = 5


def properties(readable: str = "no", reason: str = "a vote of many trees") -> MethodProperties:
    return {
        "readable": (readable, reason),
        "score_or_interval": ("yes", "class probabilities"),
        "consistent": ("partly", "if its size grows with the rows"),
        "minimax": ("no", "not known"),
        "non_asymptotic": ("yes", "a bound by margins"),
        "parameter_free": ("no", "rounds and rate"),
        "online": ("no", "all rows at once"),
    }


def loans(n: int = 450, seed: int = 0) -> pd.DataFrame:
    """Return a table of loans with numbers, categories, missing values, a constant and an identifier."""
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 80, n).astype(float)
    income = np.exp(draw.normal(10.4, 0.5, n)).round(-2)
    late = draw.poisson(0.7, n).astype(float)
    region = draw.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1])
    purpose = draw.choice(["car", "house", "study", "other"], n)
    amount = np.exp(draw.normal(9, 0.7, n)).round(-1)
    raw = -2.6 + 1.1 * late - 1.2 * (np.log(income) - 10.4) + 0.7 * (np.log(amount) - 9)
    raw += 0.9 * (purpose == "study") - 0.02 * (age - 45)
    default = np.where(draw.random(n) < 1 / (1 + np.exp(-raw)), "yes", "no")
    income[draw.random(n) < 0.08] = np.nan
    return pd.DataFrame(
        {
            "age": age,
            "income": income,
            "late payments": late,
            "amount": amount,
            "region": region,
            "purpose": purpose,
            "customer": [f"C{i:05d}" for i in range(n)],
            "country": "Z",
            "default": default,
        }
    )


def letters(n: int = 450, n_classes: int = 5, seed: int = 0) -> pd.DataFrame:
    """Return Gaussian clusters, one per class."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, n_classes, n)
    centres = draw.normal(0, 1.6, (n_classes, 6))
    X = centres[labels] + draw.normal(0, 1, (n, 6))
    table = pd.DataFrame(X, columns=[f"stroke {i + 1}" for i in range(6)])
    table["letter"] = [chr(ord("A") + k) for k in labels]
    return table


def houses(n: int = 400, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    area, rooms = draw.gamma(6, 18, n).round(), draw.integers(1, 7, n).astype(float)
    centre, kind = draw.exponential(6, n).round(1), draw.choice(["flat", "house", "villa"], n)
    price = 40 + 2.1 * area + 9 * rooms - 6 * np.minimum(centre, 15) + 60 * (kind == "villa")
    price = (price * np.exp(draw.normal(0, 0.12, n))).round(1)
    return pd.DataFrame(
        {"area": area, "rooms": rooms, "km to centre": centre, "kind": kind, "price": price}
    )


def _coded(X: pd.DataFrame) -> pd.DataFrame:
    """Return the features as imputed and scaled numbers, for the methods that need them."""
    coded = pd.get_dummies(X, dtype=float)
    coded = coded.fillna(coded.mean())
    return (coded - coded.mean()) / coded.std()


def _methods(task: str, n_classes: int) -> list[dict[str, Any]]:
    """Yield name, title, parameter, whether its scale is logarithmic, and the candidates by complexity."""
    ends = "Regressor" if task == "regression" else "Classifier"
    neighbours = KNeighborsRegressor if task == "regression" else KNeighborsClassifier
    linear: Any = (
        (lambda c: Ridge(alpha=1 / c))
        if task == "regression"
        else (lambda c: LogisticRegression(C=c, solver="newton-cholesky"))
    )
    constant = DummyRegressor() if task == "regression" else DummyClassifier()
    boosting = getattr(bosquet, f"GradientBoosting{ends}")
    forest, tree = getattr(bosquet, f"RandomForest{ends}"), getattr(bosquet, f"DecisionTree{ends}")
    plain = lambda make: lambda c: make(int(c))  # noqa: E731
    found = [
        ("gradient_boosting", "Gradient boosting", "rounds", True,
         (5, 15, 40) if n_classes <= 6 else (2,),
         plain(lambda c: boosting(n_estimators=c, max_leaf_nodes=6, random_state=0, n_jobs=1))),
        ("random_forest", "Random forest", "leaves at most", True, (4, 16, 64),
         plain(lambda c: forest(n_estimators=15, max_leaf_nodes=c, random_state=0, n_jobs=1))),
        ("tree", "Decision tree", "leaves", True, (2, 4, 8, 16, 32),
         plain(lambda c: tree(max_leaf_nodes=c, random_state=0))),
        ("neighbours", "k nearest neighbours", "neighbours k", True, (1, 3, 7, 15, 40),
         lambda c: neighbours(int(c))),
        ("linear", "Ridge regression" if task == "regression" else "Logistic regression", "inverse penalty C",
         True,
         (0.001, 0.01, 0.1, 1, 10) if n_classes <= 6 else (0.01, 0.1), linear),
        ("constant", "Constant", "nothing to tune", False, (1,), lambda c: clone(constant)),
    ]  # fmt: skip
    if n_classes > 6:  # boosting and forests are slow for many classes
        found = [entry for entry in found if entry[0] != "random_forest"]
    keys = ("name", "title", "parameter", "log", "complexities", "make")
    return [dict(zip(keys, entry, strict=True)) for entry in found]


def _metrics(task: str) -> list[dict[str, Any]]:
    if task == "regression":
        return [
            {"name": "rmse", "title": "RMSE", "higher_is_better": False},
            {"name": "mae", "title": "MAE", "higher_is_better": False},
            {"name": "r2", "title": "R²", "higher_is_better": True},
        ]
    return [
        {"name": "log_loss", "title": "Log loss", "higher_is_better": False},
        {"name": "accuracy", "title": "Accuracy", "higher_is_better": True},
        {"name": "roc_auc", "title": "ROC AUC", "higher_is_better": True},
    ]


def _scores(task: str, y: Any, predictions: np.ndarray, classes: list[str]) -> dict[str, float]:
    if task == "regression":
        gap = np.asarray(y) - predictions
        rest = float(np.mean(gap**2))
        return {
            "rmse": rest**0.5,
            "mae": float(np.abs(gap).mean()),
            "r2": 1 - rest / float(np.var(y)),
        }
    truth = np.searchsorted(classes, np.asarray(y))
    own = predictions[np.arange(len(truth)), truth]
    areas = [_area(truth == k, predictions[:, k]) for k in range(len(classes))]
    return {
        "log_loss": float(-np.log(np.maximum(own, 1e-15)).mean()),
        "accuracy": float(np.mean(predictions.argmax(axis=1) == truth)),
        "roc_auc": float(np.mean(areas)),
    }


def _area(event: np.ndarray, score: np.ndarray) -> float:
    """Return the area under the ROC curve, by ranks; 0.5 if there is only one class."""
    ones, others = int(event.sum()), int((~event).sum())
    if not ones or not others:
        return 0.5
    return (rankdata(score)[event].sum() - ones * (ones + 1) / 2) / (ones * others)


def _predict(task: str, model: Any, X: pd.DataFrame) -> np.ndarray:
    return model.predict(X) if task == "regression" else model.predict_proba(X)


def _studied(
    method: dict[str, Any],
    task: str,
    X: pd.DataFrame,
    y: pd.Series,
    classes: list[str],
    positive: str | None,
) -> tuple[dict[str, Any], Any]:
    """Return the part of the record of a method, and its model of the first split."""
    splits = list(ShuffleSplit(REPEATS, test_size=0.3, random_state=1).split(X))
    first = splits[0][0]
    curve, chosen = curve_of(method, X.iloc[first], y.iloc[first], task, classes, _scores, _predict)
    scores, model, predictions = [], None, None
    for train, test in splits:
        fitted = method["make"](chosen).fit(X.iloc[train], y.iloc[train])
        fold_predictions = _predict(task, fitted, X.iloc[test])
        scores.append(_scores(task, y.iloc[test], fold_predictions, classes))
        if model is None:
            model, predictions = fitted, fold_predictions
    test = splits[0][1]
    name = _metrics(task)[0]["name"]
    found = {
        "name": method["name"], "title": method["title"], "status": "done", "message": "",
        "rows_used": len(first), "subsampled": False, "finished": True,
        "setting": {method["parameter"]: chosen},
        "curve": curve if len(method["complexities"]) > 1 else None,
        "scores": [entry[name] for entry in scores],
        "metrics": {key: float(np.mean([entry[key] for entry in scores])) for key in scores[0]},
        "fit_seconds": 0.3 * len(method["complexities"]), "predict_microseconds": 2.5,
        "properties": properties("yes", "one formula") if method["name"] == "linear" else properties(),
        "details": {"candidates": len(method["complexities"])},
        "test": evaluation(task, y.iloc[test].to_numpy(), predictions, classes, positive),
    }  # fmt: skip
    return found, model


def _left_out() -> list[dict[str, Any]]:
    empty: dict[str, Any] = {
        "rows_used": 0, "subsampled": False, "finished": True, "setting": {}, "curve": None,
        "scores": [], "mean": None,
        "interval": None, "difference": None, "metrics": {}, "fit_seconds": 0.0,
        "predict_microseconds": 0.0, "properties": properties(), "details": {},
    }  # fmt: skip
    return [
        {"name": "svm", "title": "Support vector machine", "status": "failed",
         "message": "the matrix of kernels does not fit in memory; give fewer rows", **empty},
        {"name": "mlp", "title": "Neural network", "status": "unsuited",
         "message": "fewer than 10 rows a parameter", **empty},
    ]  # fmt: skip


def _chosen(
    task: str, model: Any, X: pd.DataFrame, y: pd.Series, classes: list[str], positive: str | None
) -> dict[str, Any]:
    train, test = next(ShuffleSplit(REPEATS, test_size=0.3, random_state=1).split(X))
    certificate, margins = certificate_of(X.iloc[train], y.iloc[train], task)
    importance = np.asarray(model.feature_importances_, dtype=float)
    importance *= 100 / importance.max()
    unit = str(y.name) if task == "regression" else f"probability of {positive or classes[0]}"
    size = {"mean_width": 88.0} if task == "regression" else {"mean_size": 1.2}

    def score(fitted: Any, X: pd.DataFrame, y: pd.Series) -> float:
        return next(iter(_scores(task, y, _predict(task, fitted, X), classes).values()))

    curve = learning_curve(model, X, y, score)
    return {
        "name": "gradient_boosting",
        "why": "It is among the best, and its scores vary least over the splits.",
        "runner_up": "linear",
        "importances": [
            {"feature": X.columns[i], "value": float(importance[i]), "spread": 3.0}
            for i in np.argsort(-importance)
        ],
        "importance_kind": "gain in the trees",
        "dependence": dependence_of(
            task, model, X, unit, classes.index(positive) if positive else 0
        ),
        "learning_curve": curve,
        "learning_text": forecast(curve, _metrics(task)[0]["higher_is_better"]),
        "certificate": certificate,
        "margins": margins,
        "tree": tree_of(task, X, y, classes),
        "tree_title": "A surrogate tree of 12 leaves that approximates the model: the same class for 91% "
        "of unseen rows",
        "rows": rows_of(task, model, X.iloc[test], y.iloc[test], classes),
        "coverage": {"nominal": 0.9, "observed": 0.911, **size},
        "calibration": None
        if task == "regression"
        else {"brier": 0.12, "ece": 0.031, "brier_after": 0.115, "ece_after": 0.012},
    }


@cache
def _record(task: str, n_classes: int) -> Record:
    if task == "regression":
        table, target, title = houses(), "price", "Houses"
    elif n_classes == 2:
        table, target, title = loans(), "default", "Loans"
    else:
        table, target, title = (
            letters(n_classes=n_classes, n=max(450, 14 * n_classes)),
            "letter",
            "Letters",
        )
    y = table[target]
    X = table.drop(columns=[name for name in (target, "customer", "country") if name in table])
    X = X.astype({name: "category" for name in X if not pd.api.types.is_numeric_dtype(X[name])})
    classes = [] if task == "regression" else sorted(y.unique())
    positive = "yes" if task == "binary" else None
    coded = _coded(X)
    trees = ("gradient_boosting", "random_forest", "tree")
    pairs = [
        _studied(method, task, X if method["name"] in trees else coded, y, classes, positive)
        for method in _methods(task, len(classes))
    ]
    models = {found["name"]: model for found, model in pairs}
    metrics = _metrics(task)
    methods = comparison([found for found, _ in pairs], metrics[0]["higher_is_better"], REPEATS)
    n_test = len(next(ShuffleSplit(REPEATS, test_size=0.3, random_state=1).split(X))[1])
    chosen = _chosen(task, models["gradient_boosting"], X, y, classes, positive)
    return {
        "version": 4, "bosquet": bosquet.__version__, "title": title, "source": f"{title.lower()}.csv",
        "task": task, "target": target, "classes": [str(c) for c in classes], "positive": positive,
        "metric": metrics[0], "metrics": metrics,
        "costs": [[0.0, 1.0], [5.0, 0.0]] if task == "binary" else None,
        "n_rows": len(table), "n_test": n_test, "repeats": REPEATS, "budget": 120.0, "seconds": 101.3,
        "random_state": 0, "exploration": explored(table, target, task),
        "methods": methods + _left_out(), "chosen": chosen,
        "comparison": {
            "best": methods[0]["name"], "interval": "splits", "splits": REPEATS, "confidence": 0.95,
            "simultaneous": "Dunnett", "comparisons": len(methods) - 1,
        },
        "final": {"rows": len(table), "of": len(table), "seconds": 0.5, "why": ""},
        "verdict": reach_verdict(methods + _left_out()),  # type: ignore[arg-type]
        "notes": ["The support vector machine failed; its row states the reason."],
    }  # type: ignore[typeddict-item, return-value]  # fmt: skip


def sample_record(task: str = "binary", n_classes: int = 2) -> Record:
    """Return a copy of the record of a small study."""
    return copy.deepcopy(_record(task, 1 if task == "regression" else n_classes))


def method_named(record: Record, name: str) -> MethodRecord:
    return next(method for method in record["methods"] if method["name"] == name)

"""The parts of a sample record, each computed from a model and rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_curve
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bosquet import AdaBoostClassifier


def histogram(
    values: np.ndarray, groups: np.ndarray | None = None, bins: int = 20
) -> dict[str, Any]:
    """Return the counts of numbers or levels, by group."""
    groups = np.full(len(values), "all") if groups is None else groups
    names = [str(name) for name in np.unique(groups)]
    if values.dtype.kind in "if":
        filled = np.isfinite(values)
        edges = np.histogram_bin_edges(values[filled], bins)
        counts = {
            name: np.histogram(values[filled & (groups == name)], edges)[0].tolist()
            for name in names
        }
        return {"edges": edges.tolist(), "levels": None, "counts": counts}
    levels = pd.Series(values).value_counts().index[:8].tolist()
    counts = {
        name: [int(np.sum((values == level) & (groups == name))) for level in levels]
        for name in names
    }
    return {"edges": None, "levels": [str(level) for level in levels], "counts": counts}


def explored(table: pd.DataFrame, target: str, task: str) -> dict[str, Any]:
    groups = None if task == "regression" else table[target].to_numpy().astype(str)
    columns = [_column(table, name, target, groups) for name in table if name != target]
    numbers = [c["name"] for c in columns if c["kind"] == "number"]
    return {
        "n_rows": len(table),
        "n_columns": table.shape[1],
        "duplicates": int(table.duplicated().sum()),
        "target": histogram(table[target].to_numpy()),
        "columns": columns,
        "correlations": {
            "names": numbers,
            "matrix": table[numbers].corr("spearman").to_numpy().tolist(),
        },
        "warnings": _findings(columns),
    }


def _findings(columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for column in columns:
        name = column["name"]
        if (column["relation"] or 0) > 0.25:
            found.append(
                (
                    "high",
                    "leak",
                    name,
                    f"“{name}” predicts well on its own; check that it is known in time.",
                )
            )
        if column["missing"]:
            found.append(
                (
                    "medium",
                    "missing",
                    name,
                    f"“{name}” has holes; methods that need numbers fill them in.",
                )
            )
        if not column["used"]:
            found.append(
                ("low", column["kind"], name, f"“{name}” is {column['kind']} and left out.")
            )
    order = ["high", "medium", "low"]
    return [
        {"kind": kind, "severity": severity, "columns": [name], "message": message}
        for severity, kind, name, message in sorted(
            found, key=lambda finding: order.index(finding[0])
        )
    ]


def _column(
    table: pd.DataFrame, name: str, target: str, groups: np.ndarray | None
) -> dict[str, Any]:
    values = table[name]
    number = pd.api.types.is_numeric_dtype(values)
    kind = "number" if number else "category"
    if not number and values.nunique() in (1, len(values)):
        kind = "constant" if values.nunique() == 1 else "identifier"
    quantiles = values.quantile([0, 0.25, 0.5, 0.75, 1]).tolist() if number else None
    outliers = 0
    if quantiles:
        whisker = 1.5 * (quantiles[3] - quantiles[1])
        outliers = int(
            ((values < quantiles[1] - whisker) | (values > quantiles[3] + whisker)).sum()
        )
    target_values = (
        table[target]
        if pd.api.types.is_numeric_dtype(table[target])
        else table[target].astype("category").cat.codes
    )
    related = abs(values.corr(target_values, "spearman")) if number else None
    return {
        "name": name, "kind": kind, "missing": int(values.isna().sum()), "distinct": int(values.nunique()),
        "used": kind in ("number", "category"), "mean": float(values.mean()) if number else None,
        "deviation": float(values.std()) if number else None, "quantiles": quantiles, "outliers": outliers,
        "relation": related, "histogram": histogram(values.to_numpy(), groups),
    }  # fmt: skip


def curve_of(
    method: dict[str, Any],
    X: Any,
    y: Any,
    task: str,
    classes: list[str],
    scores: Callable,
    predict: Callable,
) -> tuple[dict[str, Any], Any]:
    """Return the two-fold scores of every complexity, and the chosen complexity."""
    points = []
    for complexity in method["complexities"]:
        folds = []
        for train, test in KFold(2, shuffle=True, random_state=0).split(X):
            fitted = method["make"](complexity).fit(X.iloc[train], y.iloc[train])
            found = scores(task, y.iloc[test], predict(task, fitted, X.iloc[test]), classes)
            folds.append(next(iter(found.values())))
        points.append(
            {
                "complexity": float(complexity),
                "label": f"{method['parameter']} = {complexity:g}",
                "setting": {method["parameter"]: complexity},
                "score": float(np.mean(folds)),
                "standard_error": float(np.std(folds, ddof=1) / np.sqrt(len(folds))),
                "chosen": False,
            }
        )
    best = int(np.argmin([point["score"] for point in points]))
    points[best]["chosen"] = True
    title = "RMSE" if task == "regression" else "Log loss"
    curve = {
        "parameter": method["parameter"],
        "log": method["log"],
        "by": "2-fold cross-validation",
        "score": title,
        "points": points,
    }
    return curve, method["complexities"][best]


def comparison(methods: list[dict[str, Any]], higher: bool, repeats: int) -> list[dict[str, Any]]:
    """Return means, intervals and differences to the best (corrected by Nadeau and Bengio), best first."""
    t = stats.t.ppf(0.975, repeats - 1)

    def interval(values: np.ndarray) -> list[float]:
        error = np.sqrt((1 / repeats + 0.3 / 0.7) * values.var(ddof=1))
        return [float(values.mean() - t * error), float(values.mean() + t * error)]

    methods = sorted(methods, key=lambda m: np.mean(m["scores"]) * (-1 if higher else 1))
    best = np.asarray(methods[0]["scores"])
    for method in methods:
        scores = np.asarray(method["scores"])
        gap = scores - best
        low, high = interval(gap)
        method["mean"], method["interval"] = float(scores.mean()), interval(scores)
        method["difference"] = {
            "mean": float(gap.mean()), "low": low, "high": high, "distinguishable": bool(low > 0 or high < 0)
        }  # fmt: skip
    return methods


def evaluation(
    task: str, y: np.ndarray, predictions: np.ndarray, classes: list[str], positive: str | None
) -> dict[str, Any]:
    if task == "regression":
        return {
            "n_rows": len(y),
            "scatter": np.column_stack([y, predictions]).tolist(),
            "residuals": histogram(y - predictions, bins=24),
        }
    found: dict[str, Any] = {"n_rows": len(y), "roc": {}, "pr": {}}
    for k, name in enumerate(classes):
        if positive is None or name == positive:
            false, true, _ = roc_curve(y == name, predictions[:, k])
            precision, recall, _ = precision_recall_curve(y == name, predictions[:, k])
            found["roc"][name] = np.column_stack([false, true]).tolist()
            found["pr"][name] = np.column_stack([recall, precision])[::-1].tolist()
    predicted_classes = np.asarray(classes)[predictions.argmax(axis=1)]
    found["confusion"] = confusion_matrix(y, predicted_classes, labels=classes).tolist()
    sure = predictions[:, classes.index(positive)] if positive else predictions.max(axis=1)
    true = (y == positive) if positive else (predicted_classes == y)
    found["calibration"] = _calibration(sure, true)
    if positive:
        found["threshold"] = 0.5
        found["thresholds"] = [_at(threshold, sure, true) for threshold in np.linspace(0, 1, 101)]
    return found


def _at(threshold: float, score: np.ndarray, event: np.ndarray) -> dict[str, float]:
    called = score >= threshold
    return {
        "threshold": float(threshold),
        "tn": int(np.sum(~called & ~event)),
        "fp": int(np.sum(called & ~event)),
        "fn": int(np.sum(~called & event)),
        "tp": int(np.sum(called & event)),
    }


def _calibration(forecast: np.ndarray, true: np.ndarray) -> list[dict[str, float]]:
    bins = []
    for rows in np.array_split(np.argsort(forecast), 8):
        low, high = stats.binomtest(int(true[rows].sum()), len(rows)).proportion_ci()
        bins.append(
            {
                "forecast": float(forecast[rows].mean()), "observed": float(true[rows].mean()),
                "low": float(low), "high": float(high), "n": len(rows),
            }
        )  # fmt: skip
    return bins


def dependence_of(
    task: str, model: Any, X: pd.DataFrame, unit: str, k: int
) -> list[dict[str, Any]]:
    """Return the partial dependence on each column."""
    found = []
    for name in X:
        number = pd.api.types.is_numeric_dtype(X[name])
        grid = (
            np.unique(np.nanquantile(X[name], np.linspace(0.02, 0.98, 15)))
            if number
            else X[name].cat.categories
        )
        means, deviations = [], []
        for value in grid:
            changed = X.copy()
            changed[name] = (
                value
                if number
                else pd.Categorical([value] * len(X), categories=X[name].cat.categories)
            )
            predictions = (
                model.predict(changed)
                if task == "regression"
                else model.predict_proba(changed)[:, k]
            )
            means.append(float(predictions.mean()))
            deviations.append(float(predictions.std() / 4))
        found.append(
            {
                "feature": name, "grid": list(map(float, grid)) if number else list(map(str, grid)),
                "mean": means, "low": [m - d for m, d in zip(means, deviations, strict=True)],
                "high": [m + d for m, d in zip(means, deviations, strict=True)], "unit": unit,
            }
        )  # fmt: skip
    return found


def learning_curve(
    model: Any, X: Any, y: Any, score: Callable[[Any, Any, Any], float]
) -> list[dict[str, float]]:
    test = np.arange(len(X)) % 3 == 0
    inside = np.flatnonzero(~test)
    found = []
    for rows in np.geomspace(len(inside) / 3, len(inside), 4).astype(int):
        part = inside[:rows]
        fitted = clone(model).fit(X.iloc[part], y.iloc[part])
        found.append({"rows": int(rows), "score": score(fitted, X[test], y[test]), "spread": 0.02})
    return found


def certificate_of(X: pd.DataFrame, y: pd.Series, task: str) -> tuple[Any, Any]:
    """Return the certificate and the margins of AdaBoost on the same rows, for two classes only."""
    if task != "binary":
        return None, None
    found = AdaBoostClassifier(n_estimators=60, random_state=0).fit(X, y).certificate_
    certificate = {
        "text": str(found),
        "rounds": list(range(1, found.n_rounds + 1)),
        "error": found.training_errors.tolist(),
        "bound": found.product.tolist(),
        "edges": found.edges.tolist(),
    }
    edges = np.linspace(-1, 1, 41)
    counts = np.histogram(found.margins, edges)[0].tolist()
    return certificate, {"edges": edges.tolist(), "levels": None, "counts": {"all": counts}}


def tree_of(task: str, X: pd.DataFrame, y: pd.Series, classes: list[str]) -> dict[str, Any]:
    coded = X.apply(
        lambda column: (
            column.cat.codes if column.dtype == "category" else column.fillna(column.median())
        )
    )
    kind = DecisionTreeRegressor if task == "regression" else DecisionTreeClassifier
    tree = kind(max_leaf_nodes=8 if len(classes) < 10 else 40, random_state=0).fit(coded, y).tree_

    def node(i: int) -> dict[str, Any]:
        leaf = tree.children_left[i] < 0
        rule = "" if leaf else f"{X.columns[tree.feature[i]]} ≤ {tree.threshold[i]:.6g}"
        children = [] if leaf else [node(tree.children_left[i]), node(tree.children_right[i])]
        return {
            "id": int(i), "rule": rule, "n": int(tree.n_node_samples[i]),
            "value": tree.value[i, 0].tolist(), "children": children,
        }  # fmt: skip

    return node(0)


def _words(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def rows_of(
    task: str, model: Any, X: pd.DataFrame, y: pd.Series, classes: list[str]
) -> list[dict[str, Any]]:
    """Return rows with the largest losses, outliers and typical rows, with SHAP values of a boosted model."""
    explanation = model.explain(X)
    if task == "regression":
        predictions = model.predict(X)
        loss, words = np.abs(predictions - y.to_numpy()), [f"{value:.4g}" for value in predictions]
        chosen = np.zeros(len(X), dtype=int)
    else:
        p = model.predict_proba(X)
        truth = np.array([classes.index(label) for label in y])
        chosen = p.argmax(axis=1)
        loss = -np.log(np.maximum(p[np.arange(len(X)), truth], 1e-9))
        words = [f"{classes[k]} ({p[i, k]:.0%})" for i, k in enumerate(chosen)]
    order = np.argsort(-loss)
    middle = len(order) // 2
    kinds = [
        ("worst", order[:10]),
        ("outlier", order[middle - 5 : middle]),
        ("typical", order[middle : middle + 4]),
    ]
    found = []
    for kind, rows in kinds:
        for i in rows:
            effects, base = explanation.values[i], explanation.base
            if effects.ndim > 1:
                effects, base = effects[:, chosen[i]], base[chosen[i]]
            found.append(
                {
                    "row": int(X.index[i]), "kind": kind, "truth": str(y.iloc[i]), "prediction": words[i],
                    "score": float(loss[i]), "base": float(base),
                    "values": {name: _words(X[name].iloc[i]) for name in X},
                    "reasons": [
                        {"feature": X.columns[j], "value": _words(X.iloc[i, j]), "effect": float(effects[j])}
                        for j in np.argsort(-np.abs(effects))
                    ],
                }
            )  # fmt: skip
    return found

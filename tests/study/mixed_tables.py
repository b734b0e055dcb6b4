"""Small tables with numbers, text, categories, and missing values in each."""

import numpy as np
import pandas as pd

from bosquet.study.methods.shapes import table_shape
from bosquet.study.metrics.metric import default_metric, metric_named


def mixed_table(task, rows=180, seed=0, rare=0.0):
    """Return a frame with missing values and its target: "binary", "multiclass", "regression" or "counts"."""
    random = np.random.default_rng(seed)
    age, size = random.normal(size=rows), random.exponential(size=rows)
    town = random.choice(
        ["rome", "oslo", "bern", "cork", "york"], size=rows, p=[0.4, 0.3, 0.2, 0.08, 0.02]
    )
    grade = pd.Categorical(random.choice(["low", "mid", "high"], size=rows))
    signal = (
        age + 1.5 * (town == "rome") - size + (grade == "high") + 0.5 * random.normal(size=rows)
    )
    X = pd.DataFrame({"age": age, "size": size, "town": town, "grade": grade})
    X.loc[random.random(rows) < 0.1, "age"] = np.nan
    X.loc[random.random(rows) < 0.1, "town"] = None
    if task == "binary":
        cut = np.quantile(signal, 1 - rare) if rare else 0.0
        return X, np.where(signal > cut, "yes", "no")
    if task == "multiclass":
        return X, np.array(["a", "b", "c"])[np.digitize(signal, [-0.7, 0.7])]
    return X, np.round(np.exp(signal / 2)) if task == "counts" else signal


def metric_and_shape(task, X, y, metric=None):
    """Return the metric of a task and the shape of a table."""
    task = "regression" if task == "counts" else task
    shape = table_shape(X, y, task)
    classes = () if task == "regression" else np.unique(y)
    name = metric or default_metric(task, shape.rarest_share)
    return metric_named(name, task, classes), shape

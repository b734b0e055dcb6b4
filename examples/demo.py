"""Bosquet beside the peers that are installed: scores, fit times, a saved model, a plot.

    python examples/demo.py [demo.png]

Two classification tables that need no download: breast cancer (569 rows, real) and 100,000 made
rows. Every library gets the same rounds, leaves, learning rate and threads, all rows and all
columns in every tree; what else it does is its own default. Times are the best of three fits, the
libraries taking turns.
"""

import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

import bosquet
from bosquet import GradientBoostingClassifier

ROUNDS, LEAVES, THREADS = 100, 31, os.cpu_count() or 1
TREES = {"n_estimators": ROUNDS, "learning_rate": 0.1, "n_jobs": THREADS}
OURS = {**TREES, "max_leaf_nodes": LEAVES, "early_stopping": False, "random_state": 0}
OURS |= {"subsample": 1.0, "max_features": None}
HGB = {"max_iter": ROUNDS, "learning_rate": 0.1, "max_leaf_nodes": LEAVES, "early_stopping": False}
XGB = {**TREES, "grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0}
CAT = {"iterations": ROUNDS, "learning_rate": 0.1, "thread_count": THREADS, "max_leaves": LEAVES}
CAT |= {"grow_policy": "Lossguide", "verbose": False, "allow_writing_files": False}
LIBRARIES = {
    "Bosquet": ("bosquet", "GradientBoostingClassifier", OURS),
    "LightGBM": ("lightgbm", "LGBMClassifier", {**TREES, "num_leaves": LEAVES, "verbose": -1}),
    "XGBoost": ("xgboost", "XGBClassifier", XGB),
    "CatBoost": ("catboost", "CatBoostClassifier", CAT),
    "scikit-learn HGB": ("sklearn.ensemble", "HistGradientBoostingClassifier", HGB),
}
GREEN, GREY = "#2f6f4f", "#b9c0bb"


def installed():
    """The class and the settings of every library that can be imported."""
    found, absent = {}, []
    for name, (module, cls, settings) in LIBRARIES.items():
        try:
            found[name] = getattr(importlib.import_module(module), cls), settings
        except ImportError:
            absent.append(name)
    if absent:
        print(f"Not installed, left out: {', '.join(absent)} (`make peers` installs them).\n")
    return found


def compare(title, X, y, libraries):
    """Prints a table of times and scores, and returns the seconds each library took to fit."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    seconds, models = dict.fromkeys(libraries, float("inf")), {}
    for _ in range(3):
        for name, (cls, settings) in libraries.items():
            start = time.perf_counter()
            models[name] = cls(**settings).fit(X_train, y_train)
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    print(f"{title}: {len(X_train):,} x {X.shape[1]}, {ROUNDS} rounds of {LEAVES} leaves")
    print(f"  {'library':18}{'fit, s':>9}{'x ours':>9}{'log loss':>11}{'AUC':>9}")
    for name, model in models.items():
        p, took = model.predict_proba(X_test)[:, 1], seconds[name]
        scores = f"{log_loss(y_test, p):11.4f}{roc_auc_score(y_test, p):9.4f}"
        print(f"  {name:18}{took:9.3f}{took / seconds['Bosquet']:9.1f}{scores}")
    print()
    return seconds


def repeat(X, y):
    """Fits on one thread and on several: a small table would stay on one, so this one is large."""
    raw = [
        GradientBoostingClassifier(**OURS | {"n_jobs": n}).fit(X, y).decision_function(X)
        for n in (1, max(2, THREADS))
    ]
    print(f"Made data fitted on 1 and on {max(2, THREADS)} threads: same bits?", end=" ")
    print(np.array_equal(*raw))


def study(data):
    """Fits with rows to watch; shows early stopping, saving, importances."""
    X, X_held, y, y_held = train_test_split(data.data, data.target, random_state=1)
    settings = OURS | {"n_estimators": 300, "early_stopping": True}
    model = GradientBoostingClassifier(**settings).fit(X, y, eval_set=(X_held, y_held))
    print(f"Early stopping tried {len(model.train_score_)} rounds and kept {model.n_iter_}.")
    p = model.predict_proba(X_held)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bosquet"
        model.save(path)
        same = np.array_equal(bosquet.load(path).predict_proba(X_held), p)
        print(f"Saved in {path.stat().st_size:,} bytes and loaded: same predictions? {same}")
    print("The features that gain most:")
    for i in np.argsort(model.feature_importances_)[:-6:-1]:
        print(f"  {data.feature_names[i]:24}{model.feature_importances_[i]:7.1%}")
    return model


def draw(path, seconds, model, data):
    """Fit times, the course of the loss, importances."""
    plt.rcParams |= {"font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left"}
    plt.rcParams |= {"axes.spines.top": False, "axes.spines.right": False}
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    figure.get_layout_engine().set(wspace=0.06)
    left, middle, right = axes

    names = sorted(seconds, key=lambda name: -seconds[name])
    colours = [GREEN if name == "Bosquet" else GREY for name in names]
    bars = left.barh(names, [seconds[name] for name in names], color=colours)
    left.bar_label(bars, fmt="%.2f s", padding=3)
    left.set(xlim=(0, 1.2 * max(seconds.values())), xticks=[])
    left.set_title(f"75,000 rows x 28: fit on {THREADS} threads")

    rounds = np.arange(1, len(model.train_score_) + 1)
    middle.plot(rounds, model.train_score_, color=GREY, label="training")
    middle.plot(rounds, model.validation_score_, color=GREEN, label="held out")
    best = model.validation_score_[model.n_iter_ - 1]
    middle.plot(model.n_iter_, best, "o", color=GREEN, label=f"kept: {model.n_iter_} rounds")
    middle.set(ylim=(0, None), xlabel="round")
    middle.set_title("Breast cancer: log loss")
    middle.legend(frameon=False)

    top = np.argsort(model.feature_importances_)[-8:]
    right.barh(data.feature_names[top], model.feature_importances_[top], color=GREEN)
    right.xaxis.set_major_formatter("{x:.0%}")
    right.set_title("Breast cancer: share of the gain")
    figure.savefig(path, dpi=100)
    print(f"\nWrote {path}")


if __name__ == "__main__":
    cancer, libraries = load_breast_cancer(), installed()
    made = make_classification(100_000, 28, n_informative=12, flip_y=0.1, random_state=0)
    compare("Breast cancer", cancer.data, cancer.target, libraries)
    fit_seconds = compare("Made data", *made, libraries)
    repeat(*made)
    draw(sys.argv[1] if sys.argv[1:] else "demo.png", fit_seconds, study(cancer), cancer)

"""Several quantiles in one model, compared with the peers: `python -m benchmarks.levels --data DIR`.

Pinball loss (the mean over levels and test rows), the share of test rows on which two levels cross, and the
processor time of a fit, which other programs hardly change. All libraries have the same rounds, learning
rate and number of leaves, one thread, and categories as numbers; CatBoost grows its symmetric trees of
depth 5 (32 leaves). LightGBM has no loss of several levels: its time is that of one model per level.
"""

import argparse
import time

import numpy as np

from benchmarks import real
from benchmarks.interleave import settle

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
ROUNDS, RATE, LEAVES, MIN_LEAF = 300, 0.05, 31, 20
TABLES = ("bike_sharing_hour", "california_housing")


def bosquet(X, y):
    from bosquet import GradientBoostingRegressor

    model = GradientBoostingRegressor(
        "quantile", quantile=LEVELS, n_estimators=ROUNDS, learning_rate=RATE, max_leaf_nodes=LEAVES,
        min_samples_leaf=MIN_LEAF, early_stopping=False, n_jobs=1, random_state=0,
    ).fit(X, y)  # fmt: skip
    return model.predict, model


def catboost(X, y):
    from catboost import CatBoostRegressor

    levels = ",".join(map(str, LEVELS))
    model = CatBoostRegressor(
        loss_function=f"MultiQuantile:alpha={levels}", iterations=ROUNDS, learning_rate=RATE, depth=5,
        thread_count=1, random_seed=0, verbose=False, allow_writing_files=False,
    ).fit(X, y)  # fmt: skip
    return model.predict, model


def xgboost(X, y):
    from xgboost import XGBRegressor

    model = XGBRegressor(
        objective="reg:quantileerror", quantile_alpha=LEVELS, n_estimators=ROUNDS, learning_rate=RATE,
        max_leaves=LEAVES, max_depth=0, grow_policy="lossguide", tree_method="hist",
        min_child_weight=MIN_LEAF, n_jobs=1, random_state=0,
    ).fit(X, y)  # fmt: skip
    return model.predict, model


def lightgbm(X, y):
    from lightgbm import LGBMRegressor

    models = [
        LGBMRegressor(
            objective="quantile", alpha=level, n_estimators=ROUNDS, learning_rate=RATE,
            num_leaves=LEAVES, min_child_samples=MIN_LEAF, n_jobs=1, random_state=0, verbose=-1,
        ).fit(X, y)
        for level in LEVELS
    ]  # fmt: skip
    return lambda X: np.column_stack([model.predict(X) for model in models]), models


def pinball(y, predicted):
    residual = y[:, None] - predicted
    return np.maximum(np.array(LEVELS) * residual, (np.array(LEVELS) - 1) * residual).mean()


def crossing(predicted):
    return (np.diff(predicted, axis=1) < 0).any(axis=1).mean()


def measure(root, table, splits):
    """Yield (library, pinball loss, crossing rate, seconds): means over the splits, the shortest time."""
    problem = real.load(root, table)
    for name in problem.categorical:
        problem.X[name] = problem.X[name].cat.codes.astype(float)
    found = {}
    for seed in range(splits):
        X, X_test, y, y_test = real.split(problem, seed)
        X, X_test = X.to_numpy(), X_test.to_numpy()
        for fit in (bosquet, catboost, xgboost, lightgbm):
            settle()
            begin = time.process_time()
            predict, model = fit(X, y)
            seconds = time.process_time() - begin
            predicted = np.asarray(predict(X_test))
            row = pinball(y_test, predicted), crossing(predicted), seconds
            found.setdefault(fit.__name__, []).append(row)
            if fit is bosquet:
                raw = model._raw(X_test)
                before = pinball(y_test, raw), crossing(raw), seconds
                found.setdefault("bosquet, before sorting", []).append(before)
    for name, rows in found.items():
        losses, rates, seconds = np.array(rows).T
        yield name, losses.mean(), rates.mean(), seconds.min()


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.levels", description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    print("| table | library | pinball loss | rows that cross | seconds |\n|---|---|---|---|---|")
    for table in options.tables:
        for name, loss, rate, seconds in measure(options.data, table, options.splits):
            print(f"| {table} | {name} | {loss:.5g} | {rate:.2%} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()

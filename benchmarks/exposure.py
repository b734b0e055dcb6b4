"""Counts with an exposure, compared with offsets of LightGBM and XGBoost: `python -m benchmarks.exposure`.

Simulated claims of policies that run for a part of a year. Poisson deviance of the test rows, the error of
the logarithm of the rate, which is known, and the processor time of fit and prediction. All libraries have
the same rounds, learning rate and leaves, and one thread. LightGBM takes log(exposure) as `init_score`,
XGBoost as `base_margin`. Both then start without the best constant, so the logarithm of the mean rate is
added to it here, and again to the predictions.
"""

import argparse
import time

import numpy as np

from benchmarks.interleave import settle

ROUNDS, RATE, LEAVES, MIN_LEAF = 200, 0.05, 31, 20


def policies(rows, seed):
    """Return a table, counts, exposures in years, and the true rates."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 8))
    rate = 0.1 * np.exp(0.5 * X[:, 0] + 0.4 * np.abs(X[:, 1]) - 0.5 * (X[:, 2] > 0) * X[:, 3])
    exposure = random.beta(0.6, 0.6, size=rows).clip(0.003)
    return X, random.poisson(rate * exposure).astype(float), exposure, rate


def bosquet(X, y, exposure, X_test):
    from bosquet import GradientBoostingRegressor

    model = GradientBoostingRegressor(
        "poisson", n_estimators=ROUNDS, learning_rate=RATE, max_leaf_nodes=LEAVES,
        min_samples_leaf=MIN_LEAF, early_stopping=False, n_jobs=1, random_state=0,
    ).fit(X, y, exposure=exposure)  # fmt: skip
    return model.predict(X_test)


def rates_with_weights(X, y, exposure, X_test):
    from bosquet import GradientBoostingRegressor

    model = GradientBoostingRegressor(
        "poisson", n_estimators=ROUNDS, learning_rate=RATE, max_leaf_nodes=LEAVES,
        min_samples_leaf=MIN_LEAF, early_stopping=False, n_jobs=1, random_state=0,
    ).fit(X, y / exposure, sample_weight=exposure)  # fmt: skip
    return model.predict(X_test)


def exposure_as_feature(X, y, exposure, X_test):
    from bosquet import GradientBoostingRegressor

    model = GradientBoostingRegressor(
        "poisson", n_estimators=ROUNDS, learning_rate=RATE, max_leaf_nodes=LEAVES,
        min_samples_leaf=MIN_LEAF, early_stopping=False, n_jobs=1, random_state=0,
    ).fit(np.c_[X, exposure], y)  # fmt: skip
    return model.predict(np.c_[X_test, np.ones(len(X_test))])


def lightgbm(X, y, exposure, X_test):
    from lightgbm import LGBMRegressor

    start = np.log(y.sum() / exposure.sum())
    model = LGBMRegressor(
        objective="poisson", n_estimators=ROUNDS, learning_rate=RATE, num_leaves=LEAVES,
        min_child_samples=MIN_LEAF, reg_lambda=1.0, feature_fraction_bynode=0.5, n_jobs=1,
        random_state=0, verbose=-1,
        poisson_max_delta_step=1e-9,  # the default multiplies the hessians by e^0.7
    ).fit(X, y, init_score=np.log(exposure) + start)  # fmt: skip
    return np.exp(model.predict(X_test, raw_score=True) + start)


def xgboost(X, y, exposure, X_test):
    from xgboost import XGBRegressor

    start = np.log(y.sum() / exposure.sum())
    model = XGBRegressor(
        objective="count:poisson", n_estimators=ROUNDS, learning_rate=RATE, max_leaves=LEAVES,
        max_depth=0, grow_policy="lossguide", tree_method="hist", min_child_weight=0.001,
        max_delta_step=0, colsample_bynode=0.5, n_jobs=1, random_state=0,
    ).fit(X, y, base_margin=np.log(exposure) + start)  # fmt: skip
    return model.predict(X_test, base_margin=np.full(len(X_test), start))


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exposure", description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print("| model | deviance | error of the log rate | seconds |\n|---|---|---|---|")
    found = {}
    for seed in range(options.repeats):
        X, y, exposure, _ = policies(options.rows, 2 * seed)
        X_test, y_test, years, rate = policies(options.rows, 2 * seed + 1)
        for fit in (bosquet, rates_with_weights, exposure_as_feature, lightgbm, xgboost):
            settle()
            begin = time.process_time()
            predicted = fit(X, y, exposure, X_test)
            seconds = time.process_time() - begin
            mean = years * predicted
            # 0 log 0 = 0
            terms = y_test * np.log(np.where(y_test > 0, y_test, 1) / mean) - (y_test - mean)
            error = np.sqrt(np.mean(np.log(predicted / rate) ** 2))
            found.setdefault(fit.__name__, []).append((2 * terms.mean(), error, seconds))
    for name, rows in found.items():
        deviance, error, seconds = np.array(rows).T
        print(f"| {name} | {deviance.mean():.5f} | {error.mean():.4f} | {seconds.min():.2f} |")


if __name__ == "__main__":
    main()

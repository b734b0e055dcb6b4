"""Additional time of calibration and conformal prediction: `python -m benchmarks.trust`.

Intervals, sets and calibrated probabilities compared with the predictions of the wrapped model, interleaved.
"""

import argparse
import time

from benchmarks.interleave import settle
from bosquet import (
    CalibratedModel,
    ConformalModel,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from bosquet.datasets import Friedman1


def seconds(function, times):
    begin = time.perf_counter()
    for _ in range(times):
        function()
    return (time.perf_counter() - begin) / times


def added(plain, wrapped, repeats, times):
    """Return the best times of both, interleaved."""
    best = [float("inf"), float("inf")]
    for turn in range(repeats):
        settle()
        for which in (0, 1) if turn % 2 else (1, 0):
            best[which] = min(best[which], seconds((plain, wrapped)[which], times))
    return best


def works(rows):
    X, y = Friedman1(n_features=28).sample(20_000, 0)
    X_new = Friedman1(n_features=28).sample(rows, 1)[0]
    high = (y > 14).astype(int)
    options = {"n_estimators": 100, "early_stopping": False, "random_state": 0}
    numbers = ConformalModel(GradientBoostingRegressor(**options), random_state=0).fit(X, y)
    plain = numbers.models_[0]
    yield "split intervals", plain.predict, numbers.predict_interval, X_new
    yield "split intervals", plain.predict, numbers.predict_interval, X_new[:1000]
    yield "split intervals", plain.predict, numbers.predict_interval, X_new[:1]
    classes = ConformalModel(GradientBoostingClassifier(**options), random_state=0).fit(X, high)
    yield "adaptive sets", classes.models_[0].predict_proba, classes.predict_set, X_new
    for method in ("isotonic", "beta"):
        model = CalibratedModel(GradientBoostingClassifier(**options), method, cv=2).fit(X, high)
        yield method, model.members_[0].model.predict_proba, model.predict_proba, X_new


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    print("| work | rows | model alone | wrapped | adds |\n|---|---|---|---|---|")
    for name, plain, wrapped, X in works(options.rows):
        times = max(1, 20_000 // len(X)) if len(X) > 1 else 500
        alone, both = added(
            lambda predict=plain, X=X: predict(X),
            lambda predict=wrapped, X=X: predict(X),
            options.repeats,
            times,
        )
        print(
            f"| {name} | {len(X):,} | {1e3 * alone:.3f} ms | {1e3 * both:.3f} ms"
            f" | {both / alone - 1:+.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

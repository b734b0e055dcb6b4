"""The order in which methods are run, and the weight of each when the time is divided."""

from __future__ import annotations

from collections.abc import Iterable

from bosquet.study.methods.method import INCUMBENT, Method

# Weight of each method when the time is divided, in the order in which methods are run: the constant,
# gradient boosting with default hyper-parameters, fast interpretable methods, methods that are often the
# best, the rest. Time that a method does not use goes to the others, so a large share for a fast method costs
# nothing.
_TIME_WEIGHTS = {
    "constant": 0.5,
    INCUMBENT: 4.0,
    "nearest-centroid": 1.0,
    "lda": 1.0,
    "linear": 1.0,
    "logistic": 1.0,
    "cart": 1.0,
    "gradient-boosting": 8.0,
    "random-forest": 2.0,
    "balanced-bagging": 1.5,
    "qda": 0.6,
    "poisson": 0.6,
    "polynomial": 0.6,
    "k-nearest-neighbours": 0.8,
    "adaboost": 1.2,
    "rusboost": 1.2,
    "extra-trees": 1.2,
    "bagging": 0.8,
    "mlp": 1.0,
    "svm-gaussian": 1.0,
    "svr-gaussian": 1.0,
    "svm-linear": 0.6,
    "svr-linear": 0.6,
    "super-learner": 4.0,
}
_OTHER_TIME_WEIGHT = 0.5


def in_order(methods: Iterable[Method]) -> list[Method]:
    """Return the methods in the order in which they are run.

    Methods without a weight of their own follow the others. Methods that combine others come last.
    """
    positions = {name: position for position, name in enumerate(_TIME_WEIGHTS)}

    def key(method: Method) -> tuple[bool, int]:
        return method.combine is not None, positions.get(method.name, len(positions))

    return sorted(methods, key=key)


def time_weight(method: Method) -> float:
    """Return the weight of a method when the time is divided."""
    return _TIME_WEIGHTS.get(method.name, _OTHER_TIME_WEIGHT)

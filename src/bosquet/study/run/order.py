"""The order in which methods are tried, and the weight of each when time is shared out."""

from __future__ import annotations

from collections.abc import Iterable

from bosquet.study.methods.method import INCUMBENT, Method

# What a method's time is worth against the others', and with it the order: the constant, what is cheap and
# readable (but gradient boosting with default settings before them), then what is most often best, then the
# rest. What a method leaves is the others': a cheap one loses nothing by a large share.
_WORTH = {
    "constant": 0.5,
    INCUMBENT: 4.0,
    "nearest-barycentre": 1.0,
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
_WORTH_OF_OTHERS = 0.5


def in_order(methods: Iterable[Method]) -> list[Method]:
    """The methods by what is to be known first; those not known here keep their order, behind the others.

    Last are those that combine others.
    """
    places = {name: place for place, name in enumerate(_WORTH)}

    def place(method: Method) -> tuple[bool, int]:
        return method.combines is not None, places.get(method.name, len(places))

    return sorted(methods, key=place)


def worth(method: Method) -> float:
    """The weight of a method when time is shared out."""
    return _WORTH.get(method.name, _WORTH_OF_OTHERS)

"""Functions that all estimators share: atomic publication of a fit, feature attributes, `model.save(path)`.

A fit works on a copy of the estimator that has its own attribute dictionary. When it has finished, that
dictionary becomes the estimator's in one assignment. A method that reads the fit takes the dictionary once.
So an estimator always shows the result of exactly one fit, also in a thread that predicts while another one
fits, and after an error or an interrupt. Published attributes are never modified in place: a fit that
continues an earlier one works on a copy.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from bosquet._row_labels import warn_of_row_order_mismatch

Method = TypeVar("Method", bound=Callable[..., object])
Fitted = TypeVar("Fitted")

_new = object.__new__


def fit_snapshot(estimator: Fitted) -> Fitted:
    """Return a view of the estimator after its last finished fit; later fits do not change the view."""
    view = _new(type(estimator))
    view.__dict__ = estimator.__dict__
    return view


def working_copy(estimator: Fitted) -> Fitted:
    """Return a shallow copy of the estimator with its own attribute dictionary."""
    copy = _new(type(estimator))
    copy.__dict__ = dict(estimator.__dict__)
    return copy


def reads_fit_snapshot(method: Method) -> Method:
    """Decorate a method so that it reads the attributes of one fit, even if another thread fits meanwhile."""
    if _takes_X_and_keywords(method):
        # predict(X) of one row takes 7 microseconds; forwarding *args and **kwargs would add 0.3.
        @wraps(method)
        def read(self: object, X: object, **keywords: object) -> object:
            view = _new(type(self))
            view.__dict__ = self.__dict__
            return method(view, X, **keywords)

    else:

        @wraps(method)
        def read(self: object, *args: object, **kwargs: object) -> object:
            return method(fit_snapshot(self), *args, **kwargs)

    return cast("Method", read)


def _takes_X_and_keywords(method: Callable[..., object]) -> bool:
    """Return whether X is the only argument by position."""
    code = method.__code__
    variable = code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)
    names = code.co_varnames[: code.co_argcount]
    return names == ("self", "X") and not variable and method.__defaults__ is None


def publishes_fit_atomically(method: Method) -> Method:
    """Decorate a method so that it works on a copy and publishes all its changes in one assignment.

    After an error or an interrupt nothing is published and the estimator is unchanged. If two fits run at the
    same time, the one that ends last wins. A parameter that is set while a fit runs is kept for the next fit.
    """

    names = method.__code__.co_varnames[1 : method.__code__.co_argcount]

    @wraps(method)
    def fit(self: object, *args: object, **kwargs: object) -> object:
        warn_of_row_order_mismatch([*names[: len(args)], *kwargs], [*args, *kwargs.values()])
        copy = working_copy(self)
        before = copy.__dict__.copy()
        result = method(copy, *args, **kwargs)
        if result is copy:
            result = self
        finished = copy.__dict__ | _parameters_set_since(self, before, copy)
        # Python raises KeyboardInterrupt only after calls and in loops. There is none between this assignment
        # and the return, so a caller that gets an interrupt finds the estimator unchanged.
        self.__dict__ = finished
        return result

    fit.publishes_fit_atomically = True  # type: ignore[attr-defined]
    return cast("Method", fit)


def _parameters_set_since(
    estimator: Any, before: dict[str, object], copy: object
) -> dict[str, object]:
    """Return the parameters that other code has set on the estimator since the copy was made."""
    now, in_copy = estimator.__dict__, copy.__dict__
    changed = [
        name
        for name, value in before.items()
        if now.get(name, value) is not value and in_copy.get(name, value) is value
    ]
    if not changed:
        return {}
    parameters = estimator.get_params(deep=False)
    return {name: now[name] for name in changed if name in parameters}


class FeatureNames(Protocol):
    """The facts that an estimator publishes of its table: `TableEncoder` has them."""

    n_features: int
    feature_names: list[str] | None


def set_feature_attributes(estimator: Any, encoder: FeatureNames) -> None:
    """Set `_encoder`, `n_features_in_` and, if the columns have names, `feature_names_in_`."""
    estimator._encoder = encoder
    estimator.n_features_in_ = encoder.n_features
    if encoder.feature_names is not None:
        estimator.feature_names_in_ = np.asarray(encoder.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


class SaveMixin:
    """Add `save(path)` to an estimator."""

    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Write the fitted model to a file that `bosquet.load` reads, without pickle.

        A model made of other models can be written if all of them are Bosquet's own.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        key : bytes, optional
            Secret key of at least 32 random bytes. The file is signed with it, and
            ``bosquet.load(path, key=key)`` rejects files that were not signed with the same key.
        """
        from bosquet.io import save_model

        save_model(self, path, key)

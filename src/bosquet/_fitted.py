"""What every estimator does with a fit: publishes it whole, remembers its columns, writes it to a file.

A fit works on a draft, a copy of the estimator with attributes of its own, and the finished attributes
become the estimator's in one assignment. A reader takes the attributes once. So an estimator is always the
result of one fit: in a thread that predicts while another fits, and after an error or an interrupt.
What was published is never changed in place: a fit that goes on from it works on a copy.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any, TypeVar, cast

import numpy as np

from bosquet._row_labels import warn_of_other_order

Method = TypeVar("Method", bound=Callable[..., Any])

_new = object.__new__


def one_fit(estimator: Any) -> Any:
    """A view of the estimator as the last finished fit left it; later fits do not show in it."""
    view = _new(type(estimator))
    view.__dict__ = estimator.__dict__
    return view


def draft_of(estimator: Any) -> Any:
    """A copy to work on: attributes of its own, which hold the same objects."""
    draft = _new(type(estimator))
    draft.__dict__ = dict(estimator.__dict__)
    return draft


def reads_one_fit(method: Method) -> Method:
    """Let a method read the attributes of one fit, whatever other threads publish meanwhile."""
    if _takes_only_X(method):
        # Of a row predict(X) takes 7 microseconds, and passing on any arguments 0.3 more than these.
        @wraps(method)
        def read(self: Any, X: Any) -> Any:
            view = _new(type(self))
            view.__dict__ = self.__dict__
            return method(view, X)

    else:

        @wraps(method)
        def read(self: Any, *args: Any, **kwargs: Any) -> Any:
            return method(one_fit(self), *args, **kwargs)

    return cast("Method", read)


def _takes_only_X(method: Callable[..., Any]) -> bool:
    code = method.__code__
    others = code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)
    names = code.co_varnames[: code.co_argcount]
    return names == ("self", "X") and not others and method.__defaults__ is None


def fits_aside(method: Method) -> Method:
    """Run a method that changes the estimator on a draft, and publish all changes in one assignment.

    Without an assignment, after an error or an interrupt, the estimator is as it was. Of two fits at the same
    time the one that ends last is kept. A parameter that is set while a fit runs is kept for the next one.
    """

    names = method.__code__.co_varnames[1 : method.__code__.co_argcount]

    @wraps(method)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        warn_of_other_order([*names[: len(args)], *kwargs], [*args, *kwargs.values()])
        draft = draft_of(self)
        before = draft.__dict__.copy()
        result = method(draft, *args, **kwargs)
        if result is draft:
            result = self
        finished = draft.__dict__ | _parameters_set_since(self, before, draft)
        # The last call is behind us. Python raises KeyboardInterrupt after calls and in loops, so that none
        # comes between this assignment and the return: who gets an interrupt has the estimator as it was.
        self.__dict__ = finished
        return result

    fit.fits_aside = True  # type: ignore[attr-defined]
    return cast("Method", fit)


def _parameters_set_since(estimator: Any, before: dict[str, Any], draft: Any) -> dict[str, Any]:
    """Parameters that somebody else has set on the estimator since the draft was made."""
    now, own = estimator.__dict__, draft.__dict__
    changed = [
        name
        for name, value in before.items()
        if now.get(name, value) is not value and own.get(name, value) is value
    ]
    if not changed:
        return {}
    parameters = estimator.get_params(deep=False)
    return {name: now[name] for name in changed if name in parameters}


def remember_columns(estimator: Any, encoder: Any) -> None:
    """The encoder of the table fitted on, and what scikit-learn wants to know of its columns."""
    estimator._encoder = encoder
    estimator.n_features_in_ = encoder.n_features
    if encoder.feature_names is not None:
        estimator.feature_names_in_ = np.asarray(encoder.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


class Saved:
    """`model.save(path)`."""

    @reads_one_fit
    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Write the model to a file that `bosquet.load` reads; docs/format.md tells what it holds.

        A model made of others can be written if they are Bosquet's own.

        Parameters
        ----------
        path : path of the file
        key : bytes, optional
            Sign the file with this key, of at least 32 random bytes, so that ``bosquet.load(path, key=key)``
            can refuse files of anybody else.
        """
        from bosquet.io import save_model

        save_model(self, path, key)

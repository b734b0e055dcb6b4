"""Estimators to files and back."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet.io.container import load_bytes, save_bytes


def save_model(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to `path`, whole or not at all."""
    data = model_bytes(estimator)
    path = os.fspath(path)
    beside = f"{path}.{os.getpid()}.part"
    try:
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, path)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that ``model.save(path)`` wrote.

    Any file yields a model or a `ModelFileError`, never a crash and never code that the file brought.

    Examples
    --------
    >>> import os, tempfile, bosquet
    >>> model = bosquet.GradientBoostingRegressor(n_estimators=5, min_samples_leaf=1)
    >>> model = model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.bosquet")
    >>> model.save(path)
    >>> bool((bosquet.load(path).predict([[1.5]]) == model.predict([[1.5]])).all())
    True
    """
    with open(path, "rb") as file:
        return model_from_bytes(file.read())


def model_bytes(estimator: Any) -> bytes:
    """A fitted estimator as the bytes of a model file."""
    from bosquet._sklearn import check_is_fitted
    from bosquet.boosting._additive import TreeTerms
    from bosquet.losses import NativeLoss

    check_is_fitted(estimator, "_terms")
    if not isinstance(estimator._terms, TreeTerms):
        raise ValueError(
            "a model with estimator=... holds objects of other libraries, which a model file does not"
            " carry; use pickle or joblib"
        )
    if not isinstance(estimator._loss_terms, NativeLoss):
        raise ValueError(
            "a model with a loss of your own holds your code, which a model file does not carry;"
            " use pickle or joblib"
        )
    metadata = {
        "estimator": type(estimator).__name__,
        "parameters": _plain_parameters(estimator),
        "encoder": estimator._encoder.to_state(),
        "loss": estimator._loss_terms.to_state(),
        "classes": _classes_state(getattr(estimator, "classes_", None)),
        "train_score": [float(v) for v in estimator.train_score_],
        "validation_score": [float(v) for v in estimator.validation_score_],
    }
    return save_bytes(estimator._terms.ensemble, metadata)


def model_from_bytes(data: bytes) -> Any:
    """The estimator that `model_bytes` wrote; ModelFileError for anything else."""
    ensemble, metadata = load_bytes(data)
    try:
        return _estimator_from(ensemble, metadata)
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, IndexError) as error:
        raise ModelFileError(f"the model's description is not valid: {error}") from error


def _estimator_from(ensemble: Any, metadata: dict[str, Any]) -> Any:
    from bosquet.boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from bosquet.boosting._additive import TreeTerms
    from bosquet.boosting._parameters import check_parameters
    from bosquet.data import TableEncoder
    from bosquet.losses import NativeLoss
    from bosquet.losses._native import CLASSIFICATION, REGRESSION

    # Only these; a name in a file never becomes an import.
    known = {c.__name__: c for c in (GradientBoostingClassifier, GradientBoostingRegressor)}
    name = metadata["estimator"]
    if name not in known:
        raise ModelFileError(f"the model is a {name!r}, which this version does not know")
    model = known[name]()
    model.set_params(**metadata["parameters"])
    check_parameters(model)

    encoder = TableEncoder.from_state(metadata["encoder"])
    loss = NativeLoss.from_state(metadata["loss"])
    classifier = name == "GradientBoostingClassifier"
    if loss.name not in (CLASSIFICATION if classifier else REGRESSION):
        raise ModelFileError(f"the loss {loss.name!r} does not belong to a {name}")
    if encoder.n_features != ensemble.n_features or loss.outputs != ensemble.n_outputs:
        raise ModelFileError("the trees do not fit the model's description")
    if ensemble.vector_leaves:
        raise ModelFileError("the trees add to all outputs at once, which no boosted model's do")
    if list(encoder.categories) != list(ensemble.categories):
        raise ModelFileError("the trees' categories do not fit the model's description")
    if classifier:
        model.classes_ = _classes_from(metadata["classes"])
        if model.classes_.size != max(2, loss.outputs):
            raise ModelFileError("the number of classes does not fit the trees")
    model._terms, model._loss_terms, model._encoder = TreeTerms(ensemble), loss, encoder
    model.n_features_in_ = encoder.n_features
    if encoder.feature_names is not None:
        model.feature_names_in_ = np.asarray(encoder.feature_names, dtype=object)
    model.train_score_ = np.asarray(metadata["train_score"], dtype=float)
    model.validation_score_ = np.asarray(metadata["validation_score"], dtype=float)
    model.timings_ = {}
    return model


def _plain_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters that JSON can hold; those that hold code or state stay behind."""
    result = {}
    for name, value in estimator.get_params(deep=False).items():
        try:
            result[name] = _plain(value)
        except TypeError:
            continue
    return result


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, list | tuple | set | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(item) for key, item in value.items()}
    raise TypeError(f"{value!r} cannot be written to a model file")


def _classes_state(classes: np.ndarray | None) -> dict[str, Any] | None:
    if classes is None:
        return None
    kind = classes.dtype.kind
    if kind not in "biufUO":
        raise ValueError(f"classes of type {classes.dtype} cannot be written to a model file")
    return {
        "dtype": "object" if kind == "O" else classes.dtype.str.lstrip("<=|>"),
        "values": _plain(classes),
    }


def _classes_from(state: dict[str, Any]) -> np.ndarray:
    dtype = np.dtype(state["dtype"])
    values = state["values"]
    if dtype.kind not in "biufUO" or not isinstance(values, list) or dtype.itemsize > 1 << 20:
        raise ModelFileError("the classes are not valid")
    classes = np.empty(len(values), dtype=dtype)
    classes[:] = values
    return classes

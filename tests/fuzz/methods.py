"""Methods of a model other than predictions."""

from __future__ import annotations

import contextlib
import io
import pickle
import tempfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from limits import FAST
from rows import expect, rows_for

MANY_ROWS = 1200  # enough for the trees to be compiled, and for several threads
FEW_ROWS = 5000  # skip methods that need the training rows for forests fitted to more
MAX_STAGES = 50
MAX_STEPS = 10_000  # skip mixtures with larger blocks
BY_COMMAND = 0.01  # share of the models that are passed to the command line

# Documented errors of a valid model.
REASONS = (
    "needs a Bosquet model made of trees",
    "follow surrogate splits",
    "which does not average probabilities",
    "its members must be Bosquet's",
    "with one target, but this one has",
    "bags belong to different tables",
    "calibration rows, but there",
    "needs bootstrap=True",
    "needs bootstrap samples",
    "was merged from",
    "needs bags without each training row",
    "needs out-of-bag rows",
    "outputs; select one by its number",
    "infinity",
    "infinite",
)
MethodCall = Callable[[Any, Any], None]


def call_methods(model: Any, data: bytes, rng: Random, phase: Callable[[str], None]) -> None:
    """Explain the model, and call two of its other methods."""
    if type(model).__name__ == "Mixture":
        phase("update")
        update_mixture(model)
        return
    X = rows_for(model)
    names = [name for name in METHODS if name in ALWAYS or hasattr(type(model), name)]
    names = rng.sample(names, min(2, len(names)))
    if hasattr(model, "explain"):
        names.append("explain")
    for name in names:
        phase(name)
        try:
            METHODS[name](model, X)
        except (ValueError, TypeError) as error:
            if not any(reason in str(error) for reason in REASONS):
                raise
    if rng.random() < BY_COMMAND:
        phase("command line")
        run_commands(data)


def update_mixture(model: Any) -> None:
    """Make another step of a mixture: its weights stay valid, or the truth is rejected."""
    str(model)
    if model.block > MAX_STEPS:
        return
    with contextlib.suppress(ValueError):  # for example losses that are too large
        label = 0.5 if model.classes is None else model._classes[0]
        model.update(label if model.block == 1 else [label] * model.block)
    weights = model.final_weights_
    expect(np.isfinite(weights).all(), "final_weights_: not finite after a step")


def explain_rows(model: Any, X: Any) -> None:
    found = model.explain(X)
    expect(np.isfinite(found.values).all(), "explain: not finite")


def many_rows(model: Any, X: Any) -> None:
    """Check that the prediction of a row does not depend on the other rows."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] > 100:
        return
    predictions = model.predict(X)
    times = MANY_ROWS // len(X)
    repeated = model.predict(np.tile(X, (times, 1)))
    expect(
        np.array_equal(repeated, np.concatenate([predictions] * times)),
        "predict: depends on the batch",
    )


def infinite_rows(model: Any, X: Any) -> None:
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f":
        predictions = model.predict(np.where(np.isnan(X), np.inf, X))
        expect(
            predictions.dtype.kind != "f" or np.isfinite(predictions).all(), "predict: not finite"
        )


def call_staged(name: str) -> MethodCall:
    def call(model: Any, X: Any) -> None:
        last = None
        for number, last in enumerate(getattr(model, name)(X)):  # noqa: B007
            if number == MAX_STAGES:
                return
        if last is None:
            return
        whole = getattr(model, name.removeprefix("staged_"))(X)
        alike = np.allclose(last, whole) if whole.dtype.kind == "f" else (last == whole).all()
        expect(alike, f"{name}: the last stage differs")

    return call


def call_finite(name: str) -> MethodCall:
    def call(model: Any, X: Any) -> None:
        expect(np.isfinite(getattr(model, name)).all(), f"{name}: not finite")

    return call


def draws_many_rows(model: Any) -> bool:
    """Return whether drawing the bags again would exceed the memory limit of a case."""
    sampler = getattr(model, "_sampler", None)  # of bagging
    return getattr(model, "n_samples_fit_", getattr(sampler, "n_rows", 0)) >= FEW_ROWS


def unless_many_rows(call: MethodCall) -> MethodCall:
    return lambda model, X: None if draws_many_rows(model) else call(model, X)


def permute_features(model: Any, X: Any) -> None:
    """Compute the permutation importance, which draws the bags of the training rows again."""
    if draws_many_rows(model) or model._kept_rows is not None:
        return
    rows = np.resize(np.arange(len(X)), model.n_samples_fit_)
    model.importance("permutation", X[rows], model.predict(X)[rows])


def serve_predictor(model: Any, X: Any) -> None:
    predictor = model.predictor()
    expect(np.isfinite(predictor(predictor.encode(X)[0])).all(), "predictor: not finite")


def pickle_and_predict(model: Any, X: Any) -> None:
    again = pickle.loads(pickle.dumps(model)).predict(X)
    expect(np.array_equal(again, model.predict(X)), "pickled, it predicts something else")


def clone_model(model: Any, X: Any) -> None:
    from sklearn.base import clone

    if type(model).__name__ != "TableModel":
        clone(model)


def run_commands(data: bytes) -> None:
    """Check that `bosquet info` and `bosquet verify` return 0, or 2 with one line."""
    from bosquet.cli import main

    with tempfile.NamedTemporaryFile(dir=FAST, suffix=".bosquet") as file:
        file.write(data)
        file.flush()
        for command in ("info", "verify"):
            output, errors = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
                code = main([command, file.name])
            expect(code in (0, 2), f"bosquet {command}: {errors.getvalue()}")
            expect(code == 0 or errors.getvalue().count("\n") == 1, f"bosquet {command}: lines")


ALWAYS = ("many rows", "infinite rows", "pickle", "clone", "__repr__")
METHODS: dict[str, MethodCall] = {
    "explain": explain_rows,
    "many rows": many_rows,
    "infinite rows": infinite_rows,
    "pickle": pickle_and_predict,
    "clone": clone_model,
    "__repr__": lambda model, X: repr(model),
    "staged_predict": call_staged("staged_predict"),
    "staged_predict_proba": call_staged("staged_predict_proba"),
    "staged_decision_function": call_staged("staged_decision_function"),
    "feature_importances_": call_finite("feature_importances_"),
    "estimator_weights_": call_finite("estimator_weights_"),
    "apply": lambda model, X: model.apply(X),
    "votes": lambda model, X: model.votes(X),
    "predictor": serve_predictor,
    "estimators_samples_": unless_many_rows(lambda model, X: model.estimators_samples_),
    "jackknife_standard_errors": unless_many_rows(
        lambda model, X: model.jackknife_standard_errors(X)
    ),
    "proximities": lambda model, X: model.proximities(X),
    "strength_and_correlation": permute_features,
    "rules": lambda model, X: model.rules(),
    "export_text": lambda model, X: model.export_text(),
    "export_python": lambda model, X: model.export_python(),
    "split_table": lambda model, X: model.split_table(),
    "estimators_": lambda model, X: len(model.estimators_),
    "certificate_": lambda model, X: str(model.certificate_),
}

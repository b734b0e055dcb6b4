"""Quantile models of Bosquet and other libraries: several levels in one model, or one model per level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._sklearn import clone
from bosquet.trust._wrapping import fit_clone

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, TableLike


class QuantileModel:
    """Fitted models and the quantile levels that they predict.

    Attributes
    ----------
    models : list of fitted models.
    levels : array of ascending levels.
    kind : {"columns", "forest", "model_per_level"}
        "columns": `predict` of one model returns one column per level. "forest": one model with
        `predict_quantiles`. "model_per_level": one model per level.
    """

    def __init__(self, models: list[Any], levels: np.ndarray, kind: str):
        self.models, self.levels, self.kind = models, levels, kind

    def predict(self, X: TableLike) -> np.ndarray:
        """Return quantiles, (rows, levels)."""
        if self.kind == "forest":
            return np.asarray(self.models[0].predict_quantiles(X, self.levels))
        if self.kind == "columns":
            return np.asarray(self.models[0].predict(X))
        return np.column_stack([model.predict(X) for model in self.models])

    def predict_centre(self, X: TableLike) -> np.ndarray:
        """Return the median, or the midpoint of the outer levels if 0.5 is not one of the levels."""
        predictions = self.predict(X)
        column = np.flatnonzero(self.levels == 0.5)
        if column.size:
            return predictions[:, column[0]]
        return (predictions[:, 0] + predictions[:, -1]) / 2


def check_levels(quantiles: ArrayLike, name: str = "quantiles") -> np.ndarray:
    """Return quantile levels as an array of at least two ascending numbers in (0, 1)."""
    levels = np.asarray(quantiles, dtype=float)
    if levels.ndim != 1 or levels.size < 2 or not (np.diff(levels) > 0).all():
        raise ValueError(
            f"{name}={quantiles!r} is not valid: {name} must contain at least two levels in ascending order"
        )
    if not ((levels > 0) & (levels < 1)).all():
        raise ValueError(f"{name}={quantiles!r} is not valid: {name} must contain levels in (0, 1)")
    return levels


def fit_quantile_model(
    model: Any,
    quantiles: ArrayLike,
    X: TableLike,
    y: np.ndarray,
    weight: np.ndarray,
    rows: np.ndarray,
) -> QuantileModel:
    """Fit clones that predict quantiles: a forest that keeps its rows, or models with a quantile loss."""
    parameters = model.get_params(deep=False)
    if hasattr(model, "predict_quantiles"):
        keep = {"keep_rows": True} if "keep_rows" in parameters else {}
        fitted = fit_clone(model, X, y, weight, rows, **keep)
        return QuantileModel([fitted], check_levels(quantiles), "forest")
    name = quantile_parameter(model)
    if np.ndim(parameters[name]) == 1:
        levels = check_levels(parameters[name], f"{type(model).__name__}'s {name}")
        return QuantileModel([fit_clone(model, X, y, weight, rows)], levels, "columns")
    levels = check_levels(quantiles)
    models = [fit_clone(model, X, y, weight, rows, **{name: float(level)}) for level in levels]
    return QuantileModel(models, levels, "model_per_level")


def from_fitted_model(model: Any, quantiles: ArrayLike) -> QuantileModel:
    """Wrap a quantile model that is already fitted."""
    if hasattr(model, "predict_quantiles"):
        return QuantileModel([model], check_levels(quantiles), "forest")
    name = quantile_parameter(model)
    levels = check_levels(model.get_params(deep=False)[name], f"{type(model).__name__}'s {name}")
    return QuantileModel([model], levels, "columns")


def quantile_parameter(model: Estimator) -> str:
    """Name of the parameter that holds a model's quantile level."""
    parameters = clone(model).get_params(deep=False)
    loss = parameters.get("loss", "quantile")
    name = "quantile" if "quantile" in parameters else "alpha"
    if (
        name not in parameters
        or loss != "quantile"
        or ("loss" not in parameters and name == "alpha")
    ):
        raise ValueError(
            f"method='cqr' needs a model that predicts quantiles, but this {type(model).__name__} does not;"
            " pass bosquet.GradientBoostingRegressor(loss='quantile', quantile=[0.05, 0.5, 0.95]),"
            " bosquet.RandomForestRegressor() or bosquet.ExtraTreesRegressor(), or use method='split' or"
            " 'cv+', which accept any regressor"
        )
    return name

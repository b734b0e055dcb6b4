"""Models of quantiles, whoever made them: several levels at once, or one level a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._sklearn import clone
from bosquet.trust._wrapping import fit_clone


class QuantileModel:
    """Fitted models and the levels that they predict: columns of one model, or a model each.

    Attributes
    ----------
    models : list of fitted models.
    levels : array of rising levels.
    kind : {"columns", "forest", "apart"}
    """

    def __init__(self, models: list[Any], levels: np.ndarray, kind: str):
        self.models, self.levels, self.kind = models, levels, kind

    def predict(self, X: Any) -> np.ndarray:
        """Quantiles, (rows, levels)."""
        if self.kind == "forest":
            return np.asarray(self.models[0].predict_quantiles(X, self.levels))
        if self.kind == "columns":
            return np.asarray(self.models[0].predict(X))
        return np.column_stack([model.predict(X) for model in self.models])

    def middle(self, X: Any) -> np.ndarray:
        """The median, or half-way between the outer levels where there is none."""
        said = self.predict(X)
        place = np.flatnonzero(self.levels == 0.5)
        return said[:, place[0]] if place.size else (said[:, 0] + said[:, -1]) / 2


def check_levels(quantiles: Any, name: str = "quantiles") -> np.ndarray:
    levels = np.asarray(quantiles, dtype=float)
    if levels.ndim != 1 or levels.size < 2 or not (np.diff(levels) > 0).all():
        raise ValueError(f"{name}={quantiles!r} must hold at least two levels, in rising order")
    if not ((levels > 0) & (levels < 1)).all():
        raise ValueError(f"{name}={quantiles!r} must hold levels between 0 and 1")
    return levels


def fit_levels(
    model: Any, quantiles: Any, X: Any, y: np.ndarray, weight: np.ndarray, rows: np.ndarray
) -> QuantileModel:
    """Fit what gives quantiles: a forest that keeps its rows, or a model with a quantile loss."""
    parameters = model.get_params(deep=False)
    if hasattr(model, "predict_quantiles"):
        keep = {"keep_rows": True} if "keep_rows" in parameters else {}
        fitted = fit_clone(model, X, y, weight, rows, **keep)
        return QuantileModel([fitted], check_levels(quantiles), "forest")
    name = level_parameter(model)
    if np.ndim(parameters[name]) == 1:
        levels = check_levels(parameters[name], f"{type(model).__name__}'s {name}")
        return QuantileModel([fit_clone(model, X, y, weight, rows)], levels, "columns")
    levels = check_levels(quantiles)
    models = [fit_clone(model, X, y, weight, rows, **{name: float(level)}) for level in levels]
    return QuantileModel(models, levels, "apart")


def fitted_levels(model: Any, quantiles: Any) -> QuantileModel:
    """The same of a model that is fitted already."""
    if hasattr(model, "predict_quantiles"):
        return QuantileModel([model], check_levels(quantiles), "forest")
    name = level_parameter(model)
    levels = check_levels(model.get_params(deep=False)[name], f"{type(model).__name__}'s {name}")
    return QuantileModel([model], levels, "columns")


def level_parameter(model: Any) -> str:
    """The parameter that holds a model's level."""
    parameters = clone(model).get_params(deep=False)
    loss = parameters.get("loss", "quantile")
    name = "quantile" if "quantile" in parameters else "alpha"
    if (
        name not in parameters
        or loss != "quantile"
        or ("loss" not in parameters and name == "alpha")
    ):
        raise ValueError(
            f"method='cqr' needs a model of quantiles, and this {type(model).__name__} is none: give"
            " bosquet.GradientBoostingRegressor(loss='quantile', quantile=[0.05, 0.5, 0.95]), or"
            " bosquet.RandomForestRegressor() or bosquet.ExtraTreesRegressor(), whose leaves have"
            " quantiles; with any other regressor method='split' or 'cv+' gives intervals"
        )
    return name

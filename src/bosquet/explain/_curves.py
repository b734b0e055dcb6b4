"""The result of partial dependence, ICE and ALE: a grid, mean predictions, and curves of single rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._tabular_result import as_frame


@dataclass(repr=False)
class Dependence:
    """Predictions along a grid of one or two features.

    Attributes
    ----------
    features : list of str
        Names of the one or two features.
    grid : list of arrays
        Grid values of each feature.
    average : array of shape (points,) or (points, points)
        Mean predictions, with a last axis for the outputs if the model has several.
    individual : array of shape (rows, points, ...) or None
        Curves of single rows (ICE).
    kind : {"response", "raw"}
        Scale of the predictions.
    output_names : list of str or None
        Names of the outputs.
    """

    features: list[str]
    grid: list[np.ndarray]
    average: np.ndarray
    individual: np.ndarray | None = None
    kind: str = "response"
    output_names: list[str] | None = None

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the curve, or the surface of two features; options as in `bosquet.plot.dependence`."""
        from bosquet.plot import dependence

        return dependence(self, axes=ax, **options)[0]

    def columns(self) -> dict[str, Any]:
        """Return the grid points and the mean predictions; one column per output."""
        points = np.meshgrid(*self.grid, indexing="ij")
        grid = {name: p.ravel() for name, p in zip(self.features, points, strict=True)}
        if self.average.ndim == len(self.grid):
            return {**grid, self.kind: self.average.ravel()}
        outputs = np.moveaxis(self.average, -1, 0)
        names = self.output_names or [f"output {k}" for k in range(len(outputs))]
        if len(names) != len(outputs):
            names = [f"output {k}" for k in range(len(outputs))]
        averages = {f"{self.kind} {n}": o.ravel() for n, o in zip(names, outputs, strict=True)}
        return {**grid, **averages}

    def to_frame(self) -> Any:
        """Return the grid points and the mean predictions as a pandas data frame."""
        return as_frame(self.columns())

    def __repr__(self) -> str:
        points = " x ".join(str(values.size) for values in self.grid)
        properties = [
            f"{points} points",
            f"from {self.average.min():.4g} to {self.average.max():.4g}",
        ]
        if self.average.ndim > len(self.grid):
            properties.append(f"{self.average.shape[-1]} outputs")
        if self.individual is not None:
            properties.append(f"curves of {len(self.individual)} rows")
        return f"Dependence of the {self.kind} on {' and '.join(self.features)}: {', '.join(properties)}"

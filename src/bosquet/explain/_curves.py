"""What the curves of a feature, or the surface of two, are: points, averages, single rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._shown import as_frame


@dataclass(repr=False)
class Dependence:
    """A prediction along a grid of one feature, or of two.

    Attributes
    ----------
    features : the names of the one or two features
    grid : a list with an array of values for each feature
    average : (points,) or (points, points), and (..., outputs) where the model has several
    individual : (rows, points, ...) or None; the curves of single rows (ICE)
    kind : what is on the axis: "response" or "raw"
    """

    features: list[str]
    grid: list[np.ndarray]
    average: np.ndarray
    individual: np.ndarray | None = None
    kind: str = "response"
    output_names: list[str] | None = None

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """The curve, or the surface of two features; options of `bosquet.plot.dependence`."""
        from bosquet.plot import dependence

        return dependence(self, axes=ax, **options)[0]

    def columns(self) -> dict[str, Any]:
        """The points of the grid and the average there; a column for each of several outputs."""
        places = np.meshgrid(*self.grid, indexing="ij")
        named = {name: p.ravel() for name, p in zip(self.features, places, strict=True)}
        if self.average.ndim == len(self.grid):
            return {**named, self.kind: self.average.ravel()}
        outputs = np.moveaxis(self.average, -1, 0)
        names = self.output_names or [f"output {k}" for k in range(len(outputs))]
        if len(names) != len(outputs):
            names = [f"output {k}" for k in range(len(outputs))]
        told = {f"{self.kind} {n}": o.ravel() for n, o in zip(names, outputs, strict=True)}
        return {**named, **told}

    def to_frame(self) -> Any:
        """The points and the average there as a pandas data frame."""
        return as_frame(self.columns())

    def __repr__(self) -> str:
        points = " x ".join(str(values.size) for values in self.grid)
        parts = [f"{points} points", f"from {self.average.min():.4g} to {self.average.max():.4g}"]
        if self.average.ndim > len(self.grid):
            parts.append(f"{self.average.shape[-1]} outputs")
        if self.individual is not None:
            parts.append(f"curves of {len(self.individual)} rows")
        return f"Dependence of the {self.kind} on {' and '.join(self.features)}: {', '.join(parts)}"

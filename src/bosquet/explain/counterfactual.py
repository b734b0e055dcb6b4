"""Counterfactual explanations: the smallest change of a row that changes the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import BaseEstimator, check_is_fitted
from bosquet.explain._tables import (
    as_table,
    column_names,
    column_number,
    column_values,
    row_count,
    select_rows,
    with_numbers,
    with_rows,
)
from bosquet.explain.dependence import make_grid

# Number of partial changes that the beam search extends by one more feature.
BEAM_WIDTH = 24
# Bisection steps that reduce a change of a number.
BISECTIONS = 12


@dataclass(repr=False)
class Counterfactual:
    """The smallest change that was found.

    Attributes
    ----------
    changes : dict
        Maps feature names to pairs (value before, value after).
    row : table of one row
        The changed row.
    distance : float
        Sum over the changed features of |change| / (range of the middle 90 % of the feature), or 1 for a
        change of level.
    before, after : class or number
        Predictions of the model.
    """

    changes: dict[str, tuple[Any, Any]]
    row: Any
    distance: float
    before: Any
    after: Any

    def __repr__(self) -> str:
        lines = [f"The prediction changes from {self.before} to {self.after} with"]
        for name, (old, new) in self.changes.items():
            lines.append(f"  {name}: {_value_text(old)} -> {_value_text(new)}")
        return "\n".join(lines)


def _value_text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def counterfactual(
    model: Any,
    row: Any,
    X: Any,
    *,
    wanted: Any = None,
    features: Any = None,
    max_changes: int = 3,
    grid: int = 20,
) -> Counterfactual | None:
    """Find the smallest change of a row, within the range of the data, that changes the prediction.

    Changes of fewer features are preferred, then those of smaller distance. A beam search tries all grid
    values of each feature, then extends the most promising changes by a second feature, and so on. When a
    change reaches the wanted prediction, bisection makes it as small as possible.

    Parameters
    ----------
    model : a fitted classifier, or a regressor with `wanted`
    row : int, array or table of one row
        Index of a row of X, or the row itself.
    X : table of shape (n_samples, n_features)
        The data; new values of a feature stay within its values in X.
    wanted : class, or for a regressor a pair (low, high), default=None
        The wanted prediction, for example ``wanted="granted"`` or ``wanted=(0, 100)``. By default any
        class other than the predicted one; required for a regressor. If the row already has the wanted
        prediction, an error is raised.
    features : list of indices or names, default=None
        Features that may change (default: all). Omit features that cannot be changed in practice.
    max_changes : int, default=3
        Maximum number of changed features.
    grid : int, default=20
        Number of quantiles of a numeric feature to try; all levels of a categorical one are tried.

    Returns
    -------
    Counterfactual or None
        None if no change was found. This does not prove that there is none: beyond one feature, only the
        most promising combinations are tried. Increase `max_changes`, `grid` or the list of `features`,
        or relax `wanted`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet import RandomForestClassifier
    >>> from bosquet.explain import counterfactual
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> found = counterfactual(forest, 60, X, wanted=2)
    >>> found.before, found.after, len(found.changes)
    (1, 2, 1)
    >>> counterfactual(forest, 0, X, wanted=2, features=[0, 1]) is None
    True

    References
    ----------
    Wachter, Mittelstadt and Russell, "Counterfactual explanations without opening the black box", Harvard
    Journal of Law and Technology 2018.
    """
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    search = _CounterfactualSearch(model, _one_row(row, X), as_table(X), wanted, grid)
    names = column_names(X)
    allowed = range(len(names)) if features is None else [column_number(X, f) for f in features]
    if search.is_reached(search.predict(search.row))[0]:
        raise ValueError(
            f"the prediction for the row is already {search.before!r}, which satisfies wanted={wanted!r};"
            " pass another value of wanted"
        )
    beam: list[dict[int, int]] = [{}]
    for _ in range(max_changes):
        candidates = search.extended_changes(beam, list(allowed))
        if not candidates:
            return None
        reached, closeness = search.evaluate(candidates)
        distances = np.array([search.distance(change) for change in candidates])
        if reached.any():
            best = np.flatnonzero(reached)[np.argmin(distances[reached])]
            return search.describe_change(candidates[best], names)
        order = np.lexsort((distances, -closeness))
        beam = _next_beam(candidates, order)
    return None


def _one_row(row: Any, X: Any) -> Any:
    if isinstance(row, int | np.integer):
        if not 0 <= row < row_count(X):
            raise ValueError(
                f"row={row} is not valid: row must be an integer in [0, {row_count(X) - 1}], or a row of"
                " values"
            )
        return select_rows(X, [int(row)])
    if hasattr(row, "to_frame") and hasattr(row, "index"):  # a row of a pandas data frame
        row = row.to_frame().T.astype(as_table(X).dtypes)
    if isinstance(row, np.ndarray | list | tuple) and np.ndim(row) == 1:
        row = np.asarray(row)[None, :]
    row = as_table(row)
    if row.ndim != 2 or row_count(row) != 1 or row.shape[1] != as_table(X).shape[1]:
        raise ValueError(
            f"row has shape {row.shape}; it must be one row of {as_table(X).shape[1]} features"
        )
    return row


def _next_beam(candidates: list[dict[int, int]], order: np.ndarray) -> list[dict[int, int]]:
    """Return the first candidates in this order, at most four with the same set of features."""
    beam: list[dict[int, int]] = []
    counts: dict[frozenset[int], int] = {}
    for i in order:
        key = frozenset(candidates[i])
        if counts.get(key, 0) < 4:
            counts[key] = counts.get(key, 0) + 1
            beam.append(candidates[i])
        if len(beam) == BEAM_WIDTH:
            break
    return beam


class _CounterfactualSearch:
    """Candidate changes of a row: dicts that map a column to the row of X with the new value."""

    def __init__(self, model: Any, row: Any, X: Any, wanted: Any, grid: int):
        self.model, self.row, self.X = model, row, X
        self.is_classifier = hasattr(model, "classes_")
        self.wanted = self._check_wanted(wanted)
        self.before = model.predict(row)[0]
        count = X.shape[1]
        self.values = [column_values(X, f) for f in range(count)]
        self.row_values = [column_values(row, f)[0] for f in range(count)]
        self.sources = [self._rows_of_tried_values(f, grid) for f in range(count)]
        self.spread = [self._spread(f) for f in range(count)]

    def _check_wanted(self, wanted: Any) -> Any:
        if self.is_classifier:
            classes = self.model.classes_.tolist()
            if wanted is not None and wanted not in classes:
                raise ValueError(f"wanted={wanted!r} is not one of the classes {classes}")
            return wanted
        if wanted is None:
            raise ValueError(
                "wanted is missing; for a regressor, pass the wanted range of the prediction as"
                " wanted=(low, high)"
            )
        if np.shape(wanted) != (2,) or not wanted[0] <= wanted[1]:
            raise ValueError(
                f"wanted={wanted!r} is not valid: wanted must be a pair (low, high) with low <= high for"
                " a regressor, for example (0, float('inf'))"
            )
        return wanted

    def _rows_of_tried_values(self, column: int, grid: int) -> np.ndarray:
        """Return rows of X whose values of the column are tried; the row's own value is not."""
        values = self.values[column]
        if values.dtype == object:
            points: Any = make_grid(self.X, column, grid)
            rows = [int(np.flatnonzero(values == point)[0]) for point in points]
        else:
            finite = np.flatnonzero(np.isfinite(values))
            if finite.size == 0:
                return np.array([], dtype=int)
            ordered = finite[np.argsort(values[finite], kind="stable")]
            ranks = np.unique(np.linspace(0, ordered.size - 1, grid).round().astype(int))
            rows = ordered[ranks].tolist()
        return np.array([r for r in rows if values[r] != self.row_values[column]], dtype=int)

    def _spread(self, column: int) -> float:
        values = self.values[column]
        if values.dtype == object:
            return 1.0
        finite = values[np.isfinite(values)]
        if finite.size == 0:
            return 1.0
        low, high = np.quantile(finite, [0.05, 0.95])
        return float(high - low) or float(np.ptp(finite)) or 1.0

    def distance(self, change: dict[int, int]) -> float:
        return sum(
            self._scaled_step(column, self.values[column][r]) for column, r in change.items()
        )

    def _scaled_step(self, column: int, value: Any) -> float:
        old = self.row_values[column]
        if self.values[column].dtype == object or old != old:
            return 1.0
        return abs(float(value) - float(old)) / self.spread[column]

    def extended_changes(
        self, changes: list[dict[int, int]], allowed: list[int]
    ) -> list[dict[int, int]]:
        """Return all extensions of the changes by one more column."""
        longer_changes = {}
        for change in changes:
            for column in allowed:
                if column in change:
                    continue
                for source in self.sources[column]:
                    longer = {**change, column: int(source)}
                    longer_changes[frozenset(longer.items())] = longer
        return list(longer_changes.values())

    def evaluate(self, changes: list[dict[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        """Whether each change reaches the wanted prediction, and how close it comes."""
        table = self.table(changes)
        return self.is_reached(self.predict(table)), self.closeness_to_wanted(table)

    def table(self, changes: list[dict[int, int]]) -> Any:
        """Return the changed rows, in a table of the same type as X."""
        # One copy of the row per change, followed by the row and X: `with_rows` takes new values from there.
        original = _stack(self.row, self.X)
        copies = select_rows(original, np.zeros(len(changes), dtype=int))
        stacked = _stack(copies, original)
        n = len(changes)
        for column in {column for change in changes for column in change}:
            rows = np.arange(row_count(stacked))
            for i, change in enumerate(changes):
                if column in change:
                    rows[i] = n + 1 + change[column]
            stacked = with_rows(stacked, [column], rows)
        return select_rows(stacked, np.arange(n))

    def predict(self, table: Any) -> np.ndarray:
        return np.asarray(self.model.predict(table))

    def is_reached(self, predictions: np.ndarray) -> np.ndarray:
        """Whether each prediction is a wanted one."""
        if not self.is_classifier:
            low, high = self.wanted
            return (predictions >= low) & (predictions <= high)
        return predictions != self.before if self.wanted is None else predictions == self.wanted

    def closeness_to_wanted(self, table: Any) -> np.ndarray:
        """Return how close the model comes to the wanted prediction; larger is closer."""
        if not self.is_classifier:
            low, high = self.wanted
            predictions = self.predict(table)
            return -np.maximum(np.maximum(low - predictions, predictions - high), 0)
        if not hasattr(self.model, "predict_proba"):
            return np.zeros(row_count(table))
        probabilities = np.asarray(self.model.predict_proba(table))
        labels = list(self.model.classes_)
        if self.wanted is None:
            return -probabilities[:, labels.index(self.before)]
        return probabilities[:, labels.index(self.wanted)]

    def describe_change(self, change: dict[int, int], names: list[str]) -> Counterfactual:
        """Reduce the numeric changes by bisection, and describe the change."""
        table = self.table([change])
        for column in change:
            table = self._bisect(table, column)
        values = {column: column_values(table, column)[0] for column in change}
        return Counterfactual(
            {names[f]: (_to_python(self.row_values[f]), _to_python(values[f])) for f in change},
            table,
            float(sum(self._scaled_step(f, value) for f, value in values.items())),
            _to_python(self.before),
            _to_python(self.predict(table)[0]),
        )

    def _bisect(self, table: Any, column: int) -> Any:
        """Move a number as close to its old value as the wanted prediction allows."""
        old = self.row_values[column]
        if self.values[column].dtype == object or old != old:
            return table
        far, near = float(column_values(table, column)[0]), float(old)
        for _ in range(BISECTIONS):
            middle = (far + near) / 2
            moved = with_numbers(table, column, middle)
            if self.is_reached(self.predict(moved))[0]:
                table, far = moved, middle
            else:
                near = middle
        return table


def _to_python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _stack(first: Any, second: Any) -> Any:
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    if hasattr(first, "iloc"):
        import pandas

        return pandas.concat([first, second], ignore_index=True)
    return first.vstack(second)

"""What would have to be different for the decision to be another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import BaseEstimator, check_is_fitted
from bosquet.explain._tables import (
    column_names,
    column_number,
    column_values,
    plain,
    row_count,
    take,
    with_numbers,
    with_rows,
)
from bosquet.explain.dependence import make_grid

# Partial changes that are taken further when none of them is enough.
BEAM = 24
HALVINGS = 12


@dataclass(repr=False)
class Counterfactual:
    """The smallest change found.

    Attributes
    ----------
    changes : feature name -> (value before, value after)
    row : the changed row, a table of one row
    distance : the sum over changed features of the change in units of the feature's spread (the range of its
        middle 90 %), 1 for another level
    before, after : what the model says
    """

    changes: dict[str, tuple[Any, Any]]
    row: Any
    distance: float
    before: Any
    after: Any

    def __repr__(self) -> str:
        lines = [f"{self.before} would be {self.after} with"]
        for name, (old, new) in self.changes.items():
            lines.append(f"  {name}: {_text(old)} -> {_text(new)}")
        return "\n".join(lines)


def _text(value: Any) -> str:
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
    """The smallest change of a row that flips the model's decision, within the range of the data.

    Fewest changed features come first, among them the smallest distance. All values of the grid are tried
    for one feature, then for a second one beside each of the most promising first ones, and so on; a change
    that is enough is then made as small as it can be.

    Parameters
    ----------
    model : a fitted classifier, or a regressor with `wanted`
    row : int, a row of X by its number; or the row itself, as an array or a table of one row
    X : table of shape (n_samples, n_features)
        What values there are: nothing is proposed beyond them.
    wanted : a class; or, of a regressor, a pair (low, high) that the prediction should lie in
        What the model should say: ``wanted="granted"``, ``wanted=(0, 100)``. By default any class but the
        one predicted; a regressor needs it. An error tells if the model says so already.
    features : list of features that may change, by number or name; by default all
        Leave out what nobody can change.
    max_changes : int, default=3
    grid : int, default=20
        Values tried of a feature, quantiles of its column; of levels, all.

    Returns
    -------
    Counterfactual or None
        None: no change was found. No value of a single feature on the grid is enough, and none of the
        combinations of up to `max_changes` features that were tried. It does not prove that there is none:
        beyond one feature only the most promising combinations are taken further. Allow more
        `max_changes`, a finer `grid` or more `features`, or want less.

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
    >>> counterfactual(forest, 0, X, wanted=2, features=[0, 1]) is None  # a sepal is not enough
    True

    References
    ----------
    Wachter, Mittelstadt and Russell, "Counterfactual explanations without opening the black box", Harvard
    Journal of Law and Technology 2018.
    """
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    search = _Search(model, _one_row(row, X), plain(X), wanted, grid)
    names = column_names(X)
    allowed = range(len(names)) if features is None else [column_number(X, f) for f in features]
    if search.reached(search.said(search.row))[0]:
        raise ValueError(f"the model says {search.before!r} of the row already")
    partial: list[dict[int, int]] = [{}]
    for _ in range(max_changes):
        tried = search.extended(partial, list(allowed))
        if not tried:
            return None
        enough, closeness = search.judge(tried)
        distances = np.array([search.distance(change) for change in tried])
        if enough.any():
            best = np.flatnonzero(enough)[np.argmin(distances[enough])]
            return search.report(tried[best], names)
        promising = np.lexsort((distances, -closeness))
        partial = _best_of_each(tried, promising)
    return None


def _one_row(row: Any, X: Any) -> Any:
    if isinstance(row, int | np.integer):
        if not 0 <= row < row_count(X):
            raise ValueError(f"row={row} is not a row of X, which has {row_count(X)}")
        return take(X, [int(row)])
    if hasattr(row, "to_frame") and hasattr(row, "index"):  # a row taken out of a pandas frame
        row = row.to_frame().T.astype(plain(X).dtypes)
    if isinstance(row, np.ndarray) and row.ndim == 1:
        row = row[None, :]
    row = plain(row)
    if row_count(row) != 1 or row.shape[1] != plain(X).shape[1]:
        raise ValueError(
            f"row must be one row of {plain(X).shape[1]} features, not of shape {row.shape}"
        )
    return row


def _best_of_each(tried: list[dict[int, int]], order: np.ndarray) -> list[dict[int, int]]:
    """The most promising changes, no two of them of the same features more than a few times."""
    kept: list[dict[int, int]] = []
    seen: dict[frozenset[int], int] = {}
    for place in order:
        key = frozenset(tried[place])
        if seen.get(key, 0) < 4:
            seen[key] = seen.get(key, 0) + 1
            kept.append(tried[place])
        if len(kept) == BEAM:
            break
    return kept


class _Search:
    """Changes of a row, as numbers of grid points by column."""

    def __init__(self, model: Any, row: Any, X: Any, wanted: Any, grid: int):
        self.model, self.row, self.X = model, row, X
        self.classes = hasattr(model, "classes_")
        self.wanted = self._checked(wanted)
        self.before = model.predict(row)[0]
        count = X.shape[1]
        self.values = [column_values(X, f) for f in range(count)]
        self.own = [column_values(row, f)[0] for f in range(count)]
        self.sources = [self._sources(f, grid) for f in range(count)]
        self.spread = [self._spread(f) for f in range(count)]

    def _checked(self, wanted: Any) -> Any:
        if self.classes:
            known = self.model.classes_.tolist()
            if wanted is not None and wanted not in known:
                raise ValueError(f"wanted={wanted!r} is none of the classes {known}")
            return wanted
        if wanted is None:
            raise ValueError("a regressor decides nothing: say wanted=(low, high)")
        if np.shape(wanted) != (2,) or not wanted[0] <= wanted[1]:
            raise ValueError(
                f"wanted={wanted!r}: of a regressor give a pair (low, high) that the prediction should"
                " lie in, for example (0, float('inf'))"
            )
        return wanted

    def _sources(self, column: int, grid: int) -> np.ndarray:
        """Rows of X whose value of the column is tried, other than the row's own."""
        values = self.values[column]
        if values.dtype == object:
            points: Any = make_grid(self.X, column, grid)
            rows = [int(np.flatnonzero(values == point)[0]) for point in points]
        else:
            finite = np.flatnonzero(np.isfinite(values))
            if finite.size == 0:
                return np.array([], dtype=int)
            ordered = finite[np.argsort(values[finite], kind="stable")]
            places = np.unique(np.linspace(0, ordered.size - 1, grid).round().astype(int))
            rows = ordered[places].tolist()
        return np.array([r for r in rows if values[r] != self.own[column]], dtype=int)

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
        return sum(self._step(column, self.values[column][r]) for column, r in change.items())

    def _step(self, column: int, value: Any) -> float:
        old = self.own[column]
        if self.values[column].dtype == object or old != old:
            return 1.0
        return abs(float(value) - float(old)) / self.spread[column]

    def extended(self, partial: list[dict[int, int]], allowed: list[int]) -> list[dict[int, int]]:
        """Each partial change with one more column changed."""
        found = {}
        for change in partial:
            for column in allowed:
                if column in change:
                    continue
                for source in self.sources[column]:
                    longer = {**change, column: int(source)}
                    found[frozenset(longer.items())] = longer
        return list(found.values())

    def judge(self, changes: list[dict[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        """Whether each change is enough, and how close it comes."""
        table = self.table(changes)
        return self.reached(self.said(table)), self.closeness(table)

    def table(self, changes: list[dict[int, int]]) -> Any:
        """The changed rows, in a table like X."""
        # The row itself is put before X, so that a value not changed is taken from there.
        together = _stacked(self.row, self.X)
        table = take(together, np.zeros(len(changes), dtype=int))
        wide = _stacked(table, together)
        n = len(changes)
        for column in {column for change in changes for column in change}:
            rows = np.arange(row_count(wide))
            for i, change in enumerate(changes):
                if column in change:
                    rows[i] = n + 1 + change[column]
            wide = with_rows(wide, [column], rows)
        return take(wide, np.arange(n))

    def said(self, table: Any) -> np.ndarray:
        return np.asarray(self.model.predict(table))

    def reached(self, said: np.ndarray) -> np.ndarray:
        if not self.classes:
            low, high = self.wanted
            return (said >= low) & (said <= high)
        return said != self.before if self.wanted is None else said == self.wanted

    def closeness(self, table: Any) -> np.ndarray:
        if not self.classes:
            low, high = self.wanted
            said = self.said(table)
            return -np.maximum(np.maximum(low - said, said - high), 0)
        if not hasattr(self.model, "predict_proba"):
            return np.zeros(row_count(table))
        shares = np.asarray(self.model.predict_proba(table))
        labels = list(self.model.classes_)
        if self.wanted is None:
            return -shares[:, labels.index(self.before)]
        return shares[:, labels.index(self.wanted)]

    def report(self, change: dict[int, int], names: list[str]) -> Counterfactual:
        table = self.table([change])
        for column in change:
            table = self._closer(table, column)
        values = {column: column_values(table, column)[0] for column in change}
        return Counterfactual(
            {names[f]: (_plain(self.own[f]), _plain(values[f])) for f in change},
            table,
            float(sum(self._step(f, value) for f, value in values.items())),
            _plain(self.before),
            _plain(self.said(table)[0]),
        )

    def _closer(self, table: Any, column: int) -> Any:
        """The table's one row with a number moved back as far as the decision allows."""
        old = self.own[column]
        if self.values[column].dtype == object or old != old:
            return table
        far, near = float(column_values(table, column)[0]), float(old)
        for _ in range(HALVINGS):
            middle = (far + near) / 2
            moved = with_numbers(table, column, middle)
            if self.reached(self.said(moved))[0]:
                table, far = moved, middle
            else:
                near = middle
        return table


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    if hasattr(first, "iloc"):
        import pandas

        return pandas.concat([first, second], ignore_index=True)
    return first.vstack(second)

"""How much features matter, by five measures on one scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._shown import Shown
from bosquet._sklearn import check_random_state, clone, columns_of
from bosquet.explain._models import tree_model_or_error
from bosquet.explain._tables import column_names, row_count, with_rows, without_columns
from bosquet.explain.explanation import explain
from bosquet.forests._base import BaseForest
from bosquet.forests.importance import ranked_columns

KINDS = ("gain", "split", "permutation", "shap", "drop-column")


@dataclass(repr=False)
class Importance(Shown):
    """Importances of features or of groups of them.

    Printed, it shows the most important ones; `to_frame()` has all.

    Attributes
    ----------
    kind : str
    mean : (n_groups,), in the measure's own unit
    std : (n_groups,), the standard error of `mean`; NaN where there was one number only
    names : list of str
    """

    kind: str
    mean: np.ndarray
    std: np.ndarray
    names: list[str]

    @property
    def feature_names(self) -> list[str]:
        """The names, as `bosquet.plot.importances` asks for them."""
        return self.names

    @property
    def scaled(self) -> np.ndarray:
        """`mean` with 100 for the largest."""
        return self.mean * self._factor

    @property
    def scaled_std(self) -> np.ndarray:
        """`std` on the same scale."""
        return self.std * self._factor

    @property
    def _factor(self) -> float:
        top = self.mean.max(initial=0.0)
        return 100 / top if top > 0 else 0.0

    def ranking(self) -> list[tuple[str, float]]:
        """Names and scaled importances, the most important first."""
        order = np.argsort(-self.mean, kind="stable")
        return [(self.names[f], float(self.scaled[f])) for f in order]

    def columns(self) -> dict[str, Any]:
        """Feature, importance with 100 for the largest, its mean and standard error; the first leads."""
        return ranked_columns(self.names, self.scaled, self.mean, self.std)

    def _caption(self) -> str:
        return f"Importance by {self.kind} of {len(self.names)} features"

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Bars, the most important first; options of `bosquet.plot.importances`."""
        from bosquet.plot import importances

        return importances(self, axes=ax, **options)[0]


def importance(
    model: Any,
    X: Any = None,
    y: Any = None,
    kind: str = "gain",
    *,
    groups: Mapping[str, Sequence[Any]] | None = None,
    scoring: Any = None,
    n_repeats: int = 5,
    cv: int = 5,
    random_state: Any = 0,
) -> Importance:
    r"""How much each feature matters to a model.

    Parameters
    ----------
    model : a fitted model
        Gain, split and shap need trees of Bosquet's; permutation and drop-column take any model with
        scikit-learn's methods.
    X, y : rows and targets
        For kind="permutation" better rows that were not fitted on. A forest with bags that is given the
        rows it was fitted to is judged on each tree's out-of-bag rows.
    kind : "gain", "split", "permutation", "shap" or "drop-column"
        - gain: how much the splits on the feature lowered impurity (Gini's in a classification tree) or
          loss, as a share of each tree's total; spread over trees.
        - split: the share of the splits that use it; spread over trees.
        - permutation: how much the score falls when its values are permuted among rows; spread over
          repeats, or over trees where rows are out of bag.
        - shap: the mean of \|φ\| over rows; spread over rows.
        - drop-column: how much the cross-validated score falls when the model is fitted without it; spread
          over folds. Slow, and the only one that asks what would be missed.
    groups : mapping of names to lists of columns, optional
        Columns (by name or number) that are counted together: their gains are added, they are permuted and
        dropped together. Columns in no group stay by themselves.
    scoring, n_repeats, cv, random_state : for permutation and drop-column, as in scikit-learn.

    Returns
    -------
    Importance
        With `.mean`, `.std`, `.scaled` (the largest is 100) and `.ranking()`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import RandomForestRegressor
    >>> from bosquet.explain import importance
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=50, random_state=0).fit(X, y)
    >>> importance(forest, X, y, kind="permutation").ranking()[0][0]
    'bmi'
    >>> importance(forest, kind="gain")
    Importance by gain of 10 features
      feature  scaled  ...
      bmi         100  ...
    ...
      ... and 2 more: to_frame() has them all

    References
    ----------
    Breiman, "Random forests", Machine Learning 2001.
    """
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} must be one of {', '.join(map(repr, KINDS))}")
    if kind in ("gain", "split"):
        return _by_tree(model, kind, groups)
    if X is None:
        raise ValueError(f"kind={kind!r} needs X, the rows to look at")
    if kind == "shap":
        return _by_shap(model, X, groups)
    if y is None:
        raise ValueError(f"kind={kind!r} needs y, the targets of the rows")
    if kind == "drop-column":
        return _by_dropping(model, X, y, groups, scoring, cv)
    return _by_permuting(model, X, y, groups, scoring, n_repeats, random_state)


@dataclass
class _Group:
    name: str
    columns: list[int]


def _groups(names: list[str], given: Mapping[str, Sequence[Any]] | None) -> list[_Group]:
    """The groups, in the order of their first columns."""
    taken: dict[int, str] = {}
    places: dict[str, list[int]] = {}
    for group, members in (given or {}).items():
        places[group] = []
        for member in members:
            if isinstance(member, str):
                if member not in names:
                    raise ValueError(f"groups[{group!r}]: there is no column {member!r}")
                column = names.index(member)
            else:
                column = int(member)
                if not 0 <= column < len(names):
                    raise ValueError(
                        f"groups[{group!r}]: there is no column {column}, the last is {len(names) - 1}"
                    )
            if column in taken:
                raise ValueError(
                    f"column {names[column]!r} is in groups {taken[column]!r} and {group!r}"
                )
            taken[column] = group
            places[group].append(column)
        if not places[group]:
            raise ValueError(f"groups[{group!r}] has no columns")
    result = [_Group(name, columns) for name, columns in places.items()]
    result += [_Group(name, [f]) for f, name in enumerate(names) if f not in taken]
    return sorted(result, key=lambda group: min(group.columns))


def _summary(kind: str, groups: list[_Group], samples: np.ndarray) -> Importance:
    """From samples (n, n_groups) to their mean and its standard error."""
    n = len(samples)
    spread = samples.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else samples[0] * np.nan
    return Importance(kind, samples.mean(axis=0), spread, [group.name for group in groups])


def _by_tree(model: Any, kind: str, given: Any) -> Importance:
    trees = tree_model_or_error(model, f"kind={kind!r}")
    groups = _groups(trees.feature_names, given)
    by_tree = np.asarray(_core.importance_by_tree(trees.ensemble, kind))
    if isinstance(model, BaseForest):
        # Trees of a forest are equals; of a boosted model the later ones have less left to gain.
        totals = by_tree.sum(axis=1, keepdims=True)
        by_tree = np.divide(by_tree, totals, out=np.zeros_like(by_tree), where=totals > 0)
    else:
        by_tree = by_tree * len(by_tree) / max(by_tree.sum(), 1e-300)
    samples = np.column_stack([by_tree[:, group.columns].sum(axis=1) for group in groups])
    return _summary(kind, groups, samples)


def _by_shap(model: Any, X: Any, given: Any) -> Importance:
    found = explain(model, X)
    groups = _groups(found.feature_names, given)
    values = found.values if found.values.ndim == 3 else found.values[..., None]
    samples = [np.abs(values[:, group.columns].sum(axis=1)).sum(axis=1) for group in groups]
    return _summary("shap", groups, np.column_stack(samples))


def _score(model: Any, scoring: Any) -> Callable[[Any, Any], float]:
    from sklearn.metrics import check_scoring

    scorer = check_scoring(model, scoring)
    return lambda X, y: float(scorer(model, X, y))


def _by_permuting(
    model: Any, X: Any, y: Any, given: Any, scoring: Any, n_repeats: int, random_state: Any
) -> Importance:
    groups = _groups(column_names(X), given)
    alone = all(len(group.columns) == 1 for group in groups)
    if alone and scoring is None and _fitted_to(model, len(y)):
        found = model.importance("permutation", X, y, random_state=0)
        return Importance(found.kind, found.mean, found.std, [group.name for group in groups])
    score = _score(model, scoring)
    random = check_random_state(random_state)
    whole = score(X, y)
    samples = np.empty((n_repeats, len(groups)))
    for repeat in range(n_repeats):
        order = random.permutation(row_count(X))
        for place, group in enumerate(groups):
            samples[repeat, place] = whole - score(with_rows(X, group.columns, order), y)
    return _summary("permutation", groups, samples)


def _fitted_to(model: Any, rows: int) -> bool:
    """Whether these may be the rows that a forest has bags of."""
    return isinstance(model, BaseForest) and model.bootstrap and rows == model.n_samples_fit_


def _by_dropping(model: Any, X: Any, y: Any, given: Any, scoring: Any, cv: int) -> Importance:
    from sklearn.model_selection import cross_val_score

    names = column_names(X)
    groups = _groups(names, given)
    if len(groups) < 2:
        raise ValueError("kind='drop-column' needs at least two columns or groups")
    whole = cross_val_score(clone(model), X, y, scoring=scoring, cv=cv)
    samples = []
    for group in groups:
        kept = without_columns(len(names), group.columns)
        samples.append(
            whole - cross_val_score(clone(model), columns_of(X, kept), y, scoring=scoring, cv=cv)
        )
    return _summary("drop-column", groups, np.column_stack(samples))

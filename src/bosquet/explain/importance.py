"""Feature importance by five measures on one scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._sklearn import check_random_state, clone, columns_of, seed_from
from bosquet._state.tree_sums import share_among_sources
from bosquet._tabular_result import TabularResult, ranked_columns
from bosquet.explain._tables import column_names, row_count, with_rows, without_columns
from bosquet.explain.shapley import explain
from bosquet.explain.tree_models import tree_model, tree_model_or_error

KINDS = ("gain", "split", "permutation", "shap", "drop-column")


@dataclass(repr=False)
class Importance(TabularResult):
    """Importances of features or of groups of features.

    `print` shows the most important ones; `to_frame()` returns all.

    Attributes
    ----------
    kind : str
        The measure.
    mean : array of shape (n_groups,)
        Importances in the unit of the measure.
    standard_error : array of shape (n_groups,)
        Standard errors of `mean`; NaN if the mean is of one number.
    names : list of str
    """

    kind: str
    mean: np.ndarray
    standard_error: np.ndarray
    names: list[str]

    @property
    def feature_names(self) -> list[str]:
        """Same as `names`, for `bosquet.plot.importances`."""
        return self.names

    @property
    def scaled(self) -> np.ndarray:
        """`mean`, scaled so that the largest is 100."""
        return self.mean * self._factor

    @property
    def scaled_standard_error(self) -> np.ndarray:
        """`standard_error` on the same scale."""
        return self.standard_error * self._factor

    @property
    def _factor(self) -> float:
        top = self.mean.max(initial=0.0)
        return 100 / top if top > 0 else 0.0

    def ranking(self) -> list[tuple[str, float]]:
        """Return pairs (name, scaled importance), in descending order."""
        order = np.argsort(-self.mean, kind="stable")
        return [(self.names[f], float(self.scaled[f])) for f in order]

    def columns(self) -> dict[str, Any]:
        """Return the columns: feature, scaled importance, mean and standard error, in descending order."""
        return ranked_columns(self.names, self.scaled, self.mean, self.standard_error)

    def _caption(self) -> str:
        return f"Importance by {self.kind} of {len(self.names)} features"

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw a bar chart in descending order; options as in `bosquet.plot.importances`."""
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
    r"""Compute importance of each feature for a model.

    Parameters
    ----------
    model : a fitted model
        "gain", "split" and "shap" need a Bosquet model made of trees; "permutation" and "drop-column"
        accept any model with scikit-learn's methods.
    X, y : table and targets
        For "permutation", preferably rows that the model was not fitted to. For a forest with bootstrap
        samples and its own training rows, the out-of-bag rows of each tree are used.
    kind : {"gain", "split", "permutation", "shap", "drop-column"}, default="gain"
        - gain: reduction of impurity (the Gini index for a classification tree) or loss by the splits on
          the feature, as a fraction of the total of each tree. Standard error over trees.
        - split: fraction of the splits that use the feature. Standard error over trees.
        - permutation: decrease of the score when the values of the feature are permuted among the rows.
          Standard error over repeats, or over trees for out-of-bag rows.
        - shap: mean of \|φ\| over the rows. Standard error over rows.
        - drop-column: decrease of the cross-validated score when the model is fitted without the feature.
          Standard error over folds. It is slow, and the only measure that shows whether other features
          can replace this one.
    groups : mapping of names to lists of columns, optional
        Columns (by name or index) that count as one: their gains are added, and they are permuted and
        dropped together. Columns in no group are treated singly.
    scoring, n_repeats, cv, random_state : as in scikit-learn
        Used by "permutation" and "drop-column".

    Returns
    -------
    Importance
        With `.mean`, `.standard_error`, `.scaled` (the largest is 100) and `.ranking()`.

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
      ... and 2 more: to_frame() returns all of them

    References
    ----------
    Breiman, "Random forests", Machine Learning 2001.
    """
    if kind not in KINDS:
        raise ValueError(
            f"kind={kind!r} is not valid: kind must be one of {', '.join(map(repr, KINDS))}"
        )
    if kind in ("gain", "split"):
        return _tree_importance(model, kind, groups)
    if X is None:
        raise ValueError(f"kind={kind!r} needs X; pass a table of rows")
    if kind == "shap":
        return _shap_importance(model, X, groups)
    if y is None:
        raise ValueError(f"kind={kind!r} needs y; pass the targets of the rows of X")
    if kind == "drop-column":
        return _drop_column_importance(model, X, y, groups, scoring, cv)
    return _permutation_importance(model, X, y, groups, scoring, n_repeats, random_state)


@dataclass
class _Group:
    name: str
    columns: list[int]


def _make_groups(
    names: list[str], column_groups: Mapping[str, Sequence[Any]] | None
) -> list[_Group]:
    """Return the groups, in the order of their first columns; each remaining column is a group."""
    group_of: dict[int, str] = {}
    columns_of_group: dict[str, list[int]] = {}
    for group, members in (column_groups or {}).items():
        columns_of_group[group] = []
        for member in members:
            if isinstance(member, str):
                if member not in names:
                    raise ValueError(
                        f"groups[{group!r}] contains {member!r}, which is not a column; pass names or"
                        " numbers of columns"
                    )
                column = names.index(member)
            else:
                column = int(member)
                if not 0 <= column < len(names):
                    raise ValueError(
                        f"groups[{group!r}] contains {column}, but X has {len(names)} columns; pass"
                        f" numbers in [0, {len(names) - 1}] or names of columns"
                    )
            if column in group_of:
                raise ValueError(
                    f"column {names[column]!r} is in the groups {group_of[column]!r} and {group!r}; it may be"
                    " in one group only"
                )
            group_of[column] = group
            columns_of_group[group].append(column)
        if not columns_of_group[group]:
            raise ValueError(f"groups[{group!r}] is empty; a group needs at least one column")
    result = [_Group(name, columns) for name, columns in columns_of_group.items()]
    result += [_Group(name, [f]) for f, name in enumerate(names) if f not in group_of]
    return sorted(result, key=lambda group: min(group.columns))


def _summary(kind: str, groups: list[_Group], samples: np.ndarray) -> Importance:
    """Return the mean of samples (n, n_groups) and its standard error."""
    n = len(samples)
    error = samples.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else samples[0] * np.nan
    return Importance(kind, samples.mean(axis=0), error, [group.name for group in groups])


def _tree_importance(model: Any, kind: str, column_groups: Any) -> Importance:
    trees = tree_model_or_error(model, f"kind={kind!r}")
    groups = _make_groups(trees.feature_names, column_groups)
    by_tree = np.asarray(_core.importance_by_tree(trees.ensemble, kind))
    if trees.derived is not None:
        by_tree = share_among_sources(by_tree, trees.derived.sources, trees.encoder.n_features)
    if trees.is_mean:
        # All trees of a forest have the same weight. In a boosted model, later trees gain less.
        totals = by_tree.sum(axis=1, keepdims=True)
        by_tree = np.divide(by_tree, totals, out=np.zeros_like(by_tree), where=totals > 0)
    else:
        by_tree = by_tree * len(by_tree) / max(by_tree.sum(), 1e-300)
    samples = np.column_stack([by_tree[:, group.columns].sum(axis=1) for group in groups])
    return _summary(kind, groups, samples)


def _shap_importance(model: Any, X: Any, column_groups: Any) -> Importance:
    explanation = explain(model, X)
    groups = _make_groups(explanation.feature_names, column_groups)
    values = explanation.values
    values = values if values.ndim == 3 else values[..., None]
    samples = [np.abs(values[:, group.columns].sum(axis=1)).sum(axis=1) for group in groups]
    return _summary("shap", groups, np.column_stack(samples))


def _score(model: Any, scoring: Any) -> Callable[[Any, Any], float]:
    from sklearn.metrics import check_scoring

    scorer = check_scoring(model, scoring)
    return lambda X, y: float(scorer(model, X, y))


def _permutation_importance(
    model: Any, X: Any, y: Any, column_groups: Any, scoring: Any, n_repeats: int, random_state: Any
) -> Importance:
    groups = _make_groups(column_names(X), column_groups)
    single_columns = all(len(group.columns) == 1 for group in groups)
    if single_columns and scoring is None and _may_have_out_of_bag_rows(model, len(y)):
        is_seed = isinstance(random_state, Integral)
        seed = int(random_state) if is_seed else seed_from(random_state)
        result = model.importance("permutation", X, y, random_state=seed)
        return Importance(
            result.kind, result.mean, result.standard_error, [group.name for group in groups]
        )
    score = _score(model, scoring)
    rng = check_random_state(random_state)
    baseline = score(X, y)
    samples = np.empty((n_repeats, len(groups)))
    for repeat in range(n_repeats):
        order = rng.permutation(row_count(X))
        for i, group in enumerate(groups):
            samples[repeat, i] = baseline - score(with_rows(X, group.columns, order), y)
    return _summary("permutation", groups, samples)


def _may_have_out_of_bag_rows(model: Any, n_rows: int) -> bool:
    """Whether the rows may be the training rows of a forest with bootstrap samples, by their number."""
    trees = tree_model(model)
    is_forest = trees is not None and trees.is_mean and hasattr(model, "bootstrap")
    return is_forest and model.bootstrap and n_rows == model.n_samples_fit_


def _drop_column_importance(
    model: Any, X: Any, y: Any, column_groups: Any, scoring: Any, cv: int
) -> Importance:
    from sklearn.model_selection import cross_val_score

    names = column_names(X)
    groups = _make_groups(names, column_groups)
    if len(groups) < 2:
        raise ValueError(
            "kind='drop-column' needs at least two columns or groups, but there is one; use another kind"
        )
    baseline = cross_val_score(clone(model), X, y, scoring=scoring, cv=cv)
    samples = []
    for group in groups:
        remaining_columns = without_columns(len(names), group.columns)
        scores = cross_val_score(
            clone(model), columns_of(X, remaining_columns), y, scoring=scoring, cv=cv
        )
        samples.append(baseline - scores)
    return _summary("drop-column", groups, np.column_stack(samples))

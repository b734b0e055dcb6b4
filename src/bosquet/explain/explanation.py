"""Shapley values of predictions, and what can be done with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet.data import n_rows
from bosquet.explain._models import TreeModel, tree_model_or_error


class Explanation:
    r"""What each feature adds to each prediction.

    A prediction is a game that features play together: v(S) is what the model says when only the features
    in S are known. The Shapley value of feature i shares out the winnings,

    .. math:: \phi_i = \sum_{S \not\ni i} \frac{|S|!\,(M - 1 - |S|)!}{M!}\,[v(S \cup i) - v(S)],

    so that base + Σ φ_i is the raw prediction exactly. Lectures speak of the contribution of a feature, the
    `shap` package of its SHAP value.

    Attributes
    ----------
    values : array (n_rows, n_features), or (n_rows, n_features, n_outputs) of several outputs
        With interactions (n_rows, n_features, n_features), and n_outputs behind it: half of what a pair
        does together at each of its two places, and on the diagonal what a feature does alone. A row of
        the matrix adds up to the feature's Shapley value.
    base : float, or array (n_outputs,)
        What is predicted when no feature is known.
    data : array (n_rows, n_features)
        The rows, categories as their levels.
    feature_names : list of str
    output_names : list of str or None
        What the outputs are: classes, or targets. Of two classes only the second is explained.
    interactions : bool
    plot : with `.bar()`, `.beeswarm()` and `.waterfall(row)`; see `bosquet.plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, y)
    >>> found = model.explain(X)
    >>> bool(abs(found.prediction - model.predict(X)).max() < 1e-6)
    True
    >>> [name for name, _ in found.ranking()[:2]]
    ['s5', 'bmi']

    References
    ----------
    Lundberg and others, "From local explanations to global understanding with explainable AI for trees",
    Nature Machine Intelligence 2020.
    """

    def __init__(
        self,
        values: np.ndarray,
        base: Any,
        data: np.ndarray,
        feature_names: list[str],
        output_names: list[str] | None = None,
        interactions: bool = False,
    ):
        self.values, self.base, self.data = values, base, data
        self.feature_names, self.output_names = feature_names, output_names
        self.interactions = interactions

    @property
    def n_outputs(self) -> int:
        """Number of raw predictions a row."""
        return 1 if np.ndim(self.base) == 0 else len(self.base)

    @property
    def main_values(self) -> np.ndarray:
        """Shapley values of the features, also where `values` holds those of pairs."""
        return self.values.sum(axis=2) if self.interactions else self.values

    @property
    def prediction(self) -> np.ndarray:
        """The raw predictions: base plus the values of all features."""
        return self.base + self.main_values.sum(axis=1)

    @property
    def plot(self) -> Plots:
        """Pictures of the values."""
        return Plots(self)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        of = "pairs" if self.interactions else "features"
        return f"Explanation of {len(self)} rows by {len(self.feature_names)} {of}"

    def __getitem__(self, rows: Any) -> Explanation:
        """Some of the rows."""
        rows = [rows] if isinstance(rows, int | np.integer) else rows
        return Explanation(
            self.values[rows],
            self.base,
            self.data[rows],
            self.feature_names,
            self.output_names,
            self.interactions,
        )

    def output(self, which: Any = None) -> Explanation:
        """The explanation of one output: by number, or by the name of its class or target."""
        if self.n_outputs == 1 and np.ndim(self.base) == 0:
            return self
        names = self.output_names or []
        if which is None:
            raise ValueError(
                f"the model has {self.n_outputs} outputs; say which to look at:"
                f" output={names[0] if names else 0!r}, for example"
            )
        if str(which) in names:
            place = names.index(str(which))
        elif isinstance(which, int | np.integer) and 0 <= which < self.n_outputs:
            place = int(which)
        else:
            raise ValueError(f"output={which!r} is none of {names or list(range(self.n_outputs))}")
        return Explanation(
            self.values[..., place],
            float(self.base[place]),
            self.data,
            self.feature_names,
            names[place : place + 1] or None,
            self.interactions,
        )

    def importance(self) -> np.ndarray:
        """Mean |φ| of each feature over rows, added up over outputs; shape (n_features,)."""
        means = np.abs(self.main_values).mean(axis=0)
        return means if means.ndim == 1 else means.sum(axis=1)

    def ranking(self) -> list[tuple[str, float]]:
        """Features and mean |φ|, the most important first."""
        means = self.importance()
        order = np.argsort(-means, kind="stable")
        return [(self.feature_names[f], float(means[f])) for f in order]

    def to_shap(self) -> Any:
        """The same as an Explanation of the `shap` package, which has to be installed."""
        try:
            import shap
        except ImportError:
            raise ImportError("to_shap() needs the shap package: pip install shap") from None
        base = np.broadcast_to(np.asarray(self.base), (len(self), *np.shape(self.base)))
        return shap.Explanation(
            values=self.values,
            base_values=np.array(base),
            data=self.data,
            feature_names=list(self.feature_names),
            output_names=self.output_names,
        )


class Plots:
    """`explanation.plot`: pictures, each of which takes `ax` to draw into and returns it."""

    def __init__(self, explanation: Explanation):
        self._explanation = explanation

    def bar(self, **options: Any) -> Any:
        """Mean |φ| of the most important features; see `bosquet.plot.shap_bar`."""
        from bosquet.plot import shap_bar

        return shap_bar(self._explanation, **options)

    def beeswarm(self, **options: Any) -> Any:
        """A point for each row and feature; see `bosquet.plot.shap_beeswarm`."""
        from bosquet.plot import shap_beeswarm

        return shap_beeswarm(self._explanation, **options)

    def waterfall(self, row: int, **options: Any) -> Any:
        """From the base to one row's prediction; see `bosquet.plot.shap_waterfall`."""
        from bosquet.plot import shap_waterfall

        return shap_waterfall(self._explanation, row, **options)


def explain(model: Any, X: Any, background: Any = None, interactions: bool = False) -> Explanation:
    """Exact Shapley values of a model made of trees; see `model.explain`."""
    from bosquet.explain.averages import explain_average, is_average

    if is_average(model):
        return explain_average(model, X, background, bool(interactions), explain)
    owner = type(model).__name__
    trees = tree_model_or_error(model, "explain")
    columns = trees.columns(X, owner)
    against = None
    if background is not None:
        against = trees.columns(_as_table(background), owner)
        if n_rows(against) == 0:
            raise ValueError("background has no rows: give at least one to compare with")
    values, base = _core.shap_values(
        trees.ensemble, columns, against, bool(interactions), trees.threads
    )
    values *= trees.scale
    base *= trees.scale
    if trees.ensemble.n_outputs == 1:
        values, base = values[..., 0], float(base[0])
    return Explanation(
        values,
        base,
        shown_data(trees, columns),
        trees.feature_names,
        trees.output_names,
        bool(interactions),
    )


def _as_table(background: Any) -> Any:
    """A background of one row may come as the row itself."""
    is_row = isinstance(background, np.ndarray) and background.ndim == 1
    return background[None, :] if is_row else background


def shown_data(trees: TreeModel, columns: Any) -> np.ndarray:
    """Encoded columns as people know them: levels in place of codes, None for missing ones."""
    if isinstance(columns, np.ndarray):
        return np.array(columns)
    if all(levels is None for levels in trees.encoder.levels):
        return np.column_stack([np.asarray(column, dtype=float) for column in columns])
    shown = np.empty((n_rows(columns), trees.encoder.n_features), dtype=object)
    for f, (column, levels) in enumerate(zip(columns, trees.encoder.levels, strict=True)):
        if levels is None:
            shown[:, f] = np.asarray(column)
        else:
            # Codes of ordered categories are floats, NaN where a value is missing; of others it is -1.
            codes = np.nan_to_num(np.asarray(column, dtype=float), nan=-1).astype(np.intp)
            by_code = np.array([*levels, None], dtype=object)  # code -1 is the last
            shown[:, f] = by_code[codes]
    return shown

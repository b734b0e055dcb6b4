"""Shapley values of predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet._optional import import_optional
from bosquet._state.tree_sums import share_among_sources
from bosquet.data import count_rows
from bosquet.explain.tree_models import TreeModel, tree_model_or_error


class Explanation:
    r"""Shapley values: the contribution of each feature to each prediction.

    Let v(S) be the prediction of the model if only the features in S are known, and M the number of
    features. The Shapley value of feature i is

    .. math:: \phi_i = \sum_{S \not\ni i} \frac{|S|!\,(M - 1 - |S|)!}{M!}\,[v(S \cup i) - v(S)].

    base + Σ φ_i is exactly the raw prediction. The `shap` package calls φ_i a SHAP value.

    Attributes
    ----------
    values : array (n_rows, n_features), or (n_rows, n_features, n_outputs) for several outputs
        With interactions, (n_rows, n_features, n_features), with a last axis n_outputs for several
        outputs. The interaction of a pair is split equally between its two entries. The diagonal holds the
        effects of the features alone. Each row of the matrix sums to the Shapley value of its feature.
    base : float, or array (n_outputs,)
        Prediction if no feature is known.
    data : array (n_rows, n_features)
        The explained rows, with categories as levels.
    feature_names : list of str
    output_names : list of str or None
        Names of the outputs: classes or targets. With two classes, only the second is explained.
    interactions : bool
        Whether `values` holds interactions of pairs.
    plot : ExplanationPlots
        Has `.bar()`, `.beeswarm()` and `.waterfall(row)`; see `bosquet.plot`.

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
        """Number of raw predictions per row."""
        return 1 if np.ndim(self.base) == 0 else len(self.base)

    @property
    def main_values(self) -> np.ndarray:
        """Shapley values of the features, summed over pairs if `values` holds interactions."""
        return self.values.sum(axis=2) if self.interactions else self.values

    @property
    def prediction(self) -> np.ndarray:
        """Raw predictions: base plus the values of all features."""
        return self.base + self.main_values.sum(axis=1)

    @property
    def plot(self) -> ExplanationPlots:
        """Plots of the values."""
        return ExplanationPlots(self)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        of = "pairs" if self.interactions else "features"
        return f"Explanation of {len(self)} rows by {len(self.feature_names)} {of}"

    def __getitem__(self, rows: Any) -> Explanation:
        """Return the explanation of some of the rows."""
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
        """Return the explanation of one output, given by index or by the name of its class or target."""
        if self.n_outputs == 1 and np.ndim(self.base) == 0:
            return self
        names = self.output_names or []
        if which is None:
            raise ValueError(
                f"the model has {self.n_outputs} outputs; select one, for example with"
                f" output={names[0] if names else 0!r}"
            )
        if str(which) in names:
            index = names.index(str(which))
        elif isinstance(which, int | np.integer) and 0 <= which < self.n_outputs:
            index = int(which)
        else:
            raise ValueError(
                f"output={which!r} is not an output of the model; its outputs are"
                f" {names or list(range(self.n_outputs))}"
            )
        return Explanation(
            self.values[..., index],
            float(self.base[index]),
            self.data,
            self.feature_names,
            names[index : index + 1] or None,
            self.interactions,
        )

    def importance(self) -> np.ndarray:
        """Compute the mean |φ| of each feature over the rows, summed over outputs; shape (n_features,)."""
        means = np.abs(self.main_values).mean(axis=0)
        return means if means.ndim == 1 else means.sum(axis=1)

    def ranking(self) -> list[tuple[str, float]]:
        """Return pairs (feature, mean |φ|), in descending order of importance."""
        means = self.importance()
        order = np.argsort(-means, kind="stable")
        return [(self.feature_names[f], float(means[f])) for f in order]

    def to_shap(self) -> Any:
        """Convert to an Explanation of the `shap` package, which must be installed."""
        shap = import_optional("shap", "to_shap()", "shap")
        base = np.broadcast_to(np.asarray(self.base), (len(self), *np.shape(self.base)))
        return shap.Explanation(
            values=self.values,
            base_values=np.array(base),
            data=self.data,
            feature_names=list(self.feature_names),
            output_names=self.output_names,
        )


class ExplanationPlots:
    """Plots of an `Explanation`; each method accepts `ax` and returns the axes."""

    def __init__(self, explanation: Explanation):
        self._explanation = explanation

    def bar(self, **options: Any) -> Any:
        """Draw a bar chart of the mean |φ| of the most important features; see `bosquet.plot.shap_bar`."""
        from bosquet.plot import shap_bar

        return shap_bar(self._explanation, **options)

    def beeswarm(self, **options: Any) -> Any:
        """Draw a beeswarm plot, with one point per row and feature; see `bosquet.plot.shap_beeswarm`."""
        from bosquet.plot import shap_beeswarm

        return shap_beeswarm(self._explanation, **options)

    def waterfall(self, row: int, **options: Any) -> Any:
        """Draw a waterfall plot from the base to the prediction of a row.

        See `bosquet.plot.shap_waterfall`.
        """
        from bosquet.plot import shap_waterfall

        return shap_waterfall(self._explanation, row, **options)


def explain_trees(model: Any, X: Any, background: Any, interactions: bool) -> Explanation:
    """Compute Shapley values of a model made of trees; parameters as in `model.explain`."""
    owner = type(model).__name__
    trees = tree_model_or_error(model, "explain")
    columns = trees.columns(X, owner)
    background_columns = None
    if background is not None:
        background_columns = trees.columns(_row_as_table(background), owner)
        if count_rows(background_columns) == 0:
            raise ValueError("background has no rows; pass at least one row")
    values: np.ndarray
    base: Any
    values, base = _shap_values(trees, columns, background_columns, interactions)
    values *= trees.scale
    base *= trees.scale
    if trees.ensemble.n_outputs == 1:
        values, base = values[..., 0], float(base[0])
    return Explanation(
        values,
        base,
        decoded_data(trees, columns),
        trees.feature_names,
        trees.output_names,
        interactions,
    )


def _shap_values(
    trees: TreeModel, columns: Any, background: Any, interactions: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return Shapley values of the encoded columns, (rows, columns, outputs), and the base values.

    The columns of the trees that are computed from the same encoded columns are one player: they are known or
    unknown together. The value of a player with several encoded columns is divided equally among them.
    """
    if trees.derived is None:
        return _core.shap_values(trees.ensemble, columns, background, interactions, trees.threads)
    sources = list(dict.fromkeys(trees.derived.sources))
    number = {source: player for player, source in enumerate(sources)}
    values, base = _core.shap_values(
        trees.ensemble,
        trees.tree_columns(columns),
        None if background is None else trees.tree_columns(background),
        interactions,
        trees.threads,
        players=[number[source] for source in trees.derived.sources],
    )
    for axis in (1, 2) if interactions else (1,):
        values = share_among_sources(values, sources, trees.encoder.n_features, axis)
    return values, base


def _row_as_table(background: Any) -> Any:
    """Return a one-dimensional background as a table of one row."""
    is_row = isinstance(background, np.ndarray) and background.ndim == 1
    return background[None, :] if is_row else background


def decoded_data(trees: TreeModel, columns: Any) -> np.ndarray:
    """Return encoded columns with levels instead of codes, and None for missing levels."""
    if isinstance(columns, np.ndarray):
        return np.array(columns)
    if all(levels is None for levels in trees.encoder.levels):
        return np.column_stack([np.asarray(column, dtype=float) for column in columns])
    data = np.empty((count_rows(columns), trees.encoder.n_features), dtype=object)
    for f, (column, levels) in enumerate(zip(columns, trees.encoder.levels, strict=True)):
        if levels is None:
            data[:, f] = np.asarray(column)
        else:
            # The code of a missing value is NaN for ordered categories, -1 for others; -2 is unseen.
            codes = np.nan_to_num(np.asarray(column, dtype=float), nan=-1).astype(np.intp)
            codes = np.maximum(codes, -1)
            by_code = np.array([*levels, None], dtype=object)  # index -1 is the last entry, None
            data[:, f] = by_code[codes]
    return data

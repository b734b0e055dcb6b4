"""Strength of interactions between pairs of features: Friedman's H."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bosquet._sklearn import check_random_state
from bosquet._tabular_result import TabularResult
from bosquet.explain._tables import column_names, column_number, row_count, select_rows, with_rows
from bosquet.explain.accumulated_local_effects import make_evaluator
from bosquet.explain.dependence import GridEvaluator


@dataclass(repr=False)
class InteractionStrength(TabularResult):
    """Friedman's H of pairs of features.

    `print` shows the strongest interactions; `to_frame()` returns all.

    Attributes
    ----------
    pairs : list of tuples of names
    strength : array
        H of each pair, from 0 to about 1.
    """

    pairs: list[tuple[str, str]]
    strength: np.ndarray

    def ranking(self) -> list[tuple[tuple[str, str], float]]:
        """Return tuples (pair, H), in descending order of H."""
        order = np.argsort(-self.strength, kind="stable")
        return [(self.pairs[i], float(self.strength[i])) for i in order]

    def columns(self) -> dict[str, Any]:
        """Return columns of the table: the two features of each pair and H, in descending order of H."""
        ranking = self.ranking()
        return {
            "first": [pair[0] for pair, _ in ranking],
            "second": [pair[1] for pair, _ in ranking],
            "H": [strength for _, strength in ranking],
        }

    def _caption(self) -> str:
        of = "1 pair" if len(self.pairs) == 1 else f"{len(self.pairs)} pairs"
        return f"Interaction strength (Friedman's H) of {of}"


def interaction_strength(
    model: Any,
    X: Any,
    features: Any = None,
    *,
    pairs: Any = None,
    max_rows: int = 150,
    response: str = "raw",
    random_state: Any = 0,
) -> InteractionStrength:
    r"""Compute Friedman's H: how far the joint effect of a pair differs from the sum of its two main effects.

    .. math:: H_{jk}^2 = \frac{\sum_i [\bar f_{jk}(x_i) - \bar f_j(x_i) - \bar f_k(x_i)]^2}
                              {\sum_i \bar f_{jk}(x_i)^2}

    where the partial dependence functions are centred. H = 0 means that the two effects are additive.

    Parameters
    ----------
    model : a fitted model, Bosquet's or one with scikit-learn's methods
    X : table of shape (n_samples, n_features)
    features : list or tuple of indices or names, default=None
        H is computed for all pairs of these features (default: all features).
    pairs : list of pairs, or one pair, default=None
        Compute H only for these pairs, for example ``pairs=[("age", "bmi"), ("age", "s5")]``. Use it instead
        of `features` if there are many features, because p features have p (p - 1) / 2 pairs.
    max_rows : int, default=150
        Number of rows to sample; the cost grows with its square.
    response : {"raw", "response"}, default="raw"
        Scale of the predictions. H of an additive model is 0 only on the scale on which it is additive.
    random_state : int, RandomState or None, default=0
        Random seed of the sampled rows.

    Returns
    -------
    InteractionStrength

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import GradientBoostingRegressor
    >>> from bosquet.explain import interaction_strength
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, y)
    >>> interaction_strength(model, X, pairs=[("bmi", "s5"), ("bmi", "age")], max_rows=50)
    Interaction strength (Friedman's H) of 2 pairs
      first  second       H
      bmi        s5  0.1243
      bmi       age  0.0551

    References
    ----------
    Friedman and Popescu, "Predictive learning via rule ensembles", Annals of Applied Statistics 2008.
    """
    names = column_names(X)
    column_pairs = _column_pairs(X, features, pairs)
    if row_count(X) > max_rows:
        sample = check_random_state(random_state).choice(row_count(X), max_rows, replace=False)
        X = select_rows(X, np.sort(sample))
    evaluator = make_evaluator(model, X, response)
    columns = dict.fromkeys(f for pair in column_pairs for f in pair)
    main = {f: _centred_dependence(evaluator, X, [f]) for f in columns}
    strength = []
    for a, b in column_pairs:
        joint = _centred_dependence(evaluator, X, [a, b])
        interaction = ((joint - main[a] - main[b]) ** 2).sum()
        total = (joint**2).sum()
        strength.append(np.sqrt(interaction / total) if total > 1e-12 else 0.0)
    return InteractionStrength([(names[a], names[b]) for a, b in column_pairs], np.array(strength))


def _column_pairs(X: Any, features: Any, pairs: Any) -> list[tuple[int, int]]:
    """Return the given pairs of columns, or all pairs of the given features."""
    if pairs is None:
        chosen = range(len(column_names(X))) if features is None else features
        columns = list(dict.fromkeys(column_number(X, feature) for feature in chosen))
        if len(columns) < 2:
            raise ValueError(
                f"features={features!r} has fewer than two different features; a pair needs two"
            )
        return list(combinations(columns, 2))
    if features is not None:
        raise ValueError("features and pairs were both passed; pass only one of them")
    if isinstance(pairs, tuple) and len(pairs) == 2 and not isinstance(pairs[0], tuple | list):
        pairs = [pairs]
    checked_pairs = []
    for pair in pairs:
        if isinstance(pair, str) or np.size(pair) != 2:
            raise ValueError(
                f"pairs contains {pair!r}, which is not a pair of features; pass tuples of two names or"
                " numbers"
            )
        first, second = (column_number(X, feature) for feature in pair)
        if first == second:
            raise ValueError(f"pairs contains {pair!r}; a pair needs two different features")
        checked_pairs.append((first, second))
    if not checked_pairs:
        raise ValueError("pairs is empty; pass at least one pair of features")
    return checked_pairs


def _centred_dependence(evaluator: GridEvaluator, X: Any, columns: list[int]) -> np.ndarray:
    """Return partial dependence at the values of each row, (rows, outputs), with mean 0."""
    rows = row_count(X)
    repeated = select_rows(X, np.tile(np.arange(rows), rows))
    changed = with_rows(repeated, columns, np.repeat(np.arange(rows), rows))
    means = evaluator.predictions(changed).reshape(rows, rows, -1).mean(axis=1)
    return means - means.mean(axis=0)

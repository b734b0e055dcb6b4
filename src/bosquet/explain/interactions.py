"""How strongly features act together: Friedman's H."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bosquet._shown import Shown
from bosquet._sklearn import check_random_state
from bosquet.explain._tables import column_names, column_number, row_count, take, with_rows
from bosquet.explain.dependence import Evaluation
from bosquet.explain.effects import evaluation


@dataclass(repr=False)
class InteractionStrength(Shown):
    """Friedman's H of pairs: `pairs` of names, and `strength` between 0 and about 1 of each.

    Printed, it shows the strongest; `to_frame()` has all.
    """

    pairs: list[tuple[str, str]]
    strength: np.ndarray

    def ranking(self) -> list[tuple[tuple[str, str], float]]:
        """Pairs and their H, the strongest first."""
        order = np.argsort(-self.strength, kind="stable")
        return [(self.pairs[i], float(self.strength[i])) for i in order]

    def columns(self) -> dict[str, Any]:
        """The two features of a pair and their H, the strongest first."""
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
    r"""Friedman's H: the share of a pair's joint effect that is not the sum of the two alone.

    .. math:: H_{jk}^2 = \frac{\sum_i [\bar f_{jk}(x_i) - \bar f_j(x_i) - \bar f_k(x_i)]^2}
                              {\sum_i \bar f_{jk}(x_i)^2}

    with partial dependences that are centred. 0: the two effects add up.

    Parameters
    ----------
    model : a fitted model, Bosquet's or one with scikit-learn's methods
    X : table of shape (n_samples, n_features)
    features : a list of features, whose pairs are all looked at, or a pair as a tuple; by default all
        By number or name.
    pairs : a list of pairs, or one, in place of `features`
        Only these are looked at: ``pairs=[("age", "bmi"), ("age", "s5")]``. All pairs of p features are
        p (p - 1) / 2, which takes long where there are many.
    max_rows : int, default=150
        Rows that are drawn; the work grows with their square.
    response : "raw" or "response"
        H is zero for an additive model on the scale on which it adds up.
    random_state : seed of the draw

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
    asked = _asked_pairs(X, features, pairs)
    if row_count(X) > max_rows:
        chosen = check_random_state(random_state).choice(row_count(X), max_rows, replace=False)
        X = take(X, np.sort(chosen))
    ask = evaluation(model, X, response)
    columns = dict.fromkeys(f for pair in asked for f in pair)
    alone = {f: _centred_dependence(ask, X, [f]) for f in columns}
    strength = []
    for a, b in asked:
        both = _centred_dependence(ask, X, [a, b])
        left_over = ((both - alone[a] - alone[b]) ** 2).sum()
        whole = (both**2).sum()
        strength.append(np.sqrt(left_over / whole) if whole > 1e-12 else 0.0)
    return InteractionStrength([(names[a], names[b]) for a, b in asked], np.array(strength))


def _asked_pairs(X: Any, features: Any, pairs: Any) -> list[tuple[int, int]]:
    """Pairs of columns: those given, or all of the features given."""
    if pairs is None:
        asked = range(len(column_names(X))) if features is None else features
        columns = list(dict.fromkeys(column_number(X, feature) for feature in asked))
        if len(columns) < 2:
            raise ValueError("interactions need at least two different features")
        return list(combinations(columns, 2))
    if features is not None:
        raise ValueError("give features, whose pairs are all looked at, or pairs, not both")
    if isinstance(pairs, tuple) and len(pairs) == 2 and not isinstance(pairs[0], tuple | list):
        pairs = [pairs]
    found = []
    for pair in pairs:
        if isinstance(pair, str) or np.size(pair) != 2:
            raise ValueError(f"pairs holds {pair!r}, which is no pair of features")
        first, second = (column_number(X, feature) for feature in pair)
        if first == second:
            raise ValueError(f"pairs holds {pair!r}: a pair needs two different features")
        found.append((first, second))
    if not found:
        raise ValueError("pairs is empty: give at least one pair of features")
    return found


def _centred_dependence(ask: Evaluation, X: Any, columns: list[int]) -> np.ndarray:
    """Partial dependence at the rows' own values: (rows, outputs), of mean 0."""
    rows = row_count(X)
    every = take(X, np.tile(np.arange(rows), rows))
    changed = with_rows(every, columns, np.repeat(np.arange(rows), rows))
    means = ask.predictions(changed).reshape(rows, rows, -1).mean(axis=1)
    return means - means.mean(axis=0)

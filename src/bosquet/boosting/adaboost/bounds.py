"""VC dimensions of weak learners and votes, and bounds on the error of a vote on new rows.

Each bound holds with probability at least 1 - δ over the draw of m independent rows. Bounds are not
estimates: for data sets of usual size most of them exceed 1 and are vacuous.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

DELTA = 0.05
MIN_VOTE_SIZE = 3  # smallest T and d in the dimension of votes; smaller values are replaced by it
DEEPEST = 40  # trees of at least this depth count as unlimited


@dataclass(frozen=True, repr=False)
class ErrorBound:
    """A bound with its formula, or the reason why there is none.

    Attributes
    ----------
    name : str
    value : float or None
        The value of the formula; a bound on an error of 1 or more is vacuous. None if there is none.
    formula, source : str
        The formula, and the publication that proves it.
    delta : float or None
        The bound holds with probability at least 1 - delta; None if it always holds.
    at : dict
        The values of the variables in the formula.
    reason : str or None
        Why there is no value.
    """

    name: str
    value: float | None
    formula: str
    source: str
    delta: float | None = None
    at: dict[str, float] | None = None
    reason: str | None = None

    @property
    def is_informative(self) -> bool:
        """Whether the bound is below 1."""
        return self.value is not None and self.value < 1

    def __repr__(self) -> str:
        if self.value is None:
            return f"<ErrorBound: no {self.name}, {self.reason}>"
        vacuous = "" if self.is_informative else ", vacuous"
        return f"<ErrorBound: {self.name} ≤ {self.value:.4g}{vacuous}>"

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name}: none, {self.reason}"
        chance = "" if self.delta is None else f" with probability {1 - self.delta:g}"
        text = f"{self.value:.4g}" + ("" if self.is_informative else ", vacuous")
        numbers = ", ".join(f"{key} = {value:.4g}" for key, value in (self.at or {}).items())
        return f"{self.name}: {text}{chance}\n  {self.formula}\n  at {numbers}"


def check_delta(delta: float) -> float:
    """δ as a float; a ValueError unless it is in (0, 1)."""
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta!r} is not valid: delta must be a number in (0, 1)")
    return float(delta)


def log_growth(vc_dim: float, n_rows: float) -> float:
    """Return a bound on ln Π(m), the growth function of VC dimension d: d ln(em/d), or m ln 2 if m < d."""
    if n_rows < vc_dim:
        return n_rows * math.log(2)
    return vc_dim * math.log(math.e * n_rows / vc_dim) if vc_dim > 0 else 0.0


def growth_term(vc_dim: float, n_rows: float, name: str) -> tuple[float, str]:
    """√(2 ln Π(m)/m), Π(m) the growth function, and its formula with `name` for the VC dimension."""
    value = math.sqrt(2 * log_growth(vc_dim, n_rows) / n_rows)
    if n_rows < vc_dim:  # the other form would be larger, or the root of a negative number
        return value, f"√(2 ln 2) [{name} > m: all 2^m labellings are possible]"
    return value, f"√(2{name} ln(em/{name})/m)"


def vc_dim_of_stumps(n_features: int) -> float:
    """Return the largest v with C(v, v/2) <= 2 n_features; 2 for one feature.

    To shatter v points, stumps must separate each of their C(v, floor(v/2)) subsets of that size from the
    rest. Along a feature there is one such subset at either end of the order of the points, so all features
    together separate at most 2 n_features of them.

    >>> vc_dim_of_stumps(1), vc_dim_of_stumps(10), vc_dim_of_stumps(1000)
    (2.0, 6.0, 13.0)
    """
    v = 1
    while math.comb(v + 1, (v + 1) // 2) <= 2 * n_features:
        v += 1
    return float(v)


def tree_vc_bound(n_splits: int, n_features: int, *, full: bool = False) -> float:
    """Return the upper bound: the largest v with 2^v <= S (d v)^s 2^(s + 1), for s splits and d features.

    The labels that a tree gives to v points are determined by its shape, a feature and one of v thresholds at
    each split, and a label at each of the s + 1 leaves. There are S = C(2s, s) / (s + 1) shapes (a Catalan
    number), one if the tree is `full`. For one split it is the dimension of stumps.

    >>> tree_vc_bound(3, 10), tree_vc_bound(7, 10), tree_vc_bound(7, 10, full=True)
    (31.0, 84.0, 74.0)
    """
    if n_splits == 1:
        return vc_dim_of_stumps(n_features)
    log_shapes = 0.0
    if not full:
        log_shapes = math.lgamma(2 * n_splits + 1) - 2 * math.lgamma(n_splits + 1)
        log_shapes -= math.log(n_splits + 1)
    fixed = log_shapes / math.log(2) + n_splits * math.log2(n_features) + n_splits + 1

    def reaches(v: int) -> bool:
        return fixed + n_splits * math.log2(v) >= v

    low = n_splits + 1
    high = 2 * low
    while reaches(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reaches(middle) else (low, middle)
    return float(low)


def vc_dim_of(tree: Any, n_features: int) -> float | None:
    """Return the smallest bound from the size limits of a tree estimator; None if it has no limit."""
    leaves = [tree.max_leaf_nodes] if getattr(tree, "max_leaf_nodes", None) else []
    if getattr(tree, "max_nodes", None):
        leaves.append((tree.max_nodes + 1) // 2)
    dimensions = [tree_vc_bound(max(1, max_leaves - 1), n_features) for max_leaves in leaves]
    if tree.max_depth is not None and tree.max_depth < DEEPEST:
        dimensions.append(tree_vc_bound(max(1, 2**tree.max_depth - 1), n_features, full=True))
    return min(dimensions, default=None)


def vote_vc_bound(n_rounds: int, vc_dim: float) -> float:
    """Return the VC dimension of votes of T learners of VC dimension d: at most T(d+1)(3 ln(T(d+1)) + 2).

    The proof needs T ≥ 3 and d ≥ 3. Smaller values are replaced by 3: a class of smaller dimension has no
    more labellings, and a vote of two learners is a vote of three with a weight of zero.

    References
    ----------
    Shalev-Shwartz and Ben-David, "Understanding Machine Learning", 2014, lemma 10.3.

    Examples
    --------
    >>> from bosquet.boosting.adaboost.bounds import vote_vc_bound
    >>> round(vote_vc_bound(100, 3))
    7990
    """
    terms = max(n_rounds, MIN_VOTE_SIZE) * (max(vc_dim, MIN_VOTE_SIZE) + 1)
    return terms * (3 * math.log(terms) + 2)


def vc_bound(
    training_error: float, n_rounds: int, vc_dim: float, n_rows: int, delta: float = DELTA
) -> ErrorBound:
    """Bound on the error of a vote of T learners by the VC dimension D of such votes.

    error ≤ training error + √(2D ln(em/D)/m) + √(ln(1/δ)/2m), D = T(d+1)(3 ln(T(d+1)) + 2), for T
    chosen before the rows are seen. With m < D all 2^m labellings are possible, the second term is
    √(2 ln 2) = 1.18 for any D, and the bound is vacuous.
    """
    delta = check_delta(delta)
    dimension = vote_vc_bound(n_rounds, vc_dim)
    sizes = {"T": n_rounds, "d": vc_dim}
    increased_sizes = {name: max(number, MIN_VOTE_SIZE) for name, number in sizes.items()}
    changed = [
        f"{name} = {number:g}" for name, number in sizes.items() if number < increased_sizes[name]
    ]
    note = f" [{' and '.join(changed)} replaced by {MIN_VOTE_SIZE}]" if changed else ""
    growth, formula = growth_term(dimension, n_rows, "D")
    value = training_error + growth + math.sqrt(math.log(1 / delta) / (2 * n_rows))
    return ErrorBound(
        name="VC bound of the vote",
        value=value,
        formula=f"error ≤ training error + {formula} + √(ln(1/δ)/2m), D = T(d+1)(3 ln(T(d+1)) + 2){note}",
        source="Shalev-Shwartz and Ben-David 2014, lemma 10.3, for D;"
        " Mohri, Rostamizadeh and Talwalkar 2018, corollary 3.19",
        delta=delta,
        at={**increased_sizes, "D": dimension, "m": n_rows},
    )


def kth_margin_bound(
    margins: np.ndarray, vc_dim: float, delta: float = DELTA, k: int | None = None
) -> ErrorBound:
    """Bound on the error of a vote by its kth smallest margin θ on m rows; for the best k, or a given one.

    error ≤ (k-1)/m + (4/θ) √(2d ln(em/d)/m) + √(ln log₂(2/θ)/m) + √(ln(2/δ)/2m), simultaneously for all
    k with θ > 0. It does not depend on the number of learners.
    """
    delta = check_delta(delta)
    margins = np.sort(np.asarray(margins, dtype=float))
    m = margins.size
    ranks = np.arange(1, m + 1) if k is None else np.array([_check_rank(k, m)])
    theta = margins[ranks - 1]
    ranks, theta = ranks[theta > 0], np.minimum(theta[theta > 0], 1.0)
    growth, formula = growth_term(vc_dim, m, "d")
    names: dict[str, Any] = {
        "name": "kth-margin bound",
        "formula": f"error ≤ (k-1)/m + (4/θ) {formula} + √(ln log₂(2/θ)/m) + √(ln(2/δ)/2m),"
        " θ the kth smallest margin",
        "source": "Koltchinskii and Panchenko 2002, as in Mohri, Rostamizadeh and Talwalkar 2018,"
        " theorem 5.9 and section 7.3",
    }
    if ranks.size == 0:
        which = "no margin" if k is None else f"margin {k}, counted from the smallest,"
        return ErrorBound(value=None, reason=f"{which} is above 0", **names)
    with np.errstate(over="ignore"):  # a tiny margin makes the bound infinite
        values = (ranks - 1) / m + 4 / theta * growth
    values += np.sqrt(np.log(1 - np.log2(theta)) / m) + math.sqrt(math.log(2 / delta) / (2 * m))
    best = int(np.argmin(values))
    at = {"k": int(ranks[best]), "θ": float(theta[best]), "d": vc_dim, "m": m}
    return ErrorBound(value=float(values[best]), delta=delta, at=at, **names)


def finite_kth_margin_bound(
    margins: np.ndarray, n_hypotheses: int, delta: float = DELTA, k: int | None = None
) -> ErrorBound:
    """Return Gao and Zhou's kth-margin bound, for a learner with finitely many hypotheses.

    error ≤ ln|H|/m + KL⁻¹((k-1)/m; q/m), q = 8 ln(2|H|)/θ² · ln(2m²/ln|H|) + ln|H| + ln(m/δ), for a
    kth margin θ > √(8/|H|). KL⁻¹(u; v) is the largest w with u ln(u/w) + (1-u) ln((1-u)/(1-w)) ≤ v.
    Without a given k, δ is divided among all m values of k.
    """
    delta = check_delta(delta)
    margins = np.sort(np.asarray(margins, dtype=float))
    m, size = margins.size, float(n_hypotheses)
    names: dict[str, Any] = {
        "name": "kth-margin bound",
        "formula": "error ≤ ln|H|/m + KL⁻¹((k-1)/m; q/m),"
        " q = 8 ln(2|H|)/θ² · ln(2m²/ln|H|) + ln|H| + ln(m/δ), θ the kth smallest margin",
        "source": "Gao and Zhou 2013, theorem 4",
    }
    if size <= 8:
        return ErrorBound(value=None, reason="it needs more than 8 hypotheses", **names)
    ranks = np.arange(1, m + 1) if k is None else np.array([_check_rank(k, m)])
    theta = margins[ranks - 1]
    above_minimum = theta > math.sqrt(8 / size)
    ranks, theta = ranks[above_minimum], np.minimum(theta[above_minimum], 1.0)
    if ranks.size == 0:
        return ErrorBound(
            value=None,
            reason=f"no margin is above √(8/|H|) = {math.sqrt(8 / size):.3g}",
            **names,
        )
    delta_of_rank = delta if k is not None else delta / m
    log_size = math.log(size)
    q = 8 * math.log(2 * size) / theta**2 * math.log(max(2 * m**2 / log_size, 1.0))
    q += log_size + math.log(m / delta_of_rank)
    values = log_size / m + inverse_kl((ranks - 1) / m, q / m)
    best = int(np.argmin(values))
    at = {"k": int(ranks[best]), "θ": float(theta[best]), "|H|": size, "m": m}
    return ErrorBound(value=float(values[best]), delta=delta, at=at, **names)


def inverse_kl(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the largest w ≤ 1 with a KL divergence of at most v between u and w, by bisection."""
    u, v = np.broadcast_arrays(np.asarray(u, dtype=float), np.asarray(v, dtype=float))
    low, high = u.copy(), np.ones_like(u)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(60):
            w = (low + high) / 2
            divergence = np.where(u > 0, u * np.log(u / w), 0.0)
            divergence += np.where(u < 1, (1 - u) * np.log((1 - u) / (1 - w)), 0.0)
            near = divergence <= v
            low, high = np.where(near, w, low), np.where(near, high, w)
    return high


def _check_rank(k: int, n_rows: int) -> int:
    if not 1 <= k <= n_rows:
        raise ValueError(f"k={k!r} is not valid: k must be an integer in [1, {n_rows}]")
    return int(k)

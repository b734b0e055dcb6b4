"""VC dimensions of stumps, trees and votes; piecewise-constant functions as votes of stumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bosquet._parameters import check_value, integer
from bosquet.boosting.adaboost import bounds
from bosquet.boosting.adaboost.bounds import vote_vc_bound
from bosquet.theory.sample_sizes import Bound, within_floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def vc_dim_of_stumps(n_features: int) -> Bound:
    """Return the VC dimension of stumps on n real features: the largest d with C(d, ⌊d/2⌋) ≤ 2n.

    Each feature orders the d points. A stump separates the first k or the last k of them: two sets of each
    size k per feature. There are C(d, ⌊d/2⌋) sets with half of the points, so that shattering needs at
    least half as many features; this number is also sufficient. The dimension is 2 for one feature, 3 for
    two, and grows like log₂ n.

    Parameters
    ----------
    n_features : int
        Number n of features.

    Returns
    -------
    Bound
        The exact dimension.

    Examples
    --------
    >>> from bosquet.theory import vc_dim_of_stumps
    >>> [int(vc_dim_of_stumps(n)) for n in (1, 2, 3, 28, 1000)]
    [2, 3, 4, 7, 13]

    References
    ----------
    Leboeuf, LeBlanc and Marchand, "Decision trees as partitioning machines to characterize their
    generalization properties", NeurIPS 2020.
    """
    check_value("n_features", n_features, integer(1))
    return Bound(
        int(bounds.vc_dim_of_stumps(n_features)),
        "VC dimension of stumps",
        "largest d with C(d, ⌊d/2⌋) ≤ 2n",
        {"features": n_features},
    )


def vc_dim_of_trees(
    n_features: int, *, max_leaf_nodes: int | None = None, max_depth: int | None = None
) -> Bound:
    """Return an upper bound on the VC dimension of binary trees on n real features.

    On m rows there are n features and m thresholds for a split. Trees with N splits have S shapes: the
    Catalan number C(2N, N) / (N + 1) for a limited number of leaves, one (the full tree) for a limited
    depth. The trees can therefore label m rows in at most S (nm)^N 2^(N+1) ways. The bound is the largest m
    for which this is at least 2^m. It is of the order of N log(nN).

    Parameters
    ----------
    n_features : int
        Number n of features.
    max_leaf_nodes : int, optional
        Maximum number of leaves, at least 2. Pass this or `max_depth`.
    max_depth : int, optional
        Largest depth, at least 1.

    Returns
    -------
    Bound
        For stumps (2 leaves) the exact dimension.

    Examples
    --------
    >>> from bosquet.theory import vc_dim_of_trees
    >>> int(vc_dim_of_trees(10, max_leaf_nodes=4)), int(vc_dim_of_trees(10, max_depth=3))
    (31, 74)
    """
    check_value("n_features", n_features, integer(1))
    if (max_leaf_nodes is None) == (max_depth is None):
        raise ValueError(
            f"max_leaf_nodes={max_leaf_nodes!r} and max_depth={max_depth!r}; pass exactly one of them"
        )
    if max_leaf_nodes is not None:
        check_value("max_leaf_nodes", max_leaf_nodes, integer(2))
        splits, limit = max_leaf_nodes - 1, {"leaves": max_leaf_nodes}
    else:
        check_value("max_depth", max_depth, integer(1, bounds.DEEPEST))
        assert max_depth is not None
        splits, limit = 2**max_depth - 1, {"depth": max_depth}
    if splits == 1:
        return vc_dim_of_stumps(n_features)
    is_full = max_depth is not None
    return Bound(
        int(bounds.tree_vc_bound(splits, n_features, full=is_full)),
        "Upper bound on the VC dimension of trees",
        "largest m with S (nm)^N 2^(N+1) ≥ 2^m",
        {"features": n_features, **limit},
    )


@within_floats
def vc_dim_of_votes(n_estimators: int, vc_dim: int) -> Bound:
    """Return an upper bound on the VC dimension of votes of T rules from a class of dimension d.

    It is T(d + 1)(3 ln(T(d + 1)) + 2), for weighted votes sign Σ w_t h_t with T ≥ 3 and d ≥ 3. For smaller
    values use 3, which bounds them as well.

    Parameters
    ----------
    n_estimators : int
        Number T of rules, at least 3.
    vc_dim : int
        VC dimension d of the class, at least 3.

    Returns
    -------
    Bound

    Examples
    --------
    >>> from bosquet.theory import vc_dim_of_votes
    >>> print(f"{float(vc_dim_of_votes(100, 3)):.0f}")
    7990

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, 2014, lemma 10.3.
    """
    least = "an integer >= 3, for which the bound is proved; use 3 for smaller values"
    for name, value in (("n_estimators", n_estimators), ("vc_dim", vc_dim)):
        check_value(name, value, integer(3)._replace(accepted=least))
    return Bound(
        vote_vc_bound(n_estimators, vc_dim),
        "Upper bound on the VC dimension of votes",
        "T(d + 1)(3 ln(T(d + 1)) + 2)",
        {"rules": n_estimators, "VC dimension of a rule": vc_dim},
    )


@dataclass(frozen=True, repr=False)
class StumpVote:
    """A vote of stumps on a line: constant + Σ w_j sign(x - θ_j), with sign(0) = -1.

    Attributes
    ----------
    constant : float
    thresholds : array
        The thresholds θ_j.
    weights : array
        The weights w_j.
    """

    constant: float
    thresholds: np.ndarray
    weights: np.ndarray

    def __repr__(self) -> str:
        shown = zip(self.weights[:4], self.thresholds[:4], strict=True)
        terms = [f"{weight:+g} sign(x - {threshold:g})" for weight, threshold in shown]
        more = [f"{self.weights.size - 4} more"] if self.weights.size > 4 else []
        return (
            f"StumpVote({self.constant:g} {' '.join(terms)}{' + ' if more else ''}{''.join(more)})"
        )

    def decision_function(self, x: ArrayLike) -> np.ndarray:
        """Return the value of the vote at each point."""
        points = np.asarray(x, dtype=float).ravel()
        signs = np.where(points[:, None] > self.thresholds, 1.0, -1.0)
        return self.constant + signs @ self.weights


def pieces_as_vote(cuts: Sequence[float], values: Sequence[float]) -> StumpVote:
    """Write a piecewise-constant function on a line as a vote of stumps, one stump per cut.

    For values a_0, ..., a_r the weight of cut j is (a_j - a_{j-1}) / 2, and the constant is (a_0 + a_r) /
    2. Votes of T stumps therefore contain all functions with T pieces, and their VC dimension grows with T.

    Parameters
    ----------
    cuts : sequence of float
        Ends of the pieces, in increasing order. A value equal to a cut belongs to the piece before it.
    values : sequence of float
        Value of each piece; one more than cuts.

    Returns
    -------
    StumpVote

    Examples
    --------
    >>> from bosquet.theory import pieces_as_vote
    >>> vote = pieces_as_vote([1, 2], [1, -1, 1])
    >>> vote
    StumpVote(1 -1 sign(x - 1) +1 sign(x - 2))
    >>> vote.decision_function([0.5, 1.5, 2.5])
    array([ 1., -1.,  1.])
    """
    thresholds, heights = np.asarray(cuts, dtype=float), np.asarray(values, dtype=float)
    if (
        thresholds.ndim != 1
        or not np.isfinite(thresholds).all()
        or not (np.diff(thresholds) > 0).all()
    ):
        raise ValueError(
            f"cuts={cuts!r} is not valid: cuts must be finite numbers in increasing order"
        )
    if heights.shape != (thresholds.size + 1,) or not np.isfinite(heights).all():
        raise ValueError(
            f"values={values!r} is not valid: values must be {thresholds.size + 1} finite numbers, one per"
            " piece"
        )
    return StumpVote(float(heights[0] + heights[-1]) / 2, thresholds, np.diff(heights) / 2)

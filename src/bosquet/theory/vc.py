"""VC dimensions of stumps, trees and votes, and what votes of stumps can say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, integer
from bosquet.boosting import _capacity
from bosquet.boosting.bounds import vc_dim_of_vote
from bosquet.theory.sample_sizes import Bound, within_floats


def vc_dim_of_stumps(n_features: int) -> Bound:
    """VC dimension of decision stumps on n real features: the largest d with C(d, ⌊d/2⌋) ≤ 2n.

    Each feature puts d points in an order, and splits off the k first or the k last: two sets of each
    size k. There are C(d, ⌊d/2⌋) sets of half the points, so that many need half as many features; and
    as many do. It is 2 on a line, 3 in the plane, and grows like log₂ n.

    Parameters
    ----------
    n_features : int

    Returns
    -------
    Bound
        Exact.

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
        int(_capacity.vc_dim_of_stumps(n_features)),
        "VC dimension of stumps",
        "largest d with C(d, ⌊d/2⌋) ≤ 2n",
        {"features": n_features},
    )


def vc_dim_of_trees(
    n_features: int, *, max_leaf_nodes: int | None = None, max_depth: int | None = None
) -> Bound:
    """A bound on the VC dimension of binary trees with so many leaves, or so deep, on n real features.

    On m rows a test is one of n features and m places to cut. A tree of N tests is one of so many
    shapes S (Catalan's number C(2N, N) / (N + 1); for a depth one, the full tree), so that m rows can
    be labelled in at most S (nm)^N 2^(N+1) ways. The bound is the largest m for which this reaches 2^m:
    of the order of N log(nN).

    Parameters
    ----------
    n_features : int
    max_leaf_nodes : int, optional
        Give this or `max_depth`, at least 2 or 1.
    max_depth : int, optional

    Returns
    -------
    Bound
        For stumps (2 leaves) their exact dimension.

    Examples
    --------
    >>> from bosquet.theory import vc_dim_of_trees
    >>> int(vc_dim_of_trees(10, max_leaf_nodes=4)), int(vc_dim_of_trees(10, max_depth=3))
    (31, 74)
    """
    check_value("n_features", n_features, integer(1))
    if (max_leaf_nodes is None) == (max_depth is None):
        raise ValueError("give one of max_leaf_nodes and max_depth: the size of the trees")
    if max_leaf_nodes is not None:
        check_value("max_leaf_nodes", max_leaf_nodes, integer(2))
        tests, given = max_leaf_nodes - 1, {"leaves": max_leaf_nodes}
    else:
        check_value("max_depth", max_depth, integer(1, _capacity.DEEPEST))
        assert max_depth is not None
        tests, given = 2**max_depth - 1, {"depth": max_depth}
    if tests == 1:
        return vc_dim_of_stumps(n_features)
    is_full = max_depth is not None
    return Bound(
        int(_capacity.vc_dim_of_trees(tests, n_features, full=is_full)),
        "VC dimension of trees, at most",
        "largest m with S (nm)^N 2^(N+1) ≥ 2^m",
        {"features": n_features, **given},
    )


@within_floats
def vc_dim_of_votes(n_estimators: int, vc_dim: int) -> Bound:
    """A bound on the VC dimension of votes of T rules from a class of dimension d.

    T(d + 1)(3 ln(T(d + 1)) + 2), for weighted votes sign Σ w_t h_t. It holds for T ≥ 3 and d ≥ 3: for
    less, use 3.

    Parameters
    ----------
    n_estimators : int
        T, at least 3.
    vc_dim : int
        d, at least 3.

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
    least = "an integer >= 3; the bound is proved for no less (a larger value bounds a smaller one)"
    for name, value in (("n_estimators", n_estimators), ("vc_dim", vc_dim)):
        check_value(name, value, (integer(3)[0], least))
    return Bound(
        vc_dim_of_vote(n_estimators, vc_dim),
        "VC dimension of votes, at most",
        "T(d + 1)(3 ln(T(d + 1)) + 2)",
        {"rules": n_estimators, "VC dimension of a rule": vc_dim},
    )


@dataclass(frozen=True, repr=False)
class StumpVote:
    """A vote of stumps on a line: constant + Σ w_j sign(x - θ_j), with sign(0) = -1."""

    constant: float
    thresholds: np.ndarray
    weights: np.ndarray

    def __repr__(self) -> str:
        shown = zip(self.weights[:4], self.thresholds[:4], strict=True)
        terms = [f"{weight:+g} sign(x - {place:g})" for weight, place in shown]
        more = [f"{self.weights.size - 4} more"] if self.weights.size > 4 else []
        return (
            f"StumpVote({self.constant:g} {' '.join(terms)}{' + ' if more else ''}{''.join(more)})"
        )

    def decision_function(self, x: Any) -> np.ndarray:
        """The sum of the votes at each point."""
        points = np.asarray(x, dtype=float).ravel()
        said = np.where(points[:, None] > self.thresholds, 1.0, -1.0)
        return self.constant + said @ self.weights


def pieces_as_vote(cuts: Sequence[float], values: Sequence[float]) -> StumpVote:
    """A piecewise-constant function on a line as a vote of stumps, one a cut.

    With values a_0, ..., a_r the weight of cut j is (a_j - a_{j-1}) / 2 and the constant
    (a_0 + a_r) / 2: the vote is the function. So votes of T stumps contain all functions of T pieces,
    and their VC dimension grows with T.

    Parameters
    ----------
    cuts : sequence of float
        Growing. A value at a cut belongs to the piece before it.
    values : sequence of float
        One more than cuts.

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
    places, heights = np.asarray(cuts, dtype=float), np.asarray(values, dtype=float)
    if places.ndim != 1 or not np.isfinite(places).all() or not (np.diff(places) > 0).all():
        raise ValueError(f"cuts={cuts!r} is out of range: cuts must be growing finite numbers")
    if heights.shape != (places.size + 1,) or not np.isfinite(heights).all():
        raise ValueError(f"values must be {places.size + 1} finite numbers, one a piece")
    return StumpVote(float(heights[0] + heights[-1]) / 2, places, np.diff(heights) / 2)

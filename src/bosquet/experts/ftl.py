"""Follow the leader."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import ExpertRule


class FollowTheLeader(ExpertRule):
    """Follow the leader: all weight on the expert with the smallest loss so far.

    Tied leaders share the weight according to the prior. The rule is a negative example: with two experts
    whose losses alternate it is wrong at nearly every step, and its regret grows linearly with n. It has no
    bound, so `bound_` is NaN.

    References
    ----------
    Cesa-Bianchi and Lugosi, Prediction, Learning, and Games, 2006, section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import play
    >>> losses = np.tile([[1.0, 0.0], [0.0, 1.0]], (500, 1))
    >>> losses[0, 0] = 0.5
    >>> for rule in ("ftl", "ewa"):
    ...     print(rule, play(losses, rule, loss_range=1).regret_.max().round(1))
    ftl 499.8
    ewa 12.9
    """

    name: ClassVar[str] = "ftl"

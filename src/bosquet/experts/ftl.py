"""Follow the leader, a warning."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import Rule


class FollowTheLeader(Rule):
    """All weight to the expert that lost least so far; leaders that tie share by the prior.

    A warning example: on two experts whose losses alternate it is wrong at nearly every step, and its
    regret grows with n. There is no bound to report.

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

"""Who draws what: the bag of a learner follows from a seed and its number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

# A learner has three streams of random numbers: its rows, its features, its own random_state.
_ROWS, _FEATURES, _LEARNER = range(3)


@dataclass(frozen=True)
class Group:
    """Rows that are drawn from together: `size` of them for each bag.

    `members` None stands for every row, `probability` None for equal chances.
    """

    n_members: int
    size: int
    members: np.ndarray | None = None
    probability: np.ndarray | None = None

    def draw(self, random: np.random.RandomState, replace: bool) -> np.ndarray:
        if self.probability is not None:
            drawn = random.choice(self.n_members, self.size, replace=replace, p=self.probability)
        elif replace:
            drawn = random.randint(0, self.n_members, size=self.size)
        else:
            drawn = random.permutation(self.n_members)[: self.size]
        return drawn if self.members is None else self.members[drawn]

    def to_state(self) -> dict[str, Any]:
        return {
            "n_members": int(self.n_members),
            "size": int(self.size),
            "members": None if self.members is None else self.members.tolist(),
            "probability": None if self.probability is None else self.probability.tolist(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_rows: int, replace: bool) -> Group:
        n, size = state["n_members"], state["size"]
        if any(type(count) is not int or not 1 <= count < 2**32 for count in (n, size)):
            raise ValueError("the size of a bag is not valid")
        if n > n_rows or size > n:
            raise ValueError("a bag draws more rows than there are")
        members = probability = None
        if state["members"] is not None:
            members = np.asarray(state["members"], dtype=np.intp)
            inside = members.shape == (n,) and members[0] >= 0 and members[-1] < n_rows
            if not inside or (np.diff(members) <= 0).any():
                raise ValueError("the rows that a bag is drawn from are not valid")
        elif n != n_rows:
            raise ValueError("a bag is drawn from rows that are not named")
        if state["probability"] is not None:
            probability = np.asarray(state["probability"], dtype=float)
            sound = probability.shape == (n,) and (probability >= 0).all()
            if not sound or abs(probability.sum() - 1) > 1e-9:
                raise ValueError("the probabilities of a bag's rows are not valid")
            if not replace and np.count_nonzero(probability) < size:
                raise ValueError("a bag draws more rows than have a chance")
        return cls(n, size, members, probability)


@dataclass(frozen=True)
class Sampler:
    """The bags of an ensemble.

    Nothing of a bag is stored: it is drawn again, the same, whenever it is asked for. The draws
    are those of `RandomState`, whose streams no later NumPy changes, so that a pickled model knows
    its bags in another version too.
    """

    seed: int
    n_rows: int
    groups: tuple[Group, ...]
    replace: bool

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a bag can lack a row that it might have drawn."""
        return self.replace or any(group.size < group.n_members for group in self.groups)

    def rows(self, number: int) -> np.ndarray:
        """The rows that learner `number` draws, one entry a draw."""
        random = self._random(number, _ROWS)
        drawn = [group.draw(random, self.replace) for group in self.groups]
        # Classes drawn one after the other are mixed: some learners go by the order of their rows.
        return drawn[0] if len(drawn) == 1 else random.permutation(np.concatenate(drawn))

    def counts(self, number: int) -> np.ndarray:
        """How often learner `number` draws each row."""
        return np.bincount(self.rows(number), minlength=self.n_rows)

    def left_out(self, number: int) -> np.ndarray:
        """The rows that learner `number` does not draw."""
        return np.flatnonzero(self.counts(number) == 0)

    def leave_one_out_factors(self) -> np.ndarray:
        """(n-1)/n of the group that each row is drawn from, 0 for rows that are never drawn."""
        factor = np.zeros(self.n_rows)
        for group in self.groups:
            members = slice(None) if group.members is None else group.members
            factor[members] = (group.n_members - 1) / group.n_members
        return factor

    def features(self, number: int, n_features: int, size: int, replace: bool) -> np.ndarray | None:
        """The columns of learner `number`, None for all of them as they are."""
        if size == n_features and not replace:
            return None
        random = self._random(number, _FEATURES)
        if replace:
            return np.sort(random.randint(0, n_features, size=size))
        return np.sort(random.permutation(n_features)[:size])

    def learner_seed(self, number: int) -> np.random.RandomState:
        """What the learner's own random_state is drawn from."""
        return self._random(number, _LEARNER)

    def to_state(self) -> dict[str, Any]:
        """The bags in values that JSON has: the model file keeps this."""
        return {
            "seed": self.seed,
            "n_rows": self.n_rows,
            "replace": self.replace,
            "groups": [group.to_state() for group in self.groups],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Sampler:
        """The sampler of a state; a ValueError says what is wrong with any other value."""
        seed, n_rows, replace = state["seed"], state["n_rows"], state["replace"]
        if type(seed) is not int or not 0 <= seed < 2**32:
            raise ValueError("the seed of the bags is not valid")
        if type(n_rows) is not int or not 1 <= n_rows < 2**32 or type(replace) is not bool:
            raise ValueError("the rows of the bags are not valid")
        groups = tuple(Group.from_state(group, n_rows, replace) for group in state["groups"])
        if not groups:
            raise ValueError("the bags are drawn from no rows")
        return cls(seed, n_rows, groups, replace)

    def _random(self, number: int, stream: int) -> np.random.RandomState:
        return np.random.RandomState([self.seed, number, stream])


def plain_sampler(
    seed: int, n_rows: int, weight: np.ndarray, *, by_weight: bool, max_samples: Any, replace: bool
) -> Sampler:
    """Bags of rows that all have the same chance, or one in proportion to their weight.

    A row of weight 0 is never drawn: it must not matter.
    """
    members = np.flatnonzero(weight) if weight.size and not weight.all() else None
    n = n_rows if members is None else members.size
    probability = None
    if by_weight:
        probability = weight[weight > 0] / weight.sum()
    size = how_many(max_samples, n, "max_samples", "rows of X")
    return Sampler(seed, n_rows, (Group(n, size, members, probability),), replace)


def balanced_sampler(
    seed: int,
    codes: np.ndarray,
    weight: np.ndarray,
    *,
    by_weight: bool,
    max_samples: Any,
    replace: bool,
) -> Sampler:
    """Bags with as many rows of each class as the smallest class has (or a share of them)."""
    counting = np.ones(codes.size, dtype=bool) if not weight.size else weight > 0
    classes = [np.flatnonzero((codes == k) & counting) for k in np.unique(codes[counting])]
    smallest = min(rows.size for rows in classes)
    size = how_many(max_samples, smallest, "max_samples", "rows of the smallest class")
    groups = []
    for rows in classes:
        probability = weight[rows] / weight[rows].sum() if by_weight else None
        groups.append(Group(rows.size, size, rows, probability))
    return Sampler(seed, codes.size, tuple(groups), replace)


def how_many(value: Any, n: int, name: str, of: str) -> int:
    """The number that a share or a count of n stands for, at least 1."""
    if value == "sqrt":
        return max(1, math.isqrt(n))
    if value == "log2":
        return max(1, int(math.log2(n)))
    if isinstance(value, Integral):
        if int(value) > n:
            raise ValueError(f"{name}={value} is more than the {n} {of}")
        return int(value)
    return max(1, round(float(value) * n))

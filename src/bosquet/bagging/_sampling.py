"""Samples of rows and columns for each learner, computed from a seed and the index of the learner."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bosquet._types import State


# Each learner has three independent streams of random numbers: rows, features, its own random_state.
_ROWS, _FEATURES, _LEARNER = range(3)


@dataclass(frozen=True)
class Stratum:
    """A group of rows (a stratum); each bag draws `size` rows from it.

    `members` are the rows of the group; None: all rows. `probability` is the probability of each member
    per draw; None: equal probabilities.
    """

    n_members: int
    size: int
    members: np.ndarray | None = None
    probability: np.ndarray | None = None

    def draw(self, rng: np.random.RandomState, replace: bool) -> np.ndarray:
        if self.probability is not None:
            drawn = rng.choice(self.n_members, self.size, replace=replace, p=self.probability)
        elif replace:
            drawn = rng.randint(0, self.n_members, size=self.size)
        else:
            drawn = rng.permutation(self.n_members)[: self.size]
        return drawn if self.members is None else self.members[drawn]

    def to_state(self) -> State:
        return {
            "n_members": int(self.n_members),
            "size": int(self.size),
            "members": None if self.members is None else self.members.tolist(),
            "probability": None if self.probability is None else self.probability.tolist(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_rows: int, replace: bool) -> Stratum:
        n, size = state["n_members"], state["size"]
        if any(type(count) is not int or not 1 <= count < 2**32 for count in (n, size)):
            raise ValueError("n_members and size of a bag must be integers in [1, 2**32)")
        if n > n_rows or size > n:
            raise ValueError(
                f"a bag draws {size} of {n} rows, but size <= n_members <= {n_rows} is required"
            )
        members = probability = None
        if state["members"] is not None:
            members = np.asarray(state["members"], dtype=np.intp)
            inside = members.shape == (n,) and members[0] >= 0 and members[-1] < n_rows
            if not inside or (np.diff(members) <= 0).any():
                raise ValueError(
                    f"members must contain {n} increasing row numbers in [0, {n_rows})"
                )
        elif n != n_rows:
            raise ValueError(f"members is missing: {n} of {n_rows} rows can be drawn")
        if state["probability"] is not None:
            probability = np.asarray(state["probability"], dtype=float)
            valid = probability.shape == (n,) and (probability >= 0).all()
            if not valid or abs(probability.sum() - 1) > 1e-9:
                raise ValueError(f"probability must contain {n} non-negative numbers with sum 1")
            if not replace and np.count_nonzero(probability) < size:
                raise ValueError(
                    f"a bag draws {size} rows without replacement, but only"
                    f" {np.count_nonzero(probability)} have a probability above 0"
                )
        return cls(n, size, members, probability)


@dataclass(frozen=True)
class Sampler:
    """The bags of an ensemble.

    Bags are not stored: the same bag is drawn again from the seed at each call. The draws use
    `RandomState`, whose streams are frozen, so that a pickled model gives the same bags with any later
    version of NumPy.
    """

    seed: int
    n_rows: int
    strata: tuple[Stratum, ...]
    replace: bool

    @property
    def leaves_rows_out(self) -> bool:
        """Whether there can be out-of-bag rows."""
        return self.replace or any(stratum.size < stratum.n_members for stratum in self.strata)

    def rows(self, number: int) -> np.ndarray:
        """Return the rows that learner `number` draws, one entry per draw."""
        rng = self._random_state_of(number, _ROWS)
        drawn = [stratum.draw(rng, self.replace) for stratum in self.strata]
        # Shuffle rows of different classes: some learners depend on the order of the rows.
        return drawn[0] if len(drawn) == 1 else rng.permutation(np.concatenate(drawn))

    def counts(self, number: int) -> np.ndarray:
        """Return how often learner `number` draws each row."""
        return np.bincount(self.rows(number), minlength=self.n_rows)

    def left_out(self, number: int) -> np.ndarray:
        """Return the out-of-bag rows of learner `number`."""
        return np.flatnonzero(self.counts(number) == 0)

    def leave_one_out_factors(self) -> np.ndarray:
        """Return (n-1)/n for each row, with n the size of its group; 0 for rows that are never drawn."""
        factor = np.zeros(self.n_rows)
        for stratum in self.strata:
            members = slice(None) if stratum.members is None else stratum.members
            factor[members] = (stratum.n_members - 1) / stratum.n_members
        return factor

    def features(self, number: int, n_features: int, size: int, replace: bool) -> np.ndarray | None:
        """Return the columns of learner `number`; None: all columns in their order."""
        if size == n_features and not replace:
            return None
        rng = self._random_state_of(number, _FEATURES)
        if replace:
            return np.sort(rng.randint(0, n_features, size=size))
        return np.sort(rng.permutation(n_features)[:size])

    def learner_generator(self, number: int) -> np.random.RandomState:
        """Return the generator from which the random_state of the learner is drawn."""
        return self._random_state_of(number, _LEARNER)

    def to_state(self) -> State:
        """Return the parameters of the sampler as JSON values, for the model file."""
        return {
            "seed": self.seed,
            "n_rows": self.n_rows,
            "replace": self.replace,
            "groups": [stratum.to_state() for stratum in self.strata],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Sampler:
        """Build a sampler from the result of `to_state`; raises ValueError for invalid values."""
        seed, n_rows, replace = state["seed"], state["n_rows"], state["replace"]
        if type(seed) is not int or not 0 <= seed < 2**32:
            raise ValueError("seed of the bags must be an integer in [0, 2**32)")
        if type(n_rows) is not int or not 1 <= n_rows < 2**32 or type(replace) is not bool:
            raise ValueError(
                "n_rows of the bags must be an integer in [1, 2**32), and replace a bool"
            )
        strata = tuple(Stratum.from_state(stratum, n_rows, replace) for stratum in state["groups"])
        if not strata:
            raise ValueError("groups is empty; at least one group of rows is required")
        return cls(seed, n_rows, strata, replace)

    def _random_state_of(self, number: int, stream: int) -> np.random.RandomState:
        return np.random.RandomState([self.seed, number, stream])


def plain_sampler(
    seed: int,
    n_rows: int,
    weight: np.ndarray,
    *,
    by_weight: bool,
    max_samples: float,
    replace: bool,
) -> Sampler:
    """Return a sampler that draws rows uniformly, or with probabilities proportional to their weights.

    Rows of weight 0 are never drawn, because they must not affect the model.
    """
    members = np.flatnonzero(weight) if weight.size and not weight.all() else None
    n = n_rows if members is None else members.size
    probability = None
    if by_weight:
        probability = weight[weight > 0] / weight.sum()
    size = resolve_max_samples(max_samples, n, "rows of X")
    return Sampler(seed, n_rows, (Stratum(n, size, members, probability),), replace)


def balanced_sampler(
    seed: int,
    codes: np.ndarray,
    weight: np.ndarray,
    *,
    by_weight: bool,
    max_samples: float,
    replace: bool,
) -> Sampler:
    """Return a sampler whose bags hold the same number of rows of each class.

    The number is that of the smallest class, or the part of it that `max_samples` specifies.
    """
    has_weight = np.ones(codes.size, dtype=bool) if not weight.size else weight > 0
    classes = [np.flatnonzero((codes == k) & has_weight) for k in np.unique(codes[has_weight])]
    smallest = min(rows.size for rows in classes)
    size = resolve_max_samples(max_samples, smallest, "rows of the smallest class")
    strata = []
    for rows in classes:
        probability = weight[rows] / weight[rows].sum() if by_weight else None
        strata.append(Stratum(rows.size, size, rows, probability))
    return Sampler(seed, codes.size, tuple(strata), replace)


def resolve_max_samples(max_samples: float, n: int, rows: str) -> int:
    """Return the number of rows that a count or a fraction of n means; `rows` describes them."""
    if isinstance(max_samples, Integral):
        if int(max_samples) > n:
            raise ValueError(
                f"max_samples={max_samples} exceeds the number of {rows} ({n});"
                f" pass a value <= {n} or a fraction in (0, 1]"
            )
        return int(max_samples)
    return max(1, round(float(max_samples) * n))

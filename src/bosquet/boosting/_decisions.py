"""From the sums of a vote to a decision, probabilities and margins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from bosquet._sums import weighted_sum
from bosquet.losses import MarginLoss


@dataclass(frozen=True)
class OfTwo:
    """One sum f: its sign decides, and the loss that it made small says how probable that is."""

    loss: MarginLoss

    def decision(self, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0]

    def probabilities(self, decision: np.ndarray) -> np.ndarray:
        second = self.loss.probability(decision)
        return np.column_stack([1 - second, second])

    def numbers(self, decision: np.ndarray) -> np.ndarray:
        return (decision > 0).astype(np.intp)

    def margins(self, raw: np.ndarray, numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """y f / Σ|α|."""
        return (2 * numbers - 1) * raw[:, 0] / max(float(sizes.sum()), 1e-300)


class OfMany:
    """A score for each class: the largest decides."""

    def decision(self, raw: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def numbers(self, decision: np.ndarray) -> np.ndarray:
        return decision.argmax(axis=1)


@dataclass(frozen=True)
class OfVotes(OfMany):
    """A sum of votes for each class; `log_odds` times a sum is on the scale of log-odds.

    SAMME's votes differ by what makes exp of them odds as it stands; the sums of AdaBoost.MH are half
    the log-odds of each class against the others.
    """

    log_odds: float

    def decision(self, raw: np.ndarray) -> np.ndarray:
        return raw

    def probabilities(self, decision: np.ndarray) -> np.ndarray:
        return softmax(self.log_odds * decision, axis=1)

    def margins(self, raw: np.ndarray, numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """The vote for the true class less the largest for another, of what there was to vote."""
        largest = self.log_odds * max(float(sizes.sum()), 1e-300)
        return best_and_rest(raw, numbers) / largest


@dataclass(frozen=True)
class OfCodes(OfMany):
    """Loss-based decoding: the class whose line of the code loses least, Σ_l C(M_kl f_l).

    The score of a class is minus the logarithm of its mean loss. With one column and the exponential
    loss the probabilities are those of two classes.
    """

    matrix: np.ndarray
    loss: MarginLoss

    def decision(self, raw: np.ndarray) -> np.ndarray:
        # A column loses C(f), C(-f) or C(0), whatever the class.
        lost = weighted_sum((self.matrix == 1).T, self.loss.value(raw).T[:, :, None])
        lost += weighted_sum((self.matrix == -1).T, self.loss.value(-raw).T[:, :, None])
        lost += (self.matrix == 0).sum(axis=1) * float(self.loss.value(np.zeros(1))[0])
        return -np.log(np.maximum(lost / self.matrix.shape[1], np.finfo(float).tiny))

    def probabilities(self, decision: np.ndarray) -> np.ndarray:
        return softmax(decision, axis=1)

    def margins(self, raw: np.ndarray, numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """The gap of the scores between the true class and the next, of the largest gap there could be.

        That is the one between a line that all columns agree with and one that they all deny. With one
        column and the exponential loss it is y f / Σ|α|.
        """
        reach = np.array([-1.0, 1.0]) * max(float(sizes.max()), 1e-300)
        most = -np.diff(np.log(np.maximum(self.loss.value(reach), np.finfo(float).tiny)))[0]
        return best_and_rest(self.decision(raw), numbers) / max(most, 1e-300)


Decision = OfTwo | OfVotes | OfCodes


def best_and_rest(scores: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The score of each row's own class less the largest of the others."""
    rows = np.arange(numbers.size)
    own = scores[rows, numbers]
    others = scores.copy()
    others[rows, numbers] = -np.inf
    return own - others.max(axis=1)

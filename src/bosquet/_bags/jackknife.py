"""The jackknife after the bootstrap: sampling variance of the predictions of a bagged ensemble."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bosquet._warnings import warn_user

_ROW_BLOCK = 8192


@dataclass(frozen=True)
class Bags:
    """The bootstrap samples of an ensemble.

    Attributes
    ----------
    counts : function of the index of a learner; returns how often that learner drew each row.
    factor : (n-1)/n for each row, with n the number of rows in the group that it is drawn from; 0 for a
        row that cannot be drawn.
    row_numbers : index of each row in the data passed to `fit`; None: 0, 1, 2, ...
    """

    counts: Callable[[int], np.ndarray]
    factor: np.ndarray
    row_numbers: np.ndarray | None = None


def jackknife_variance(bags: Bags, votes: np.ndarray) -> np.ndarray:
    """Return the variance of the mean vote over training sets, corrected for Monte Carlo noise.

    Let t_b be the vote of learner b, t̄ the mean of all B votes, and t̄_(-i) the mean over the B_i
    learners that did not draw row i. The estimate is

    V = Σ_i (n-1)/n [ (t̄_(-i) - t̄)² - (1/B_i - 1/B) s² ]

    where s² is the sample variance of the votes (divisor B - 1). The second term is the expected value of
    the first one if no row had any influence: the variance of the mean of B_i votes chosen at random
    among the B. Because B_i is about B/e, the corrections add up to the (e - 1) n s²/B of Wager, Hastie
    and Efron. With the exact numbers B_i the formula also holds for few learners and for bags of any size.

    The noise itself has a relative standard deviation of about √(2/n). If there are few learners and many
    rows, it exceeds the variance to be estimated; the function then warns.

    Parameters
    ----------
    bags : Bags
        The bootstrap samples that the learners were fitted to.
    votes : array of shape (n_learners, m)

    Returns
    -------
    array of shape (m,)
        Negative estimates are replaced by 0.
    """
    n_learners, n_rows, factor = len(votes), bags.factor.size, bags.factor
    absence_bits, absences = _absences(bags, n_learners)
    _check_every_row_is_left_out(absences, n_learners, bags.row_numbers)

    # t̄_(-i) - t̄ is linear in the centred votes d, so the sum of squares over i is d'Gd with a
    # matrix G of shape (learners, learners). This avoids a table of shape (rows, predictions).
    gram = np.zeros((n_learners, n_learners))
    for start in range(0, n_rows, _ROW_BLOCK):
        block = slice(start, min(start + _ROW_BLOCK, n_rows))
        bits = np.unpackbits(absence_bits[:, start // 8 : (block.stop + 7) // 8], axis=1)
        out = bits[:, : block.stop - start].astype(float)
        gram += (out * (factor[block] / absences[block] ** 2)) @ out.T

    centred = votes - votes.mean(axis=0)
    raw = np.einsum("bm,bm->m", centred, gram @ centred)
    vote_variance = (centred**2).sum(axis=0) / (n_learners - 1)
    noise = (factor * (1 / absences - 1 / n_learners)).sum() * vote_variance
    _warn_if_noise_dominates(
        raw - noise, noise * np.sqrt(2 / np.count_nonzero(factor)), n_learners, n_rows
    )
    return np.maximum(raw - noise, 0.0)


def _warn_if_noise_dominates(
    variance: np.ndarray, noise_deviation: np.ndarray, n_learners: int, n_rows: int
) -> None:
    if variance.mean() < noise_deviation.mean():
        warn_user(
            f"{n_learners} learners are too few for jackknife standard errors with {n_rows} training rows:"
            " the Monte Carlo noise exceeds the estimated variance. Increase n_estimators several times",
            UserWarning,
        )


def _absences(bags: Bags, n_learners: int) -> tuple[np.ndarray, np.ndarray]:
    """Return one bit per learner and row, set if the learner did not draw the row, and their sums per row."""
    n_rows = bags.factor.size
    absence_bits = np.empty((n_learners, (n_rows + 7) // 8), dtype=np.uint8)
    absences = np.zeros(n_rows)
    for learner in range(n_learners):
        out = bags.counts(learner) == 0
        absence_bits[learner] = np.packbits(out)
        absences += out
    return absence_bits, absences


def _check_every_row_is_left_out(
    absences: np.ndarray, n_learners: int, row_numbers: np.ndarray | None
) -> None:
    rows = np.flatnonzero(absences == 0)
    if rows.size:
        first = rows[0] if row_numbers is None else row_numbers[rows[0]]
        subject = (
            f"row {first} is" if rows.size == 1 else f"row {first} and {rows.size - 1} more are"
        )
        raise ValueError(
            f"{subject} in all {n_learners} bags, but the jackknife needs bags without each training row;"
            " increase n_estimators to 100 or more"
        )

"""The jackknife after the bootstrap: how much a bagged prediction would move on other data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bosquet._warnings import warn_user

_ROWS_AT_A_TIME = 8192


@dataclass(frozen=True)
class Bags:
    """Who drew which rows.

    Attributes
    ----------
    counts : of a learner's number, how often it drew each row.
    factor : (n-1)/n for each row, with n the rows that it was drawn among; 0 if it could not be drawn.
    numbers : of the rows in the data given to `fit`; None: 0, 1, 2, ...
    """

    counts: Callable[[int], np.ndarray]
    factor: np.ndarray
    numbers: np.ndarray | None = None


def jackknife_variance(bags: Bags, votes: np.ndarray) -> np.ndarray:
    """Variance of the mean vote over data sets, corrected for the finite number of learners.

    With t_b the vote of learner b, t̄ their mean, and t̄_(-i) the mean over the B_i learners that
    did not draw row i,

    V = Σ_i (n-1)/n [ (t̄_(-i) - t̄)² - (1/B_i - 1/B) s² ]

    where s² is the variance of the votes (divided by B - 1). The second term is what the first would
    be, on average, if rows did not matter: the variance of the mean of B_i votes taken from the B at
    random. As B_i is about B/e, it adds up to the (e - 1) n s²/B of Wager, Hastie and Efron; with
    the numbers B_i themselves it also holds for few learners, and for bags of any size. That luck
    still scatters about its mean, by √(2/n) of it: where there are few learners for the rows, more
    than what is looked for, and a warning says so.

    Parameters
    ----------
    bags : the bags that the learners were fitted on.
    votes : array of shape (n_learners, m)

    Returns
    -------
    array of shape (m,), not below 0.
    """
    n_learners, n_rows, factor = len(votes), bags.factor.size, bags.factor
    absent, absences = _absences(bags, n_learners)
    _check_every_row_is_left_out(absences, n_learners, bags.numbers)

    # t̄_(-i) - t̄ is linear in the votes d about their mean, so the sum of squares over i is d'Gd
    # with a matrix G of learners by learners: no table of rows by predictions is ever held.
    gram = np.zeros((n_learners, n_learners))
    for start in range(0, n_rows, _ROWS_AT_A_TIME):
        some = slice(start, min(start + _ROWS_AT_A_TIME, n_rows))
        bits = np.unpackbits(absent[:, start // 8 : (some.stop + 7) // 8], axis=1)
        out = bits[:, : some.stop - start].astype(float)
        gram += (out * (factor[some] / absences[some] ** 2)) @ out.T

    centred = votes - votes.mean(axis=0)
    raw = np.einsum("bm,bm->m", centred, gram @ centred)
    spread = (centred**2).sum(axis=0) / (n_learners - 1)
    luck = (factor * (1 / absences - 1 / n_learners)).sum() * spread
    _warn_if_luck_prevails(raw - luck, luck * np.sqrt(2 / np.count_nonzero(factor)), n_learners)
    return np.maximum(raw - luck, 0.0)


def _warn_if_luck_prevails(variance: np.ndarray, scatter: np.ndarray, n_learners: int) -> None:
    if variance.mean() < scatter.mean():
        warn_user(
            f"{n_learners} learners are too few for jackknife standard errors on so many rows: the luck of"
            " their bags outweighs what is measured; fit several times as many",
            UserWarning,
        )


def _absences(bags: Bags, n_learners: int) -> tuple[np.ndarray, np.ndarray]:
    """For each learner one bit a row, set where it lacks the row; and how many lack each row."""
    n_rows = bags.factor.size
    absent = np.empty((n_learners, (n_rows + 7) // 8), dtype=np.uint8)
    absences = np.zeros(n_rows)
    for number in range(n_learners):
        out = bags.counts(number) == 0
        absent[number] = np.packbits(out)
        absences += out
    return absent, absences


def _check_every_row_is_left_out(
    absences: np.ndarray, n_learners: int, numbers: np.ndarray | None
) -> None:
    rows = np.flatnonzero(absences == 0)
    if rows.size:
        first = rows[0] if numbers is None else numbers[rows[0]]
        others = f" and {rows.size - 1} more" if rows.size > 1 else ""
        raise ValueError(
            f"row {first}{others} of the training data are in all {n_learners} bags, so the jackknife"
            " cannot leave them out; fit more learners (n_estimators of a hundred or more)"
        )

"""Comparing two learners over repeated random splits (Nadeau and Bengio 2003)."""

import numpy as np
from scipy import stats


def corrected_interval(differences, n_train, n_test, confidence=0.95):
    """Mean difference with its interval.

    The splits share training rows, so that their differences d_1, ..., d_J are alike and S²/J is too
    small a variance of their mean. Two splits' differences correlate by about n_test / (n_train + n_test),
    which makes it (1/J + n_test/n_train) S².
    """
    d = np.asarray(differences, dtype=float)
    J = len(d)
    mean = sum(d) / J
    S2 = sum((d - mean) ** 2) / (J - 1)
    variance = (1 / J + n_test / n_train) * S2
    t = stats.t.ppf(1 - (1 - confidence) / 2, df=J - 1)
    half = t * np.sqrt(variance)
    return mean, mean - half, mean + half


def paired_bootstrap_interval(losses_a, losses_b, draws, confidence=0.95):
    """The mean difference of two learners on one test sample, with the interval of rows drawn anew.

    `draws` holds row numbers, one line a draw; both learners are judged on the same rows.
    """
    d = np.asarray(losses_a, dtype=float) - np.asarray(losses_b, dtype=float)
    means = np.array([d[rows].mean() for rows in draws])
    tail = (1 - confidence) / 2
    return d.mean(), np.quantile(means, tail), np.quantile(means, 1 - tail)

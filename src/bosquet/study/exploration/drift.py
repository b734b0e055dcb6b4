r"""Whether later rows are like the rows learned from, column by column.

Numbers by the statistic of Kolmogorov and Smirnov, categories by half the sum of differences of shares; both
are the largest difference of probability that the two samples show, 0 to 1. Beside it the population
stability index over bins of the training rows,

.. math:: PSI = \sum_b (p_b - q_b) \log\frac{p_b}{q_b}.
"""

from __future__ import annotations

import numpy as np

from bosquet.study.exploration.features import Feature
from bosquet.study.record import Finding

NOTABLE, LARGE = 0.1, 0.25  # of the index, as is usual
_TOLD = 8  # columns told of one by one
_LEVEL = 0.001  # of the test, over all columns


def drifts(train: list[Feature], test: list[Feature]) -> list[Finding]:
    """Columns whose distribution differs between two tables by more than chance."""
    found = []
    for ours, theirs in zip(train, test, strict=True):
        index, difference, chance = shift(ours, theirs)
        if chance * len(train) < _LEVEL and index >= NOTABLE:
            new = _new_levels(ours, theirs)
            found.append(
                (
                    index,
                    Finding(
                        kind="drift",
                        severity="high" if index >= LARGE else "medium",
                        columns=[ours.name],
                        message=f"{ours.name} is distributed differently in the test table (stability"
                        f" index {index:.2f}, largest difference {difference:.0%}{new}): a model may not"
                        " carry over.",
                    ),
                )
            )
    worst = [finding for _, finding in sorted(found, key=lambda pair: -pair[0])]
    rest = [name for finding in worst[_TOLD:] for name in finding["columns"]]
    if rest:
        message = f"{len(rest)} more columns have drifted, {', '.join(rest[:5])} among them."
        worst[_TOLD:] = [Finding(kind="drift", severity="medium", columns=rest, message=message)]
    return worst


def shift(ours: Feature, theirs: Feature) -> tuple[float, float, float]:
    """The stability index, the largest difference of probability, and how likely chance gives as much."""
    if ours.numbers is not None:
        assert theirs.numbers is not None
        cuts = (
            np.unique(np.quantile(ours.ordered, np.linspace(0, 1, 11)[1:-1]))
            if (ours.ordered.size)
            else np.zeros(0)
        )
        count = len(cuts) + 2
        mine = np.where(ours.missing, count - 1, np.searchsorted(cuts, ours.numbers))
        other = np.where(theirs.missing, count - 1, np.searchsorted(cuts, theirs.numbers))
    else:
        assert ours.codes is not None
        assert theirs.codes is not None
        levels = {level: code for code, level in enumerate(ours.levels or [])}
        count = len(levels) + 2  # the last two: levels not seen, and missing
        mapped = np.array(
            [*(levels.get(level, count - 2) for level in theirs.levels or []), count - 1]
        )
        mine = np.where(ours.missing, count - 1, ours.codes)
        other = np.where(theirs.missing, count - 1, mapped[theirs.codes])
    n, m = len(mine), len(other)
    p = np.bincount(mine.astype(np.intp), minlength=count) / n
    q = np.bincount(other.astype(np.intp), minlength=count) / m
    smooth_p, smooth_q = (
        (p + 0.5 / n) / (1 + 0.5 * count / n),
        (q + 0.5 / m) / (1 + 0.5 * count / m),
    )
    index = float(((smooth_p - smooth_q) * np.log(smooth_p / smooth_q)).sum())
    difference = float(np.abs(p - q).sum() / 2)
    chance = _chance(p, q, n, m)
    if ours.numbers is not None and ours.ordered.size and theirs.ordered.size:
        from scipy.stats import ks_2samp

        tested = ks_2samp(ours.ordered, theirs.ordered, method="asymp")
        difference, chance = float(tested.statistic), min(chance, float(tested.pvalue))
    return index, difference, chance


def _chance(p: np.ndarray, q: np.ndarray, n: int, m: int) -> float:
    """The p-value of the test of homogeneity by chi-squared."""
    from scipy.stats import chi2

    pooled = (n * p + m * q) / (n + m)
    there = pooled > 0
    if there.sum() < 2:
        return 1.0
    statistic = (
        n * (p - pooled) ** 2 / pooled.clip(1e-300) + m * (q - pooled) ** 2 / pooled.clip(1e-300)
    )[there]
    return float(chi2.sf(statistic.sum(), int(there.sum()) - 1))


def _new_levels(ours: Feature, theirs: Feature) -> str:
    new = sorted(set(theirs.levels or []) - set(ours.levels or []))
    if not new:
        return ""
    return f", {len(new)} levels that were not seen, such as {new[0]!r}"

"""Excess risk: what a learner pays for its class, for its sample and for its optimiser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, integer
from bosquet._sklearn import check_random_state, in_parallel
from bosquet.theory._learning import (
    Truth,
    check_estimator_object,
    is_generator,
    seeded,
    streams,
)
from bosquet.theory._tables import result_text, table


@dataclass(frozen=True)
class RiskParts:
    """One learner's excess risk over the Bayes rule, in parts.

    Attributes
    ----------
    excess : float
        approximation + estimation + optimisation.
    approximation : float
        The best rule of the class above the Bayes rule.
    estimation : float
        The rule learned to the end from n rows above the best of the class.
    optimisation : float
        The rule as learned above the one learned to the end.
    learned_gap, advantage, best_gap : float
        estimation + optimisation once more, as in the lectures: risk less training error of the
        learned rule; training error of the learned less that of the best rule, which is negative if
        the learner minimises it; training error less risk of the best rule.
    standard_error : float
        Of the excess, over training sets.
    """

    name: str
    excess: float
    approximation: float
    estimation: float
    optimisation: float
    learned_gap: float
    advantage: float
    best_gap: float
    standard_error: float


@dataclass(frozen=True, repr=False)
class ExcessRisk(Sequence[RiskParts]):
    """Excess risks of several learners, a `RiskParts` each; `bayes` is the risk of the best rule."""

    parts: tuple[RiskParts, ...]
    bayes: float
    n_samples: int

    formula = "R(h) - R* = approximation + estimation + optimisation"

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, place: Any) -> Any:
        return self.parts[place]

    def __repr__(self) -> str:
        names = ("excess", "approximation", "estimation", "optimisation", "standard_error")
        rows = [(part.name, *(getattr(part, name) for name in names)) for part in self.parts]
        head = ("", "excess", "approximation", "estimation", "optimisation", "std. error")
        note = f"the Bayes rule has risk {self.bayes:.4g}"
        title = f"Excess risk after {self.n_samples} rows"
        return result_text(title, self.formula, table(rows, head), note)


def excess_risk(
    estimators: Any,
    generator: Any,
    *,
    converged: Any = None,
    n_samples: int = 200,
    n_large: int = 20_000,
    n_test: int = 20_000,
    n_draws: int = 20,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ExcessRisk:
    r"""The risk above the Bayes rule, measured in three parts for one or several learners.

    With h the rule that a learner returns from n rows, ĥ the one it would return if it optimised to
    the end, and h_H the best rule of its class,

    .. math:: R(h) - R^* = \underbrace{R(h_H) - R^*}_{\text{approximation}}
              + \underbrace{R(\hat h) - R(h_H)}_{\text{estimation}}
              + \underbrace{R(h) - R(\hat h)}_{\text{optimisation}}.

    A richer class has less of the first and more of the second; more rows have less of the second; a
    hurried optimiser saves time and has more of the third. h_H is measured by the same learner on
    `n_large` rows, and risks from the truth at `n_test` points, without their noise.

    Parameters
    ----------
    estimators : estimator, list of estimators or list of (name, estimator)
        For the usual picture, from a poor class to a rich one.
    generator : generator
        One of `bosquet.datasets`, or an object with ``sample`` and ``probability`` or ``mean``.
    converged : estimator or list of estimators, optional
        The same learners optimised to the end, in the same order. By default the learners are taken
        to do so themselves, and have no optimisation error.
    n_samples : int, default=200
        Rows of a training set.
    n_large, n_test : int, default=20000
    n_draws : int, default=20
        Number of training sets to average over.
    random_state : int, RandomState or None
    n_jobs : int, optional

    Returns
    -------
    ExcessRisk
        A sequence of `RiskParts`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from bosquet.datasets import Friedman1
    >>> from bosquet.theory import excess_risk
    >>> trees = [(f"{2**d} leaves", DecisionTreeRegressor(max_depth=d)) for d in (1, 3, 5)]
    >>> parts = excess_risk(trees, Friedman1(), n_draws=5, random_state=0)
    >>> for part in parts:
    ...     print(f"{part.name}: {part.approximation:.1f} + {part.estimation:.1f}")
    2 leaves: 17.7 + 0.3
    8 leaves: 9.7 + 1.4
    32 leaves: 6.5 + 4.4

    References
    ----------
    Bottou and Bousquet, "The tradeoffs of large scale learning", NIPS 2007.
    """
    named = _named(estimators, "estimators")
    final = named if converged is None else _named(converged, "converged")
    if len(final) != len(named):
        raise ValueError(f"converged has {len(final)} learners, but estimators has {len(named)}")
    if not is_generator(generator):
        raise TypeError(f"{generator!r} is no generator: it needs sample, and probability or mean")
    sizes = {"n_samples": n_samples, "n_large": n_large, "n_test": n_test}
    for size_name, size in sizes.items():
        check_value(size_name, size, integer(1))
    check_value("n_draws", n_draws, integer(2))
    random = check_random_state(random_state)
    truth = Truth.of(generator, generator.sample(n_test, random)[0])
    large = generator.sample(n_large, random)
    parts = []
    for (name, learner), (_, to_the_end) in zip(named, final, strict=True):
        best = seeded(to_the_end, random).fit(*large)
        calls = [
            (
                learner,
                None if converged is None else to_the_end,
                best,
                generator,
                truth,
                n_samples,
                s,
            )
            for s in streams(random, n_draws)
        ]
        measured = np.array(in_parallel(_one_draw, calls, n_jobs=n_jobs))
        parts.append(_parts(name, float(truth.excess(best.predict(truth.X)).mean()), measured))
    return ExcessRisk(tuple(parts), float(truth.bayes.mean()), n_samples)


def _named(estimators: Any, parameter: str) -> list[tuple[str, Any]]:
    given = list(estimators) if isinstance(estimators, list | tuple) else [estimators]
    named = [
        one if isinstance(one, tuple) else (f"{number}: {type(one).__name__}", one)
        for number, one in enumerate(given)
    ]
    if not named:
        raise ValueError(f"{parameter} is empty: give at least one learner")
    for _, estimator in named:
        check_estimator_object(estimator, parameter)
    return named


def _one_draw(
    learner: Any,
    to_the_end: Any,
    best: Any,
    generator: Any,
    truth: Truth,
    n_samples: int,
    random: np.random.RandomState,
) -> tuple[float, float, float, float]:
    """Excess risk of the rule as learned and as learned to the end; training errors of the rule
    as learned and of the best one."""
    X, y = generator.sample(n_samples, random)
    rule = seeded(learner, random).fit(X, y)
    excess = float(truth.excess(rule.predict(truth.X)).mean())
    finished = excess
    if to_the_end is not None:
        final = seeded(to_the_end, random).fit(X, y)
        finished = float(truth.excess(final.predict(truth.X)).mean())
    losses = [_loss(model.predict(X), y, truth) for model in (rule, best)]
    # The risk on test points has the Bayes risk of those points besides.
    return excess, finished, losses[0] - truth.bayes.mean(), losses[1] - truth.bayes.mean()


def _loss(predicted: Any, y: np.ndarray, truth: Truth) -> float:
    if truth.probability is None:
        return float(np.mean((np.asarray(predicted, dtype=float) - y) ** 2))
    return float(np.mean(np.asarray(predicted) != y))


def _parts(name: str, approximation: float, measured: np.ndarray) -> RiskParts:
    excess, finished, learned_error, best_error = (float(mean) for mean in measured.mean(axis=0))
    return RiskParts(
        name=name,
        excess=excess,
        approximation=approximation,
        estimation=finished - approximation,
        optimisation=excess - finished,
        learned_gap=excess - learned_error,
        advantage=learned_error - best_error,
        best_gap=best_error - approximation,
        standard_error=float(measured[:, 0].std(ddof=1)) / measured.shape[0] ** 0.5,
    )

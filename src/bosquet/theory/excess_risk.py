"""Excess risk and its parts: approximation, estimation and optimisation error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._parameters import check_estimator, check_value, integer
from bosquet._sklearn import check_random_state, in_parallel
from bosquet.theory._checks import (
    Truth,
    clone_with_seeds,
    independent_streams,
    is_generator,
)
from bosquet.theory._tables import result_text, table

if TYPE_CHECKING:
    from bosquet._types import Estimator, NamedEstimators, RandomState
    from bosquet.datasets.generator import Generator


@dataclass(frozen=True)
class RiskParts:
    """Excess risk of one estimator over the Bayes rule, in parts.

    Attributes
    ----------
    name : str
        Name of the estimator.
    excess : float
        approximation + estimation + optimisation.
    approximation : float
        Risk of the best rule of the class minus that of the Bayes rule.
    estimation : float
        Risk of the fully optimised rule from n rows minus that of the best rule of the class.
    optimisation : float
        Risk of the fitted rule minus that of the fully optimised rule.
    learned_gap, advantage, best_gap : float
        Another decomposition of estimation + optimisation, as in the course: risk minus
        training error of the fitted rule; training error of the fitted rule minus that of the best rule of
        the class, which is negative if the estimator minimises it; training error minus risk of the best
        rule.
    standard_error : float
        Standard error of the excess, over training sets.
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
    """Excess risks of several estimators: a sequence of `RiskParts`.

    Attributes
    ----------
    parts : tuple of RiskParts
    bayes : float
        Risk of the Bayes rule.
    n_samples : int
        Number of training rows.
    """

    parts: tuple[RiskParts, ...]
    bayes: float
    n_samples: int

    formula = "R(h) - R* = approximation + estimation + optimisation"

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, index: Any) -> Any:
        return self.parts[index]

    def __repr__(self) -> str:
        names = ("excess", "approximation", "estimation", "optimisation", "standard_error")
        rows = [(part.name, *(getattr(part, name) for name in names)) for part in self.parts]
        head = ("", "excess", "approximation", "estimation", "optimisation", "std. error")
        note = f"risk of the Bayes rule: {self.bayes:.4g}"
        title = f"Excess risk with {self.n_samples} training rows"
        return result_text(title, self.formula, table(rows, head), note)


def excess_risk(
    estimators: Estimator | Sequence[Estimator] | NamedEstimators,
    generator: Generator,
    *,
    converged: Estimator | None = None,
    n_samples: int = 200,
    n_large: int = 20_000,
    n_test: int = 20_000,
    n_draws: int = 20,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> ExcessRisk:
    r"""Measure the excess risk over the Bayes rule of one or several estimators, in three parts.

    With h the rule that an estimator returns from n rows, ĥ the rule after complete optimisation, and h_H
    the best rule of its class,

    .. math:: R(h) - R^* = \underbrace{R(h_H) - R^*}_{\text{approximation}}
              + \underbrace{R(\hat h) - R(h_H)}_{\text{estimation}}
              + \underbrace{R(h) - R(\hat h)}_{\text{optimisation}}.

    A richer class has a smaller approximation error and a larger estimation error. More rows reduce the
    estimation error. An optimiser that stops early saves time and increases the optimisation error. h_H is
    approximated by the same estimator fitted to `n_large` rows. Risks are computed from the true
    distribution at `n_test` points, without the noise of labels.

    Parameters
    ----------
    estimators : estimator, list of estimators or list of (name, estimator)
        For the usual figure, ordered from a small to a rich class.
    generator : generator
        One of `bosquet.datasets`, or an object with ``sample`` and ``probability`` or ``mean``.
    converged : estimator or list of estimators, optional
        The same estimators with complete optimisation, in the same order. Default: the estimators
        themselves; the optimisation error is then 0.
    n_samples : int, default=200
        Number of rows of a training set.
    n_large, n_test : int, default=20000
        Number of rows for fitting h_H, and of test points.
    n_draws : int, default=20
        Number of training sets.
    random_state : int, RandomState or None
        Seed of the training sets, the test points and randomised estimators.
    n_jobs : int, optional
        Number of parallel fits; the result does not depend on it.

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
    named_estimators = _named_estimators(estimators, "estimators")
    final = named_estimators if converged is None else _named_estimators(converged, "converged")
    if len(final) != len(named_estimators):
        raise ValueError(
            f"converged has {len(final)} estimators, but estimators has {len(named_estimators)}; pass"
            " one for each"
        )
    if not is_generator(generator):
        raise TypeError(
            f"generator={generator!r} is not a generator; pass an object with sample(n, random_state) and"
            " probability(X) or mean(X)"
        )
    sizes = {"n_samples": n_samples, "n_large": n_large, "n_test": n_test}
    for size_name, size in sizes.items():
        check_value(size_name, size, integer(1))
    check_value("n_draws", n_draws, integer(2))
    rng = check_random_state(random_state)
    truth = Truth.of(generator, generator.sample(n_test, rng)[0])
    large = generator.sample(n_large, rng)
    parts = []
    for (name, estimator), (_, optimised) in zip(named_estimators, final, strict=True):
        best = clone_with_seeds(optimised, rng).fit(*large)
        calls = [
            (
                estimator,
                None if converged is None else optimised,
                best,
                generator,
                truth,
                n_samples,
                stream,
            )
            for stream in independent_streams(rng, n_draws)
        ]
        measured = np.array(in_parallel(_measure_draw, calls, n_jobs=n_jobs))
        parts.append(_risk_parts(name, float(truth.excess(best.predict(truth.X)).mean()), measured))
    return ExcessRisk(tuple(parts), float(truth.bayes.mean()), n_samples)


def _named_estimators(
    estimators: Estimator | Sequence[Estimator] | NamedEstimators, parameter: str
) -> list[tuple[str, Any]]:
    """Return the estimators with their names; by default number and class."""
    listed = list(estimators) if isinstance(estimators, list | tuple) else [estimators]
    named_estimators = [
        entry if isinstance(entry, tuple) else (f"{number}: {type(entry).__name__}", entry)
        for number, entry in enumerate(listed)
    ]
    if not named_estimators:
        raise ValueError(f"{parameter} is empty; pass at least one estimator")
    for _, estimator in named_estimators:
        check_estimator(estimator, parameter)
    return named_estimators


def _measure_draw(
    estimator: Estimator,
    optimised: Any,
    best: Any,
    generator: Generator,
    truth: Truth,
    n_samples: int,
    rng: np.random.RandomState,
) -> tuple[float, float, float, float]:
    """Return the excess risks of the fitted and of the fully optimised rule, and the training errors of the
    fitted and of the best rule minus the Bayes risk."""
    X, y = generator.sample(n_samples, rng)
    fitted = clone_with_seeds(estimator, rng).fit(X, y)
    excess = float(truth.excess(fitted.predict(truth.X)).mean())
    excess_optimised = excess
    if optimised is not None:
        final = clone_with_seeds(optimised, rng).fit(X, y)
        excess_optimised = float(truth.excess(final.predict(truth.X)).mean())
    losses = [_mean_loss(model.predict(X), y, truth) for model in (fitted, best)]
    # Training errors include the Bayes risk; excess risks do not.
    return excess, excess_optimised, losses[0] - truth.bayes.mean(), losses[1] - truth.bayes.mean()


def _mean_loss(predicted: Any, y: np.ndarray, truth: Truth) -> float:
    if truth.probability is None:
        return float(np.mean((np.asarray(predicted, dtype=float) - y) ** 2))
    return float(np.mean(np.asarray(predicted) != y))


def _risk_parts(name: str, approximation: float, measurements: np.ndarray) -> RiskParts:
    """Return the parts from the approximation error and the measurements of `_measure_draw`, one"
    " row per draw."""
    excess, optimised, fitted_error, best_error = (
        float(mean) for mean in measurements.mean(axis=0)
    )
    return RiskParts(
        name=name,
        excess=excess,
        approximation=approximation,
        estimation=optimised - approximation,
        optimisation=excess - optimised,
        learned_gap=excess - fitted_error,
        advantage=fitted_error - best_error,
        best_gap=best_error - approximation,
        standard_error=float(measurements[:, 0].std(ddof=1)) / measurements.shape[0] ** 0.5,
    )

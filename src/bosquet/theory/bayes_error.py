"""The Bayes error: the error of the best possible rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._parameters import check_value, choice, integer
from bosquet.theory._checks import Truth, has_classes, is_generator
from bosquet.theory._tables import result_text, table

if TYPE_CHECKING:
    from bosquet._types import RandomState


# Points of the grid on which changes of the largest density are searched.
GRID_SIZE = 4001
# Intervals of an integral are halved down to this width, and as long as there are not more of them.
MIN_WIDTH, MAX_INTERVALS = 1e-13, 20_000
# Levels of the quantiles between which densities are integrated; the tails beyond have almost no mass.
_LOWER_LEVELS = [1e-14, 1e-9, 1e-5, 1e-3, 0.02, 0.1, 0.25]
LEVELS = np.array([*_LOWER_LEVELS, 0.5, *(1 - level for level in reversed(_LOWER_LEVELS))])


@dataclass(frozen=True, repr=False)
class BayesError:
    """The error of the Bayes rule, the best possible rule.

    Attributes
    ----------
    value : float
        The error.
    standard_error : float
        Standard error of a simulation; 0 if the value is exact or an integral.
    overlap : float or None
        For two densities, the area under the smaller one.
    formula : str
        Formula of the value.
    method : str
        "exact", "integral" or "simulation".
    """

    value: float
    standard_error: float
    overlap: float | None
    formula: str
    method: str

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        rows: list[tuple[str, object]] = [("Bayes error", self.value)]
        if self.overlap is not None:
            rows.append(("overlap area", self.overlap))
        if self.method == "simulation":
            rows.append(("standard error", self.standard_error))
        how = "exact" if self.method == "exact" else f"by {self.method}"
        return result_text(f"Bayes error, {how}", self.formula, table(rows))


def bayes_error(
    source: Any,
    *,
    priors: Sequence[float] | None = None,
    support: tuple[float, float] | None = None,
    method: str = "auto",
    n_samples: int = 100_000,
    random_state: RandomState = 0,
) -> BayesError:
    r"""Compute the error of the Bayes rule, for densities of one variable or for a data generator.

    For classes with densities d_k and priors π_k the Bayes rule predicts the class with the largest π_k
    d_k(x). Its error is

    .. math:: R^* = 1 - \int \max_k \pi_k d_k(x)\, dx
              \qquad\Bigl(= \int \min(\pi_1 d_1, \pi_2 d_2)\, dx \text{ for two}\Bigr).

    With equal priors the error for two classes is half of the overlap, the area under the smaller of
    the two densities. For a generator, the error is E[1 - max_k P(Y = k | X)], or E[Var(Y | X)].

    Parameters
    ----------
    source : sequence of densities, or a generator
        Densities are functions of an array, or distributions of scipy.stats (objects with `pdf`). A
        function that only accepts a number is called once per point, which is slower. A generator is one of
        `bosquet.datasets`, or any object with ``sample(n, random_state)`` and ``probability(X)`` or
        ``mean(X)``.
    priors : sequence of float, optional
        Prior probabilities of the classes, for densities. Default: equal priors.
    support : (low, high), optional
        Interval outside of which the densities are 0. Default: the real line. Narrow peaks far from 0 are
        only found if the density has quantiles (`ppf`, as in scipy.stats); for other functions pass their
        support.
    method : {"auto", "simulation"}, default="auto"
        "auto" uses the attribute `bayes_error` of a generator if it has one. "simulation" averages the
        error of the Bayes rule over simulated rows.
    n_samples : int, default=100000
        Number of rows of a simulation.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    BayesError
        ``float(result)`` is the error.

    Examples
    --------
    The exercise of the course, with an overlap of 1/4:

    >>> import numpy as np
    >>> from bosquet.theory import bayes_error
    >>> d1 = lambda x: np.where((0 <= x) & (x <= 1), 1.5 * x**2 + x, 0)
    >>> d2 = lambda x: np.where((0.75 <= x) & (x <= 1.75), 1.0, 0)
    >>> bayes_error([d1, d2], support=(0, 2))
    Bayes error, by integral
      R* = 1 - ∫ max(π₁d₁, π₂d₂)
      Bayes error   0.125
      overlap area   0.25

    >>> from bosquet.datasets import Ringnorm
    >>> print(f"{float(bayes_error(Ringnorm())):.4f}")
    0.0124

    References
    ----------
    Devroye, Györfi and Lugosi, *A Probabilistic Theory of Pattern Recognition*, 1996, chapter 2.
    """
    check_value("method", method, choice("auto", "simulation"))
    if not is_generator(source):
        return _error_of_densities(source, priors, support)
    if priors is not None or support is not None:
        raise ValueError(
            "priors and support are only allowed for densities, but source is a generator; leave them out"
        )
    check_value("n_samples", n_samples, integer(2))
    formula = "R* = E[1 - max P(Y = k | X)]" if has_classes(source) else "R* = E[Var(Y | X)]"
    exact = getattr(source, "bayes_error", None)
    if method == "auto" and exact is not None:
        return BayesError(float(exact), 0.0, None, formula, "exact")
    risk = Truth.of(source, source.sample(n_samples, random_state)[0]).bayes
    standard_error = float(risk.std(ddof=1)) / math.sqrt(risk.size)
    return BayesError(float(risk.mean()), standard_error, None, formula, "simulation")


def _error_of_densities(
    source: Any, priors: Sequence[float] | None, support: tuple[float, float] | None
) -> BayesError:
    """Return the Bayes error of densities by numerical integration."""
    functions = _as_functions(source)
    prior = _as_priors(priors, len(functions))
    low, high = _as_support(support)
    densities = [_Transformed(function, low, high) for function in functions]
    quantiles = densities[0].to_t(_quantiles_of_densities(source))
    ends = _interval_ends(densities, prior, quantiles)
    for number, density in enumerate(densities):
        mass = _integrate(density, ends)
        if abs(mass - 1) > 1e-3:
            raise ValueError(
                f"densities[{number}] has the integral {mass:.4g} over {(low, high)}, not 1: it is not a"
                " density, or its peak is too narrow to be found; pass support=(low, high), the interval on"
                " which the densities are not 0"
            )
    weighted = list(zip(prior, densities, strict=True))

    def all_but_largest(t: np.ndarray) -> np.ndarray:
        # 1 - ∫ max would lose all digits if the classes are well separated.
        return np.sort([weight * d(t) for weight, d in weighted], axis=0)[:-1].sum(axis=0)

    value = min(_integrate(all_but_largest, ends), 1 - float(prior.max()))
    overlap = None
    if len(densities) == 2:
        equal = _interval_ends(densities, np.array([0.5, 0.5]), quantiles)
        overlap = min(_integrate(lambda t: np.min([d(t) for d in densities], axis=0), equal), 1.0)
    names = ", ".join(f"π{_subscript(k)}d{_subscript(k)}" for k in range(1, len(densities) + 1))
    return BayesError(value, 0.0, overlap, f"R* = 1 - ∫ max({names})", "integral")


class _Transformed:
    """A density as a function of t in (-1, 1) with x = x(t); maps an infinite support to an interval."""

    def __init__(self, density: Callable[[Any], Any], low: float, high: float) -> None:
        self.density, self.low, self.high = density, low, high

    def to_x(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return x(t) and dx/dt."""
        if math.isfinite(self.low) and math.isfinite(self.high):
            half = (self.high - self.low) / 2
            return self.low + half * (t + 1), np.full_like(t, half)
        with np.errstate(divide="ignore"):  # x is infinite at the ends of an infinite support
            if math.isfinite(self.low):
                return self.low + (1 + t) / (1 - t), 2 / (1 - t) ** 2
            if math.isfinite(self.high):
                return self.high - (1 - t) / (1 + t), 2 / (1 + t) ** 2
            return t / (1 - t**2), (1 + t**2) / (1 - t**2) ** 2

    def to_t(self, x: np.ndarray) -> np.ndarray:
        """Return the t of the points x inside the support."""
        x = x[(x > self.low) & (x < self.high)]
        if math.isfinite(self.low) and math.isfinite(self.high):
            return 2 * (x - self.low) / (self.high - self.low) - 1
        if math.isfinite(self.low):
            return (x - self.low - 1) / (x - self.low + 1)
        if math.isfinite(self.high):
            return (1 - self.high + x) / (1 + self.high - x)
        return 2 * x / (1 + np.sqrt(1 + 4 * x * x))

    def __call__(self, t: np.ndarray) -> np.ndarray:
        x, slope = self.to_x(t)
        value = np.asarray(self.density(x), dtype=float)
        if (value < 0).any() or not np.isfinite(value).all():
            invalid = int(np.flatnonzero(~((value >= 0) & np.isfinite(value)))[0])
            raise ValueError(
                f"a density is {value[invalid]:g} at x = {x[invalid]:g}; densities must be finite and >= 0"
            )
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(slope), value * slope, 0.0)


def _quantiles_of_densities(source: Any) -> np.ndarray:
    """Return quantiles of the densities that have them (`ppf`)."""
    quantiles = [density.ppf(LEVELS) for density in source if hasattr(density, "ppf")]
    points = np.concatenate(
        [np.zeros(0), *(np.asarray(values, dtype=float) for values in quantiles)]
    )
    return np.unique(points[np.isfinite(points)])


def _interval_ends(
    densities: list[_Transformed], prior: np.ndarray, quantiles: np.ndarray
) -> list[float]:
    """Return the ends of intervals on which the largest density and the set of zero densities do not change.

    On each interval the integrands are as smooth as the densities, so that quadrature is exact to rounding
    even for discontinuous densities. The quantiles are ends as well, so that narrow peaks are not missed.
    """
    # Without the ends -1 and 1, where x may be infinite.
    t = np.unique(np.concatenate([np.linspace(-1, 1, GRID_SIZE)[1:-1], quantiles]))

    def state(points: np.ndarray) -> np.ndarray:
        values = np.array([d(points) for d in densities])
        zero = (2 ** np.arange(len(densities))) @ (values == 0)
        return (prior[:, None] * values).argmax(axis=0) + len(densities) * zero

    states = state(t)
    change = np.flatnonzero(states[1:] != states[:-1])
    left, right, left_state = t[change], t[change + 1], states[change]
    for _ in range(60):
        middle = (left + right) / 2
        same = state(middle) == left_state if middle.size else np.zeros(0, bool)
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return [-1.0, *np.unique(np.concatenate([(left + right) / 2, quantiles])).tolist(), 1.0]


def _integrate(function: Callable[[np.ndarray], np.ndarray], ends: list[float]) -> float:
    """Return the integral by adaptive Gauss-Legendre quadrature.

    An interval is halved if the sum over its halves differs from the value for the whole. On an infinite
    support t has few digits near ±1, and the integrand is dominated by rounding errors. Intervals are
    therefore not halved below `MIN_WIDTH`, nor if there are more than `MAX_INTERVALS`.
    """
    nodes, weights = np.polynomial.legendre.leggauss(20)

    def on(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        half = (high - low)[:, None] / 2
        points = low[:, None] + half * (nodes + 1)
        return (function(points.ravel()).reshape(points.shape) * half) @ weights

    low, high = np.array(ends[:-1]), np.array(ends[1:])
    total, whole = 0.0, on(low, high)
    for _ in range(60):
        middle = (low + high) / 2
        left, right = on(low, middle), on(middle, high)
        settled = np.abs(left + right - whole) <= 1e-14
        settled |= high - low <= MIN_WIDTH
        total += float((left + right)[settled].sum())
        if settled.all():
            return total
        if np.count_nonzero(~settled) > MAX_INTERVALS:
            return total + float((left + right)[~settled].sum())
        halved = ~settled
        low, high, whole = (
            np.concatenate([first[halved], second[halved]])
            for first, second in ((low, middle), (middle, high), (left, right))
        )
    return total + float(whole.sum())


def _as_functions(source: Any) -> list[Callable[[Any], Any]]:
    if not isinstance(source, Sequence) or len(source) < 2:
        raise TypeError(
            f"source={source!r} is not valid: source must be a list of two or more densities, or a"
            " generator with sample(n, random_state) and probability(X) or mean(X)"
        )
    functions: list[Any] = [getattr(density, "pdf", density) for density in source]
    for number, function in enumerate(functions):
        if not callable(function):
            raise TypeError(
                f"densities[{number}]={function!r} is not a density; pass a function or an object with pdf(x)"
            )
    return [_vectorised(function) for function in functions]


def _vectorised(density: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the density if it accepts arrays, else a function that calls it point by point."""
    points = np.array([0.25, 0.5, 0.75])
    try:
        if np.shape(density(points)) == points.shape:
            return density
    except Exception:  # a function of a number may raise any error for an array
        pass
    return np.vectorize(density, otypes=[float])


def _as_priors(priors: Sequence[float] | None, number: int) -> np.ndarray:
    if priors is None:
        return np.full(number, 1 / number)
    prior = np.asarray(priors, dtype=float)
    if prior.shape != (number,) or not (prior >= 0).all() or abs(prior.sum() - 1) > 1e-9:
        raise ValueError(
            f"priors={priors!r} is not valid: priors must be {number} numbers >= 0 with sum 1, one per"
            " density"
        )
    return prior


def _as_support(support: tuple[float, float] | None) -> tuple[float, float]:
    if support is None:
        return -math.inf, math.inf
    low, high = (float(end) for end in support)
    if not low < high:
        raise ValueError(
            f"support={support!r} is not valid: support must be (low, high) with low < high, or None"
        )
    return low, high


def _subscript(number: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))

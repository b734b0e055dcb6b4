"""The Bayes error: the risk of the best rule there is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, choice, integer
from bosquet.theory._learning import Truth, has_classes, is_generator
from bosquet.theory._tables import result_text, table

# Points at which one looks for the places where another density becomes the largest.
GRID = 4001
# Quantiles between which a density cannot hide: the tails beyond hold next to nothing.
_BELOW = [1e-14, 1e-9, 1e-5, 1e-3, 0.02, 0.1, 0.25]
# A piece of an integral is halved down to this width, and as long as there are not more pieces.
NARROWEST, MOST_PIECES = 1e-13, 20_000
LEVELS = np.array([*_BELOW, 0.5, *(1 - level for level in reversed(_BELOW))])


@dataclass(frozen=True, repr=False)
class BayesError:
    """The error of the best rule.

    Attributes
    ----------
    value : float
    standard_error : float
        0 where the value is exact or an integral, else that of the simulation.
    overlap : float or None
        For two densities, the area under the smaller one.
    formula : str
        What was computed.
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
        rows: list[tuple[str, Any]] = [("Bayes error", self.value)]
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
    random_state: Any = 0,
) -> BayesError:
    r"""The error of the best rule, for densities of one variable or for a generator of data.

    For classes with densities d_k and priors π_k the best rule names the class with the largest
    π_k d_k(x), and errs with probability

    .. math:: R^* = 1 - \int \max_k \pi_k d_k(x)\, dx
              \qquad\Bigl(= \int \min(\pi_1 d_1, \pi_2 d_2)\, dx \text{ for two}\Bigr).

    With equal priors the error for two classes is half of the overlap, the area under the smaller of
    the two densities. For a generator, the error is E[1 - max_k P(Y = k | X)], or E[Var(Y | X)].

    Parameters
    ----------
    source : sequence of densities, or a generator
        Densities are functions of an array (one of a number is asked for each point, which takes
        longer), or distributions of scipy.stats (anything with `pdf`).
        A generator is one of `bosquet.datasets` or an object of your own with ``sample(n,
        random_state)`` and ``probability(X)`` or ``mean(X)``.
    priors : sequence of float, optional
        Probabilities of the classes, for densities; equal if not given.
    support : (low, high), optional
        Where the densities are not zero; by default the whole line. Narrow peaks far out are found
        where a density knows its quantiles (`ppf`, as scipy's do); for a function of your own say
        where to look.
    method : {"auto", "simulation"}, default="auto"
        "auto" takes the generator's own `bayes_error` where it has one. "simulation" averages the
        risk of the best rule over drawn rows.
    n_samples : int, default=100000
        Rows to draw for a simulation.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    BayesError
        ``float(result)`` is the error.

    Examples
    --------
    The exercise of the lectures, whose overlap is 1/4:

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
        return _of_densities(source, priors, support)
    if priors is not None or support is not None:
        raise ValueError("priors and support belong to densities; a generator has its own")
    check_value("n_samples", n_samples, integer(2))
    formula = "R* = E[1 - max P(Y = k | X)]" if has_classes(source) else "R* = E[Var(Y | X)]"
    known = getattr(source, "bayes_error", None)
    if method == "auto" and known is not None:
        return BayesError(float(known), 0.0, None, formula, "exact")
    risk = Truth.of(source, source.sample(n_samples, random_state)[0]).bayes
    spread = float(risk.std(ddof=1)) / math.sqrt(risk.size)
    return BayesError(float(risk.mean()), spread, None, formula, "simulation")


def _of_densities(
    source: Any, priors: Sequence[float] | None, support: tuple[float, float] | None
) -> BayesError:
    densities = _as_functions(source)
    share = _as_priors(priors, len(densities))
    low, high = _as_support(support)
    on_line = [_Transformed(density, low, high) for density in densities]
    marks = on_line[0].from_place(_quantiles(source))
    pieces = _pieces(on_line, share, marks)
    for number, density in enumerate(on_line):
        mass = _integral(density, pieces)
        if abs(mass - 1) > 1e-3:
            raise ValueError(
                f"densities[{number}] has the integral {mass:.4g} over {(low, high)}, not 1: it is no"
                " density there, or it is so narrow that no point met it; give support=(low, high), the"
                " interval on which the densities are not 0"
            )
    weighed = list(zip(share, on_line, strict=True))

    def all_but_best(t: np.ndarray) -> np.ndarray:
        # Not 1 less the best: where classes lie apart nothing but rounding would be left of it.
        return np.sort([weight * d(t) for weight, d in weighed], axis=0)[:-1].sum(axis=0)

    value = min(_integral(all_but_best, pieces), 1 - float(share.max()))
    overlap = None
    if len(densities) == 2:
        equal = _pieces(on_line, np.array([0.5, 0.5]), marks)
        overlap = min(_integral(lambda t: np.min([d(t) for d in on_line], axis=0), equal), 1.0)
    names = ", ".join(f"π{_subscript(k)}d{_subscript(k)}" for k in range(1, len(densities) + 1))
    return BayesError(value, 0.0, overlap, f"R* = 1 - ∫ max({names})", "integral")


class _Transformed:
    """A density seen through x = x(t), t in (-1, 1), so that an infinite line is an interval too."""

    def __init__(self, density: Callable[[Any], Any], low: float, high: float) -> None:
        self.density, self.low, self.high = density, low, high

    def place(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and dx/dt."""
        if math.isfinite(self.low) and math.isfinite(self.high):
            half = (self.high - self.low) / 2
            return self.low + half * (t + 1), np.full_like(t, half)
        with np.errstate(divide="ignore"):  # at the ends of an infinite line
            if math.isfinite(self.low):
                return self.low + (1 + t) / (1 - t), 2 / (1 - t) ** 2
            if math.isfinite(self.high):
                return self.high - (1 - t) / (1 + t), 2 / (1 + t) ** 2
            return t / (1 - t**2), (1 + t**2) / (1 - t**2) ** 2

    def from_place(self, x: np.ndarray) -> np.ndarray:
        """The t of points x inside the support."""
        x = x[(x > self.low) & (x < self.high)]
        if math.isfinite(self.low) and math.isfinite(self.high):
            return 2 * (x - self.low) / (self.high - self.low) - 1
        if math.isfinite(self.low):
            return (x - self.low - 1) / (x - self.low + 1)
        if math.isfinite(self.high):
            return (1 - self.high + x) / (1 + self.high - x)
        return 2 * x / (1 + np.sqrt(1 + 4 * x * x))

    def __call__(self, t: np.ndarray) -> np.ndarray:
        x, slope = self.place(t)
        value = np.asarray(self.density(x), dtype=float)
        if (value < 0).any() or not np.isfinite(value).all():
            wrong = int(np.flatnonzero(~((value >= 0) & np.isfinite(value)))[0])
            raise ValueError(f"a density is {value[wrong]:g} at {x[wrong]:g}; it must be >= 0")
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(slope), value * slope, 0.0)


def _quantiles(source: Any) -> np.ndarray:
    """Places that parts of the densities lie between, of those that know their quantiles."""
    known = [density.ppf(LEVELS) for density in source if hasattr(density, "ppf")]
    places = np.concatenate([np.zeros(0), *(np.asarray(each, dtype=float) for each in known)])
    return np.unique(places[np.isfinite(places)])


def _pieces(densities: list[_Transformed], share: np.ndarray, marks: np.ndarray) -> list[float]:
    """Ends of the stretches on which the same class is the best and the same densities are zero.

    On each the integrands are as smooth as the densities, so that quadrature is exact to rounding
    even for densities that jump. `marks` are ends as well: between them no peak goes unnoticed.
    """
    # Not at the ends themselves, where x may be infinite.
    t = np.unique(np.concatenate([np.linspace(-1, 1, GRID)[1:-1], marks]))

    def state(points: np.ndarray) -> np.ndarray:
        values = np.array([d(points) for d in densities])
        zero = (2 ** np.arange(len(densities))) @ (values == 0)
        return (share[:, None] * values).argmax(axis=0) + len(densities) * zero

    states = state(t)
    change = np.flatnonzero(states[1:] != states[:-1])
    left, right, wanted = t[change], t[change + 1], states[change]
    for _ in range(60):
        middle = (left + right) / 2
        same = state(middle) == wanted if middle.size else np.zeros(0, bool)
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return [-1.0, *np.unique(np.concatenate([(left + right) / 2, marks])).tolist(), 1.0]


def _integral(function: Callable[[np.ndarray], np.ndarray], ends: list[float]) -> float:
    """Gauss-Legendre on every piece, halved where two halves say something else than the whole.

    Far out on an infinite line t has few digits left, and what is left of the density is noise: pieces are
    not halved below the digits of t, nor when there are too many.
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
        settled |= high - low <= NARROWEST
        total += float((left + right)[settled].sum())
        if settled.all():
            return total
        if np.count_nonzero(~settled) > MOST_PIECES:
            return total + float((left + right)[~settled].sum())
        open_ = ~settled
        low, high, whole = (
            np.concatenate([first[open_], second[open_]])
            for first, second in ((low, middle), (middle, high), (left, right))
        )
    return total + float(whole.sum())


def _as_functions(source: Any) -> list[Callable[[Any], Any]]:
    if not isinstance(source, Sequence) or len(source) < 2:
        raise TypeError(
            f"source={source!r} must be two or more densities in a list, or a generator with sample(n,"
            " random_state) and probability(X) or mean(X)"
        )
    functions: list[Any] = [getattr(density, "pdf", density) for density in source]
    for number, function in enumerate(functions):
        if not callable(function):
            raise TypeError(f"densities[{number}]={function!r} is neither a function nor has a pdf")
    return [_for_arrays(function) for function in functions]


def _for_arrays(density: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The density itself if it takes arrays, else one that asks it point by point."""
    points = np.array([0.25, 0.5, 0.75])
    try:
        if np.shape(density(points)) == points.shape:
            return density
    except Exception:  # whatever a function of a number makes of an array
        pass
    return np.vectorize(density, otypes=[float])


def _as_priors(priors: Sequence[float] | None, number: int) -> np.ndarray:
    if priors is None:
        return np.full(number, 1 / number)
    share = np.asarray(priors, dtype=float)
    if share.shape != (number,) or not (share >= 0).all() or abs(share.sum() - 1) > 1e-9:
        raise ValueError(
            f"priors={priors!r} is out of range: priors must be {number} numbers >= 0 of sum 1"
        )
    return share


def _as_support(support: tuple[float, float] | None) -> tuple[float, float]:
    if support is None:
        return -math.inf, math.inf
    low, high = (float(end) for end in support)
    if not low < high:
        raise ValueError(f"support={support!r} is out of range: its low end must be below its high")
    return low, high


def _subscript(number: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))

"""Sample sizes of PAC learning: sufficient and necessary numbers of rows, and the no-free-lunch theorem."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from bosquet._parameters import boolean, check_value, integer, number
from bosquet.theory._tables import result_text, table


@dataclass(frozen=True, repr=False)
class Bound:
    """The value of a bound, with its formula.

    Attributes
    ----------
    value : int or float
        The bound; also returned by ``int(bound)`` and ``float(bound)``.
    name, formula : str
        Name of the bounded quantity, and the formula with all constants.
    given : dict
        Arguments of the formula.
    """

    value: int | float
    name: str
    formula: str
    given: Mapping[str, object] = field(default_factory=dict)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        rows = [("value", self.value), *self.given.items()]
        return result_text(self.name, self.formula, table(rows))


Function = TypeVar("Function", bound=Callable[..., object])


def within_floats(function: Function) -> Function:
    """Decorate a function so that it raises a ValueError if its result exceeds the largest float."""

    @functools.wraps(function)
    def checked(*positional: object, **named: object) -> object:
        try:
            return function(*positional, **named)
        except (OverflowError, ZeroDivisionError) as error:
            raise ValueError(
                f"the result of {function.__name__} exceeds the largest float ({error}); pass less extreme"
                " values"
            ) from error

    return cast(Function, checked)


_PROBABILITY = number(0, 1, open_low=True, open_high=True)


@within_floats
def sample_size(
    epsilon: float,
    delta: float,
    *,
    n_hypotheses: int | None = None,
    vc_dim: int | None = None,
    realisable: bool = True,
) -> Bound:
    r"""Return a sufficient number of rows for empirical risk minimisation over a class of rules.

    With at least m rows, the rule with the smallest training error has, with probability 1 - δ, a risk of
    at most ε if some rule of the class makes no error (`realisable`), else a risk of at most ε above that
    of the best rule of the class. With all constants:

    ===========================  =====================================================
    finite class, realisable     m ≥ (ln|H| + ln 1/δ) / ε
    finite class, agnostic       m ≥ 2 (ln 2|H| + ln 1/δ) / ε²
    VC dimension d, realisable   m ≥ max(4/ε · log₂ 2/δ, 8d/ε · log₂ 13/ε)
    VC dimension d, agnostic     4 (2em/d)^d · exp(-mε²/32) ≤ δ
    ===========================  =====================================================

    The last condition has no closed form; the smallest m from which it always holds is computed. It is the
    inequality of Vapnik and Chervonenkis, P(sup |R - R_m| > η) ≤ 4 Π(2m) exp(-mη²/8), at η = ε/2, with
    Sauer's bound for the growth function Π. The bounds hold for all distributions; in practice fewer rows
    are enough.

    Parameters
    ----------
    epsilon, delta : float
        Excess risk ε and probability δ of failure, in (0, 1).
    n_hypotheses : int, optional
        Number |H| of rules of a finite class. Pass this or `vc_dim`.
    vc_dim : int, optional
        VC dimension d of the class.
    realisable : bool, default=True
        Whether some rule of the class makes no error.

    Returns
    -------
    Bound

    Examples
    --------
    >>> from bosquet.theory import sample_size
    >>> sample_size(0.1, 0.05, n_hypotheses=1000)
    Sufficient rows for a finite class, realisable
      m ≥ (ln|H| + ln 1/δ) / ε
      value        100
      epsilon      0.1
      delta       0.05
      hypotheses  1000
    >>> int(sample_size(0.1, 0.05, vc_dim=3)), int(sample_size(0.1, 0.05, vc_dim=3, realisable=False))
    (1686, 132992)

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, 2014, corollaries 2.3 and 4.6.
    Blumer, Ehrenfeucht, Haussler and Warmuth, "Learnability and the Vapnik-Chervonenkis dimension",
    Journal of the ACM 36, 1989. Vapnik and Chervonenkis, "On the uniform convergence of relative
    frequencies", Theory of Probability and its Applications 16, 1971.
    """
    _check_probabilities(epsilon=epsilon, delta=delta)
    check_value("realisable", realisable, boolean())
    if (n_hypotheses is None) == (vc_dim is None):
        raise ValueError(
            f"n_hypotheses={n_hypotheses!r} and vc_dim={vc_dim!r}; pass exactly one of them"
        )
    how = "realisable" if realisable else "agnostic"
    inputs: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
    if n_hypotheses is not None:
        check_value("n_hypotheses", n_hypotheses, integer(1))
        inputs["hypotheses"] = n_hypotheses
        if realisable:
            formula = "m ≥ (ln|H| + ln 1/δ) / ε"
            rows = (math.log(n_hypotheses) - math.log(delta)) / epsilon
        else:
            formula = "m ≥ 2 (ln 2|H| + ln 1/δ) / ε²"
            rows = 2 * (math.log(2 * n_hypotheses) - math.log(delta)) / epsilon**2
        name = f"Sufficient rows for a finite class, {how}"
        return Bound(max(1, math.ceil(rows)), name, formula, inputs)
    assert vc_dim is not None
    check_value("vc_dim", vc_dim, integer(1))
    inputs["VC dimension"] = vc_dim
    name = f"Sufficient rows for a class of finite VC dimension, {how}"
    if realisable:
        rows = max(
            4 / epsilon * (1 - math.log2(delta)), 8 * vc_dim / epsilon * math.log2(13 / epsilon)
        )
        formula = "m ≥ max(4/ε · log₂ 2/δ, 8d/ε · log₂ 13/ε)"
        return Bound(math.ceil(rows), name, formula, inputs)
    formula = "4 (2em/d)^d · exp(-mε²/32) ≤ δ"
    return Bound(_agnostic_rows(epsilon, delta, vc_dim), name, formula, inputs)


def _agnostic_rows(epsilon: float, delta: float, d: int) -> int:
    """Return the smallest m from which on 4 (2em/d)^d exp(-mε²/32) ≤ δ, by doubling and bisection."""

    def holds(m: int) -> bool:
        logarithm = math.log(4) + d * math.log(2 * math.e * m / d) - m * epsilon**2 / 32
        return logarithm <= math.log(delta)

    # The left side decreases from m = 32 d / ε² on.
    low = math.ceil(32 * d / epsilon**2)
    if holds(low):
        return low
    high = 2 * low
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@within_floats
def least_sample_size(epsilon: float, delta: float, vc_dim: int) -> Bound:
    """Return a number of rows that every learner needs for a risk of at most ε with probability 1 - δ.

    For a class of VC dimension d of which some rule makes no error, m must exceed (1 - ε)/ε · ln 1/δ, and
    (d - 1) / 32ε if ε ≤ 1/8 and δ < 1/100. A class of infinite dimension is therefore not learnable.

    Parameters
    ----------
    epsilon, delta : float
        Risk ε and probability δ of failure, in (0, 1).
    vc_dim : int
        VC dimension d of the class.

    Returns
    -------
    Bound

    Examples
    --------
    >>> from bosquet.theory import least_sample_size
    >>> int(least_sample_size(0.1, 0.005, 100))
    48

    References
    ----------
    Ehrenfeucht, Haussler, Kearns and Valiant, "A general lower bound on the number of examples
    needed for learning", Information and Computation 82, 1989.
    """
    _check_probabilities(epsilon=epsilon, delta=delta)
    check_value("vc_dim", vc_dim, integer(1))
    rows = (1 - epsilon) / epsilon * -math.log(delta)
    if epsilon <= 1 / 8 and delta < 1 / 100:
        rows = max(rows, (vc_dim - 1) / (32 * epsilon))
    return Bound(
        math.floor(rows) + 1,
        "Rows that every learner needs",
        "m > max((1 - ε)/ε · ln 1/δ, (d - 1)/32ε if ε ≤ 1/8 and δ < 1/100)",
        {"epsilon": epsilon, "delta": delta, "VC dimension": vc_dim},
    )


@within_floats
def uniform_deviation(n_samples: int, delta: float, vc_dim: int) -> Bound:
    """Return a bound on |risk - training error| that holds for all rules of a class at once.

    With probability 1 - δ, for every rule of a class of VC dimension d,
    |R(h) - R_m(h)| ≤ √(8/m · (ln 4/δ + ln Π(2m))), with Π(2m) ≤ (2em/d)^d for 2m ≥ d, else 2^2m.

    Parameters
    ----------
    n_samples : int
        Number m of rows.
    delta : float
        Probability δ of failure, in (0, 1).
    vc_dim : int
        VC dimension d of the class.

    Returns
    -------
    Bound
        Values above 1 are trivial.

    Examples
    --------
    >>> from bosquet.theory import uniform_deviation
    >>> print(f"{float(uniform_deviation(100_000, 0.05, vc_dim=3)):.3f}")
    0.057
    """
    check_value("n_samples", n_samples, integer(1))
    _check_probabilities(delta=delta)
    check_value("vc_dim", vc_dim, integer(1))
    growth = 2 * n_samples * math.log(2)
    if 2 * n_samples >= vc_dim:
        growth = min(growth, vc_dim * math.log(2 * math.e * n_samples / vc_dim))
    return Bound(
        math.sqrt(8 / n_samples * (math.log(4) - math.log(delta) + growth)),
        "Largest gap between training error and risk in a class",
        "√(8/m · (ln 4/δ + d ln(2em/d)))",
        {"rows": n_samples, "delta": delta, "VC dimension": vc_dim},
    )


def sauer_bound(n_samples: int, vc_dim: int) -> int:
    """Return Σ_{i≤d} C(m, i), Sauer's bound on the number of labellings of m rows by a class of dimension d.

    It is 2^m for m ≤ d, and at most (em/d)^d for m ≥ d: polynomial in m.

    Parameters
    ----------
    n_samples, vc_dim : int
        Number m of rows and VC dimension d.

    Returns
    -------
    int
        The exact value, of any size.

    Examples
    --------
    >>> from bosquet.theory import sauer_bound
    >>> sauer_bound(3, 5), sauer_bound(10, 2)
    (8, 56)

    References
    ----------
    Sauer, "On the density of families of sets", Journal of Combinatorial Theory A 13, 1972.
    """
    check_value("n_samples", n_samples, integer(0))
    check_value("vc_dim", vc_dim, integer(0))
    return sum(math.comb(n_samples, i) for i in range(min(vc_dim, n_samples) + 1))


@dataclass(frozen=True, repr=False)
class NoFreeLunch:
    """Lower bounds on the risk of every learner, for the worst labelling of a domain without noise.

    Attributes
    ----------
    n_samples, domain_size : int
        Number m of rows and number s of points of the domain.
    mean_error : float
        Mean risk over all labellings, ½ (1 - 1/s)^m. It is the same for every learner that predicts the
        labels it has seen correctly, and no learner has a smaller one.
    error_bound : float
        The simpler lower bound ½ (1 - m/s), which is 1/4 for s = 2m.
    threshold, probability : float
        For some labelling the risk is at least `threshold` t with at least this probability:
        (error_bound - t) / (1 - t), that is 1/7 for t = 1/8 and s = 2m.
    """

    n_samples: int
    domain_size: int
    mean_error: float
    error_bound: float
    threshold: float
    probability: float

    formula = "E R ≥ ½(1 - m/s),  P(R ≥ t) ≥ (E R - t)/(1 - t)"

    def __repr__(self) -> str:
        rows = [
            ("rows m", self.n_samples),
            ("points of the domain s", self.domain_size),
            ("mean risk over all labellings", self.mean_error),
            ("some labelling has mean risk above", self.error_bound),
            (f"and risk ≥ {self.threshold:g} with probability", self.probability),
        ]
        return result_text("No free lunch", self.formula, table(rows))


@within_floats
def no_free_lunch(
    n_samples: int, domain_size: int | None = None, *, threshold: float = 1 / 8
) -> NoFreeLunch:
    """Return lower bounds on the risk of every learner that sees m rows from a domain of s points.

    The points are equally likely. In the mean over all labellings, a learner is wrong with probability ½ on
    a point that it has not seen, and a point has not been seen with probability (1 - 1/s)^m. The mean risk
    of the best learner is therefore ½ (1 - 1/s)^m, and some labelling has at least this risk. For s ≥ 2m it
    is at least 1/4. It follows that the risk is at least 1/8 with probability at least 1/7.

    Parameters
    ----------
    n_samples : int
        Number m of rows.
    domain_size : int, optional
        Number s of points. Default: 2m.
    threshold : float, default=1/8
        Risk t for which the probability is computed.

    Returns
    -------
    NoFreeLunch

    Examples
    --------
    >>> from bosquet.theory import no_free_lunch
    >>> no_free_lunch(100)
    No free lunch
      E R ≥ ½(1 - m/s),  P(R ≥ t) ≥ (E R - t)/(1 - t)
      rows m                                 100
      points of the domain s                 200
      mean risk over all labellings       0.3029
      some labelling has mean risk above    0.25
      and risk ≥ 0.125 with probability   0.1429

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, 2014, theorem 5.1.
    """
    check_value("n_samples", n_samples, integer(1))
    check_value("domain_size", domain_size, integer(1, none=True))
    check_value("threshold", threshold, _PROBABILITY)
    points = 2 * n_samples if domain_size is None else domain_size
    bound = max(0.0, (1 - n_samples / points) / 2)
    return NoFreeLunch(
        n_samples,
        points,
        (1 - 1 / points) ** n_samples / 2,
        bound,
        threshold,
        max(0.0, (bound - threshold) / (1 - threshold)),
    )


def _check_probabilities(**numbers: float) -> None:
    """Raise a ValueError unless all numbers are in (0, 1)."""
    for name, value in numbers.items():
        check_value(name, value, _PROBABILITY)

"""How many rows are enough, how many are needed, and what no learner can do."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from bosquet._parameters import Check, boolean, check_value, integer, number
from bosquet.theory._tables import result_text, table


@dataclass(frozen=True, repr=False)
class Bound:
    """A number that a theorem gives, with the theorem.

    Attributes
    ----------
    value : int or float
        ``int(bound)`` and ``float(bound)`` give it too.
    name, formula : str
        What it bounds and how, constants included.
    given : dict
        What it was computed from.
    """

    value: int | float
    name: str
    formula: str
    given: Mapping[str, Any] = field(default_factory=dict)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        rows = [("value", self.value), *self.given.items()]
        return result_text(self.name, self.formula, table(rows))


Function = TypeVar("Function", bound=Callable[..., Any])


def within_floats(function: Function) -> Function:
    """The same, with a ValueError in place of one about a number that no float holds."""

    @functools.wraps(function)
    def checked(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except (OverflowError, ZeroDivisionError) as error:
            raise ValueError(
                f"{function.__name__}: a number is out of range, for the result exceeds the largest float"
                f" ({error}); give less extreme ones"
            ) from error

    return cast(Function, checked)


def _share(*, one: bool = False) -> Check:
    inner, _ = number(0, 1, open_low=True)
    return (lambda value: inner(value) and (one or value < 1)), "a number in (0, 1)"


@within_floats
def sample_size(
    epsilon: float,
    delta: float,
    *,
    n_hypotheses: int | None = None,
    vc_dim: int | None = None,
    realisable: bool = True,
) -> Bound:
    r"""Rows from which on the empirically best rule of a class is ε-good with probability 1 - δ.

    ε-good means a risk of at most ε where some rule of the class makes no error (`realisable`), else
    at most ε above the best rule of the class. With all constants:

    ===========================  =====================================================
    finite class, realisable     m ≥ (ln|H| + ln 1/δ) / ε
    finite class, agnostic       m ≥ 2 (ln 2|H| + ln 1/δ) / ε²
    VC dimension d, realisable   m ≥ max(4/ε · log₂ 2/δ, 8d/ε · log₂ 13/ε)
    VC dimension d, agnostic     4 (2em/d)^d · exp(-mε²/32) ≤ δ
    ===========================  =====================================================

    The last has no closed form; the least m beyond which it always holds is found. It is Vapnik and
    Chervonenkis' inequality P(sup |R - R_m| > η) ≤ 4 Π(2m) exp(-mη²/8) at η = ε/2, with Sauer's
    bound for Π. These are worst cases over all distributions: practice needs fewer.

    Parameters
    ----------
    epsilon, delta : float
        In (0, 1).
    n_hypotheses : int, optional
        Number of rules of a finite class. Give this or `vc_dim`.
    vc_dim : int, optional
    realisable : bool, default=True

    Returns
    -------
    Bound

    Examples
    --------
    >>> from bosquet.theory import sample_size
    >>> sample_size(0.1, 0.05, n_hypotheses=1000)
    Rows enough for a finite class, realisable
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
    _check(epsilon=epsilon, delta=delta)
    check_value("realisable", realisable, boolean())
    if (n_hypotheses is None) == (vc_dim is None):
        raise ValueError("give one of n_hypotheses and vc_dim: the size of the class")
    how = "realisable" if realisable else "agnostic"
    given: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
    if n_hypotheses is not None:
        check_value("n_hypotheses", n_hypotheses, integer(1))
        given["hypotheses"] = n_hypotheses
        if realisable:
            formula = "m ≥ (ln|H| + ln 1/δ) / ε"
            rows = (math.log(n_hypotheses) - math.log(delta)) / epsilon
        else:
            formula = "m ≥ 2 (ln 2|H| + ln 1/δ) / ε²"
            rows = 2 * (math.log(2 * n_hypotheses) - math.log(delta)) / epsilon**2
        name = f"Rows enough for a finite class, {how}"
        return Bound(max(1, math.ceil(rows)), name, formula, given)
    assert vc_dim is not None
    check_value("vc_dim", vc_dim, integer(1))
    given["VC dimension"] = vc_dim
    name = f"Rows enough for a class of finite VC dimension, {how}"
    if realisable:
        rows = max(
            4 / epsilon * (1 - math.log2(delta)), 8 * vc_dim / epsilon * math.log2(13 / epsilon)
        )
        formula = "m ≥ max(4/ε · log₂ 2/δ, 8d/ε · log₂ 13/ε)"
        return Bound(math.ceil(rows), name, formula, given)
    formula = "4 (2em/d)^d · exp(-mε²/32) ≤ δ"
    return Bound(_agnostic_rows(epsilon, delta, vc_dim), name, formula, given)


def _agnostic_rows(epsilon: float, delta: float, d: int) -> int:
    def holds(m: int) -> bool:
        logarithm = math.log(4) + d * math.log(2 * math.e * m / d) - m * epsilon**2 / 32
        return logarithm <= math.log(delta)

    # The left side falls from m = 32 d / ε² on.
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
    """Rows without which no learner can be ε-good with probability 1 - δ, whatever it does.

    For a class of VC dimension d, where some rule makes no error, m must exceed
    (1 - ε)/ε · ln 1/δ, and (d - 1) / 32ε if ε ≤ 1/8 and δ < 1/100: it cannot be done with an infinite
    dimension.

    Parameters
    ----------
    epsilon, delta : float
        In (0, 1).
    vc_dim : int

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
    _check(epsilon=epsilon, delta=delta)
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
    """How far training error and risk may lie apart, for all rules of a class at once.

    With probability 1 - δ, for every rule of a class of VC dimension d,
    |R(h) - R_m(h)| ≤ √(8/m · (ln 4/δ + ln Π(2m))), Π(2m) ≤ (2em/d)^d for 2m ≥ d, else 2^2m.

    Parameters
    ----------
    n_samples : int
    delta : float
        In (0, 1).
    vc_dim : int

    Returns
    -------
    Bound
        Above 1 it says nothing.

    Examples
    --------
    >>> from bosquet.theory import uniform_deviation
    >>> print(f"{float(uniform_deviation(100_000, 0.05, vc_dim=3)):.3f}")
    0.057
    """
    check_value("n_samples", n_samples, integer(1))
    _check(delta=delta)
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
    """In how many ways a class of VC dimension d can label m rows, at the most: Σ_{i≤d} C(m, i).

    It is 2^m for m ≤ d, and at most (em/d)^d for m ≥ d: polynomial in m.

    Parameters
    ----------
    n_samples, vc_dim : int

    Returns
    -------
    int
        Exact, however large.

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
    """What any learner must suffer for some labelling of a domain without noise.

    Attributes
    ----------
    mean_error : float
        The mean risk over all labellings, the same for every learner that repeats what it saw:
        ½ (1 - 1/s)^m. None does better.
    error_bound : float
        ½ (1 - m/s), which is below it: 1/4 on twice as many points as rows.
    threshold, probability : float
        For some labelling the risk is at least `threshold` with at least this probability:
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
            (f"and risk ≥ {self.threshold:g} with chance", self.probability),
        ]
        return result_text("No free lunch", self.formula, table(rows))


@within_floats
def no_free_lunch(
    n_samples: int, domain_size: int | None = None, *, threshold: float = 1 / 8
) -> NoFreeLunch:
    """The risk that no learner escapes on a domain of s points from which it sees m rows.

    Among all labellings of s equally likely points, the label of a point not seen is a coin toss, and
    a point is not seen with probability (1 - 1/s)^m. So the mean risk is ½ (1 - 1/s)^m for the best of
    learners, and for some labelling at least that. For s ≥ 2m it is at least 1/4, from which the risk
    is at least 1/8 with probability at least 1/7.

    Parameters
    ----------
    n_samples : int
        Rows m.
    domain_size : int, optional
        Points s; 2m by default.
    threshold : float, default=1/8

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
      and risk ≥ 0.125 with chance        0.1429

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, 2014, theorem 5.1.
    """
    check_value("n_samples", n_samples, integer(1))
    check_value("domain_size", domain_size, integer(1, none=True))
    check_value("threshold", threshold, _share())
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


def _check(**shares: float) -> None:
    for name, value in shares.items():
        check_value(name, value, _share())

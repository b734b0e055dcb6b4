"""Regret of mixtures to oracles, with the bounds of their rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._text_table import text_table
from bosquet.experts.mixture import Mixture
from bosquet.experts.oracles import Oracle, OracleProblem, check_kind, find_oracle, read_problem
from bosquet.experts.rules import as_rule
from bosquet.experts.summary import format_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Regret:
    """Regret of a mixture to an oracle.

    Attributes
    ----------
    oracle : Oracle
    curve : array of shape (n_rows,)
        Cumulative loss of the mixture minus that of the oracle, after each row.
    total : float
        Last value of `curve`.
    bound : float
        Upper bound of `total` that the rule guarantees; NaN if it guarantees none.
    """

    oracle: Oracle
    curve: np.ndarray
    total: float
    bound: float

    def __repr__(self) -> str:
        bound = "" if np.isnan(self.bound) else f", at most {format_value(self.bound)}"
        return f"Regret(to {self.oracle!r}: {format_value(self.total)}{bound})"


def regret(
    mixture: Mixture,
    F: ArrayLike,
    y: ArrayLike,
    oracle: str = "expert",
    *,
    shifts: int = 1,
    awake: ArrayLike | None = None,
) -> Regret:
    """Return the regret of a fitted mixture to the best expert, combination or sequence of experts.

    The bound is that of the rule for an expert, and for a convex combination if the rule receives
    linearised losses. Only "ridge" has a bound for linear combinations, and only "fixed-share" for
    sequences with shifts.

    Parameters
    ----------
    mixture : Mixture
        Fitted to F and y, with its steps recorded (`history` not False).
    F, y, awake
        The data that it was fitted to.
    oracle : {"uniform", "expert", "convex", "linear", "shifts"}, default="expert"
        The competitor, as `kind` in `oracle`.
    shifts : int, default=1
        Maximum number of changes, for oracle="shifts".

    Returns
    -------
    Regret

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import Mixture, regret
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=400)
    >>> F = y[:, None] + rng.normal(size=(400, 3)) + [0.5, 0.0, -0.5]
    >>> mixture = Mixture("boa").fit(F, y)
    >>> for kind in ("expert", "convex"):
    ...     result = regret(mixture, F, y, kind)
    ...     print(f"{kind}: {result.total:.1f}, at most {result.bound:.0f}")
    expert: -301.3, at most 77
    convex: 6.5, at most 83
    """
    check_kind(oracle, "oracle")
    return _regret_of_problem(mixture, _problem_of(mixture, F, y, awake), oracle, shifts)


def _problem_of(
    mixture: Mixture, F: ArrayLike, y: ArrayLike | None, awake: ArrayLike | None
) -> OracleProblem:
    problem = read_problem(F, y, mixture.loss, mixture.quantile, mixture.classes, awake)
    if len(problem.truths) != len(mixture.losses_):
        raise ValueError(
            f"F has {len(problem.truths)} rows, but the mixture has recorded {len(mixture.losses_)}; pass"
            " the data that it was fitted to"
        )
    return problem


def _regret_of_problem(mixture: Mixture, problem: OracleProblem, kind: str, shifts: int) -> Regret:
    best = find_oracle(problem, kind, shifts)
    if kind == "expert":
        # A sleeping expert has the loss of the mixture; the bounds hold for this regret.
        losses = problem.losses(problem.forecasts)
        mixture_losses = mixture.losses_[:, None]
        excess = np.where(np.isnan(losses), 0.0, mixture_losses - losses)
        curve = excess[:, excess.sum(axis=0).argmax()].cumsum()
    else:
        curve = (mixture.losses_ - best.losses).cumsum()
    return Regret(best, curve, float(curve[-1]), _regret_bound(mixture, best, curve, shifts))


def _regret_bound(mixture: Mixture, best: Oracle, curve: np.ndarray, shifts: int) -> float:
    core = mixture._fitted_core
    if best.kind == "expert":
        return float(mixture.bound_[mixture.regret_.argmax()])
    if best.kind == "shifts":
        return float(core.bound_with_shifts(int(shifts)))
    linearised = mixture._linearised or as_rule(mixture.rule).name == "ridge"
    if best.weights is None or not linearised:
        return float("nan")
    return float(core.bound_to_combination(best.weights))


def simple_regret(weights: ArrayLike, losses: ArrayLike) -> float:
    """Return the expected loss of recommended weights minus that of the best expert.

    Parameters
    ----------
    weights : array of shape (n_experts,)
        The recommendation, from ``mixture.recommend(how)``.
    losses : array of shape (n_experts,)
        Expected losses of the experts, known or estimated on new rows.

    Examples
    --------
    >>> from bosquet.experts import play, simple_regret
    >>> import numpy as np
    >>> means = np.array([0.5, 0.4, 0.6])
    >>> losses = np.random.default_rng(0).random((2000, 3)) < means
    >>> game = play(losses, "exp3", loss_range=1, random_state=0)
    >>> simple_regret(game.recommend("most played"), means)
    0.0
    """
    weights, losses = np.asarray(weights, dtype=float), np.asarray(losses, dtype=float)
    if weights.shape != losses.shape or weights.ndim != 1 or weights.size == 0:
        raise ValueError(
            f"weights has shape {weights.shape} and losses has shape {losses.shape}; pass one weight and one"
            " loss per expert, shape (n_experts,)"
        )
    return float(weights @ losses - losses.min())


def _rule_label(mixture: Mixture) -> str:
    """Return the name of the rule, with its parameters that are not the defaults."""
    rule = as_rule(mixture.rule)
    defaults = type(rule)().get_params()
    changed = {k: v for k, v in rule.get_params().items() if repr(v) != repr(defaults[k])}
    if not changed:
        return rule.name
    return f"{rule.name} ({', '.join(f'{name}={value}' for name, value in changed.items())})"


class OracleTable:
    """Losses of oracles and mixtures, one row each; ``print`` shows it as a table.

    Attributes
    ----------
    rows : list of dict
        With `name`, `loss` (the mean over the rows), `rmse`, and for mixtures `regret` (the total regret to
        the best expert) and its `bound`.
    """

    def __init__(self, rows: list[dict[str, Any]]):
        self.rows = rows

    def __getitem__(self, name: str) -> dict[str, object]:
        for row in self.rows:
            if row["name"] == name:
                return row
        raise KeyError(name)

    def __str__(self) -> str:
        names = ["loss", "rmse", "regret", "bound"]
        if all(np.isnan(row["rmse"]) for row in self.rows):
            names.remove("rmse")
        titles = {"loss": "mean loss", "regret": "total regret", "bound": "its bound"}
        cells = [["", *(titles.get(name, name) for name in names)]]
        for row in self.rows:
            values = [row.get(name, float("nan")) for name in names]
            cells.append([row["name"], *("" if np.isnan(v) else format_value(v) for v in values)])
        return "\n".join(text_table(cells, gap=" "))

    __repr__ = __str__


def oracle_table(
    F: ArrayLike,
    y: ArrayLike,
    rules: Sequence[Any] = ("ewa", "ml-poly", "boa"),
    *,
    shifts: Sequence[int] = (1, 5),
    loss: Any = "square",
    quantile: float = 0.5,
    classes: ArrayLike | None = None,
    awake: ArrayLike | None = None,
    **options: Any,
) -> OracleTable:
    """Compare rules with oracles: mean of the experts, best expert, best combinations, best sequences.

    Parameters
    ----------
    F : array of shape (n_rows, n_experts)
    y : array of shape (n_rows,)
    rules : list of str, rules or Mixtures, or one of these, default=("ewa", "ml-poly", "boa")
        Mixtures are fitted with their own parameters; a rule is fitted as a mixture with `loss` and
        `options`.
    shifts : list of int, default=(1, 5)
        Numbers of shifts for which the best sequence is listed.
    loss, quantile, classes, awake
        As in `Mixture`.
    **options
        Other parameters of the mixtures.

    Returns
    -------
    OracleTable

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import oracle_table
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=400)
    >>> F = y[:, None] + rng.normal(size=(400, 3)) + [0.5, 0.0, -0.5]
    >>> print(oracle_table(F, y, ["ewa", "boa"], shifts=[2]))
                       mean loss  rmse total regret its bound
    uniform                0.323 0.568
    best expert             1.09  1.04
    best convex            0.321 0.566
    best linear            0.232 0.482
    best with 2 shifts     0.945 0.972
    ewa                    0.329 0.573         -305       126
    boa                    0.337 0.581         -301      77.1
    """
    rules = [rules] if isinstance(rules, str | Mixture) else rules
    problem = read_problem(F, y, loss, quantile, classes, awake)
    rows = []
    oracles = [("uniform", "uniform", 0), ("best expert", "expert", 0)]
    oracles += [("best convex", "convex", 0), ("best linear", "linear", 0)]
    oracles += [(f"best with {m} shift{'s' * (m != 1)}", "shifts", int(m)) for m in shifts]
    for name, kind, m in oracles:
        try:
            oracle = find_oracle(problem, kind, m)
        except ValueError:  # not defined for this loss, or with sleeping experts
            continue
        rows.append({"name": name, "loss": oracle.loss, "rmse": oracle.rmse, "oracle": oracle})
    for rule in rules:
        mixture = (
            rule
            if isinstance(rule, Mixture)
            else Mixture(rule, loss, quantile=quantile, classes=classes, **options)
        )
        mixture.fit(F, y, awake=awake)
        name = _rule_label(mixture)
        mean = mixture.loss_ / mixture.n_rows_
        leader = mixture.regret_.argmax()
        rows.append(
            {
                "name": name,
                "loss": mean,
                "rmse": float(np.sqrt(mean)) if problem.loss == "square" else float("nan"),
                "regret": float(mixture.regret_[leader]),
                "bound": float(mixture.bound_[leader]),
                "mixture": mixture,
            }
        )
    return OracleTable(rows)

"""The best that could have been done, in hindsight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import Check, number
from bosquet.experts._reading import read_classes, read_mask, read_truths
from bosquet.experts._solvers import (
    least_pinball,
    simplex_least_squares,
    simplex_log_loss,
    simplex_minimum,
)
from bosquet.experts.losses import UserLoss, loss_matrix, loss_of

KINDS = ("uniform", "expert", "convex", "linear", "shifts")
QUANTILE: Check = number(0, 1, open_low=True, open_high=True)


@dataclass(frozen=True)
class Oracle:
    """What a competitor that knew all truths would have done.

    Attributes
    ----------
    kind : str
    losses : array of shape (n_steps,)
        Its loss at each step.
    loss : float
        The mean of them.
    rmse : float
        Root of the mean square error; NaN for other losses than the square.
    weights : array of shape (n_experts,) or None
        Of a fixed combination.
    expert : int or None
        The best expert.
    sequence : array of shape (n_steps,) or None
        The expert followed at each step, of the best sequence with shifts.
    """

    kind: str
    losses: np.ndarray
    loss: float
    rmse: float
    weights: np.ndarray | None = None
    expert: int | None = None
    sequence: np.ndarray | None = None

    def __repr__(self) -> str:
        of = {"expert": f"best expert, number {self.expert}", "uniform": "uniform"}
        return f"Oracle({of.get(self.kind, f'best {self.kind}')}: mean loss {self.loss:.4g})"


@dataclass(frozen=True)
class Problem:
    """Forecasts, truths and a loss, read once."""

    forecasts: np.ndarray  # NaN: asleep
    truths: np.ndarray
    loss: str | UserLoss
    quantile: float
    labels: Any  # truths as a loss of the user's own sees them
    row_weight: np.ndarray | None = None  # of steps, in the search for the best convex combination

    @property
    def of_classes(self) -> bool:
        return self.forecasts.ndim == 3

    def losses(self, forecasts: np.ndarray) -> np.ndarray:
        truths = self.labels if isinstance(self.loss, UserLoss) else self.truths
        return loss_matrix(forecasts, truths, self.loss, self.quantile)

    def oracle(self, kind: str, losses: np.ndarray, **details: Any) -> Oracle:
        mean = float(losses.mean())
        rmse = float(np.sqrt(mean)) if self.loss == "square" else float("nan")
        return Oracle(kind, losses, mean, rmse, **details)

    def combined(self, weights: np.ndarray) -> np.ndarray:
        """Losses of a fixed combination."""
        return self.losses(np.tensordot(self.forecasts, weights, axes=(1, 0))[:, None])[:, 0]

    def stacked(self) -> tuple[np.ndarray, np.ndarray]:
        """One equation a number to be predicted: forecasts (equations, experts) and truths."""
        if not self.of_classes:
            return self.forecasts, self.truths
        classes = self.forecasts.shape[2]
        columns = self.forecasts.transpose(0, 2, 1).reshape(-1, self.forecasts.shape[1])
        return columns, np.eye(classes)[self.truths.astype(int)].ravel()


def read_problem(
    F: Any, y: Any, loss: Any, quantile: float, classes: Any, awake: Any = None
) -> Problem:
    named = loss_of(loss)
    labels = read_classes(classes)
    forecasts = np.array(F, dtype=float)
    if forecasts.ndim != (2 if labels is None else 3) or 0 in forecasts.shape:
        raise ValueError(
            f"F has shape {forecasts.shape}; it must have a row a step, a column an expert"
        )
    if not QUANTILE[0](quantile):
        raise ValueError(f"quantile={quantile!r} is out of range: it must be in (0, 1)")
    mask = read_mask(awake, forecasts.shape[:2])
    if mask is not None:
        forecasts[mask == 0] = np.nan
    if y is None and named == "linear":
        y = np.zeros(len(forecasts))
    if isinstance(named, UserLoss):
        truths = np.zeros(len(forecasts))
        if y is None or len(y) != len(forecasts):
            raise ValueError("there must be one truth a step")
    else:
        truths = read_truths(y, len(forecasts), labels)
        if named == "percentage" and (truths == 0).any():
            raise ValueError(
                f"y[{int(np.flatnonzero(truths == 0)[0])}] is 0, where a percentage means nothing"
            )
    return Problem(forecasts, truths, named, float(quantile), y)


def oracle(
    F: Any,
    y: Any,
    kind: str = "expert",
    *,
    loss: Any = "square",
    quantile: float = 0.5,
    classes: Any = None,
    shifts: int = 1,
    awake: Any = None,
) -> Oracle:
    """The best competitor of a kind, in hindsight.

    Parameters
    ----------
    F : array of shape (n_steps, n_experts), or with `classes` (n_steps, n_experts, n_classes)
    y : array of shape (n_steps,)
    kind : {"uniform", "expert", "convex", "linear", "shifts"}, default="expert"
        The mean of the experts; the best of them (over the steps at which it was awake, and the mean
        of the others where it was not); their best fixed combination with weights that are shares, or
        with any weights; the best sequence of experts that changes at most `shifts` times.
    loss, quantile, classes
        As in `Mixture`.
    shifts : int, default=1
    awake : array of shape (n_steps, n_experts), optional

    Returns
    -------
    Oracle

    Examples
    --------
    >>> from bosquet.experts import oracle
    >>> F, y = [[1.0, 3.0], [2.0, 4.0], [5.0, 3.0]], [2.0, 3.0, 4.0]
    >>> oracle(F, y, "expert").rmse, oracle(F, y, "convex").weights.round(2).tolist()
    (1.0, [0.5, 0.5])
    """
    check_kind(kind, "kind")
    problem = read_problem(F, y, loss, quantile, classes, awake)
    return find(problem, kind, shifts)


def check_kind(kind: Any, parameter: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"{parameter}={kind!r} must be one of {', '.join(map(repr, KINDS))}")


def find(problem: Problem, kind: str, shifts: int = 1) -> Oracle:
    """The oracle of a kind; ValueError where there is none for the loss or with sleeping experts."""
    if kind == "uniform":
        return _uniform(problem)
    if kind == "expert":
        return _best_expert(problem)
    if kind == "shifts":
        return _best_sequence(problem, shifts)
    if np.isnan(problem.forecasts).any():
        raise ValueError(
            f"the best {kind} combination needs every expert at every step, and some are asleep"
        )
    weights = _best_convex(problem) if kind == "convex" else _best_linear(problem)
    return problem.oracle(kind, problem.combined(weights), weights=weights)


def _uniform(problem: Problem) -> Oracle:
    n = problem.forecasts.shape[1]
    if problem.loss == "zero-one":
        votes = [_vote(f[~np.isnan(f).reshape(n, -1).any(axis=1)]) for f in problem.forecasts]
        losses = problem.losses(np.array(votes)[:, None])[:, 0]
    else:
        losses = problem.losses(np.nanmean(problem.forecasts, axis=1, keepdims=True))[:, 0]
    return problem.oracle("uniform", losses, weights=np.full(n, 1 / n))


def _vote(labels: np.ndarray) -> Any:
    """The commonest label, of equal ones the first; the mean of probabilities."""
    if labels.ndim == 2:
        return labels.mean(axis=0)
    counts = (labels[:, None] == labels).sum(axis=1)
    return labels[counts.argmax()]


def _best_expert(problem: Problem) -> Oracle:
    losses = problem.losses(problem.forecasts)
    if np.isnan(losses).any():
        mean = np.nanmean(losses, axis=1, keepdims=True)
        losses = np.where(np.isnan(losses), mean, losses)
    best = int(losses.mean(axis=0).argmin())
    weights = np.eye(losses.shape[1])[best]
    return problem.oracle("expert", losses[:, best], weights=weights, expert=best)


def _best_convex(problem: Problem) -> np.ndarray:
    X, y = problem.stacked()
    loss = problem.loss
    weight = problem.row_weight
    if loss == "square":
        each = None if weight is None else np.repeat(weight, len(y) // len(weight))
        return simplex_least_squares(X, y, each)
    if loss == "absolute":
        return least_pinball(X, y, 0.5, weight, simplex=True)
    if loss == "pinball":
        return least_pinball(X, y, problem.quantile, None, simplex=True)
    if loss == "percentage":
        return least_pinball(X, y, 0.5, 1 / np.abs(y), simplex=True)
    if loss == "log":
        return simplex_log_loss(_of_truth(problem), weight)
    if loss == "linear":
        return np.eye(X.shape[1])[X.mean(axis=0).argmin()]
    if loss == "zero-one":
        raise ValueError("the zero-one loss is not convex: there is no best combination to find")
    return simplex_minimum(lambda w: float(problem.combined(w).mean()), X.shape[1])


def _of_truth(problem: Problem) -> np.ndarray:
    """The probability that each expert gave to what came."""
    if problem.of_classes:
        rows = np.arange(len(problem.truths))
        return problem.forecasts[rows, :, problem.truths.astype(int)]
    y = problem.truths[:, None]
    return np.where(y > 0.5, problem.forecasts, 1 - problem.forecasts)


def _best_linear(problem: Problem) -> np.ndarray:
    X, y = problem.stacked()
    if problem.loss == "square":
        return np.linalg.lstsq(X, y, rcond=None)[0]
    if problem.loss in ("absolute", "pinball", "percentage"):
        quantile = problem.quantile if problem.loss == "pinball" else 0.5
        weight = 1 / np.abs(y) if problem.loss == "percentage" else None
        return least_pinball(X, y, quantile, weight, simplex=False)
    raise ValueError(
        "a best linear combination is found for square, absolute, percentage and pinball"
    )


def _best_sequence(problem: Problem, shifts: int) -> Oracle:
    """By dynamic programming over (shifts so far, expert)."""
    if not isinstance(shifts, int | np.integer) or shifts < 0:
        raise ValueError(f"shifts={shifts!r} must be an integer >= 0")
    losses = problem.losses(problem.forecasts)
    losses = np.where(np.isnan(losses), np.inf, losses)  # nobody follows an expert asleep
    steps, experts = losses.shape
    most = min(int(shifts), steps - 1)
    total = np.full((most + 1, experts), np.inf)
    total[0] = losses[0]
    shifted = np.zeros((steps, most + 1, experts), dtype=bool)
    best_before = np.zeros((steps, most + 1), dtype=np.intp)
    for t in range(1, steps):
        best = total.argmin(axis=1)
        best_before[t] = best
        arriving = np.full_like(total, np.inf)
        arriving[1:] = total[np.arange(most), best[:most]][:, None]
        shifted[t] = arriving < total
        total = np.where(shifted[t], arriving, total) + losses[t]
    m, k = np.unravel_index(total.argmin(), total.shape)
    if not np.isfinite(total[m, k]):
        raise ValueError(f"no sequence with {shifts} shifts avoids the experts that are asleep")
    path = np.empty(steps, dtype=np.intp)
    for t in range(steps - 1, -1, -1):
        path[t] = k
        if t and shifted[t, m, k]:
            m -= 1
            k = best_before[t, m]
    return problem.oracle("shifts", losses[np.arange(steps), path], sequence=path)

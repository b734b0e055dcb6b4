"""Oracles: the best expert, combination or sequence of experts in hindsight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._parameters import Check, number
from bosquet.experts._reading import read_classes, read_mask, read_truths
from bosquet.experts._solvers import (
    pinball_minimum,
    simplex_least_squares,
    simplex_log_loss,
    simplex_minimum,
)
from bosquet.experts.losses import CustomExpertLoss, as_loss, loss_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


KINDS = ("uniform", "expert", "convex", "linear", "shifts")
QUANTILE: Check = number(0, 1, open_low=True, open_high=True)


@dataclass(frozen=True)
class Oracle:
    """The best competitor of a kind in hindsight, chosen with knowledge of all truths.

    Attributes
    ----------
    kind : str
        "uniform", "expert", "convex", "linear" or "shifts".
    losses : array of shape (n_rows,)
        Its loss for each row.
    loss : float
        Mean of `losses`.
    rmse : float
        Root mean squared error; NaN for losses other than the square.
    weights : array of shape (n_experts,) or None
        Weights of a fixed combination.
    expert : int or None
        Index of the best expert, for kind="expert".
    sequence : array of shape (n_rows,) or None
        Index of the expert followed for each row, for kind="shifts".
    """

    kind: str
    losses: np.ndarray
    loss: float
    rmse: float
    weights: np.ndarray | None = None
    expert: int | None = None
    sequence: np.ndarray | None = None

    def __repr__(self) -> str:
        labels = {"expert": f"best expert, index {self.expert}", "uniform": "uniform"}
        return f"Oracle({labels.get(self.kind, f'best {self.kind}')}: mean loss {self.loss:.4g})"


@dataclass(frozen=True)
class OracleProblem:
    """Validated forecasts, truths and loss."""

    forecasts: np.ndarray  # NaN: the expert is asleep
    truths: np.ndarray
    loss: str | CustomExpertLoss
    quantile: float
    labels: Any  # truths as passed to a custom loss
    # Weights of the rows, used for the best convex combination.
    row_weight: np.ndarray | None = None

    @property
    def has_classes(self) -> bool:
        return self.forecasts.ndim == 3

    def losses(self, forecasts: np.ndarray) -> np.ndarray:
        truths = self.labels if isinstance(self.loss, CustomExpertLoss) else self.truths
        return loss_matrix(forecasts, truths, self.loss, self.quantile)

    def oracle(self, kind: str, losses: np.ndarray, **details: Any) -> Oracle:
        mean = float(losses.mean())
        rmse = float(np.sqrt(mean)) if self.loss == "square" else float("nan")
        return Oracle(kind, losses, mean, rmse, **details)

    def combination_losses(self, weights: np.ndarray) -> np.ndarray:
        """Return the losses of a fixed combination."""
        return self.losses(np.tensordot(self.forecasts, weights, axes=(1, 0))[:, None])[:, 0]

    def as_regression(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (X, y) of the regression on the experts; with classes, one row per row of F and class."""
        if not self.has_classes:
            return self.forecasts, self.truths
        classes = self.forecasts.shape[2]
        columns = self.forecasts.transpose(0, 2, 1).reshape(-1, self.forecasts.shape[1])
        return columns, np.eye(classes)[self.truths.astype(int)].ravel()


def read_problem(
    F: ArrayLike,
    y: Any,
    loss: Any,
    quantile: float,
    classes: ArrayLike | None,
    awake: ArrayLike | None = None,
) -> OracleProblem:
    loss_or_name = as_loss(loss)
    labels = read_classes(classes)
    forecasts = np.array(F, dtype=float)
    if forecasts.ndim != (2 if labels is None else 3) or 0 in forecasts.shape:
        raise ValueError(
            f"F has shape {forecasts.shape}; it must have shape (n_rows, n_experts), with classes (n_rows,"
            " n_experts, n_classes)"
        )
    if not QUANTILE[0](quantile):
        raise ValueError(f"quantile={quantile!r} is not valid: it must be in (0, 1)")
    mask = read_mask(awake, forecasts.shape[:2])
    if mask is not None:
        forecasts[mask == 0] = np.nan
    if y is None and loss_or_name == "linear":
        y = np.zeros(len(forecasts))
    if isinstance(loss_or_name, CustomExpertLoss):
        truths = np.zeros(len(forecasts))
        if y is None or len(y) != len(forecasts):
            raise ValueError(f"y must have one value per row; F has {len(forecasts)} rows")
    else:
        truths = read_truths(y, len(forecasts), labels, owner="this function")
        if loss_or_name == "percentage" and (truths == 0).any():
            raise ValueError(
                f"y[{int(np.flatnonzero(truths == 0)[0])}] is 0; loss='percentage' requires truths"
                " other than 0"
            )
    return OracleProblem(forecasts, truths, loss_or_name, float(quantile), y)


def oracle(
    F: ArrayLike,
    y: ArrayLike,
    kind: str = "expert",
    *,
    loss: Any = "square",
    quantile: float = 0.5,
    classes: ArrayLike | None = None,
    shifts: int = 1,
    awake: ArrayLike | None = None,
) -> Oracle:
    """Return the best competitor of a kind in hindsight.

    Parameters
    ----------
    F : array of shape (n_rows, n_experts), or with `classes` (n_rows, n_experts, n_classes)
    y : array of shape (n_rows,)
    kind : {"uniform", "expert", "convex", "linear", "shifts"}, default="expert"
        "uniform": the mean of the experts. "expert": the best expert; at steps at which an expert was
        asleep, its loss is the mean loss of the others. "convex": the best fixed combination with weights
        that are non-negative and sum to 1. "linear": the best fixed combination with any weights.
        "shifts": the best sequence of experts that changes at most `shifts` times.
    loss, quantile, classes
        As in `Mixture`.
    shifts : int, default=1
        Maximum number of changes, for kind="shifts".
    awake : array of shape (n_rows, n_experts), optional

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
    return find_oracle(problem, kind, shifts)


def check_kind(kind: Any, parameter: str) -> None:
    if kind not in KINDS:
        raise ValueError(
            f"{parameter}={kind!r} is not valid: {parameter} must be one of {', '.join(map(repr, KINDS))}"
        )


def find_oracle(problem: OracleProblem, kind: str, shifts: int = 1) -> Oracle:
    """Return the oracle of a kind; raise a ValueError if the loss or sleeping experts rule it out."""
    if kind == "uniform":
        return _uniform_oracle(problem)
    if kind == "expert":
        return _best_expert_oracle(problem)
    if kind == "shifts":
        return _best_sequence_oracle(problem, shifts)
    if np.isnan(problem.forecasts).any():
        raise ValueError(
            f"the best {kind} combination requires a forecast of every expert at every step, but F contains"
            " NaN or awake excludes experts; impute these forecasts, or use the oracle 'expert', 'uniform'"
            " or 'shifts'"
        )
    weights = _best_convex_weights(problem) if kind == "convex" else _best_linear_weights(problem)
    return problem.oracle(kind, problem.combination_losses(weights), weights=weights)


def _uniform_oracle(problem: OracleProblem) -> Oracle:
    n = problem.forecasts.shape[1]
    if problem.loss == "zero-one":
        votes = [
            _majority_vote(f[~np.isnan(f).reshape(n, -1).any(axis=1)]) for f in problem.forecasts
        ]
        losses = problem.losses(np.array(votes)[:, None])[:, 0]
    else:
        losses = problem.losses(np.nanmean(problem.forecasts, axis=1, keepdims=True))[:, 0]
    return problem.oracle("uniform", losses, weights=np.full(n, 1 / n))


def _majority_vote(labels: np.ndarray) -> Any:
    """Return the most frequent label, the first if tied; for probabilities, their mean."""
    if labels.ndim == 2:
        return labels.mean(axis=0)
    counts = (labels[:, None] == labels).sum(axis=1)
    return labels[counts.argmax()]


def _best_expert_oracle(problem: OracleProblem) -> Oracle:
    losses = problem.losses(problem.forecasts)
    if np.isnan(losses).any():
        mean = np.nanmean(losses, axis=1, keepdims=True)
        losses = np.where(np.isnan(losses), mean, losses)
    best = int(losses.mean(axis=0).argmin())
    weights = np.eye(losses.shape[1])[best]
    return problem.oracle("expert", losses[:, best], weights=weights, expert=best)


def _best_convex_weights(problem: OracleProblem) -> np.ndarray:
    X, y = problem.as_regression()
    loss = problem.loss
    weight = problem.row_weight
    if loss == "square":
        repeated = None if weight is None else np.repeat(weight, len(y) // len(weight))
        return simplex_least_squares(X, y, repeated)
    if loss == "absolute":
        return pinball_minimum(X, y, 0.5, weight, simplex=True)
    if loss == "pinball":
        return pinball_minimum(X, y, problem.quantile, None, simplex=True)
    if loss == "percentage":
        return pinball_minimum(X, y, 0.5, 1 / np.abs(y), simplex=True)
    if loss == "log":
        return simplex_log_loss(_truth_probabilities(problem), weight)
    if loss == "linear":
        return np.eye(X.shape[1])[X.mean(axis=0).argmin()]
    if loss == "zero-one":
        raise ValueError(
            "the best convex combination is not available for loss='zero-one', which is not convex; use"
            " another loss or the oracle 'expert'"
        )
    return simplex_minimum(lambda w: float(problem.combination_losses(w).mean()), X.shape[1])


def _truth_probabilities(problem: OracleProblem) -> np.ndarray:
    """Return the probability that each expert assigned to the observed truth."""
    if problem.has_classes:
        rows = np.arange(len(problem.truths))
        return problem.forecasts[rows, :, problem.truths.astype(int)]
    y = problem.truths[:, None]
    return np.where(y > 0.5, problem.forecasts, 1 - problem.forecasts)


def _best_linear_weights(problem: OracleProblem) -> np.ndarray:
    X, y = problem.as_regression()
    if problem.loss == "square":
        return np.linalg.lstsq(X, y, rcond=None)[0]
    if problem.loss in ("absolute", "pinball", "percentage"):
        quantile = problem.quantile if problem.loss == "pinball" else 0.5
        weight = 1 / np.abs(y) if problem.loss == "percentage" else None
        return pinball_minimum(X, y, quantile, weight, simplex=False)
    raise ValueError(
        "the best linear combination is only available for the losses 'square', 'absolute', 'percentage' and"
        f" 'pinball', not for loss={problem.loss!r}; use one of these losses, or the oracle 'convex'"
    )


def _best_sequence_oracle(problem: OracleProblem, shifts: int) -> Oracle:
    """Return the best sequence of experts, by dynamic programming over (shifts so far, expert)."""
    if not isinstance(shifts, int | np.integer) or shifts < 0:
        raise ValueError(f"shifts={shifts!r} is not valid: shifts must be an integer >= 0")
    losses = problem.losses(problem.forecasts)
    losses = np.where(np.isnan(losses), np.inf, losses)  # a sleeping expert cannot be followed
    steps, experts = losses.shape
    max_shifts = min(int(shifts), steps - 1)
    total = np.full((max_shifts + 1, experts), np.inf)
    total[0] = losses[0]
    shifted = np.zeros((steps, max_shifts + 1, experts), dtype=bool)
    best_before = np.zeros((steps, max_shifts + 1), dtype=np.intp)
    for t in range(1, steps):
        best = total.argmin(axis=1)
        best_before[t] = best
        after_shift = np.full_like(total, np.inf)
        after_shift[1:] = total[np.arange(max_shifts), best[:max_shifts]][:, None]
        shifted[t] = after_shift < total
        total = np.where(shifted[t], after_shift, total) + losses[t]
    m, k = np.unravel_index(total.argmin(), total.shape)
    if not np.isfinite(total[m, k]):
        raise ValueError(
            f"no sequence of experts with at most {shifts} shifts avoids sleeping experts; pass a"
            " larger shifts"
        )
    path = np.empty(steps, dtype=np.intp)
    for t in range(steps - 1, -1, -1):
        path[t] = k
        if t and shifted[t, m, k]:
            m -= 1
            k = best_before[t, m]
    return problem.oracle("shifts", losses[np.arange(steps), path], sequence=path)

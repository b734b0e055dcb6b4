"""Friedman's general algorithm: a sum of learners of any kind, and the step that adds those of a round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._sklearn import has_fit_parameter, rows_of, seeded_clone
from bosquet.boosting._inputs import error_naming_round, predicted_numbers
from bosquet.boosting.gradient._rows import EncodedRows

if TYPE_CHECKING:
    from bosquet._types import Estimator
    from bosquet.losses import CustomLoss, NativeLoss


class LearnerTerms:
    """Terms step * learner(X) of Friedman's general algorithm, one learner per output and round."""

    def __init__(self, base: np.ndarray):
        self.base = base
        self.rounds: list[list[tuple[float, Any]]] = []

    @property
    def n_rounds(self) -> int:
        return len(self.rounds)

    def truncate(self, n_rounds: int) -> None:
        del self.rounds[n_rounds:]

    def copy(self) -> LearnerTerms:
        other = LearnerTerms(self.base)
        other.rounds = list(self.rounds)
        return other

    def predict_raw(
        self, X: Any, threads: int, first: int = 0, last: int | None = None
    ) -> np.ndarray:
        rounds = self.rounds[first:last]
        start = self.base if first == 0 else np.zeros_like(self.base)
        columns = [
            start[k]
            + sum(step * _predict(learner, X, t) for t, (step, learner) in enumerate(terms, first))
            for k, terms in enumerate(zip(*rounds, strict=True))
        ]
        if not columns:
            return np.tile(start, (X.shape[0], 1))
        return np.column_stack(columns)


def _predict(learner: Any, X: Any, round_: int) -> np.ndarray:
    """Return one number per row; an error names the learner and its round."""
    try:
        return predicted_numbers(learner, X)
    except Exception as error:
        raise error_naming_round(error, learner, round_) from error


class LearnerStepper:
    """Fits a clone of `estimator` to the pseudo-residuals of each output, with a line search.

    In a round: r = -∂L/∂f; h = estimator fitted to r by least squares; α ≥ 0 that minimises
    L(f + α h); f ← f + ν α h.
    """

    def __init__(
        self,
        train: EncodedRows,
        validation: EncodedRows | None,
        loss: NativeLoss | CustomLoss,
        terms: LearnerTerms | None,
        *,
        estimator: Estimator,
        learning_rate: float,
        subsample: float,
        seed: int,
    ):
        self.train, self.validation, self.loss = train, validation, loss
        self.estimator = estimator
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.random = np.random.RandomState(seed)
        self.takes_weight = has_fit_parameter(estimator, "sample_weight")
        if terms is None:
            base = loss.best_constants(train.target, train.weight, train.offset)
            terms = LearnerTerms(np.asarray(base))
        self.terms = terms
        self.raw = train.with_offset(terms.predict_raw(train.columns, 1).T)
        loss.compare_derivatives(train.target, self.raw)
        self.validation_raw = (
            validation.with_offset(terms.predict_raw(validation.columns, 1).T)
            if validation
            else None
        )

    def release(self) -> None:
        """Free the rows and the state of the fit; only the terms remain."""
        del self.train, self.validation, self.raw, self.validation_raw

    def step(self) -> None:
        target, weight = self.train.target, self.train.weight
        self.loss.start_round(target, self.raw, weight)
        gradient, _ = self.loss.gradient_hessian(target, self.raw)
        rows = self._draw_rows()
        terms = []
        for k in range(self.loss.outputs):
            learner = self._fit_learner(-np.asarray(gradient[k], dtype=float), rows)
            direction = _predict(learner, self.train.columns, self.terms.n_rounds)
            step = self.learning_rate * self._line_search(k, direction, rows)
            terms.append((step, learner))
            self.raw[k] += step * direction
            if self.validation is not None and self.validation_raw is not None:
                self.validation_raw[k] += step * _predict(
                    learner, self.validation.columns, self.terms.n_rounds
                )
        self.terms.rounds.append(terms)

    def _draw_rows(self) -> np.ndarray | None:
        if self.subsample >= 1:
            return None
        size = max(1, round(self.subsample * self.train.n_rows))
        return np.sort(self.random.permutation(self.train.n_rows)[:size])

    def _fit_learner(self, residual: np.ndarray, rows: np.ndarray | None) -> Any:
        learner = seeded_clone(self.estimator, self.random, keep_set=True)
        X, weight = self.train.columns, self.train.weight
        if rows is not None:
            X, residual = rows_of(X, rows), residual[rows]
            weight = weight[rows] if weight.size else weight
        if weight.size and self.takes_weight:
            return learner.fit(X, residual, sample_weight=weight)
        if weight.size:
            # A learner without sample_weight is fitted to a sample drawn with these probabilities.
            drawn = self.random.choice(residual.size, residual.size, p=weight / weight.sum())
            return learner.fit(rows_of(X, drawn), residual[drawn])
        return learner.fit(X, residual)

    def _line_search(self, k: int, direction: np.ndarray, rows: np.ndarray | None) -> float:
        """Return the step ≥ 0 at which the loss along `direction` stops decreasing.

        Doubling brackets the zero of the slope, and bisection finds it; the losses are convex along a line.
        """
        selected_rows = slice(None) if rows is None else rows
        target, raw = self.train.target[:, selected_rows], self.raw[:, selected_rows].copy()
        target, start = np.ascontiguousarray(target), raw[k].copy()
        direction = direction[selected_rows]
        weighted = (
            direction * self.train.weight[selected_rows] if self.train.weight.size else direction
        )

        def slope(step: float) -> float:
            raw[k] = start + step * direction
            return float(self.loss.gradient_hessian(target, raw)[0][k] @ weighted)

        if not slope(0.0) < 0:
            return 0.0
        low, high = 0.0, 1.0
        while slope(high) < 0:
            low, high = high, 2 * high
            if high > 1e6:
                return low
        while high - low > 1e-8 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        return (low + high) / 2

    def train_loss(self) -> float:
        return self.loss.mean_loss(self.train.target, self.raw, self.train.weight)

    def validation_loss(self) -> float | None:
        if self.validation is None or self.validation_raw is None:
            return None
        return self.loss.mean_loss(
            self.validation.target, self.validation_raw, self.validation.weight
        )

    def timings(self) -> dict[str, float]:
        return {}

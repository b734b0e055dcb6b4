"""Validation schemes: estimates of a candidate's score from the training rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bosquet._folds import fold_numbers
from bosquet.study.methods.candidates import (
    SelfTuned,
    Staged,
    ValidationPredictions,
    trial_estimator,
)
from bosquet.study.methods.method import Candidate, Method
from bosquet.study.metrics.metric import Metric, predictions_for
from bosquet.study.table.design import Design
from bosquet.study.table.design_splits import design_folds, design_validation
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning.information_criteria import information_criterion
from bosquet.study.tuning.tree_batches import IsOver, fit_in_time

# From this many rows on, one validation set of a fifth of the rows replaces cross-validation by default.
LARGE = 5_000
# Share of the rows in the validation set, and groups of the jackknife standard error of its score.
VALIDATION_SHARE, JACKKNIFE_GROUPS = 0.2, 10
# With fewer bootstrap samples too many rows are in all of them and never out-of-bag.
MIN_BAGS = 10
# The .632 of Efron's estimate: the expected share of distinct rows in a bootstrap sample, 1 - 1/e.
DISTINCT_SHARE = 1 - np.exp(-1)


@dataclass(frozen=True)
class CandidateEvaluation:
    """The score of a candidate, and the fits and predictions that can be used again.

    Attributes
    ----------
    score : float
    standard_error : float or None
        Of the score, if the scheme has one.
    fitted_to_all_rows : fitted estimator, if the scheme makes such a fit; else None
    fitted_without_validation : estimator fitted to the rows outside the validation set, or None
        It is kept if the time limit stops the fit to all rows.
    validation_predictions : ValidationPredictions or None
        Predictions of `fitted_without_validation` for the validation set, from which a decision threshold can
        be chosen.
    finished : bool
        False if the time limit ended the fit early.
    """

    score: float
    standard_error: float | None = None
    fitted_to_all_rows: Any = None
    fitted_without_validation: Any = None
    validation_predictions: ValidationPredictions | None = None
    finished: bool = True

    def without_fit(self) -> CandidateEvaluation:
        """Return a copy without the fits and predictions, to free memory."""
        return replace(
            self,
            fitted_to_all_rows=None,
            fitted_without_validation=None,
            validation_predictions=None,
        )


class ValidationScheme:
    """Base class: `tasks` lists independent tasks, `evaluate` runs one, `combine` merges their results."""

    title: ClassVar[str]
    # Name of a criterion that replaces the metric; lower is better.
    criterion: ClassVar[str | None] = None

    is_over: IsOver | None = None  # whether the hard time limit is reached; None without a limit

    def __init__(self, rows: TableRows, metric: Metric, folds: int, seed: int):
        self.rows, self.metric, self.folds, self.seed = rows, metric, folds, seed

    def tasks(self) -> Sequence[Any]:
        return [None]

    def evaluate(self, group: Sequence[Candidate], task: Any) -> list[CandidateEvaluation]:
        raise NotImplementedError

    def combine(self, evaluations: Sequence[CandidateEvaluation]) -> CandidateEvaluation:
        return evaluations[0]

    def fit(self, candidate: Candidate, rows: TableRows) -> tuple[Any, bool]:
        """Return the fitted candidate, and False if the time limit ended the fit early."""
        return fit_in_time(trial_estimator(candidate, self.seed), rows, self.seed, self.is_over)

    def predictions(self, group: Sequence[Candidate], fitted: Any, X: Any) -> list[np.ndarray]:
        """Return the predictions of each candidate of a group for X; `fitted` is the fit of the last one."""
        last = group[-1]
        if not isinstance(last, Staged):
            return [predictions_for(fitted, X, self.metric)]
        stages = last.stages(fitted, X, [candidate.complexity for candidate in group])
        return [with_all_classes(predictions, fitted, self.metric) for predictions in stages]


class CrossValidation(ValidationScheme):
    """k-fold cross-validation; with a time column, folds are predicted from earlier rows."""

    def __init__(self, rows: TableRows, metric: Metric, folds: int, seed: int):
        super().__init__(rows, metric, min(folds, len(rows)), seed)
        self.title = f"{self.folds}-fold cross-validation"  # type: ignore[misc]
        if rows.design.time is not None:
            self.title = f"rolling origin over {self.folds} folds"  # type: ignore[misc]

    def tasks(self) -> Sequence[Any]:
        by_design = design_folds(self.rows.design, self.folds, self.seed)
        if by_design is not None:
            return by_design
        fold = fold_numbers_for(self.metric, self.rows.y, self.folds, self.seed)
        splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(self.folds)]
        return [(train, test) for train, test in splits if len(test)]

    def evaluate(self, group: Sequence[Candidate], task: Any) -> list[CandidateEvaluation]:
        train, validation = (self.rows.take(indices) for indices in task)
        fitted, _ = self.fit(group[-1], train)  # not kept: the final fit is to all rows
        return [
            CandidateEvaluation(self.metric.score(validation.y, predictions, validation.weight))
            for predictions in self.predictions(group, fitted, validation.X)
        ]

    def combine(self, evaluations: Sequence[CandidateEvaluation]) -> CandidateEvaluation:
        scores = np.array([evaluation.score for evaluation in evaluations])
        standard_error = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else None
        return CandidateEvaluation(
            float(scores.mean()), None if standard_error is None else float(standard_error)
        )


class HoldoutValidation(ValidationScheme):
    """A single validation set, the same for all candidates."""

    title = "validation rows"

    def tasks(self) -> Sequence[Any]:
        return [validation_rows(self.rows, self.metric, self.seed)]

    def evaluate(self, group: Sequence[Candidate], task: Any) -> list[CandidateEvaluation]:
        train, validation = (self.rows.take(indices) for indices in task)
        fitted, _ = self.fit(group[-1], train)
        evaluations = [
            replace(
                evaluate_predictions(
                    self.metric, validation.y, predictions, validation.weight, self.seed
                ),
                validation_predictions=ValidationPredictions(
                    predictions, validation.y, validation.weight
                ),
            )
            for predictions in self.predictions(group, fitted, validation.X)
        ]
        # With `make_trial` a cheaper estimator was fitted in place of the candidate; it cannot be kept.
        is_candidate = getattr(group[-1], "make_trial", None) is None
        return [
            *evaluations[:-1],
            replace(evaluations[-1], fitted_without_validation=fitted if is_candidate else None),
        ]


class OutOfBagValidation(ValidationScheme):
    """Out-of-bag predictions of a fit to all rows, which needs no further fit."""

    title = "out of bag"

    def evaluate(self, group: Sequence[Candidate], task: Any) -> list[CandidateEvaluation]:
        fitted, finished = self.fit(group[-1], self.rows)
        classification = is_classification(self.metric)
        oob = getattr(
            fitted, "oob_decision_function_" if classification else "oob_prediction_", None
        )
        if oob is None:
            raise ValueError(
                f"{type(fitted).__name__} has no out-of-bag predictions; tune it by 'cv' or 'validation'"
            )
        has_prediction = ~np.isnan(oob if oob.ndim == 1 else oob[:, 0])
        y, weight = self.rows.y[has_prediction], self.rows.weight
        weight = None if weight is None else weight[has_prediction]
        predictions = with_all_classes(oob[has_prediction], fitted, self.metric)
        evaluation = evaluate_predictions(self.metric, y, predictions, weight, self.seed)
        return [replace(evaluation, fitted_to_all_rows=fitted, finished=finished)]


class BootstrapValidation(ValidationScheme):
    """Efron's .632 estimate: 0.632 times the out-of-bag score plus 0.368 times the training score."""

    title = "bootstrap (.632)"

    def tasks(self) -> Sequence[Any]:
        bags = max(MIN_BAGS, self.folds)
        return [None, *draw_bags(len(self.rows), bags, self.seed)]

    def evaluate(self, group: Sequence[Candidate], task: Any) -> list[CandidateEvaluation]:
        if task is None:
            train = scored_rows = self.rows
        else:
            train = self.rows.take(task)
            out_of_bag = np.setdiff1d(np.arange(len(self.rows)), task)
            if not len(out_of_bag):
                return [CandidateEvaluation(float("nan")) for _ in group]
            scored_rows = self.rows.take(out_of_bag)
        fitted, finished = self.fit(group[-1], train)
        is_single = len(group) == 1 and not isinstance(group[0], Staged)
        keep = fitted if task is None and is_single else None
        return [
            CandidateEvaluation(
                self.metric.score(scored_rows.y, predictions, scored_rows.weight),
                None,
                keep,
                finished=finished,
            )
            for predictions in self.predictions(group, fitted, scored_rows.X)
        ]

    def combine(self, evaluations: Sequence[CandidateEvaluation]) -> CandidateEvaluation:
        training, *others = evaluations
        oob = np.array(
            [evaluation.score for evaluation in others if not np.isnan(evaluation.score)]
        )
        if not len(oob):
            return replace(training, standard_error=None)
        score = DISTINCT_SHARE * float(oob.mean()) + (1 - DISTINCT_SHARE) * training.score
        standard_error = (
            DISTINCT_SHARE * oob.std(ddof=1) / np.sqrt(len(oob)) if len(oob) > 1 else None
        )
        return replace(
            training,
            score=score,
            standard_error=None if standard_error is None else float(standard_error),
        )


class _InformationCriterion(ValidationScheme):
    def evaluate(self, group: Sequence[Candidate], task: Any) -> list[CandidateEvaluation]:
        fitted, _ = self.fit(group[-1], self.rows)
        rows = self.rows
        value = information_criterion(fitted, rows.X, rows.y, rows.weight, self.title.lower())
        return [CandidateEvaluation(value, None, fitted)]


class AkaikeCriterion(_InformationCriterion):
    """Akaike information criterion: 2k - 2 ln L on the training rows."""

    title = criterion = "AIC"


class BayesianCriterion(_InformationCriterion):
    """Bayesian information criterion: k ln n - 2 ln L on the training rows."""

    title = criterion = "BIC"


SCHEMES: dict[str, type[ValidationScheme]] = {
    "cv": CrossValidation,
    "validation": HoldoutValidation,
    "oob": OutOfBagValidation,
    "bootstrap": BootstrapValidation,
    "aic": AkaikeCriterion,
    "bic": BayesianCriterion,
}


def scheme_for(
    method: Method, scheme: str | None, n_rows: int, design: Design | None = None
) -> str:
    """Return `scheme`, or the method's default; with many rows a validation set replaces folds.

    Bootstrap samples would divide groups and mix times. With such a design, folds or a validation set replace
    them.
    """
    if design and design.has_dependent_rows and (scheme or method.scheme) in ("oob", "bootstrap"):
        return "validation" if n_rows >= LARGE else "cv"
    if scheme is None:
        return "validation" if method.scheme == "cv" and n_rows >= LARGE else method.scheme
    if scheme not in SCHEMES:
        raise ValueError(
            f"scheme={scheme!r} is not valid: scheme must be one of {', '.join(SCHEMES)}, or None"
        )
    return scheme


def supports_scheme(method: Method, candidates: Sequence[Candidate], scheme: str) -> bool:
    """Return whether a method can be tuned by a scheme: "oob" needs bags, "aic" and "bic" a likelihood."""
    if all(isinstance(candidate, SelfTuned) for candidate in candidates):
        return all(
            scheme in candidate.ways for candidate in candidates if isinstance(candidate, SelfTuned)
        )
    if scheme == "oob":
        return method.scheme == "oob"
    return method.likelihood or scheme not in ("aic", "bic")


def is_classification(metric: Metric) -> bool:
    """Return whether a metric is for classification."""
    return bool(metric.needs != "number")


def fold_numbers_for(metric: Metric, y: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row: stratified by class if the metric is for classification."""
    classes = np.unique(y, return_inverse=True)[1] if is_classification(metric) else None
    return fold_numbers(len(y), n_folds, seed, classes)


def validation_rows(rows: TableRows, metric: Metric, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the row indices of the training part and of the validation set, following the design."""
    by_design = design_validation(rows.design, VALIDATION_SHARE, seed)
    if by_design is not None:
        return by_design
    folds = max(2, round(1 / VALIDATION_SHARE))
    fold = fold_numbers_for(metric, rows.y, folds, seed)
    return np.flatnonzero(fold), np.flatnonzero(fold == 0)


def draw_bags(n_rows: int, bags: int, seed: int) -> list[np.ndarray]:
    """Return the row indices of each bootstrap sample; a sample has as many rows as the table."""
    rng = np.random.RandomState(seed)
    return [rng.randint(n_rows, size=n_rows) for _ in range(bags)]


def with_all_classes(predictions: np.ndarray, fitted: Any, metric: Metric) -> np.ndarray:
    """Return probabilities with one column per class of the metric; 0 for classes unknown to the fit."""
    if not is_classification(metric) or predictions.shape[1] == len(metric.classes):
        return predictions
    all_columns = np.zeros((len(predictions), len(metric.classes)))
    all_columns[:, np.searchsorted(metric.classes, fitted.classes_)] = predictions
    return all_columns


def evaluate_predictions(
    metric: Metric, y: np.ndarray, predictions: np.ndarray, weight: np.ndarray | None, seed: int
) -> CandidateEvaluation:
    """Return the score of predictions, with the standard error of the grouped jackknife.

    With s₋ᵢ the score without group i of g, the standard error is √((g - 1)/g Σ (s₋ᵢ - s̄)²).
    """
    score = metric.score(y, predictions, weight)
    if len(y) < 2 * JACKKNIFE_GROUPS:
        return CandidateEvaluation(score)
    group = fold_numbers_for(metric, y, JACKKNIFE_GROUPS, seed)
    without_group = []
    for k in range(JACKKNIFE_GROUPS):
        others = group != k
        w = None if weight is None else weight[others]
        without_group.append(metric.score(y[others], predictions[others], w))
    scores = np.array(without_group)
    factor = (JACKKNIFE_GROUPS - 1) / JACKKNIFE_GROUPS
    return CandidateEvaluation(
        score, float(np.sqrt(factor * ((scores - scores.mean()) ** 2).sum()))
    )

"""The search over a method's candidates: which are evaluated, which are skipped, which one is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from bosquet.study.methods.candidates import (
    SelfTuned,
    SelfTuningResult,
    TuningTask,
    ValidationPredictions,
    groups_of,
)
from bosquet.study.methods.method import Candidate, Method
from bosquet.study.methods.pipelines import takes_weights
from bosquet.study.metrics.metric import Metric
from bosquet.study.record import CurvePoint, CurveRecord
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning.fit_attempts import FitAttempt, first_line, try_all
from bosquet.study.tuning.options import TuningOptions
from bosquet.study.tuning.stopping import OutOfTime
from bosquet.study.tuning.time_limits import FitTimer
from bosquet.study.tuning.tree_batches import FORESTS, IsOver, fit_in_time
from bosquet.study.tuning.validation import (
    CandidateEvaluation,
    ValidationScheme,
    evaluate_predictions,
    validation_rows,
)

STOPPED = "stopped by the time limit: fitted to the training rows without the validation set"
# Duration of the fit to all rows relative to a fit without the validation set.
FINAL_FIT_RATIO = 1.25
# Below this number of rows the threads of scikit-learn's estimators cost more time than they save.
THREADS_FROM = 5_000


@dataclass(frozen=True)
class TuningResult:
    """A tuned method: the chosen hyper-parameters and the fitted estimator.

    Attributes
    ----------
    setting : dict
        The chosen hyper-parameters.
    curve : CurveRecord or None
        Validation score against complexity; None if there was nothing to tune.
    candidate : Candidate
        The chosen candidate, which can make further unfitted estimators.
    estimator : estimator
        The chosen candidate, fitted to all rows.
    message : str
        Skipped candidates with the reasons, and warnings of the fit; "" if there are none.
    seconds : float
        Time of tuning and fitting.
    fit_seconds : float or None
        Time of the final fit to all rows. If there was no time for it, the time of the longest fit; None if
        the scheme already made a fit to all rows.
    validation_predictions : ValidationPredictions or None
        Predictions of the chosen candidate for rows it was not fitted to, with the targets and weights of
        these rows.
    finished : bool
        False if the hard limit ended the boosting rounds or the trees of a forest early, or left no time for
        the final fit. In the latter case `estimator` is fitted without the validation set.
    ranking : sequence of (Candidate, CandidateEvaluation)
        The evaluated candidates, best first; empty if there was nothing to tune.
    """

    setting: dict[str, Any]
    curve: CurveRecord | None
    candidate: Candidate
    estimator: Any
    message: str
    seconds: float
    fit_seconds: float | None
    validation_predictions: ValidationPredictions | None = None
    finished: bool = True
    ranking: Sequence[tuple[Candidate, CandidateEvaluation]] = ()


@dataclass
class _EvaluatedCandidate:
    """A candidate with its evaluation and the warnings of its fits."""

    candidate: Candidate
    evaluation: CandidateEvaluation
    warned: list[str]


class CandidateSearch:
    """Search over the candidates of one method.

    Attributes
    ----------
    evaluated : list
        The candidates that were evaluated so far, in their order.
    ranking : list of (Candidate, CandidateEvaluation)
        The same, best first.
    notes : list of str
        What was skipped and why.
    longest : float
        Seconds of the longest fit so far.
    """

    def __init__(
        self,
        method: Method,
        candidates: Sequence[Candidate],
        rows: TableRows,
        metric: Metric,
        options: TuningOptions,
        seed: int,
        timer: FitTimer,
    ):
        self.method, self.candidates, self.rows, self.metric = method, candidates, rows, metric
        self.options, self.seed, self.timer = options, seed, timer
        self.higher_is_better = bool(metric.higher_is_better)
        # Bosquet's estimators use one thread on small tables by themselves; scikit-learn's, which are in
        # pipelines, do not.
        piped = isinstance(candidates[0].make(0), Pipeline)
        self.inner_threads = 1 if piped and len(rows) < THREADS_FROM else None
        self.evaluated: list[_EvaluatedCandidate] = []
        self.ranking: list[tuple[Candidate, CandidateEvaluation]] = []
        self.notes: list[str] = []
        self.longest = 0.0

    @property
    def _is_over(self) -> IsOver | None:
        return None if self.timer.limits.hard is None else self.timer.is_over

    # ------------------------------------------------------------ ways to choose
    def fit_only(self, candidate: Candidate) -> TuningResult:
        """Fit the only candidate, without tuning."""
        return self._fit_chosen(candidate, None, CandidateEvaluation(np.nan), [])

    def choose_by_scheme(self, scheme: ValidationScheme) -> TuningResult:
        """Choose among candidates that are all evaluated by the same scheme."""
        scheme.is_over = self._is_over
        self.higher_is_better = self.metric.higher_is_better and scheme.criterion is None
        self._evaluate_groups(scheme)
        chosen = self._choose_candidate()
        points = _validation_curve(self.evaluated, chosen, self.higher_is_better)
        title = scheme.criterion or self.metric.title
        curve = _curve_record(
            self.method.parameter, self.method.log_axis, scheme.title, title, points
        )
        return self._fit_chosen(chosen.candidate, curve, chosen.evaluation, chosen.warned)

    def choose_self_tuned(self, scheme: str) -> TuningResult:
        """Choose among candidates that find their own complexity, by their scores on the validation set."""
        train, validation = validation_rows(self.rows, self.metric, self.seed)
        task = TuningTask(
            self.rows, self.metric, scheme, self.options.folds, self.options.rule == "1se", self.seed,
            train, validation, self._score_of(validation), self.timer.is_over,
            lambda seconds: self.timer.allows(seconds) and not self.timer.is_over(seconds),
        )  # fmt: skip
        results: list[SelfTuningResult] = []  # of the evaluated candidates
        for candidate in self.candidates:
            # Every further candidate is expected to take as long as the longest so far.
            if self.evaluated and not self.timer.allows(self.longest):
                self._note_time()
                break
            assert isinstance(candidate, SelfTuned)
            attempt = try_all(candidate.tune, [(task,)], timer=self.timer)[0]
            self.longest = max(self.longest, attempt.seconds)
            if self._is_stopped(attempt):
                break
            if self._note_failure([candidate], [attempt]):
                continue
            result: SelfTuningResult = attempt.value
            evaluation = CandidateEvaluation(
                result.score,
                result.standard_error,
                result.fitted_to_all_rows,
                result.fitted_without_validation,
                result.validation_predictions,
                result.finished,
            )
            self.evaluated.append(_EvaluatedCandidate(candidate, evaluation, attempt.warned))
            results.append(
                replace(
                    result,
                    fitted_to_all_rows=None,
                    fitted_without_validation=None,
                    validation_predictions=None,
                )
            )
            self._keep_fit_of_best()
            if self.timer.is_over() and len(self.evaluated) < len(self.candidates):
                self._note_time()
                break
        chosen = self._choose_candidate()
        best = results[next(k for k, member in enumerate(self.evaluated) if member is chosen)]
        curve = _curve_record(
            best.parameter, best.log_axis, best.scheme_title, best.score_title, best.points
        )
        return self._fit_chosen(best.candidate, curve, chosen.evaluation, chosen.warned)

    def _score_of(
        self, validation: np.ndarray
    ) -> Callable[[np.ndarray], tuple[float, float | None]]:
        """Return a function that scores predictions for the rows `validation`, with the standard error."""
        y, weight = self.rows.y[validation], self.rows.weight
        weight = None if weight is None else weight[validation]

        def score(predictions: np.ndarray) -> tuple[float, float | None]:
            evaluation = evaluate_predictions(self.metric, y, predictions, weight, self.seed)
            return evaluation.score, evaluation.standard_error

        return score

    # --------------------------------------------------------------- evaluation
    def _evaluate_groups(self, scheme: ValidationScheme) -> None:
        """Evaluate the candidates, group by group, until they are finished or time is up."""
        tasks = list(scheme.tasks())
        last_seconds = 0.0
        for group in groups_of(self.candidates):
            # A group is not started if, at the speed of the last one, it would not finish in time.
            if self.evaluated and not self.timer.allows(last_seconds):
                self._note_time()
                break
            elapsed_before = self.timer.elapsed
            attempts = try_all(
                scheme.evaluate,
                [(group, task) for task in tasks],
                workers=self.options.n_workers,
                timer=self.timer,
                inner=self.inner_threads,
            )
            last_seconds = self.timer.elapsed - elapsed_before
            self.longest = max([self.longest, *(attempt.seconds for attempt in attempts)])
            begun = [attempt for attempt in attempts if attempt.begun]
            if any(self._is_stopped(attempt) for attempt in begun):
                break
            if self._note_failure(group, begun):
                continue
            if len(begun) < len(attempts):
                if self.evaluated:
                    self._note_time()
                    break
                self.notes.append(
                    f"time for {len(begun)} of {len(attempts)} folds or bootstrap samples"
                )
            self._add_group(group, begun, scheme)

    def _add_group(
        self, group: Sequence[Candidate], attempts: Sequence[FitAttempt], scheme: ValidationScheme
    ) -> None:
        """Add the candidates of a group whose score is finite."""
        warned = _distinct_texts(text for attempt in attempts for text in attempt.warned)
        for k, candidate in enumerate(group):
            evaluation = scheme.combine([attempt.value[k] for attempt in attempts])
            if np.isfinite(evaluation.score):
                self.evaluated.append(_EvaluatedCandidate(candidate, evaluation, warned))
            else:
                self.notes.append(f"{candidate.label} skipped: its score is not a finite number")
        self._keep_fit_of_best()

    def _keep_fit_of_best(self) -> None:
        """Delete the fits of all candidates except the best one so far, to free memory."""
        best = self._choose_candidate() if self.evaluated else None
        for entry in self.evaluated:
            if entry is not best:
                entry.evaluation = entry.evaluation.without_fit()

    def _is_stopped(self, attempt: FitAttempt) -> bool:
        """Return whether the hard limit stopped a fit; raise OutOfTime if no candidate is evaluated yet."""
        if not isinstance(attempt.error, OutOfTime):
            return False
        if not self.evaluated:
            raise attempt.error
        self._note_time()
        return True

    def _note_failure(self, group: Sequence[Candidate], attempts: Sequence[FitAttempt]) -> bool:
        error = next((attempt.error for attempt in attempts if attempt.error is not None), None)
        if error is None:
            return False
        labels = group[0].label if len(group) == 1 else f"{group[0].label} to {group[-1].label}"
        self.notes.append(f"{labels} skipped: {first_line(error)}")
        return True

    def _note_time(self) -> None:
        self.notes.append(f"time for {len(self.evaluated)} of {len(self.candidates)} candidates")

    # ------------------------------------------------------------------- choice
    def _choose_candidate(self) -> _EvaluatedCandidate:
        """Return the best candidate, or the least complex one within a standard error of it."""
        if not self.evaluated:
            raise ValueError(
                f"{self.method.title}: no candidate could be fitted; {'; '.join(self.notes[:3])}"
            )
        sign = 1.0 if self.higher_is_better else -1.0
        scores = np.array([sign * entry.evaluation.score for entry in self.evaluated])
        best = self.evaluated[int(scores.argmax())]
        ranked = [self.evaluated[k] for k in np.argsort(-scores, kind="stable")]
        self.ranking = [(entry.candidate, entry.evaluation.without_fit()) for entry in ranked]
        if self.options.rule == "best" or best.evaluation.standard_error is None:
            return best
        within = scores >= scores.max() - best.evaluation.standard_error
        close = [entry for entry, is_close in zip(self.evaluated, within, strict=True) if is_close]
        return min(close, key=lambda entry: entry.candidate.complexity)

    def _fit_chosen(
        self,
        candidate: Candidate,
        curve: CurveRecord | None,
        evaluation: CandidateEvaluation,
        warned: Sequence[str],
    ) -> TuningResult:
        """Fit the chosen candidate to all rows; without time for it, keep the fit that was evaluated."""
        warnings, fit_seconds, finished = list(warned), None, evaluation.finished
        estimator = evaluation.fitted_to_all_rows
        if estimator is None:
            attempt = self._fit_to_all_rows(candidate, evaluation)
            if isinstance(attempt.error, OutOfTime) or not attempt.begun:
                if evaluation.fitted_without_validation is None:
                    assert isinstance(attempt.error, OutOfTime)
                    raise attempt.error
                estimator, fit_seconds, finished = (
                    evaluation.fitted_without_validation,
                    self.longest,
                    False,
                )
                self.notes.append(STOPPED)
            elif attempt.error is not None:
                raise ValueError(
                    f"{self.method.title} with {candidate.label}: {first_line(attempt.error)}"
                ) from attempt.error
            else:
                estimator, finished = attempt.value
                warnings, fit_seconds = attempt.warned, attempt.seconds
        if not finished and isinstance(estimator, FORESTS):
            trees = candidate.setting.get("n_estimators")
            of_trees = f" of {trees}" if trees else ""
            self.notes.append(
                f"stopped by the time limit: {estimator.n_estimators_}{of_trees} trees"
            )
        return TuningResult(
            setting=dict(candidate.setting),
            curve=curve,
            candidate=candidate,
            estimator=estimator,
            message="; ".join(_distinct_texts([*self.notes, *warnings])),
            seconds=self.timer.elapsed,
            fit_seconds=fit_seconds,
            validation_predictions=evaluation.validation_predictions,
            finished=finished,
            ranking=tuple(self.ranking),
        )

    def _fit_to_all_rows(self, candidate: Candidate, evaluation: CandidateEvaluation) -> FitAttempt:
        """Make the final fit; skip it if it would be stopped and another fit can be kept instead."""
        if evaluation.fitted_without_validation is not None and self.timer.is_over(
            FINAL_FIT_RATIO * self.longest
        ):
            return FitAttempt(begun=False)
        estimator = candidate.make(self.seed)
        if self.rows.weight is not None and not takes_weights(estimator):
            self.notes.append("sample weights are not used: the method does not support them")
        calls = [(estimator, self.rows, self.seed, self._is_over)]
        return try_all(fit_in_time, calls, inner=self.inner_threads, timer=self.timer)[0]


def _validation_curve(
    evaluated: Sequence[_EvaluatedCandidate], chosen: _EvaluatedCandidate, higher: bool
) -> list[CurvePoint]:
    """Return the validation curve: the best candidate of each complexity, and the chosen one."""
    best: dict[float, _EvaluatedCandidate] = {}
    sign = 1 if higher else -1
    for entry in evaluated:
        complexity = entry.candidate.complexity
        other = best.get(complexity)
        if other is None or sign * (entry.evaluation.score - other.evaluation.score) > 0:
            best[complexity] = entry
    best[chosen.candidate.complexity] = chosen
    return [
        {
            "complexity": float(complexity),
            "label": entry.candidate.label,
            "setting": dict(entry.candidate.setting),
            "score": float(entry.evaluation.score),
            "standard_error": entry.evaluation.standard_error,
            "chosen": entry is chosen,
        }
        for complexity, entry in sorted(best.items(), key=lambda pair: pair[0])
    ]


def _curve_record(
    parameter: str, log_axis: bool, scheme_title: str, score: str, points: list[CurvePoint]
) -> CurveRecord:
    return {
        "parameter": parameter,
        "log": log_axis,
        "by": scheme_title,
        "score": score,
        "points": points,
    }


def _distinct_texts(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))

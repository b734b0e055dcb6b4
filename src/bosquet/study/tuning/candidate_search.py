"""The search over a method's candidates: which are evaluated, which are skipped, which one is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bosquet.study.methods.candidates import (
    SelfTuned,
    SelfTuningResult,
    TuningTask,
    ValidationPredictions,
    groups_of,
)
from bosquet.study.methods.method import Candidate, Method
from bosquet.study.methods.pipelines import takes_weights
from bosquet.study.record import CurvePoint, CurveRecord
from bosquet.study.tuning.fit_attempts import FitAttempt, FitTimer, first_line, try_all
from bosquet.study.tuning.time_limit import OutOfTime
from bosquet.study.tuning.tree_batches import FORESTS, IsOver, fit_in_time
from bosquet.study.tuning.validation import (
    CandidateEvaluation,
    TrainingRows,
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
class Tuned:
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
    unseen : ValidationPredictions or None
        Predictions of the chosen candidate for rows it was not fitted to, with the targets and weights of
        these rows.
    finished : bool
        False if the hard limit ended the boosting rounds or the trees of a forest early, or left no time for
        the final fit. In the latter case `estimator` is fitted without the validation set.
    order : sequence of (Candidate, CandidateEvaluation)
        The evaluated candidates, best first; empty if there was nothing to tune.
    """

    setting: dict[str, Any]
    curve: CurveRecord | None
    candidate: Candidate
    estimator: Any
    message: str
    seconds: float
    fit_seconds: float | None
    unseen: ValidationPredictions | None = None
    finished: bool = True
    order: Sequence[tuple[Candidate, CandidateEvaluation]] = ()


@dataclass
class _EvaluatedCandidate:
    """A candidate with its evaluation and the warnings of its fits."""

    candidate: Candidate
    evaluation: CandidateEvaluation
    warned: list[str]


class CandidateSearch:
    """Search over the candidates of one method; `notes` lists what was skipped and why."""

    def __init__(
        self,
        method: Method,
        rows: TrainingRows,
        metric: Any,
        folds: int,
        one_se: bool,
        seed: int,
        workers: int,
        timer: FitTimer,
        piped: bool,
    ):
        self.method, self.rows, self.metric = method, rows, metric
        self.folds, self.one_se, self.seed = folds, one_se, seed
        self.workers, self.timer = workers, timer
        # Bosquet's estimators use one thread on small tables by themselves; scikit-learn's do not.
        small = len(rows) < THREADS_FROM and piped
        self.inner = 1 if small else None
        self.notes: list[str] = []
        self.longest = 0.0  # seconds of the longest fit so far
        self.order: list[tuple[Candidate, CandidateEvaluation]] = []  # best first

    def fit_only(self, candidate: Candidate) -> Tuned:
        """Fit the only candidate, without tuning."""
        return self._finished(candidate, None, CandidateEvaluation(np.nan), [])

    @property
    def _is_over(self) -> IsOver | None:
        return None if self.timer.at_most is None else self.timer.is_over

    def choose_by_scheme(self, candidates: Sequence[Candidate], scheme: ValidationScheme) -> Tuned:
        """Choose among candidates that are all evaluated by the same scheme."""
        scheme.is_over = self._is_over
        higher = self.metric.higher_is_better and scheme.criterion is None
        evaluated = self._evaluate(candidates, scheme)
        chosen = self._chosen(evaluated, higher)
        points = _envelope(evaluated, chosen, higher)
        title = scheme.criterion or self.metric.title
        curve = _curve(self.method.parameter, self.method.log, scheme.title, title, points)
        return self._finished(chosen.candidate, curve, chosen.evaluation, chosen.warned)

    def choose_self_tuned(self, candidates: Sequence[Candidate], by: str) -> Tuned:
        """Choose among candidates that find their own complexity, by their scores on the validation set."""
        train, held = validation_rows(self.rows, self.metric, self.seed)
        task = TuningTask(
            self.rows.X, self.rows.y, self.rows.weight, self.metric, by, self.folds,
            self.one_se, self.seed, train, held, self._score_of(held), self.timer.is_over,
            replace(self.rows.design, weight=self.rows.weight),
        )  # fmt: skip
        evaluated: list[_EvaluatedCandidate] = []
        found: list[SelfTuningResult] = []
        for candidate in candidates:
            if evaluated and not self.timer.allows(self.longest):
                self._note_time(len(evaluated), len(candidates))
                break
            assert isinstance(candidate, SelfTuned)
            result = try_all(candidate.tune, [(task,)], timer=self.timer)[0]
            self.longest = max(self.longest, result.seconds)
            if self._stopped(result, evaluated, len(candidates)):
                break
            if self._failed([candidate], [result]):
                continue
            one: SelfTuningResult = result.value
            evaluation = CandidateEvaluation(
                one.score, one.spread, one.estimator, one.fitted, one.unseen, one.finished
            )
            evaluated.append(_EvaluatedCandidate(candidate, evaluation, result.warned))
            found.append(replace(one, estimator=None, fitted=None, unseen=None))
            self._keep_fit_of_best(evaluated, self.metric.higher_is_better)
            if self.timer.is_over() and len(evaluated) < len(candidates):
                self._note_time(len(evaluated), len(candidates))
                break
        chosen = self._chosen(evaluated, self.metric.higher_is_better)
        best = next(one for one, entry in zip(found, evaluated, strict=True) if entry is chosen)
        curve = _curve(best.parameter, best.log, best.by, best.score_title, best.points)
        return self._finished(best.candidate, curve, chosen.evaluation, chosen.warned)

    def _score_of(self, held: np.ndarray) -> Callable[[np.ndarray], tuple[float, float | None]]:
        """Return a function that scores predictions for the rows `held`, with the standard error."""
        weight = None if self.rows.weight is None else self.rows.weight[held]
        rows = TrainingRows(None, self.rows.y[held], weight)

        def score(predictions: np.ndarray) -> tuple[float, float | None]:
            evaluation = evaluate_predictions(self.metric, rows, predictions, self.seed)
            return evaluation.score, evaluation.spread

        return score

    def _evaluate(
        self, candidates: Sequence[Candidate], scheme: ValidationScheme
    ) -> list[_EvaluatedCandidate]:
        tasks = list(scheme.tasks())
        evaluated: list[_EvaluatedCandidate] = []
        last = 0.0
        for group in groups_of(candidates):
            # A group is not started if, at the speed of the last one, it would not finish in time.
            if evaluated and not self.timer.allows(last):
                self._note_time(len(evaluated), len(candidates))
                break
            before = self.timer.elapsed
            calls = [(group, task) for task in tasks]
            results = try_all(
                scheme.evaluate, calls, workers=self.workers, timer=self.timer, inner=self.inner
            )
            last = self.timer.elapsed - before
            self.longest = max([self.longest, *(result.seconds for result in results)])
            done = [result for result in results if result.begun]
            if any(self._stopped(result, evaluated, len(candidates)) for result in done):
                break
            if self._failed(group, done):
                continue
            if len(done) < len(results):
                if evaluated:
                    self._note_time(len(evaluated), len(candidates))
                    break
                self.notes.append(
                    f"time for {len(done)} of {len(results)} folds or bootstrap samples"
                )
            warned = _distinct(text for result in done for text in result.warned)
            for k, candidate in enumerate(group):
                evaluation = scheme.combine([result.value[k] for result in done])
                if np.isfinite(evaluation.score):
                    evaluated.append(_EvaluatedCandidate(candidate, evaluation, warned))
                else:
                    self.notes.append(
                        f"{candidate.label} skipped: its score is not a finite number"
                    )
            higher = self.metric.higher_is_better and scheme.criterion is None
            self._keep_fit_of_best(evaluated, higher)
        return evaluated

    def _keep_fit_of_best(self, evaluated: Sequence[_EvaluatedCandidate], higher: bool) -> None:
        """Delete the fits of all candidates except the best one so far, to free memory."""
        best = self._chosen(evaluated, higher) if evaluated else None
        for entry in evaluated:
            if entry is not best:
                entry.evaluation = entry.evaluation.without_fit()

    def _stopped(
        self, result: FitAttempt, evaluated: Sequence[_EvaluatedCandidate], n_candidates: int
    ) -> bool:
        """Return whether the hard limit stopped a fit; raise OutOfTime if no candidate is evaluated yet."""
        if not isinstance(result.error, OutOfTime):
            return False
        if not evaluated:
            raise result.error
        self._note_time(len(evaluated), n_candidates)
        return True

    def _failed(self, group: Sequence[Candidate], results: Sequence[FitAttempt]) -> bool:
        error = next((result.error for result in results if result.error is not None), None)
        if error is None:
            return False
        labels = group[0].label if len(group) == 1 else f"{group[0].label} to {group[-1].label}"
        self.notes.append(f"{labels} skipped: {first_line(error)}")
        return True

    def _note_time(self, n_evaluated: int, n_candidates: int) -> None:
        self.notes.append(f"time for {n_evaluated} of {n_candidates} candidates")

    def _chosen(
        self, evaluated: Sequence[_EvaluatedCandidate], higher: bool
    ) -> _EvaluatedCandidate:
        if not evaluated:
            raise ValueError(
                f"{self.method.title}: no candidate could be fitted; {'; '.join(self.notes[:3])}"
            )
        sign = 1.0 if higher else -1.0
        scores = np.array([sign * entry.evaluation.score for entry in evaluated])
        best = evaluated[int(scores.argmax())]
        ranked = [evaluated[k] for k in np.argsort(-scores, kind="stable")]
        self.order = [(entry.candidate, entry.evaluation.without_fit()) for entry in ranked]
        if not self.one_se or best.evaluation.spread is None:
            return best
        within = scores >= scores.max() - best.evaluation.spread
        close = [entry for entry, is_close in zip(evaluated, within, strict=True) if is_close]
        return min(close, key=lambda entry: entry.candidate.complexity)

    def _finished(
        self,
        candidate: Candidate,
        curve: CurveRecord | None,
        evaluation: CandidateEvaluation,
        warned: Sequence[str],
    ) -> Tuned:
        """Fit the chosen candidate to all rows; without time for it, keep the fit that was evaluated."""
        warnings, fit_seconds, finished = list(warned), None, evaluation.finished
        estimator = evaluation.estimator
        if estimator is None:
            result = self._fit_to_all_rows(candidate, evaluation)
            if isinstance(result.error, OutOfTime) or not result.begun:
                if evaluation.fitted is None:
                    assert isinstance(result.error, OutOfTime)
                    raise result.error
                estimator, fit_seconds, finished = evaluation.fitted, self.longest, False
                self.notes.append(STOPPED)
            elif result.error is not None:
                raise ValueError(
                    f"{self.method.title} with {candidate.label}: {first_line(result.error)}"
                ) from result.error
            else:
                estimator, finished = result.value
                warnings, fit_seconds = result.warned, result.seconds
        if not finished and isinstance(estimator, FORESTS):
            trees = candidate.setting.get("n_estimators")
            of_trees = f" of {trees}" if trees else ""
            self.notes.append(
                f"stopped by the time limit: {estimator.n_estimators_}{of_trees} trees"
            )
        message = "; ".join(_distinct([*self.notes, *warnings]))
        setting, seconds = dict(candidate.setting), self.timer.elapsed
        return Tuned(
            setting, curve, candidate, estimator, message, seconds, fit_seconds, evaluation.unseen,
            finished, tuple(self.order),
        )  # fmt: skip

    def _fit_to_all_rows(self, candidate: Candidate, evaluation: CandidateEvaluation) -> FitAttempt:
        """Make the final fit; skip it if it would be stopped and another fit can be kept instead."""
        if evaluation.fitted is not None and self.timer.is_over(FINAL_FIT_RATIO * self.longest):
            return FitAttempt(begun=False)
        estimator, weight = candidate.make(self.seed), self.rows.weight
        if weight is not None and not takes_weights(estimator):
            self.notes.append("sample weights are not used: the method does not support them")
        design = replace(self.rows.design, weight=weight)
        calls = [(estimator, self.rows.X, self.rows.y, design, self.seed, self._is_over)]
        return try_all(fit_in_time, calls, inner=self.inner, timer=self.timer)[0]


def _envelope(
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
            "spread": entry.evaluation.spread,
            "chosen": entry is chosen,
        }
        for complexity, entry in sorted(best.items(), key=lambda pair: pair[0])
    ]


def _curve(parameter: str, log: bool, by: str, score: str, points: list[CurvePoint]) -> CurveRecord:
    return {"parameter": parameter, "log": log, "by": by, "score": score, "points": points}


def _distinct(texts: Any) -> list[str]:
    return list(dict.fromkeys(texts))

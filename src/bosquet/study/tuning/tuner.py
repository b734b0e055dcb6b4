"""A method's complexity, chosen by the training rows alone, and the curve that shows why."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from bosquet._sklearn import seed_from
from bosquet._targets import check_sample_weight
from bosquet.study.methods.candidates import Found, SelfTuned, TuningTask, Unseen, groups_of
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.methods.pipelines import takes_weights
from bosquet.study.record import Curve, CurvePoint
from bosquet.study.table.design import Design
from bosquet.study.tuning.affordable_rows import affordable_rows
from bosquet.study.tuning.time_limit import OutOfTime
from bosquet.study.tuning.timed_fits import Clock, Tried, first_line, try_all
from bosquet.study.tuning.tree_batches import FORESTS, IsOver, fit_in_time
from bosquet.study.tuning.validation import (
    WAYS,
    Judged,
    Rows,
    Way,
    judged_by_rows,
    validation_rows,
    way_for,
)

__all__ = ["Tuned", "affordable_rows", "tune"]

STOPPED = (
    "stopped by the time limit: fitted to the training rows without those held out for validation"
)
# Seconds of the fit to all rows, for each second of one to the rows without those held out.
LAST_FIT = 1.25
# Below this many rows scikit-learn's own threads cost more than they bring.
THREADS_FROM = 5_000


@dataclass(frozen=True)
class Tuned:
    """A method at its chosen complexity.

    Attributes
    ----------
    setting : dict
        What was chosen.
    curve : Curve or None
        Score against complexity; None where there was nothing to choose.
    candidate : Candidate
        The one chosen, which makes further unfitted estimators.
    estimator : fitted to all rows given.
    message : str
        Candidates left out and why, and what the fit warned of; "" where all went well.
    seconds : float
        Tuning and fitting.
    fit_seconds : float or None
        The last fit, of the chosen candidate to all rows, or the longest of those before where there was no
        time for it; None where it was among those that tuned.
    unseen : Unseen or None
        Answers of a fit of the chosen candidate to rows that it was not fitted to, with the targets and the
        weights of these rows.
    finished : bool
        False where the hard limit ended the rounds of boosting or the trees of a forest, or left no time to
        fit the chosen candidate to all rows; `estimator` is then fitted to the rows without those held out
        for validation.
    order : sequence of (Candidate, Judged)
        The candidates that were tried, the best first; empty where there was nothing to choose.
    """

    setting: dict[str, Any]
    curve: Curve | None
    candidate: Candidate
    estimator: Any
    message: str
    seconds: float
    fit_seconds: float | None
    unseen: Unseen | None = None
    finished: bool = True
    order: Sequence[tuple[Candidate, Judged]] = ()


def tune(
    method: Method,
    X: Any,
    y: Any,
    shape: TableShape,
    *,
    metric: Any,
    by: str | None = None,
    folds: int = 5,
    rule: str = "best",
    seconds: float | None = None,
    at_most: float | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    design: Design | None = None,
    candidates: Sequence[Candidate] | None = None,
) -> Tuned:
    """Choose a method's complexity, and fit it to all rows.

    Parameters
    ----------
    method : Method
    X : table of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    shape : TableShape
        Of these rows.
    metric : a metric of `bosquet.study.metrics.scoring`
    by : {"cv", "validation", "oob", "bootstrap", "aic", "bic"} or None, default=None
        How candidates are judged. None: the method's own way, with a validation sample in place of
        folds from 5,000 rows on.
    folds : int, default=5
        Folds of "cv"; bags of "bootstrap" if more than ten.
    rule : {"best", "1se"}, default="best"
        The best score, or the least complex candidate within one standard error of it.
    seconds : float or None, default=None
        A soft limit: candidates are tried in their order until it is reached. None tries all.
    at_most : float or None, default=None
        A hard limit: a fit that is still running is stopped, and the best candidate so far is kept.
        OutOfTime is raised if there is none.
    random_state : int, RandomState or None, default=0
    n_jobs : int or None, default=None
        Fits at a time, in threads; the result is the same for any number.
    sample_weight : array of shape (n_samples,), optional
    design : Design, optional
        Time and groups that folds and validation rows follow.
    candidates : sequence of Candidate, optional
        What to choose from, default: all candidates of the method.

    Returns
    -------
    Tuned

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet.study.methods import METHODS
    >>> from bosquet.study.metrics.scoring import metric_named
    >>> from bosquet.study.methods.shapes import table_shape
    >>> from bosquet.study.tuning import tune
    >>> X, y = load_iris(return_X_y=True)
    >>> metric = metric_named("log_loss", "multiclass", [0, 1, 2])
    >>> tuned = tune(METHODS["lda"], X, y, table_shape(X, y, "multiclass"), metric=metric)
    >>> [round(point["score"], 2) for point in tuned.curve["points"]]
    [0.32, 0.13, 0.08, 0.06, 0.06, 0.07]
    >>> tuned.setting
    {'shrinkage': 0.05}
    """
    clock = Clock.start(seconds, at_most)
    if rule not in ("best", "1se"):
        raise ValueError(f"rule={rule!r} is out of range: rule must be one of 'best', '1se'")
    candidates = list(method.candidates(shape) if candidates is None else candidates)
    target = np.asarray(y)
    weight = check_sample_weight(sample_weight, len(target))
    rows = Rows(X, target, weight if weight.size else None, design or Design())
    seed = random_state if isinstance(random_state, int) else seed_from(random_state)
    way = way_for(method, by, len(target), design)
    piped = isinstance(candidates[0].make(0), Pipeline)
    search = _Search(
        method, rows, metric, folds, rule == "1se", seed, _workers(n_jobs), clock, piped
    )
    # One BLAS thread: small products are faster so, and sums do not hang on how many there are.
    with threadpool_limits(1, user_api="blas"):
        if len(candidates) == 1 and not isinstance(candidates[0], SelfTuned):
            return search.only(candidates[0])
        if _tunes_itself(candidates, way):
            return search.by_themselves(candidates, way)
        return search.by_way(candidates, search.limited(WAYS[way](rows, metric, folds, seed)))


def _tunes_itself(candidates: Sequence[Candidate], way: str) -> bool:
    return all(isinstance(one, SelfTuned) and way in one.ways for one in candidates)


def _workers(n_jobs: int | None) -> int:
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


@dataclass
class _Trial:
    """What became of one candidate."""

    candidate: Candidate
    judged: Judged
    warned: list[str]


class _Search:
    """One tuning: what is tried, what is left out, what is chosen."""

    def __init__(
        self,
        method: Method,
        rows: Rows,
        metric: Any,
        folds: int,
        one_se: bool,
        seed: int,
        workers: int,
        clock: Clock,
        piped: bool,
    ):
        self.method, self.rows, self.metric = method, rows, metric
        self.folds, self.one_se, self.seed = folds, one_se, seed
        self.workers, self.clock = workers, clock
        # Bosquet's estimators know by themselves when threads pay; those in pipelines do not.
        small = len(rows) < THREADS_FROM and piped
        self.inner = 1 if small else None
        self.notes: list[str] = []
        self.longest = 0.0  # seconds of a fit so far
        self.order: list[tuple[Candidate, Judged]] = []  # best first

    # ------------------------------------------------------------ three ways to go
    def only(self, candidate: Candidate) -> Tuned:
        """Nothing to choose from."""
        return self._finished(candidate, None, Judged(np.nan), [])

    def limited(self, way: Way) -> Way:
        """The same way, which tells forests when time is up."""
        way.is_over = self._is_over
        return way

    @property
    def _is_over(self) -> IsOver | None:
        return None if self.clock.at_most is None else self.clock.is_over

    def by_way(self, candidates: Sequence[Candidate], way: Way) -> Tuned:
        """Every candidate judged in the same way."""
        higher = self.metric.higher_is_better and way.criterion is None
        trials = self._trials(candidates, way)
        chosen = self._chosen(trials, higher)
        points = _envelope(trials, chosen, higher)
        title = way.criterion or self.metric.title
        curve = _curve(self.method.parameter, self.method.log, way.title, title, points)
        return self._finished(chosen.candidate, curve, chosen.judged, chosen.warned)

    def by_themselves(self, candidates: Sequence[Candidate], way: str) -> Tuned:
        """Each candidate finds its own complexity; the metric on rows held out compares them."""
        train, held = validation_rows(self.rows, self.metric, self.seed)
        task = TuningTask(
            self.rows.X, self.rows.y, self.rows.weight, self.metric, way, self.folds,
            self.one_se, self.seed, train, held, self._score_of(held), self.clock.is_over,
            replace(self.rows.design, weight=self.rows.weight),
        )  # fmt: skip
        trials: list[_Trial] = []
        found: list[Found] = []
        for candidate in candidates:
            if trials and not self.clock.allows(self.longest):
                self._out_of_time(len(trials), len(candidates))
                break
            assert isinstance(candidate, SelfTuned)
            result = try_all(candidate.tunes, [(task,)], clock=self.clock)[0]
            self.longest = max(self.longest, result.seconds)
            if self._stopped(result, trials, len(candidates)):
                break
            if self._failed([candidate], [result]):
                continue
            one: Found = result.value
            judged = Judged(
                one.score, one.spread, one.estimator, one.fitted, one.unseen, one.finished
            )
            trials.append(_Trial(candidate, judged, result.warned))
            found.append(replace(one, estimator=None, fitted=None, unseen=None))
            self._keep_fit_of_best(trials, self.metric.higher_is_better)
            if self.clock.is_over() and len(trials) < len(candidates):
                self._out_of_time(len(trials), len(candidates))
                break
        chosen = self._chosen(trials, self.metric.higher_is_better)
        best = next(one for one, trial in zip(found, trials, strict=True) if trial is chosen)
        curve = _curve(best.parameter, best.log, best.by, best.score_title, best.points)
        return self._finished(best.candidate, curve, chosen.judged, chosen.warned)

    def _score_of(self, held: np.ndarray) -> Callable[[np.ndarray], tuple[float, float | None]]:
        """The score of predictions for some of the rows, with its standard error."""
        weight = None if self.rows.weight is None else self.rows.weight[held]
        rows = Rows(None, self.rows.y[held], weight)

        def score(answer: np.ndarray) -> tuple[float, float | None]:
            judged = judged_by_rows(self.metric, rows, answer, self.seed)
            return judged.score, judged.spread

        return score

    # ------------------------------------------------------------------ the trials
    def _trials(self, candidates: Sequence[Candidate], way: Way) -> list[_Trial]:
        tasks = list(way.tasks())
        trials: list[_Trial] = []
        last = 0.0
        for group in groups_of(candidates):
            # No group is begun that at the pace of the last would not be done in time.
            if trials and not self.clock.allows(last):
                self._out_of_time(len(trials), len(candidates))
                break
            before = self.clock.elapsed
            calls = [(group, task) for task in tasks]
            results = try_all(
                way.judge, calls, workers=self.workers, clock=self.clock, inner=self.inner
            )
            last = self.clock.elapsed - before
            self.longest = max([self.longest, *(result.seconds for result in results)])
            done = [result for result in results if result.begun]
            if any(self._stopped(result, trials, len(candidates)) for result in done):
                break
            if self._failed(group, done):
                continue
            if len(done) < len(results):
                if trials:
                    self._out_of_time(len(trials), len(candidates))
                    break
                self.notes.append(f"time for {len(done)} of {len(results)} parts of the rows")
            warned = _distinct(text for result in done for text in result.warned)
            for place, candidate in enumerate(group):
                judged = way.together([result.value[place] for result in done])
                if np.isfinite(judged.score):
                    trials.append(_Trial(candidate, judged, warned))
                else:
                    self.notes.append(f"{candidate.label} left out: its score is not a number")
            self._keep_fit_of_best(trials, self.metric.higher_is_better and way.criterion is None)
        return trials

    def _keep_fit_of_best(self, trials: Sequence[_Trial], higher: bool) -> None:
        """Forget the fits of all candidates but the one that would be chosen now."""
        best = self._chosen(trials, higher) if trials else None
        for trial in trials:
            if trial is not best:
                trial.judged = trial.judged.without_fit()

    def _stopped(self, result: Tried, trials: Sequence[_Trial], there: int) -> bool:
        """Whether a fit was stopped; what was found before it then has to do, and something must be."""
        if not isinstance(result.error, OutOfTime):
            return False
        if not trials:
            raise result.error
        self._out_of_time(len(trials), there)
        return True

    def _failed(self, group: Sequence[Candidate], results: Sequence[Tried]) -> bool:
        error = next((result.error for result in results if result.error is not None), None)
        if error is None:
            return False
        labels = group[0].label if len(group) == 1 else f"{group[0].label} to {group[-1].label}"
        self.notes.append(f"{labels} left out: {first_line(error)}")
        return True

    def _out_of_time(self, tried: int, there: int) -> None:
        self.notes.append(f"time for {tried} of {there} candidates")

    def _chosen(self, trials: Sequence[_Trial], higher: bool) -> _Trial:
        if not trials:
            raise ValueError(
                f"{self.method.title}: no candidate could be fitted; {'; '.join(self.notes[:3])}"
            )
        sign = 1.0 if higher else -1.0
        scores = np.array([sign * trial.judged.score for trial in trials])
        best = trials[int(scores.argmax())]
        ranks = np.argsort(-scores, kind="stable")
        self.order = [(trials[k].candidate, trials[k].judged.without_fit()) for k in ranks]
        if not self.one_se or best.judged.spread is None:
            return best
        near = scores >= scores.max() - best.judged.spread
        close = [trial for trial, is_near in zip(trials, near, strict=True) if is_near]
        return min(close, key=lambda trial: trial.candidate.complexity)

    def _finished(
        self, candidate: Candidate, curve: Curve | None, judged: Judged, warned: Sequence[str]
    ) -> Tuned:
        """The chosen candidate fitted to all rows, or as it was judged where time does not allow that."""
        warnings, fit_seconds, finished = list(warned), None, judged.finished
        estimator = judged.estimator
        if estimator is None:
            result = self._fitted_to_all(candidate, judged)
            if isinstance(result.error, OutOfTime) or not result.begun:
                if judged.fitted is None:
                    assert isinstance(result.error, OutOfTime)
                    raise result.error
                estimator, fit_seconds, finished = judged.fitted, self.longest, False
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
            of = f" of {trees}" if trees else ""
            self.notes.append(f"stopped by the time limit: {estimator.n_estimators_}{of} trees")
        message = "; ".join(_distinct([*self.notes, *warnings]))
        setting, seconds = dict(candidate.setting), self.clock.elapsed
        return Tuned(
            setting, curve, candidate, estimator, message, seconds, fit_seconds, judged.unseen,
            finished, tuple(self.order),
        )  # fmt: skip

    def _fitted_to_all(self, candidate: Candidate, judged: Judged) -> Tried:
        """The last fit, unless there is one to fall back on and this one would be stopped."""
        if judged.fitted is not None and self.clock.is_over(LAST_FIT * self.longest):
            return Tried(begun=False)
        estimator, weight = candidate.make(self.seed), self.rows.weight
        if weight is not None and not takes_weights(estimator):
            self.notes.append("the rows' weights are not used: the method takes none")
        design = replace(self.rows.design, weight=weight)
        calls = [(estimator, self.rows.X, self.rows.y, design, self.seed, self._is_over)]
        return try_all(fit_in_time, calls, inner=self.inner, clock=self.clock)[0]


def _envelope(trials: Sequence[_Trial], chosen: _Trial, higher: bool) -> list[CurvePoint]:
    """The best candidate of each complexity, and the chosen one, in order of complexity."""
    best: dict[float, _Trial] = {}
    sign = 1 if higher else -1
    for trial in trials:
        place = trial.candidate.complexity
        rival = best.get(place)
        if rival is None or sign * (trial.judged.score - rival.judged.score) > 0:
            best[place] = trial
    best[chosen.candidate.complexity] = chosen
    return [
        {
            "complexity": float(place),
            "label": trial.candidate.label,
            "setting": dict(trial.candidate.setting),
            "score": float(trial.judged.score),
            "spread": trial.judged.spread,
            "chosen": trial is chosen,
        }
        for place, trial in sorted(best.items(), key=lambda pair: pair[0])
    ]


def _curve(parameter: str, log: bool, by: str, score: str, points: list[CurvePoint]) -> Curve:
    return {"parameter": parameter, "log": log, "by": by, "score": score, "points": points}


def _distinct(texts: Any) -> list[str]:
    return list(dict.fromkeys(texts))

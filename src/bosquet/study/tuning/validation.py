"""Ways to tell what a candidate is worth from the training rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from bosquet._sklearn import rows_of
from bosquet.study.methods.candidates import SelfTuned, Staged, Unseen, tried
from bosquet.study.methods.method import Candidate, Method
from bosquet.study.metrics.scoring import answer_of
from bosquet.study.table.design import Design
from bosquet.study.table.design_splits import design_folds, design_validation
from bosquet.study.tuning.information_criteria import information_criterion
from bosquet.study.tuning.tree_batches import IsOver, fit_in_time

# From this many rows on, one validation set of a fifth of them compares candidates as well as folds do.
LARGE = 5_000
# Share of the rows that a validation sample has, and groups left out in turn to see how far its score moves.
VALIDATION_SHARE, JACKKNIFE_GROUPS = 0.2, 10
# The least number of bags: fewer leave a row out of none too often.
FEWEST_BAGS = 10
# In .632: the share of different rows in a bag, 1 - 1/e.
DRAWN = 1 - np.exp(-1)


@dataclass(frozen=True)
class Judged:
    """A score, its standard error where the way itself has one, and the fit where it is of all rows.

    `fitted` is the fit to a part of the rows that the score is of, `unseen` its answers to the other rows and
    their targets: what is left of a method whose last fit is stopped, and what a threshold can be found on.
    """

    score: float
    spread: float | None = None
    estimator: Any = None
    fitted: Any = None
    unseen: Unseen | None = None
    finished: bool = True

    def without_fit(self) -> Judged:
        """The same without what takes memory."""
        return replace(self, estimator=None, fitted=None, unseen=None)


@dataclass(frozen=True)
class Rows:
    """The training rows."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None = None
    design: Design = field(default_factory=Design)  # its weight is `weight`

    def take(self, numbers: np.ndarray) -> Rows:
        weight = None if self.weight is None else self.weight[numbers]
        return Rows(rows_of(self.X, numbers), self.y[numbers], weight, self.design.take(numbers))

    def __len__(self) -> int:
        return len(self.y)


class Way:
    """A way to judge: `tasks` are independent of each other, `judge` does one, `together` sums up."""

    title: ClassVar[str]
    criterion: ClassVar[str | None] = None  # what takes the metric's place, less being better

    is_over: IsOver | None = None  # of the clock, if there is one that stops fits

    def __init__(self, rows: Rows, metric: Any, folds: int, seed: int):
        self.rows, self.metric, self.folds, self.seed = rows, metric, folds, seed

    def tasks(self) -> Sequence[Any]:
        return [None]

    def judge(self, group: Sequence[Candidate], task: Any) -> list[Judged]:
        raise NotImplementedError

    def together(self, parts: Sequence[Judged]) -> Judged:
        return parts[0]

    def fit(self, candidate: Candidate, rows: Rows) -> tuple[Any, bool]:
        """The fit of a candidate, and whether it is finished."""
        design, estimator = replace(rows.design, weight=rows.weight), tried(candidate, self.seed)
        return fit_in_time(estimator, rows.X, rows.y, design, self.seed, self.is_over)

    def answers(self, group: Sequence[Candidate], fitted: Any, X: Any) -> list[np.ndarray]:
        """What each candidate of a group says of X, by the fit of the last."""
        last = group[-1]
        if not isinstance(last, Staged):
            return [answer_of(fitted, X, self.metric)]
        stages = last.stages(fitted, X, [candidate.complexity for candidate in group])
        return [placed(answer, fitted, self.metric) for answer in stages]


class CrossValidation(Way):
    """Each part of the rows is predicted by a fit to the others."""

    def __init__(self, rows: Rows, metric: Any, folds: int, seed: int):
        super().__init__(rows, metric, min(folds, len(rows)), seed)
        self.title = f"{self.folds}-fold cross-validation"  # type: ignore[misc]
        if rows.design.time is not None:
            self.title = f"rolling origin over {self.folds} folds"  # type: ignore[misc]

    def tasks(self) -> Sequence[Any]:
        by_design = design_folds(self.rows.design, self.folds, self.seed)
        if by_design is not None:
            return by_design
        number = fold_numbers(self.rows.y, self.folds, self.seed, by_class=is_classes(self.metric))
        parts = [
            (np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(self.folds)
        ]
        return [(train, test) for train, test in parts if len(test)]

    def judge(self, group: Sequence[Candidate], task: Any) -> list[Judged]:
        train, held = (self.rows.take(numbers) for numbers in task)
        fitted, _ = self.fit(group[-1], train)  # what is kept is the fit to all rows
        said = self.answers(group, fitted, held.X)
        return [Judged(self.metric.score(held.y, answer, held.weight)) for answer in said]

    def together(self, parts: Sequence[Judged]) -> Judged:
        scores = np.array([part.score for part in parts])
        spread = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else None
        return Judged(float(scores.mean()), None if spread is None else float(spread))


class Validation(Way):
    """One validation set scores all candidates."""

    title = "validation rows"

    def tasks(self) -> Sequence[Any]:
        return [validation_rows(self.rows, self.metric, self.seed)]

    def judge(self, group: Sequence[Candidate], task: Any) -> list[Judged]:
        train, held = (self.rows.take(numbers) for numbers in task)
        fitted, _ = self.fit(group[-1], train)
        said = self.answers(group, fitted, held.X)
        judged = [judged_by_rows(self.metric, held, answer, self.seed) for answer in said]
        judged = [
            replace(one, unseen=Unseen(answer, held.y, held.weight))
            for one, answer in zip(judged, said, strict=True)
        ]
        own = getattr(group[-1], "tries", None) is None  # what was fitted is the candidate itself
        return [*judged[:-1], replace(judged[-1], fitted=fitted if own else None)]


class OutOfBag(Way):
    """Each row is judged by the trees whose bags did not hold it: no fit but that of all rows."""

    title = "out of bag"

    def judge(self, group: Sequence[Candidate], task: Any) -> list[Judged]:
        fitted, finished = self.fit(group[-1], self.rows)
        if is_classes(self.metric):
            said = getattr(fitted, "oob_decision_function_", None)
        else:
            said = getattr(fitted, "oob_prediction_", None)
        if said is None:
            raise ValueError(
                f"{type(fitted).__name__} keeps no out-of-bag votes; tune it by 'cv' or 'validation'"
            )
        known = ~np.isnan(said if said.ndim == 1 else said[:, 0])
        rows = Rows(self.rows.X, self.rows.y, self.rows.weight)
        judged_rows = _without_table(rows, known)
        answer = placed(said[known], fitted, self.metric)
        judged = judged_by_rows(self.metric, judged_rows, answer, self.seed)
        return [Judged(judged.score, judged.spread, fitted, finished=finished)]


class Bootstrap(Way):
    """Efron's .632: 0.632 of the score on rows out of a bag, 0.368 of that on the rows learned from."""

    title = "bootstrap (.632)"

    def tasks(self) -> Sequence[Any]:
        bags = max(FEWEST_BAGS, self.folds)
        return [None, *draw_bags(len(self.rows), bags, self.seed)]

    def judge(self, group: Sequence[Candidate], task: Any) -> list[Judged]:
        if task is None:
            learned = judged = self.rows
        else:
            learned = self.rows.take(task)
            out = np.setdiff1d(np.arange(len(self.rows)), task)
            if not len(out):
                return [Judged(float("nan")) for _ in group]
            judged = self.rows.take(out)
        fitted, finished = self.fit(group[-1], learned)
        said = self.answers(group, fitted, judged.X)
        alone = len(group) == 1 and not isinstance(group[0], Staged)
        keep = fitted if task is None and alone else None
        return [
            Judged(
                self.metric.score(judged.y, answer, judged.weight), None, keep, finished=finished
            )
            for answer in said
        ]

    def together(self, parts: Sequence[Judged]) -> Judged:
        apparent, *others = parts
        out = np.array([part.score for part in others if not np.isnan(part.score)])
        if not len(out):
            return replace(apparent, spread=None)
        score = DRAWN * float(out.mean()) + (1 - DRAWN) * apparent.score
        spread = DRAWN * out.std(ddof=1) / np.sqrt(len(out)) if len(out) > 1 else None
        return replace(apparent, score=score, spread=None if spread is None else float(spread))


class _Criterion(Way):
    def judge(self, group: Sequence[Candidate], task: Any) -> list[Judged]:
        fitted, _ = self.fit(group[-1], self.rows)
        rows = self.rows
        value = information_criterion(fitted, rows.X, rows.y, rows.weight, self.title.lower())
        return [Judged(value, None, fitted)]


class Akaike(_Criterion):
    """Twice the parameters less twice the log-likelihood of the rows learned from."""

    title = criterion = "AIC"


class Bayesian(_Criterion):
    """The same with the logarithm of the rows in place of 2."""

    title = criterion = "BIC"


WAYS: dict[str, type[Way]] = {
    "cv": CrossValidation,
    "validation": Validation,
    "oob": OutOfBag,
    "bootstrap": Bootstrap,
    "aic": Akaike,
    "bic": Bayesian,
}


def way_for(method: Method, by: str | None, rows: int, design: Design | None = None) -> str:
    """The way asked for, or the method's own; with many rows a validation set replaces folds.

    Bags part groups and times, so that folds or a validation sample take their place with such a design.
    """
    if design and design.parts_rows and (by or method.by) in ("oob", "bootstrap"):
        return "validation" if rows >= LARGE else "cv"
    if by is None:
        return "validation" if method.by == "cv" and rows >= LARGE else method.by
    if by not in WAYS:
        raise ValueError(f"by={by!r} is out of range: by must be one of {', '.join(WAYS)}, or None")
    return by


def suits_way(method: Method, candidates: Sequence[Candidate], by: str) -> bool:
    """Whether a method can be tuned so: bags and likelihoods are not in every fit."""
    if all(isinstance(one, SelfTuned) for one in candidates):
        return all(by in one.ways for one in candidates if isinstance(one, SelfTuned))
    if by == "oob":
        return method.by == "oob"
    return method.likelihood or by not in ("aic", "bic")


def is_classes(metric: Any) -> bool:
    """Whether a metric is one of classes."""
    return bool(metric.needs != "number")


def fold_numbers(y: np.ndarray, folds: int, seed: int, *, by_class: bool) -> np.ndarray:
    """A fold for each row, of nearly equal sizes; classes are spread evenly over them."""
    order = np.random.RandomState(seed).permutation(len(y))
    if by_class:
        codes = np.unique(y, return_inverse=True)[1]
        order = order[np.argsort(codes[order], kind="stable")]
    number = np.empty(len(y), dtype=np.intp)
    number[order] = np.arange(len(y)) % folds
    return number


def validation_rows(rows: Rows, metric: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the rows to fit to and of those to validate on, by the design of the rows."""
    by_design = design_validation(rows.design, VALIDATION_SHARE, seed)
    if by_design is not None:
        return by_design
    parts = max(2, round(1 / VALIDATION_SHARE))
    number = fold_numbers(rows.y, parts, seed, by_class=is_classes(metric))
    return np.flatnonzero(number), np.flatnonzero(number == 0)


def draw_bags(rows: int, bags: int, seed: int) -> list[np.ndarray]:
    """Numbers of rows drawn with replacement, as many as there are, for each bag."""
    random = np.random.RandomState(seed)
    return [random.randint(rows, size=rows) for _ in range(bags)]


def placed(answer: np.ndarray, fitted: Any, metric: Any) -> np.ndarray:
    """Probabilities with a column for every class of the metric, though the fit may not know them all."""
    if not is_classes(metric) or answer.shape[1] == len(metric.classes):
        return answer
    whole = np.zeros((len(answer), len(metric.classes)))
    whole[:, np.searchsorted(metric.classes, fitted.classes_)] = answer
    return whole


def judged_by_rows(metric: Any, rows: Rows, answer: np.ndarray, seed: int) -> Judged:
    """The score, and how far it moves when a tenth of the rows is left out: the grouped jackknife.

    With s₋ᵢ the score without group i of g, the standard error is √((g - 1)/g Σ (s₋ᵢ - s̄)²).
    """
    score = metric.score(rows.y, answer, rows.weight)
    if len(rows) < 2 * JACKKNIFE_GROUPS:
        return Judged(score)
    group = fold_numbers(rows.y, JACKKNIFE_GROUPS, seed, by_class=is_classes(metric))
    without = []
    for k in range(JACKKNIFE_GROUPS):
        kept = group != k
        weight = None if rows.weight is None else rows.weight[kept]
        without.append(metric.score(rows.y[kept], answer[kept], weight))
    values = np.array(without)
    factor = (JACKKNIFE_GROUPS - 1) / JACKKNIFE_GROUPS
    return Judged(score, float(np.sqrt(factor * ((values - values.mean()) ** 2).sum())))


def _without_table(rows: Rows, known: np.ndarray) -> Rows:
    weight = None if rows.weight is None else rows.weight[known]
    return Rows(None, rows.y[known], weight)

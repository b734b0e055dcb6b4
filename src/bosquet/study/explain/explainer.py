"""The explanation of the chosen method.

It concerns the model that was fitted to the training rows of the first split. It is computed on the test rows
of this split, in terms of the columns of the table.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet.study.compare.choice import Choice
from bosquet.study.explain.diagnostics import (
    calibration_on,
    certificate_of,
    coverage_on,
    few_rows_note,
    margins_of,
)
from bosquet.study.explain.effects import (
    dependence_records,
    permutation_importances,
    rows_by_weight,
)
from bosquet.study.explain.learning_curve import forecast, learning_curve
from bosquet.study.explain.notable_rows import notable_rows
from bosquet.study.explain.tree import tree_to_draw
from bosquet.study.methods.method import Candidate
from bosquet.study.methods.offsets import rate_model
from bosquet.study.metrics.metric import predictions_for
from bosquet.study.record import ChosenRecord
from bosquet.study.run.clock import StudyClock
from bosquet.study.run.context import StudyContext
from bosquet.study.run.outcomes import Outcome
from bosquet.study.table.frames import take
from bosquet.study.table.offset import OffsetColumn
from bosquet.study.table.splits import StudySplit, seed_of
from bosquet.study.tuning.thresholds import Decision

BACKGROUND_ROWS = 100  # training rows for the Shapley values of notable rows
# Shares of the budget after which no part of the explanation, and no further fit for the learning curve, is
# started. Parts without a fit may slightly exceed the budget, because the explanation is important.
END_OF_EXPLAINING, END_OF_FITS = 1.08, 0.97
# Share of the time left for the importances, which come first: the other parts use their order.
IMPORTANCE_SHARE = 0.25


@dataclass
class Explainer:
    """Compute the parts of a `ChosenRecord`; a part that fails is left out and reported in `notes`."""

    context: StudyContext
    split: StudySplit
    candidate: Candidate
    outcome: Outcome
    model: Any  # fitted to the rows `train`
    train: np.ndarray  # indices of training rows of the split
    row_labels: Any  # of the whole table
    clock: StudyClock
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.test = self.context.rows(self.split.test)
        self.seed = seed_of(self.context.random_state, "explaining")

    @property
    def offset(self) -> OffsetColumn | None:
        return self.context.shape.offset

    def explain(self, choice: Choice) -> ChosenRecord:
        """Return the explanation of the chosen method, as far as time allows; the last parts are slowest."""
        model, test, metric, seed = self.model, self.test, self.context.metric, self.seed
        rows = (model, test.X, test.y, metric)
        importances = self._try_part("importances", [], self._compute_importances)
        order = [str(importance["feature"]) for importance in importances]
        note_on_few_rows = few_rows_note(len(test), metric.needs != "number")
        self.notes += [note_on_few_rows] if note_on_few_rows else []
        record: ChosenRecord = {
            "name": choice.name,
            "why": choice.why,
            "runner_up": choice.runner_up,
            "importances": importances,
            "importance_kind": "permutation on the test rows",
            "certificate": self._try_part("certificate", None, lambda: certificate_of(model)),
            "margins": self._try_part("margins", None, lambda: margins_of(*rows, test.weight)),
            "coverage": self._try_part(
                "coverage", None, lambda: coverage_on(*rows, seed, test.weight)
            ),
            "calibration": self._try_part(
                "calibration", None, lambda: calibration_on(*rows, seed, test.weight)
            ),
            "rows": self._try_part("notable rows", [], lambda: self._compute_notable_rows(order)),
            "tree": None,
            "tree_title": "",
            "dependence": [],
            "learning_curve": [],
            "learning_text": "",
        }
        record["tree"], record["tree_title"] = self._try_part(
            "tree", (None, ""), lambda: self._compute_tree(order)
        )
        record["dependence"] = self._try_part(
            "dependence", [], lambda: self._compute_dependences(order)
        )
        record["learning_curve"] = self._try_part(
            "learning curve", [], self._compute_learning_curve
        )
        record["learning_text"] = forecast(record["learning_curve"], metric.higher_is_better)
        return record

    def _try_part(self, name: str, default: Any, make: Callable[[], Any]) -> Any:
        if self.clock.seconds_left(END_OF_EXPLAINING) <= 0:
            self.notes.append(f"No time was left for the {name} of the chosen method.")
            return default
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return make()
        except Exception as error:  # the other results of the study are valid without this part
            line = " ".join(str(error).split())[:200]
            self.notes.append(f"The {name} of the chosen method could not be computed: {line}")
            return default

    def _compute_importances(self) -> list[dict[str, Any]]:
        seconds = None
        if self.clock.timed:
            seconds = max(IMPORTANCE_SHARE * self.clock.seconds_left(END_OF_EXPLAINING), 0.0)
        return permutation_importances(
            self.model,
            self.test.X,
            self.test.y,
            self.context.metric,
            seconds=seconds,
            microseconds=self.outcome.predict_microseconds,
            seed=self.seed,
            weight=self.test.weight,
            left_out=None if self.offset is None else self.offset.name,
        )

    def _compute_notable_rows(self, order: list[str]) -> Any:
        predictions = predictions_for(self.model, self.test.X, self.context.metric)
        if self.offset is not None:  # first, so that it has a Shapley value of its own
            order = [self.offset.name, *order]
        rng = np.random.default_rng(self.seed)
        drawn = rows_by_weight(len(self.train), self.context.weight(self.train))
        background = np.sort(rng.permutation(drawn)[:BACKGROUND_ROWS])
        return notable_rows(
            self.model,
            self.test.X,
            self.test.y,
            predictions,
            np.asarray(self.row_labels)[self.split.test],
            self.context.metric,
            background=take(self.context.X, self.train[background]),
            order=order,
            seed=self.seed,
        )

    def _compute_tree(self, order: list[str]) -> Any:
        train = self.context.rows(self.train)
        if self.offset is None:
            return tree_to_draw(self.model, train.X, train.y, important=order, seed=self.seed)
        # With an offset, the rate is the part of the prediction that depends on the features.
        model, X = rate_model(self.model), self.offset.features(train.X)
        tree, title = tree_to_draw(model, X, train.y, important=order, seed=self.seed)
        return tree, f"{title} (counts per unit of exposure)"

    def _compute_dependences(self, order: list[str]) -> Any:
        return dependence_records(
            self.model,
            self.test.X,
            self.test.y,
            self.context.metric,
            self.context.target.name,
            order,
            enough_time=lambda: self.clock.seconds_left(END_OF_EXPLAINING) > 0,
            seed=self.seed,
            weight=self.test.weight,
        )

    def _compute_learning_curve(self) -> list[dict[str, Any]]:
        metric = self.context.metric
        decision = Decision(metric.classes, metric.positive, self.outcome.threshold, metric.costs)
        assert self.outcome.score is not None
        return learning_curve(
            self.context,
            self.candidate,
            self.split,
            decision,
            rows=self.train,
            score_on_all_rows=self.outcome.score,
            one_fit_seconds=self.outcome.one_fit_seconds,
            seconds_left=lambda: self.clock.seconds_left(END_OF_FITS),
        )

"""The winner explained: what it goes by, where it fails, how far it can be trusted.

All of it is of the model fitted to the first split's training rows and looks at rows that it has not seen,
in terms of the table's own columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet.study._clock import Clock
from bosquet.study._effects import dependences, importances
from bosquet.study._explored_rows import explored_rows
from bosquet.study._frames import take
from bosquet.study._learning import learning_curve
from bosquet.study._outcomes import Outcome
from bosquet.study._splits import Split, seed_of
from bosquet.study._tree_shown import tree_shown
from bosquet.study._trial import Setting
from bosquet.study._trusted import (
    calibration_on,
    certificate_of,
    coverage_on,
    margins_of,
    too_few,
)
from bosquet.study.choosing import Choice
from bosquet.study.deciding import Decision
from bosquet.study.method import Candidate
from bosquet.study.record import Winner
from bosquet.study.scoring import answer_of

BACKGROUND_ROWS = 100
# Shares of the budget after which no part of the explanation is begun, and no further fit for the learning
# curve. A winner without its reasons is worth little: what takes no fit may go over the budget a little.
END_OF_EXPLAINING, END_OF_FITS = 1.08, 0.97


@dataclass
class Explainer:
    """Fills in a Winner part by part; a part that fails is left out, and `notes` say so."""

    study: Setting
    split: Split
    candidate: Candidate
    outcome: Outcome
    model: Any  # fitted to the training rows of the split
    rows: np.ndarray  # those training rows
    labels: Any  # names of the table's rows
    clock: Clock
    notes: list[str] = field(default_factory=list)

    def explain(self, choice: Choice) -> Winner:
        """Everything there is to say of the chosen method, as far as time allows."""
        study, metric = self.study, self.study.metric
        X, y = take(study.X, self.split.test), study.y[self.split.test]
        seed = seed_of(study.random_state, "explaining")
        found: Winner = {
            "name": choice.name,
            "why": choice.why,
            "runner_up": choice.runner_up,
            "importances": [],
            "importance_kind": "permutation on the test rows",
            "dependence": [],
            "learning_curve": [],
            "certificate": None,
            "margins": None,
            "tree": None,
            "tree_title": "",
            "rows": [],
            "coverage": None,
            "calibration": None,
        }
        found["importances"] = self._part("importances", [], lambda: self._importances(X, y, seed))
        order = [str(one["feature"]) for one in found["importances"]]
        found["certificate"] = self._part("certificate", None, lambda: certificate_of(self.model))
        found["margins"] = self._part("margins", None, lambda: margins_of(self.model, X, y, metric))
        found["coverage"] = self._part(
            "coverage", None, lambda: coverage_on(self.model, X, y, metric, seed)
        )
        found["calibration"] = self._part(
            "calibration", None, lambda: calibration_on(self.model, X, y, metric, seed)
        )
        few = too_few(len(y), metric.needs != "number")
        self.notes += [few] if few else []
        found["rows"] = self._part("row explorer", [], lambda: self._rows(X, y, order, seed))
        found["tree"], found["tree_title"] = self._part(
            "tree",
            (None, ""),
            lambda: tree_shown(
                self.model, take(study.X, self.rows), study.y[self.rows], important=order, seed=seed
            ),
        )
        found["dependence"] = self._part(
            "dependence",
            [],
            lambda: dependences(
                self.model,
                X,
                y,
                metric,
                study.target.name,
                order,
                enough_time=lambda: self.clock.left(END_OF_EXPLAINING) > 0,
                seed=seed,
            ),
        )
        found["learning_curve"] = self._part("learning curve", [], self._learning)
        return found

    def _part(self, name: str, nothing: Any, make: Callable[[], Any]) -> Any:
        if self.clock.left(END_OF_EXPLAINING) <= 0:
            self.notes.append(f"No time was left for the winner's {name}.")
            return nothing
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return make()
        except Exception as error:  # the study's results stand without it
            line = " ".join(str(error).split())[:200]
            self.notes.append(f"The winner's {name} could not be made: {line}")
            return nothing

    def _importances(self, X: Any, y: np.ndarray, seed: int) -> list[dict[str, Any]]:
        seconds = None
        if self.clock.timed:
            seconds = max(0.25 * self.clock.left(END_OF_EXPLAINING), 0.0)
        return importances(
            self.model,
            X,
            y,
            self.study.metric,
            seconds=seconds,
            microseconds=self.outcome.predict_microseconds,
            seed=seed,
        )

    def _rows(self, X: Any, y: np.ndarray, order: list[str], seed: int) -> Any:
        answer = answer_of(self.model, X, self.study.metric)
        random = np.random.default_rng(seed)
        behind = np.sort(random.permutation(len(self.rows))[:BACKGROUND_ROWS])
        return explored_rows(
            self.model,
            X,
            y,
            answer,
            np.asarray(self.labels)[self.split.test],
            self.study.metric,
            background=take(self.study.X, self.rows[behind]),
            order=order,
            seed=seed,
        )

    def _learning(self) -> list[dict[str, float]]:
        metric = self.study.metric
        decision = Decision(metric.classes, metric.positive, self.outcome.threshold, metric.costs)
        assert self.outcome.score is not None
        return learning_curve(
            self.study,
            self.candidate,
            self.split,
            decision,
            rows=self.rows,
            whole=self.outcome.score,
            one_fit=self.outcome.one_fit_seconds,
            left=lambda: self.clock.left(END_OF_FITS),
        )

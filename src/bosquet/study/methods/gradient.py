"""Gradient boosting of trees: the number of rounds by folds, or by rows set aside while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from bosquet._sklearn import rows_of
from bosquet.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.study._candidates import Found, SelfTuned, Staged, Task
from bosquet.study._costs import FitCost
from bosquet.study.judging import Rows, judged_by_rows
from bosquet.study.method import Candidate, Method, TableShape
from bosquet.study.record import CurvePoint
from bosquet.study.scoring import RARE, answer_of

# Below this many rows those set aside are too few to stop by, and folds are cheap.
FOLDS_BELOW = 5_000
ROUNDS = (10, 20, 40, 70, 120, 200, 300, 450)
# With more columns than this a round is dear; few of them, or of large trees, learn the rows by heart.
WIDE, ROUNDS_OF_WIDE, ROUNDS_OF_LARGE = 2_000, ROUNDS[:5], ROUNDS[:-1]
MOST_ROUNDS, MOST_POINTS = 2_000, 60
# Of a small table the mean of a few runs is kept, which loses about 1 % less than one and takes little time.
RUNS = 3
# Small trees gain so little a round that the loss may stand still for many of them.
PATIENCE = 120
LEARNING_RATE = 0.05
LARGE_TREES_FROM, MANY_COLUMNS = 1_000, 20
# Each node sees half of the columns or a quarter of them, if that is two at least, and some rounds of small
# tables six rows in ten: trees that differ from each other learn less by heart.
FEW_COLUMNS, DRAWN, MOST_DRAWN = 8, 0.6, 0.8
QUARTER, EIGHTH, SIXTEENTH = 1 / 4, 1 / 8, 1 / 16
_SAID = {QUARTER: "¼", EIGHTH: "⅛", SIXTEENTH: "1/16"}


class Trees(NamedTuple):
    """What the trees of a round may be, and the weights of the classes."""

    leaves: int
    least: int  # rows of a leaf
    columns: float = 0.5  # share of them that a node chooses from
    drawn: float = 1.0  # share of the rows that a round sees
    class_weight: Any = None

    def setting(self) -> dict[str, Any]:
        setting: dict[str, Any] = {"max_leaf_nodes": self.leaves, "min_samples_leaf": self.least}
        setting |= {"max_features": self.columns, "subsample": self.drawn}
        setting |= {"learning_rate": LEARNING_RATE}
        return setting | ({"class_weight": self.class_weight} if self.class_weight else {})

    def label(self) -> str:
        weighted = ", classes weighted" if self.class_weight else ""
        columns = f", {_SAID[self.columns]} of the columns" if self.columns in _SAID else ""
        return f"{self.leaves} leaves{columns}{weighted}"

    @classmethod
    def of(cls, setting: dict[str, Any]) -> Trees:
        return cls(
            setting["max_leaf_nodes"],
            setting["min_samples_leaf"],
            setting["max_features"],
            setting["subsample"],
            setting.get("class_weight"),
        )


def boosted(classes: bool, trees: Trees, rounds: int, seed: int, runs: int = 1) -> Any:
    """An unfitted model of so many rounds, the mean of so many runs."""
    kind: Any = GradientBoostingClassifier if classes else GradientBoostingRegressor
    model = kind(n_estimators=rounds, n_runs=runs, early_stopping=False, random_state=seed)
    return model.set_params(**trees.setting())


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    classes = shape.task != "regression"
    weights: tuple[Any, ...] = (None, "balanced") if shape.rarest < RARE else (None,)
    if shape.n_rows >= FOLDS_BELOW:
        return [
            SelfTuned(
                complexity=trees.leaves,
                label=trees.label(),
                setting=trees.setting(),
                make=partial(_stopping, classes, trees),
                tunes=partial(_tunes, classes, trees),
                remakes=partial(_remakes, classes),
            )
            for sizes in _large_tables_trees(shape)
            for trees in [sizes._replace(class_weight=weight) for weight in weights]
        ]
    runs = 1 if shape.n_indicators > WIDE else RUNS
    return [
        Staged(
            complexity=rounds,
            label=f"{rounds} rounds, {trees.label()}",
            setting={"n_estimators": rounds, "n_runs": runs, **trees.setting()},
            make=partial(boosted, classes, trees, rounds, runs=runs),
            family=trees.label(),
            stages=staged_answers,
            tries=partial(boosted, classes, trees, rounds),
        )
        for sizes in small_tables_trees(shape)
        for trees in [sizes._replace(class_weight=weight) for weight in weights]
        for rounds in _rounds(shape, trees)
    ]


def _rounds(shape: TableShape, trees: Trees) -> tuple[int, ...]:
    if shape.n_indicators > WIDE:
        return ROUNDS_OF_WIDE
    return ROUNDS if trees.leaves <= 31 else ROUNDS_OF_LARGE


def _large_tables_trees(shape: TableShape) -> list[Trees]:
    found = [Trees(leaves, 20) for leaves in (8, 16, 31, 63)]
    if shape.n_numbers + shape.n_categories >= FEW_COLUMNS:
        found.insert(3, Trees(31, 20, QUARTER))
    return found


def small_tables_trees(shape: TableShape) -> list[Trees]:
    """Trees of which one is best on most tables of few rows, the smallest first."""
    columns = shape.n_numbers + shape.n_categories
    share = QUARTER if columns >= FEW_COLUMNS else 2 * QUARTER
    few, many = 5 if shape.n_rows >= 200 else 2, 20 if shape.n_rows >= 400 else 2
    found = [Trees(4, few, share), Trees(8, few, share, DRAWN), Trees(20, many, share, DRAWN)]
    if shape.n_rows >= LARGE_TREES_FROM and columns >= MANY_COLUMNS:
        # Best where many columns tell a little each. A clock begins with the fourth.
        found += [Trees(31, few, EIGHTH), Trees(63, few, EIGHTH, MOST_DRAWN)]
        found += [Trees(120, 2, SIXTEENTH, MOST_DRAWN)]
    return found


def staged_answers(fitted: Any, X: Any, rounds: Sequence[float]) -> Iterator[np.ndarray]:
    """What a boosted model says after each of some numbers of rounds; after its last, if it has fewer."""
    ask = getattr(fitted, "staged_predict_proba", None) or fitted.staged_predict
    answers = ask(X)
    done, answer = 0, np.zeros(0)
    for wanted in rounds:
        for stage in islice(answers, int(wanted) - done):
            answer = stage
        done = int(wanted)
        yield np.array(answer)


def _stopping(classes: bool, trees: Trees, seed: int) -> Any:
    model = boosted(classes, trees, MOST_ROUNDS, seed)
    return model.set_params(early_stopping=True, validation_fraction=0.2, n_iter_no_change=PATIENCE)


def _tunes(classes: bool, trees: Trees, task: Task) -> Found:
    """Boost until the loss on the rows held out no longer falls; its trace is the curve."""
    model = _stopping(classes, trees, task.seed)
    weight = task.weight
    held = Rows(
        rows_of(task.X, task.held), task.y[task.held], None if weight is None else weight[task.held]
    )
    judges = (held.X, held.y) if held.weight is None else (held.X, held.y, held.weight)
    model.fit(
        rows_of(task.X, task.train),
        task.y[task.train],
        sample_weight=None if weight is None else weight[task.train],
        eval_set=judges,
    )
    judged = judged_by_rows(task.metric, held, answer_of(model, held.X, task.metric), task.seed)
    stopped = int(model.n_iter_)
    # More rows bear more rounds before they are learned by heart, about in proportion.
    rounds = round(stopped * len(task.y) / len(task.train))
    setting = {"n_estimators": rounds, **trees.setting()}
    label = f"{rounds} rounds, {trees.label()}"
    make = partial(boosted, classes, trees, rounds)
    losses, title = _as_scores(model, task.metric)
    points: list[CurvePoint] = [
        {
            "complexity": float(done),
            "label": f"{done} rounds, {trees.label()}",
            "setting": {**setting, "n_estimators": done},
            "score": float(losses[done - 1]),
            "spread": judged.spread if done == stopped and title == task.metric.title else None,
            "chosen": done == stopped,
        }
        for done in _rounds_shown(len(losses), stopped)
    ]
    return Found(
        points, "rounds", True, "validation rows", title,
        Candidate(rounds, label, setting, make), judged.score, judged.spread,
    )  # fmt: skip


def _remakes(classes: bool, setting: dict[str, Any]) -> Candidate | None:
    if "n_estimators" not in setting:
        return None
    rounds, trees = setting["n_estimators"], Trees.of(setting)
    label = f"{rounds} rounds, {trees.label()}"
    make = partial(boosted, classes, trees, rounds)
    return Candidate(rounds, label, dict(setting), make)


def _as_scores(model: Any, metric: Any) -> tuple[np.ndarray, str]:
    """The trace as the study's metric where it amounts to it."""
    trace = np.asarray(model.validation_score_)
    if metric.needs == "number":
        return (
            (np.sqrt(trace), metric.title)
            if metric.name == "rmse"
            else (trace, "Mean squared error")
        )
    return trace, "Log loss"


def _rounds_shown(done: int, chosen: int) -> list[int]:
    marks = np.geomspace(1, done, min(MOST_POINTS, done)).round().astype(int)
    return sorted({*marks.tolist(), chosen, done})


def _details(fitted: Any) -> dict[str, Any]:
    return {
        "rounds": int(fitted.n_iter_),
        **({"runs": int(fitted.n_runs)} if fitted.n_runs > 1 else {}),
        "leaves of a tree": int(fitted.max_leaf_nodes),
        "learning rate": float(fitted.learning_rate),
    }


METHODS = [
    Method(
        name="gradient-boosting",
        title="Gradient boosting",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="rounds",
        log=True,
        candidates=_candidates,
        card={
            "readable": ("no", "hundreds of trees; Shapley values help"),
            "score_or_interval": ("yes", "probabilities, quantiles with their own loss"),
            "consistent": ("partly", "if stopped in time and trees are large enough"),
            "minimax": ("partly", "known for boosted splines, not for trees"),
            "non_asymptotic": ("partly", "rates for early stopping, with unknown constants"),
            "parameter_free": ("partly", "early stopping finds the rounds"),
            "online": ("no", "rounds see all rows"),
        },
        rows_affordable=FitCost(0.025, columns=0.7, classes=0.8, fixed=0.03, encoded=False),
        details=_details,
    )
]

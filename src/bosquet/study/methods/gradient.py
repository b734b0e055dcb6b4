"""Gradient boosting of trees: the number of rounds by folds, or by early stopping on a validation set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from bosquet._sklearn import rows_of
from bosquet.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.study.methods.candidates import Found, SelfTuned, Staged, TuningTask, Unseen
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import INCUMBENT, Candidate, Method, TableShape
from bosquet.study.methods.offsets import OffsetModel, rate_model, with_offset
from bosquet.study.metrics.scoring import RARE, answer_of
from bosquet.study.record import Card, CurvePoint
from bosquet.study.table.offset import OffsetColumn

# Below this many rows a validation set is too small for early stopping, and folds are cheap.
FOLDS_BELOW = 5_000
ROUNDS = (10, 20, 40, 70, 120, 200, 300, 450)
# With more columns than this rounds are expensive, and few rounds or large trees overfit.
WIDE, ROUNDS_OF_WIDE, ROUNDS_OF_LARGE = 2_000, ROUNDS[:5], ROUNDS[:-1]
MOST_ROUNDS, MOST_POINTS = 2_000, 60
# Of a small table the mean of a few runs is kept, which loses about 1 % less than one and takes little time.
RUNS = 3
# Small trees gain so little a round that the loss may stand still for many of them.
PATIENCE, DEFAULT_PATIENCE = 120, 40
LEARNING_RATE = 0.05
COST = FitCost(0.025, columns=0.7, classes=0.8, fixed=0.03, encoded=False)
LARGE_TREES_FROM, MANY_COLUMNS = 1_000, 20
# Each node sees half of the columns or a quarter of them, if that is two at least, and some rounds of small
# tables six rows in ten: trees that differ from each other overfit less.
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


def boosted(
    classes: bool,
    trees: Trees,
    rounds: int,
    seed: int,
    runs: int = 1,
    offset: OffsetColumn | None = None,
    **more: Any,
) -> Any:
    """An unfitted model of so many rounds, the mean of so many runs; of counts if there is an offset."""
    kind: Any = GradientBoostingClassifier if classes else GradientBoostingRegressor
    model = kind(n_estimators=rounds, n_runs=runs, early_stopping=False, random_state=seed)
    model.set_params(**trees.setting(), **more)
    return _of_counts(model, offset)


def _of_counts(model: Any, offset: OffsetColumn | None) -> Any:
    """With an offset the same model with the Poisson loss, of rates."""
    return model if offset is None else with_offset(model.set_params(loss="poisson"), offset)


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    classes = shape.task != "regression"
    weights: tuple[Any, ...] = (None, "balanced") if shape.rarest < RARE else (None,)
    if shape.n_rows >= FOLDS_BELOW:
        return [
            SelfTuned(
                complexity=trees.leaves,
                label=trees.label(),
                setting=trees.setting(),
                make=partial(_stopping, classes, trees, shape.offset),
                tunes=partial(_tunes, classes, trees, shape.offset),
                remakes=partial(_remakes, classes, shape.offset),
                keeps_rounds=True,
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
            make=partial(boosted, classes, trees, rounds, runs=runs, offset=shape.offset),
            family=trees.label(),
            stages=staged_answers,
            tries=partial(boosted, classes, trees, rounds, offset=shape.offset),
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


def _defaults(shape: TableShape) -> Sequence[Candidate]:
    """The library's own settings, with early stopping from 5,000 rows on as the study does it."""
    classes = shape.task != "regression"
    if shape.n_rows < FOLDS_BELOW:
        return [
            Candidate(
                1.0,
                "default settings",
                {"settings": "default"},
                partial(_plain, classes, shape.offset),
            )
        ]
    trees = Trees(31, 20)
    return [
        SelfTuned(
            complexity=trees.leaves,
            label=trees.label(),
            setting=trees.setting(),
            make=partial(_stopping, classes, trees, shape.offset),
            tunes=partial(_tunes, classes, trees, shape.offset, patience=DEFAULT_PATIENCE),
            remakes=partial(_remakes, classes, shape.offset),
            keeps_rounds=True,
        )
    ]


def _plain(classes: bool, offset: OffsetColumn | None, seed: int) -> Any:
    kind: Any = GradientBoostingClassifier if classes else GradientBoostingRegressor
    return _of_counts(kind(random_state=seed), offset)


def _stopping(
    classes: bool,
    trees: Trees,
    offset: OffsetColumn | None,
    seed: int,
    patience: int | None = None,
) -> Any:
    stops: dict[str, Any] = {
        "early_stopping": True,
        "validation_fraction": 0.2,
        "n_iter_no_change": patience or PATIENCE,
    }
    return boosted(classes, trees, MOST_ROUNDS, seed, offset=offset, **stops)


def _tunes(
    classes: bool,
    trees: Trees,
    offset: OffsetColumn | None,
    task: TuningTask,
    patience: int | None = None,
) -> Found:
    """Boost until the loss on the rows held out no longer falls; its trace is the curve."""
    model = _stopping(classes, trees, offset, task.seed, patience)
    weight = task.weight
    X_held, y_held = rows_of(task.X, task.held), task.y[task.held]
    w_held = None if weight is None else weight[task.held]
    eval_set = (X_held, y_held) if w_held is None else (X_held, y_held, w_held)
    deadline = Deadline(task.is_over)
    given: dict[str, Any] = {
        "sample_weight": None if weight is None else weight[task.train],
        "eval_set": eval_set,
    }
    rows = rows_of(task.X, task.train), task.y[task.train]
    if isinstance(model, OffsetModel):
        model.fit(*rows, **given, callbacks=[deadline])
    else:
        model.set_params(callbacks=[deadline]).fit(*rows, **given)
        model.set_params(callbacks=None)
    answer = answer_of(model, X_held, task.metric)
    score, spread = task.score_held(answer)
    stopped = int(rate_model(model).n_iter_)
    # More rows bear more rounds before they overfit, about in proportion.
    rounds = stopped if deadline.reached else round(stopped * len(task.y) / len(task.train))
    setting = {"n_estimators": rounds, **trees.setting()}
    label = f"{rounds} rounds, {trees.label()}"
    make = partial(boosted, classes, trees, rounds, offset=offset)
    losses, title = _as_scores(model, task.metric)
    points: list[CurvePoint] = [
        {
            "complexity": float(done),
            "label": f"{done} rounds, {trees.label()}",
            "setting": {**setting, "n_estimators": done},
            "score": float(losses[done - 1]),
            "spread": spread if done == stopped and title == task.metric.title else None,
            "chosen": done == stopped,
        }
        for done in _rounds_shown(len(losses), stopped)
    ]
    return Found(
        points, "rounds", True, "validation rows", title,
        Candidate(rounds, label, setting, make), score, spread,
        fitted=model, unseen=Unseen(answer, y_held, w_held), finished=not deadline.reached,
    )  # fmt: skip


class Deadline:
    """A callback that ends a fit after the round in which time is up."""

    def __init__(self, is_over: Callable[[], bool]):
        self.is_over, self.reached = is_over, False

    def __call__(self, info: Any) -> bool:
        self.reached = self.is_over()
        return self.reached


def _remakes(
    classes: bool, offset: OffsetColumn | None, setting: dict[str, Any]
) -> Candidate | None:
    if "n_estimators" not in setting:
        return None
    rounds, trees = setting["n_estimators"], Trees.of(setting)
    label = f"{rounds} rounds, {trees.label()}"
    make = partial(boosted, classes, trees, rounds, offset=offset)
    return Candidate(rounds, label, dict(setting), make)


def _as_scores(model: Any, metric: Any) -> tuple[np.ndarray, str]:
    """The trace as the study's metric where it amounts to it."""
    trace = np.asarray(rate_model(model).validation_loss_)
    if isinstance(model, OffsetModel):
        return trace, "Poisson loss"
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
    fitted = rate_model(fitted)
    return {
        "rounds": int(fitted.n_iter_),
        **({"runs": int(fitted.n_runs)} if fitted.n_runs > 1 else {}),
        "leaves of a tree": int(fitted.max_leaf_nodes),
        "learning rate": float(fitted.learning_rate),
    }


_CARD: Card = {
    "readable": ("no", "hundreds of trees; Shapley values help"),
    "score_or_interval": ("yes", "probabilities, quantiles with their own loss"),
    "consistent": ("partly", "if stopped in time and trees are large enough"),
    "minimax": ("partly", "known for boosted splines, not for trees"),
    "non_asymptotic": ("partly", "rates for early stopping, with unknown constants"),
    "parameter_free": ("partly", "early stopping finds the rounds"),
    "online": ("no", "rounds see all rows"),
}


def _method(name: str, title: str, candidates: Any) -> Method:
    return Method(
        name=name,
        title=title,
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="rounds",
        log=True,
        candidates=candidates,
        card=_CARD,
        rows_affordable=COST,
        details=_details,
        takes_offset=True,
    )


# The first is what no outcome of a study should be worse than; it is fitted before all others.
METHODS = [
    _method(INCUMBENT, "Gradient boosting, default settings", _defaults),
    _method("gradient-boosting", "Gradient boosting", _candidates),
]

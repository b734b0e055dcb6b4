"""Gradient boosting of trees, with the rounds chosen by cross-validation or early stopping."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from bosquet.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.boosting.gradient.automatic import (
    MULTI_OUTPUT_TREE,
    ONE_OUTPUT_PER_TREE,
    TrainingShape,
    values_with_validation_set,
)
from bosquet.study.methods.candidates import (
    SelfTuned,
    SelfTuningResult,
    Staged,
    TuningTask,
    ValidationPredictions,
)
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import INCUMBENT, Candidate, Method, TableShape
from bosquet.study.methods.offsets import OffsetModel, rate_model, with_offset
from bosquet.study.metrics.metric import RARE, Metric, predictions_for
from bosquet.study.record import CurvePoint, MethodProperties
from bosquet.study.table.offset import OffsetColumn

# With fewer rows, a validation set is too small for early stopping, and cross-validation is cheap.
FOLDS_BELOW = 5_000
ROUNDS = (10, 20, 40, 70, 120, 200, 300, 450)
# With more columns, rounds are expensive, and a few rounds already overfit.
WIDE = 2_000
ROUNDS_OF_WIDE = ROUNDS[:5]
# Large trees overfit with fewer rounds.
ROUNDS_OF_LARGE_TREES = ROUNDS[:-1]
# Limit of the rounds with early stopping.
MAX_ROUNDS = 2_000
# Points of the curve of losses in the report.
MAX_POINTS = 60
# For small tables the model is the mean of a few runs, which has about 1 % less loss at little cost.
RUNS = 3
# Small trees improve so little per round that the loss may not fall for many rounds.
PATIENCE = 120
LEARNING_RATE = 0.05
# More than two classes share trees, whose steps may be larger.
SHARED_TREES: dict[str, Any] = {"learning_rate": 0.1, "multi_strategy": MULTI_OUTPUT_TREE}
COST = FitCost(0.025, columns_exponent=0.7, classes_exponent=0.8, fixed=0.03, encoded=False)
# Tables with at least this many rows and columns have candidates with large trees.
MIN_ROWS_OF_LARGE_TREES = 1_000
MIN_COLUMNS_OF_LARGE_TREES = 20
# Each node draws a half or a quarter of the columns. With fewer columns, a quarter would be less than two.
MIN_COLUMNS_OF_QUARTER = 8
# For small tables, some candidates also draw this share of the rows per round. Trees that differ from each
# other overfit less.
SUBSAMPLE = 0.6
LARGE_TREES_SUBSAMPLE = 0.8
# Shares of the columns drawn per node; large trees draw few.
QUARTER = 1 / 4
EIGHTH = 1 / 8
SIXTEENTH = 1 / 16
_FRACTIONS = {QUARTER: "¼", EIGHTH: "⅛", SIXTEENTH: "1/16"}


class TreeSettings(NamedTuple):
    """Hyper-parameters of the trees, and the class weights."""

    leaves: int
    min_rows: int  # per leaf
    columns: float = 0.5  # share of the columns drawn per node
    subsample: float = 1.0  # share of the rows drawn per round
    class_weight: Any = None
    learning_rate: float = LEARNING_RATE
    multi_strategy: str = ONE_OUTPUT_PER_TREE

    def to_setting(self) -> dict[str, Any]:
        """Return the parameters of the estimator."""
        setting: dict[str, Any] = {"max_leaf_nodes": self.leaves, "min_samples_leaf": self.min_rows}
        setting |= {"max_features": self.columns, "subsample": self.subsample}
        setting |= {"learning_rate": self.learning_rate, "multi_strategy": self.multi_strategy}
        return setting | ({"class_weight": self.class_weight} if self.class_weight else {})

    def label(self) -> str:
        """Return a short description."""
        weighted = ", balanced class weights" if self.class_weight else ""
        share = _FRACTIONS.get(self.columns)
        columns = f", {share} of the columns" if share else ""
        return f"{self.leaves} leaves{columns}{weighted}"

    @classmethod
    def from_setting(cls, setting: dict[str, Any]) -> TreeSettings:
        """Return the tree settings in the setting of a candidate."""
        return cls(
            setting["max_leaf_nodes"],
            setting["min_samples_leaf"],
            setting["max_features"],
            setting["subsample"],
            setting.get("class_weight"),
            setting["learning_rate"],
            setting["multi_strategy"],
        )


def make_boosting(
    is_classification: bool,
    trees: TreeSettings,
    rounds: int,
    seed: int,
    runs: int = 1,
    offset: OffsetColumn | None = None,
    **parameters: Any,
) -> Any:
    """Return an unfitted model: the mean of `runs` runs of `rounds` rounds; with an offset, for counts."""
    kind: Any = GradientBoostingClassifier if is_classification else GradientBoostingRegressor
    model = kind(n_estimators=rounds, n_runs=runs, early_stopping=False, random_state=seed)
    model.set_params(**trees.to_setting(), **parameters)
    return _poisson_if_offset(model, offset)


def _poisson_if_offset(model: Any, offset: OffsetColumn | None) -> Any:
    """Return the model or, with an offset, the model of rates with the Poisson loss."""
    return model if offset is None else with_offset(model.set_params(loss="poisson"), offset)


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    is_classification = shape.task != "regression"
    weights: tuple[Any, ...] = (None, "balanced") if shape.rarest_share < RARE else (None,)
    if shape.n_rows >= FOLDS_BELOW:
        runs = _default_parameters(shape)["n_runs"]
        return [
            _early_stopping_candidate(shape, trees, runs, PATIENCE)
            for sizes in _trees_of_large_tables(shape)
            for trees in [_trees_for_classes(shape, sizes, weight) for weight in weights]
        ]
    runs = 1 if shape.n_indicators > WIDE else RUNS
    return [
        Staged(
            complexity=rounds,
            label=f"{rounds} rounds, {trees.label()}",
            setting={"n_estimators": rounds, "n_runs": runs, **trees.to_setting()},
            make=partial(
                make_boosting, is_classification, trees, rounds, runs=runs, offset=shape.offset
            ),
            family=trees.label(),
            stages=staged_predictions,
            make_trial=partial(
                make_boosting, is_classification, trees, rounds, offset=shape.offset
            ),
        )
        for sizes in trees_of_small_tables(shape)
        for trees in [_trees_for_classes(shape, sizes, weight) for weight in weights]
        for rounds in _numbers_of_rounds(shape, trees)
    ]


def _trees_for_classes(shape: TableShape, trees: TreeSettings, class_weight: Any) -> TreeSettings:
    shared = SHARED_TREES if shape.n_classes > 2 else {}
    return trees._replace(class_weight=class_weight, **shared)


def _numbers_of_rounds(shape: TableShape, trees: TreeSettings) -> tuple[int, ...]:
    if shape.n_indicators > WIDE:
        return ROUNDS_OF_WIDE
    return ROUNDS if trees.leaves <= 31 else ROUNDS_OF_LARGE_TREES


def _trees_of_large_tables(shape: TableShape) -> list[TreeSettings]:
    settings = [TreeSettings(leaves, 20) for leaves in (8, 16, 31, 63)]
    if shape.n_numbers + shape.n_categories >= MIN_COLUMNS_OF_QUARTER:
        settings.insert(3, TreeSettings(31, 20, QUARTER))
    return settings


def trees_of_small_tables(shape: TableShape) -> list[TreeSettings]:
    """Return tree settings for small tables, the smallest trees first."""
    columns = shape.n_numbers + shape.n_categories
    share = QUARTER if columns >= MIN_COLUMNS_OF_QUARTER else 2 * QUARTER
    few, many = 5 if shape.n_rows >= 200 else 2, 20 if shape.n_rows >= 400 else 2
    settings = [
        TreeSettings(4, few, share),
        TreeSettings(8, few, share, SUBSAMPLE),
        TreeSettings(20, many, share, SUBSAMPLE),
    ]
    if shape.n_rows >= MIN_ROWS_OF_LARGE_TREES and columns >= MIN_COLUMNS_OF_LARGE_TREES:
        # Best if many columns are weakly informative. A search with a time limit begins with the fourth.
        settings += [
            TreeSettings(31, few, EIGHTH),
            TreeSettings(63, few, EIGHTH, LARGE_TREES_SUBSAMPLE),
        ]
        settings += [TreeSettings(120, 2, SIXTEENTH, LARGE_TREES_SUBSAMPLE)]
    return settings


def staged_predictions(fitted: Any, X: Any, rounds: Sequence[float]) -> Iterator[np.ndarray]:
    """Yield the predictions of a boosted model after each of these numbers of rounds.

    A model with fewer rounds yields the predictions after its last round.
    """
    staged = getattr(fitted, "staged_predict_proba", None) or fitted.staged_predict
    stages = staged(X)
    n_done, predictions = 0, np.zeros(0)
    for n_rounds in rounds:
        for stage in islice(stages, int(n_rounds) - n_done):
            predictions = stage
        n_done = int(n_rounds)
        yield np.array(predictions)


def _default_candidates(shape: TableShape) -> Sequence[Candidate]:
    """Return the default model; with 5,000 rows or more, the study chooses its rounds by early stopping."""
    is_classification = shape.task != "regression"
    if shape.n_rows < FOLDS_BELOW:
        return [
            Candidate(
                1.0,
                "default settings",
                {"settings": "default"},
                partial(_make_default_boosting, is_classification, shape.offset),
            )
        ]
    parameters = _default_parameters(shape)
    trees = TreeSettings.from_setting(parameters)
    patience = parameters["n_iter_no_change"]
    return [_early_stopping_candidate(shape, trees, parameters["n_runs"], patience)]


def _default_parameters(shape: TableShape) -> dict[str, Any]:
    """Return the default parameters of the library for a table with a validation set."""
    outputs = shape.n_classes if shape.n_classes > 2 else 1
    is_classification = shape.task != "regression"
    class_shares = np.full(shape.n_classes, 1 / shape.n_classes) if is_classification else None
    return values_with_validation_set(TrainingShape(shape.n_rows, outputs, class_shares))


def _early_stopping_candidate(
    shape: TableShape, trees: TreeSettings, runs: int, patience: int
) -> SelfTuned:
    """Return a candidate that finds its rounds on a validation set.

    Its final fit is the mean of `runs` runs, if there is time for them.
    """
    is_classification = shape.task != "regression"
    return SelfTuned(
        complexity=trees.leaves,
        label=trees.label(),
        setting=trees.to_setting(),
        make=partial(
            _make_early_stopping_boosting, is_classification, trees, shape.offset, patience=patience
        ),
        tune=partial(_tune, is_classification, trees, runs, shape.offset, patience),
        from_setting=partial(_candidate_from_setting, is_classification, shape.offset),
        keeps_rounds=True,
    )


def _make_default_boosting(is_classification: bool, offset: OffsetColumn | None, seed: int) -> Any:
    kind: Any = GradientBoostingClassifier if is_classification else GradientBoostingRegressor
    return _poisson_if_offset(kind(random_state=seed), offset)


def _make_early_stopping_boosting(
    is_classification: bool,
    trees: TreeSettings,
    offset: OffsetColumn | None,
    seed: int,
    patience: int,
) -> Any:
    stopping: dict[str, Any] = {
        "early_stopping": True,
        "validation_fraction": 0.2,
        "n_iter_no_change": patience,
    }
    return make_boosting(is_classification, trees, MAX_ROUNDS, seed, offset=offset, **stopping)


def _tune(
    is_classification: bool,
    trees: TreeSettings,
    runs: int,
    offset: OffsetColumn | None,
    patience: int,
    task: TuningTask,
) -> SelfTuningResult:
    """Boost until the loss on the validation set no longer falls; the losses per round are the curve."""
    model = _make_early_stopping_boosting(is_classification, trees, offset, task.seed, patience)
    train, validation = task.rows.take(task.train), task.rows.take(task.validation)
    eval_set: tuple[Any, ...] = (validation.X, validation.y)
    if validation.weight is not None:
        eval_set = (*eval_set, validation.weight)
    fit_arguments: dict[str, Any] = {"sample_weight": train.weight, "eval_set": eval_set}
    stopper = TimeLimitStopper(task.is_over)
    began = time.perf_counter()
    if isinstance(model, OffsetModel):
        model.fit(train.X, train.y, **fit_arguments, callbacks=[stopper])
    else:
        model.set_params(callbacks=[stopper]).fit(train.X, train.y, **fit_arguments)
        model.set_params(callbacks=None)
    fit_seconds = time.perf_counter() - began
    predictions = predictions_for(model, validation.X, task.metric)
    score, standard_error = task.score_validation(predictions)
    stopped = int(rate_model(model).n_iter_)
    # The optimal number of rounds grows about in proportion to the number of rows.
    rounds = stopped if stopper.reached else round(stopped * len(task.rows) / len(train))
    if runs > 1 and not task.allows(runs * fit_seconds * len(task.rows) / len(train)):
        runs = 1
    setting = {"n_estimators": rounds, "n_runs": runs, **trees.to_setting()}
    tuned = _candidate_with_rounds(is_classification, offset, setting)
    losses, title = _losses_as_scores(model, task.metric)
    points: list[CurvePoint] = [
        {
            "complexity": float(done),
            "label": f"{done} rounds, {trees.label()}",
            "setting": {**setting, "n_estimators": done},
            "score": float(losses[done - 1]),
            "standard_error": standard_error
            if done == stopped and title == task.metric.title
            else None,
            "chosen": done == stopped,
        }
        for done in _rounds_to_show(len(losses), stopped)
    ]
    return SelfTuningResult(
        points, "rounds", True, "validation rows", title, tuned, score, standard_error,
        fitted_without_validation=model,
        validation_predictions=ValidationPredictions(predictions, validation.y, validation.weight),
        finished=not stopper.reached,
    )  # fmt: skip


class TimeLimitStopper:
    """Callback that stops a fit after the round in which the time limit is reached."""

    def __init__(self, is_over: Callable[[], bool]):
        self.is_over, self.reached = is_over, False

    def __call__(self, info: Any) -> bool:
        self.reached = self.is_over()
        return self.reached


def _candidate_from_setting(
    is_classification: bool, offset: OffsetColumn | None, setting: dict[str, Any]
) -> Candidate | None:
    has_rounds = "n_estimators" in setting
    return _candidate_with_rounds(is_classification, offset, setting) if has_rounds else None


def _candidate_with_rounds(
    is_classification: bool, offset: OffsetColumn | None, setting: dict[str, Any]
) -> Candidate:
    """Return the candidate with the rounds, the runs and the trees of a setting."""
    rounds, runs = setting["n_estimators"], setting["n_runs"]
    trees = TreeSettings.from_setting(setting)
    make = partial(make_boosting, is_classification, trees, rounds, runs=runs, offset=offset)
    return Candidate(rounds, f"{rounds} rounds, {trees.label()}", dict(setting), make)


def _losses_as_scores(model: Any, metric: Metric) -> tuple[np.ndarray, str]:
    """Return the losses per round, as values of the study's metric if they determine it."""
    losses = np.asarray(rate_model(model).validation_loss_)
    if isinstance(model, OffsetModel):
        return losses, "Poisson loss"
    if metric.needs == "number":
        return (
            (np.sqrt(losses), metric.title)
            if metric.name == "rmse"
            else (losses, "Mean squared error")
        )
    return losses, "Log loss"


def _rounds_to_show(done: int, chosen: int) -> list[int]:
    marks = np.geomspace(1, done, min(MAX_POINTS, done)).round().astype(int)
    return sorted({*marks.tolist(), chosen, done})


def _details(fitted: Any) -> dict[str, Any]:
    fitted = rate_model(fitted)
    parameters = fitted.parameters_
    return {
        "rounds": int(fitted.n_iter_),
        **({"runs": int(parameters["n_runs"])} if parameters["n_runs"] > 1 else {}),
        "leaves per tree": int(parameters["max_leaf_nodes"]),
        "learning rate": float(parameters["learning_rate"]),
    }


_PROPERTIES: MethodProperties = {
    "readable": ("no", "hundreds of trees; Shapley values help"),
    "score_or_interval": ("yes", "probabilities; quantiles with the quantile loss"),
    "consistent": ("partly", "with early stopping and large enough trees"),
    "minimax": ("partly", "known for boosted splines, not for trees"),
    "non_asymptotic": ("partly", "rates for early stopping, with unknown constants"),
    "parameter_free": ("partly", "early stopping finds the rounds"),
    "online": ("no", "each round needs all rows"),
}


def _make_method(name: str, title: str, candidates: Any) -> Method:
    return Method(
        name=name,
        title=title,
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="rounds",
        log_axis=True,
        candidates=candidates,
        properties=_PROPERTIES,
        rows_affordable=COST,
        details=_details,
        takes_offset=True,
    )


# The first is the incumbent: it is fitted before all others, and no study should end with a worse model.
METHODS = [
    _make_method(INCUMBENT, "Gradient boosting, default settings", _default_candidates),
    _make_method("gradient-boosting", "Gradient boosting", _candidates),
]

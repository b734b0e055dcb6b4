"""Scores of the chosen model on a test table, besides the interval from the splits of the study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from bosquet.study.chosen_model import ChosenModel
from bosquet.study.compare.intervals import CONFIDENCE, BootstrapDraws
from bosquet.study.metrics.metric import Metric
from bosquet.study.record import Record, ScoredTable, chosen_method
from bosquet.study.run.scoring import predict_in_blocks, scores_of
from bosquet.study.table.design import Design, read_weight
from bosquet.study.table.splits import seed_of
from bosquet.study.table.target import StudyTarget
from bosquet.tables.delimited import distinct_names
from bosquet.tables.levels import factorize, texts_of

_NAMED = 5  # columns or classes that an error message lists


def check_test_table(
    test: Any, tidier: Any, target: StudyTarget, design: Design
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the targets of a test table and their weights; the targets are empty if it has no target column.

    Raises a ValueError if the table lacks columns that the model or its score needs.
    """
    names = distinct_names([str(name) for name in test.columns])[0]
    absent_columns = [plan.name for plan in tidier.plans if plan.outputs and plan.name not in names]
    has_target_column = target.name in names
    weight = design.columns.get("weight", "")
    if has_target_column and weight and weight not in names:
        absent_columns.append(weight)
    offset = design.offset_column
    if has_target_column and offset is not None and offset.name not in names:
        absent_columns.append(offset.name)
    if absent_columns:
        more = f" and {len(absent_columns) - _NAMED} more" if len(absent_columns) > _NAMED else ""
        columns, them = ("column", "it") if len(absent_columns) == 1 else ("columns", "them")
        raise ValueError(
            f"the test table lacks the {columns}"
            f" {', '.join(map(repr, absent_columns[:_NAMED]))}{more} of the table"
            f" of the study; add {them}, or drop {them} from the table of the study"
        )
    if not has_target_column:
        return target.y[:0], None
    y, has_target, unknown = _targets(test.iloc[:, names.index(target.name)], target)
    if unknown and not len(y):
        raise ValueError(
            f"no row of the test table has a known class of {target.name!r}; the classes of the study are"
            f" {', '.join(repr(str(label)) for label in target.classes[:_NAMED])}"
        )
    if offset is not None:
        with _naming_test_table():
            offset.read(test[has_target])
    return y, _test_design(test[has_target], design)[1]


@contextmanager
def _naming_test_table() -> Iterator[None]:
    """Add to error messages that they concern the test table."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"in the test table {error}") from None


def _test_design(test: Any, design: Design) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the groups and the weights of rows of a test table, from the columns of the study's design."""
    import pandas as pd

    names = distinct_names([str(name) for name in test.columns])[0]
    groups, weights = design.columns.get("group", ""), design.columns.get("weight", "")
    group = None
    if groups in names:
        group = pd.factorize(test.iloc[:, names.index(groups)], use_na_sentinel=False)[0]
    if not weights or not len(test):
        return group, None
    with _naming_test_table():
        return group, read_weight(test.iloc[:, names.index(weights)], weights)


def score_test_table(
    test: Any,
    model: ChosenModel,
    target: StudyTarget,
    record: Record,
    metrics: Sequence[Metric],
    design: Design,
) -> ScoredTable | None:
    """Return all metrics of the chosen model on the rows of a test table that have a target, or None.

    If the study has a weight column, rows are weighted by it.
    """
    names = distinct_names([str(name) for name in test.columns])[0]
    if target.name not in names:
        return None
    y, has_target, unknown = _targets(test.iloc[:, names.index(target.name)], target)
    if not len(y):
        return None
    metric = next(candidate for candidate in metrics if candidate.name == record["metric"]["name"])
    rows = test[has_target] if not has_target.all() else test
    group, weight = _test_design(rows, design)
    predictions = predict_in_blocks(model.estimator, model.features(rows), metric)
    decide: Any = model.decision  # not None for classification
    scores = scores_of(metrics, y, predictions, decide, weight)
    if metric.needs == "class":
        predictions = decide(predictions)
    seed = seed_of(record["random_state"], "test")
    drawn = BootstrapDraws.draw(y, metric, seed, group, weight).scores(predictions)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn[np.isfinite(drawn)], [tail, 1 - tail])
    chosen = chosen_method(record)
    return ScoredTable(
        n_rows=len(y),
        without_target=len(has_target) - len(y) - unknown,
        unknown_classes=unknown,
        weighted=weight is not None,
        metrics=scores,
        interval=[float(low), float(high)],
        promised=None if chosen is None else chosen["interval"],
    )


def _targets(series: Any, target: StudyTarget) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the targets of the rows with a known target, their mask, and the number of unknown classes."""
    if not target.is_classes:
        import pandas as pd

        numbers = pd.to_numeric(series, errors="coerce").to_numpy(dtype=float)
        has_target = np.isfinite(numbers)
        return numbers[has_target], has_target, 0
    encoded = factorize(series)
    if encoded is None:
        raise ValueError(
            f"the target {target.name!r} of the test table contains lists; pass one class per row"
        )
    index_of = {text: k for k, text in enumerate(texts_of(target.classes.tolist()))}
    of_level = np.array([*(index_of.get(text, -2) for text in texts_of(encoded.levels)), -1])
    codes = of_level[encoded.codes]
    has_target = codes >= 0
    return target.classes[codes[has_target]], has_target, int((codes == -2).sum())

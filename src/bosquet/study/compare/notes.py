"""Notes of the report on how the methods were compared and tuned."""

from __future__ import annotations

from collections.abc import Sequence

from bosquet.study.compare.intervals import MIN_SPLITS
from bosquet.study.methods.method import Method
from bosquet.study.record import MethodRecord
from bosquet.study.run.schedule import Schedule


def notes_on_comparison(
    records: Sequence[MethodRecord], schedule: Schedule, methods: Sequence[Method]
) -> list[str]:
    """Return notes on subsamples, intervals, validation schemes and methods that were not reached."""
    notes = []
    fewer = [record for record in records if record["subsampled"]]
    if fewer:
        listed = "; ".join(f"{record['title']} on {record['rows_used']:,} rows" for record in fewer)
        notes.append(f"Too slow for all training rows, tuned on a subsample instead: {listed}.")
    incomplete = [
        record["title"] for record in records if 0 < len(record["scores"]) < len(schedule.splits)
    ]
    if incomplete:
        notes.append(
            "The scores of methods without all splits are estimates: the mean score of the best method with"
            " all splits, plus the mean difference to it on the splits that both have"
            f" ({'; '.join(incomplete)})."
        )
    if schedule.context.design.time is not None:
        notes.append(
            "Intervals of scores are prediction intervals for the next block of time. They contain its"
            f" score with 95 % confidence if it differs from the {len(schedule.splits)} blocks of this"
            " study as these differ from each other. With fewer than 3 blocks there is no interval."
        )
    elif len(schedule.splits) < MIN_SPLITS:
        notes.append(
            "Confidence intervals come from a bootstrap of the test rows of the first split. There are"
            f" fewer than {MIN_SPLITS} splits, so the intervals do not include the variation over"
            " training sets."
        )
    default = [method.title for method in methods if _ignores_tune_by(method, schedule)]
    if default:
        notes.append(
            "Tuned by their default validation scheme, because they do not support the requested one:"
            f" {'; '.join(default)}."
        )
    late = [record["title"] for record in records if record["status"] == "not reached"]
    if late:
        notes.append(f"No time was left for {'; '.join(late)}.")
    return notes


def _ignores_tune_by(method: Method, schedule: Schedule) -> bool:
    """Return whether a method was tuned although it does not support the requested scheme."""
    context, outcomes = schedule.context, schedule.outcomes(method)
    if method.name not in context.tune_by or not outcomes or outcomes[0].curve is None:
        return False
    return context.scheme(method, context.shape) is None

"""Methods of a record that the text of the report refers to, and properties of the whole study."""

from __future__ import annotations

from bosquet.study.compare.verdict import is_tied
from bosquet.study.record import MethodRecord, Record, chosen_method
from bosquet.study.report.wording import is_finite

# Names of the method with constant predictions.
BASELINES = ("constant", "baseline")


def scored_methods(record: Record) -> list[MethodRecord]:
    """Return the methods with a score, best first."""
    return [
        method
        for method in record["methods"]
        if method["status"] == "done" and is_finite(method["mean"])
    ]


def best_method(record: Record) -> MethodRecord | None:
    """Return the method that the others are compared with."""
    best = record["comparison"]["best"]
    return next((method for method in scored_methods(record) if method["name"] == best), None)


def chosen_or_best(record: Record) -> MethodRecord | None:
    """Return the chosen method; if there is none, the best one."""
    scored, chosen = scored_methods(record), chosen_method(record)
    return next((method for method in scored if method is chosen), scored[0] if scored else None)


def baseline_method(record: Record) -> MethodRecord | None:
    """Return the method with constant predictions."""
    return next((method for method in scored_methods(record) if method["name"] in BASELINES), None)


def tied_with_best(record: Record) -> list[MethodRecord]:
    """Return the methods that do not differ significantly from the best."""
    best = best_method(record)
    return [method for method in scored_methods(record) if method is not best and is_tied(method)]


def has_intervals_of_differences(record: Record) -> bool:
    """Return whether any difference to the best has a confidence interval."""
    differences = [method["difference"] for method in scored_methods(record)]
    return any(
        difference is not None and is_finite(difference["low"]) for difference in differences
    )


def is_by_time(record: Record) -> bool:
    """Return whether later blocks of time were predicted from earlier ones."""
    return record.get("design", {}).get("splits") == "time"


def interval_name(record: Record) -> str:
    """Return the name of the interval of a score: of the next block of time, it is a prediction interval."""
    return "prediction interval" if is_by_time(record) else "confidence interval"

"""The conclusion of a study: a model, no model better than the constant, or inconclusive.

"No method is better than the constant" can be concluded only if all methods were run. A study in which
methods were stopped, failed or were not reached is inconclusive instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from bosquet.study.methods.method import BASELINE, BAYES_RULE
from bosquet.study.record import MethodRecord, Verdict

MAX_NAMED = 4


def best_on_all_rows(methods: Sequence[MethodRecord]) -> MethodRecord | None:
    """Return the method that the others are compared with, the best of those trained on all training rows.

    The Bayes rule is not considered.
    """
    scored = [
        method for method in methods if method["mean"] is not None and method["name"] != BAYES_RULE
    ]
    return next(
        (method for method in scored if not method["subsampled"]), scored[0] if scored else None
    )


def reach_verdict(methods: Sequence[MethodRecord]) -> Verdict:
    """Return the verdict on methods that are sorted by score and compared with the best.

    Methods that do not suit the table are ignored.
    """

    def titles(status: str) -> list[str]:
        return [method["title"] for method in methods if method["status"] == status]

    verdict: Verdict = {
        "kind": "model",
        "stopped": titles("stopped"),
        "failed": titles("failed"),
        "not_reached": titles("not reached"),
        "cut_short": [
            method["title"]
            for method in methods
            if method["status"] == "done" and not method["finished"]
        ],
    }
    best = best_on_all_rows(methods)
    constant = next(
        (method for method in methods if method["name"] == BASELINE and method["mean"] is not None),
        None,
    )
    if best is None or best is constant:
        verdict["kind"] = "constant"
    elif constant is not None and not is_worse(constant):
        verdict["kind"] = "weak"
    if verdict["kind"] != "model" and constant is not None and _any_above(methods, constant):
        verdict["kind"] = "model"
    if verdict["kind"] != "model" and (without_score(verdict) or verdict["cut_short"]):
        verdict["kind"] = "inconclusive"
    return verdict


def _any_above(methods: Sequence[MethodRecord], constant: MethodRecord) -> bool:
    """Return whether the best method used fewer rows and its interval does not overlap the constant's.

    More rows would not make this method worse, so it can be called better than the constant.
    """
    lead = next(
        (
            method
            for method in methods
            if method["mean"] is not None and method["name"] != BAYES_RULE
        ),
        None,
    )
    if lead is None or not lead["subsampled"] or not lead["interval"] or not constant["interval"]:
        return False
    low, high = lead["interval"]
    return low > constant["interval"][1] or high < constant["interval"][0]


def is_worse(method: MethodRecord) -> bool:
    """Return whether a method is significantly worse than the best; False if it was not tested."""
    difference = method["difference"]
    return difference is not None and difference["distinguishable"]


def is_tied(method: MethodRecord) -> bool:
    """Return whether a method was tested against the best and does not differ significantly."""
    difference = method["difference"]
    return (
        difference is not None
        and difference["low"] is not None
        and not difference["distinguishable"]
    )


def without_score(verdict: Verdict) -> int:
    """Return the number of methods that suit the table but have no score."""
    return len(verdict["stopped"]) + len(verdict["failed"]) + len(verdict["not_reached"])


def unfinished_methods_text(verdict: Verdict) -> str:
    """Return the unfinished methods by reason, as '2 stopped by the time limit (A, B); 1 failed (C)'."""
    reasons = [
        ("stopped by the time limit", verdict["stopped"]),
        ("failed", verdict["failed"]),
        ("not reached in time", verdict["not_reached"]),
        ("cut short by the time limit", verdict["cut_short"]),
    ]
    reasons_given = []
    for reason, names in reasons:
        if names:
            first_names = ", ".join(names[:MAX_NAMED]) + (", ..." if len(names) > MAX_NAMED else "")
            reasons_given.append(f"{len(names)} {reason} ({first_names})")
    return "; ".join(reasons_given)

"""Whether a study found a model, found that there is none, or could not find out.

"No method is better than the constant" is a statement about the table, and true only if the methods were
tried. A study whose methods were stopped, failed or were never reached has no such conclusion.
"""

from __future__ import annotations

from collections.abc import Sequence

from bosquet.study.methods.method import BASELINE, BAYES_RULE
from bosquet.study.record import MethodRecord, Verdict

MOST_NAMED = 4


def best_of(methods: Sequence[MethodRecord]) -> MethodRecord | None:
    """The method that the others are compared with: the best score among those trained on all training rows.

    The Bayes rule is left aside.
    """
    scored = [m for m in methods if m["mean"] is not None and m["name"] != BAYES_RULE]
    return next((m for m in scored if not m["subsampled"]), scored[0] if scored else None)


def verdict_on(methods: Sequence[MethodRecord]) -> Verdict:
    """The verdict on methods that are ordered by their score and compared with the best of them.

    A method that does not suit the table is no part of it: it was never a candidate.
    """

    def titles(status: str) -> list[str]:
        return [m["title"] for m in methods if m["status"] == status]

    verdict: Verdict = {
        "kind": "model",
        "stopped": titles("stopped"),
        "failed": titles("failed"),
        "not_reached": titles("not reached"),
        "cut_short": [m["title"] for m in methods if m["status"] == "done" and not m["finished"]],
    }
    best = best_of(methods)
    constant = next((m for m in methods if m["name"] == BASELINE and m["mean"] is not None), None)
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
    """Whether a method on fewer rows leads with an interval apart from the constant's.

    More rows would not make it worse; only that it is *worse* than others could not be concluded.
    """
    lead = next((m for m in methods if m["mean"] is not None and m["name"] != BAYES_RULE), None)
    if lead is None or not lead["subsampled"] or not lead["interval"] or not constant["interval"]:
        return False
    low, high = lead["interval"]
    return low > constant["interval"][1] or high < constant["interval"][0]


def is_worse(method: MethodRecord) -> bool:
    """Whether a method is significantly worse than the best; False where no test was made, too."""
    difference = method["difference"]
    return difference is not None and difference["distinguishable"]


def is_level(method: MethodRecord) -> bool:
    """Whether a method was compared with the best, and the difference may be chance."""
    difference = method["difference"]
    return (
        difference is not None
        and difference["low"] is not None
        and not difference["distinguishable"]
    )


def without_score(verdict: Verdict) -> int:
    """How many methods suit the table and have no score."""
    return len(verdict["stopped"]) + len(verdict["failed"]) + len(verdict["not_reached"])


def unfinished(verdict: Verdict) -> str:
    """The methods without a full score, by reason: '2 stopped by the time limit (A, B); 1 failed (C)'."""
    reasons = [
        ("stopped by the time limit", verdict["stopped"]),
        ("failed", verdict["failed"]),
        ("not reached in time", verdict["not_reached"]),
        ("cut short by the time limit", verdict["cut_short"]),
    ]
    parts = []
    for reason, names in reasons:
        if names:
            shown = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
            parts.append(f"{len(names)} {reason} ({shown})")
    return "; ".join(parts)

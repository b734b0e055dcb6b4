"""Findings that make scores too optimistic: target leaks, duplicate rows, ignored design, drift."""

from __future__ import annotations

from bosquet.study.record import Exploration, Finding

# Medium findings of these kinds are alarms too, because they make scores look better than they are.
OPTIMISTIC = frozenset({"leak", "duplicates", "design"})


def alarm_findings(exploration: Exploration) -> list[Finding]:
    """Return the findings that are shown next to the result, most severe first."""
    return [
        finding
        for finding in exploration["warnings"]
        if finding["severity"] == "high"
        or (finding["severity"] == "medium" and finding["kind"] in OPTIMISTIC)
    ]


def leaking_columns(exploration: Exploration) -> list[str]:
    """Return the columns with a target leak of high severity."""
    return [
        name
        for finding in exploration["warnings"]
        if finding["kind"] == "leak" and finding["severity"] == "high"
        for name in finding["columns"]
    ]

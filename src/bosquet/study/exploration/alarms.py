"""What to know before believing any score: columns that give the target away, copies, drift."""

from __future__ import annotations

from bosquet.study.record import Exploration, Finding

# Of these kinds medium findings are told at once too: they make scores look better than they are.
FLATTERING = frozenset({"leak", "duplicates", "design"})


def alarms(exploration: Exploration) -> list[Finding]:
    """The findings that belong beside the result, not below it; worst first."""
    return [
        finding
        for finding in exploration["warnings"]
        if finding["severity"] == "high"
        or (finding["severity"] == "medium" and finding["kind"] in FLATTERING)
    ]


def leaking(exploration: Exploration) -> list[str]:
    """Columns that surely give the target away."""
    return [
        name
        for finding in exploration["warnings"]
        if finding["kind"] == "leak" and finding["severity"] == "high"
        for name in finding["columns"]
    ]

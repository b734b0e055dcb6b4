"""What a look at the table brings up, worst first: one sentence each, with what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bosquet.study.exploration.features import Feature
from bosquet.study.exploration.relations import cramers_v
from bosquet.study.exploration.summaries import whiskers
from bosquet.study.exploration.target import ExploredTarget
from bosquet.study.record import Finding

MANY_MISSING, MOSTLY_MISSING = 0.05, 0.5
FAR_OUT = 10  # boxes of a box plot
CORRELATED = 0.95
RARE_SHARE, RARE_ROWS = 0.1, 10
MANY_LEVELS = 50
_NAMED = 6
_ORDER = {"high": 0, "medium": 1, "low": 2}


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Worst first."""
    return sorted(findings, key=lambda finding: _ORDER[finding["severity"]])


def duplicates(count: int, conflicting: int, rows: int, weighted: bool = False) -> list[Finding]:
    """Rows that come more than once; with weights these are separate cases more often than not."""
    found = []
    if count:
        found.append(
            Finding(
                kind="duplicates",
                severity="medium" if count > 0.05 * rows and not weighted else "low",
                columns=[],
                message=f"{count:,} rows are copies of others ({count / rows:.1%}): copies in both training"
                " and test rows flatter a model; drop them unless they are separate cases.",
            )
        )
    if conflicting:
        found.append(
            Finding(
                kind="duplicates",
                severity="low",
                columns=[],
                message=f"{conflicting:,} rows are alike in all columns but the target, which no model can"
                " tell apart.",
            )
        )
    return found


def near_duplicates(
    count: int, conflicting: int, rows: int, ignored: list[str], weighted: bool
) -> list[Finding]:
    """Rows that come more than once but for identifiers and weights, which hide that they are copies.

    In a table with weights, rows of one kind are separate cases more often than not.
    """
    against = f"; {conflicting:,} differ in the target" if conflicting else ""
    message = (
        f"{count:,} rows ({count / rows:.1%}) are copies of others without {listed(ignored)}{against}: drop"
        " copies unless they are separate cases."
    )
    return [
        Finding(
            kind="duplicates",
            severity="medium" if count > 0.05 * rows and not weighted else "low",
            columns=ignored,
            message=message,
        )
    ]


def left_out(features: list[Feature]) -> list[Finding]:
    """Columns that no method sees, by reason."""
    says = {
        "constant": ("constant", "the same in every row"),
        "empty": ("constant", "empty"),
        "identifier": (
            "identifier",
            "different in every row, so that nothing can be learned from it",
        ),
        "text": ("identifier", "text that differs in most rows: make features of it to use it"),
        "nested": ("identifier", "lists or other things that are no values"),
    }
    found = []
    for reason, (kind, what) in says.items():
        names = [f.name for f in features if not f.used and f.plan.reason == reason]
        if names:
            found.append(
                Finding(
                    kind=kind,
                    severity="low",
                    columns=names,
                    message=f"{listed(names)}: {what}; left out.",
                )
            )
    dates = [f.name for f in features if f.kind == "date"]
    if dates:
        message = f"{listed(dates)}: dates, of which methods see year, month, day and the like."
        found.append(Finding(kind="date", severity="low", columns=dates, message=message))
    return found


def missing(features: list[Feature]) -> list[Finding]:
    """Columns with many missing values."""
    found = []
    shares = {f.name: float(f.missing.mean()) for f in features if f.used}
    for low, high, severity in (
        (MOSTLY_MISSING, 1.01, "medium"),
        (MANY_MISSING, MOSTLY_MISSING, "low"),
    ):
        names = [name for name, share in shares.items() if low <= share < high]
        if names:
            worst = max(names, key=lambda name: shares[name])
            found.append(
                Finding(
                    kind="missing",
                    severity=severity,  # type: ignore[typeddict-item]
                    columns=names,
                    message=f"{listed(names)}: values are missing, most in {worst} ({shares[worst]:.0%});"
                    " ask why, for a gap may say something by itself.",
                )
            )
    return found


def outliers(features: list[Feature]) -> list[Finding]:
    """Numbers that lie so far out that they may be errors."""
    names = []
    for feature in features:
        if feature.used and feature.kind == "number" and feature.distinct > 10:
            count, farthest = whiskers(feature)
            if count and farthest > FAR_OUT and count < 0.02 * feature.ordered.size:
                names.append(feature.name)
    if not names:
        return []
    message = (
        f"{listed(names)}: a few values lie very far from the others; look whether they are errors."
    )
    return [Finding(kind="outliers", severity="low", columns=names, message=message)]


def correlated(names: list[str], matrix: np.ndarray, categories: list[Feature]) -> list[Finding]:
    """Columns that say the same."""
    pairs = [
        (abs(float(matrix[i, j])), names[i], names[j])
        for i in range(len(names))
        for j in range(i)
        if abs(matrix[i, j]) >= CORRELATED
    ]
    few = [f for f in categories if 2 <= f.distinct <= MANY_LEVELS]
    coded = [f.bins(MANY_LEVELS) for f in few]
    for i in range(len(few)):
        for j in range(i):
            strength = cramers_v(coded[i][0], coded[j][0], coded[i][1], coded[j][1])
            if strength >= CORRELATED:
                pairs.append((strength, few[i].name, few[j].name))
    if not pairs:
        return []
    pairs.sort(reverse=True)
    shown = "; ".join(f"{a} and {b} ({strength:.2f})" for strength, a, b in pairs[:_NAMED])
    more = f" and {len(pairs) - _NAMED} pairs more" if len(pairs) > _NAMED else ""
    concerned = list(dict.fromkeys(name for _, a, b in pairs for name in (a, b)))
    message = f"Columns that say nearly the same: {shown}{more}; importance is shared between them."
    return [Finding(kind="correlated", severity="low", columns=concerned, message=message)]


def rare(target: ExploredTarget) -> list[Finding]:
    """Classes with few rows."""
    if not target.is_classes:
        return []
    counts = target.counts
    few = [label for label, count in zip(target.classes, counts, strict=True) if count < RARE_ROWS]
    if few:
        message = (
            f"{listed(few)}: classes of fewer than {RARE_ROWS} rows, of which little can be said."
        )
        return [Finding(kind="rare", severity="medium", columns=[target.name], message=message)]
    share = counts.min() / counts.sum()
    if len(counts) == 2 and share < RARE_SHARE:
        label = target.classes[int(counts.argmin())]
        message = f"{label!r} is rare ({share:.1%}): look at precision and recall, not at accuracy."
        return [Finding(kind="rare", severity="medium", columns=[target.name], message=message)]
    return []


def lacking(absent: list[str]) -> list[Finding]:
    """Columns that later rows do not have."""
    if not absent:
        return []
    message = (
        f"{listed(absent)}: not in the test table, whose rows a model of this table cannot predict;"
        " add what is missing there, or drop it here."
    )
    return [Finding(kind="drift", severity="high", columns=absent, message=message)]


def limits(shown: int, columns: int, sampled: int, rows: int) -> list[Finding]:
    """What was not looked at, for the sake of time."""
    told: list[Any] = []
    if shown < columns:
        told.append(
            f"Of {columns:,} columns the {shown} most related to the target are shown and looked at closely."
        )
    if sampled < rows:
        told.append(
            f"Relations and leaks of whole columns are measured on {sampled:,} of the {rows:,} rows."
        )
    return [Finding(kind="limits", severity="low", columns=[], message=text) for text in told]


def listed(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")

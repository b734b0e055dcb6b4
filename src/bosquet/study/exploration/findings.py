"""Findings of the exploration: one sentence each, with advice, most severe first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bosquet.study.exploration.features import Feature
from bosquet.study.exploration.relations import cramers_v
from bosquet.study.exploration.summaries import count_beyond_whiskers
from bosquet.study.exploration.target import ExploredTarget
from bosquet.study.record import Finding

MANY_MISSING, MOSTLY_MISSING = 0.05, 0.5
FAR_OUT = 10  # interquartile ranges beyond the quartiles
CORRELATED = 0.95
RARE_SHARE, RARE_ROWS = 0.1, 10
MANY_LEVELS = 50
_NAMED = 6  # columns that a message lists by name
_ORDER = {"high": 0, "medium": 1, "low": 2}


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by severity, most severe first."""
    return sorted(findings, key=lambda finding: _ORDER[finding["severity"]])


def duplicate_findings(
    count: int, conflicting: int, n_rows: int, weighted: bool = False
) -> list[Finding]:
    """Report duplicate rows; in a table with sample weights they are usually separate cases."""
    findings = []
    if count:
        findings.append(
            Finding(
                kind="duplicates",
                severity="medium" if count > 0.05 * n_rows and not weighted else "low",
                columns=[],
                message=f"{count:,} rows ({count / n_rows:.1%}) are duplicates of other rows. Duplicates in"
                " both training and test set make scores too optimistic; drop them unless they are separate"
                " cases.",
            )
        )
    if conflicting:
        findings.append(
            Finding(
                kind="duplicates",
                severity="low",
                columns=[],
                message=f"{conflicting:,} rows are equal in all columns except the target; no model can"
                " distinguish them.",
            )
        )
    return findings


def near_duplicate_findings(
    count: int, conflicting: int, n_rows: int, ignored: list[str], weighted: bool
) -> list[Finding]:
    """Report rows that are duplicates if identifiers and weights are ignored.

    In a table with sample weights, such rows are usually separate cases.
    """
    against = f" ({conflicting:,} rows differ only in the target)" if conflicting else ""
    message = (
        f"{count:,} rows ({count / n_rows:.1%}) are equal to other rows except in"
        f" {list_names(ignored)}{against}; drop them unless they are separate cases."
    )
    return [
        Finding(
            kind="duplicates",
            severity="medium" if count > 0.05 * n_rows and not weighted else "low",
            columns=ignored,
            message=message,
        )
    ]


def left_out_findings(features: list[Feature]) -> list[Finding]:
    """Report the columns that no method uses, by reason, and date columns."""
    reasons = {
        "constant": ("constant", "the same value in every row"),
        "empty": ("constant", "empty"),
        "identifier": (
            "identifier",
            "a different value in every row, from which nothing can be learned",
        ),
        "text": ("identifier", "text that differs in most rows; derive features from it to use it"),
        "nested": ("identifier", "lists or other nested values"),
    }
    findings = []
    for reason, (kind, what) in reasons.items():
        names = [f.name for f in features if not f.used and f.plan.reason == reason]
        if names:
            findings.append(
                Finding(
                    kind=kind,
                    severity="low",
                    columns=names,
                    message=f"{list_names(names)}: {what}; left out.",
                )
            )
    dates = [f.name for f in features if f.kind == "date"]
    if dates:
        message = (
            f"{list_names(dates)}: dates; methods use their year, month, day and similar parts."
        )
        findings.append(Finding(kind="date", severity="low", columns=dates, message=message))
    return findings


def missing_value_findings(features: list[Feature]) -> list[Finding]:
    """Report columns with many missing values."""
    findings = []
    shares = {f.name: float(f.missing.mean()) for f in features if f.used}
    for low, high, severity in (
        (MOSTLY_MISSING, 1.01, "medium"),
        (MANY_MISSING, MOSTLY_MISSING, "low"),
    ):
        names = [name for name, share in shares.items() if low <= share < high]
        if names:
            worst = max(names, key=lambda name: shares[name])
            findings.append(
                Finding(
                    kind="missing",
                    severity=severity,  # type: ignore[typeddict-item]
                    columns=names,
                    message=f"{list_names(names)}: missing values, most in {worst} ({shares[worst]:.0%});"
                    " find out why, because a missing value may be informative.",
                )
            )
    return findings


def outlier_findings(features: list[Feature]) -> list[Finding]:
    """Report columns with outliers that may be errors."""
    names = []
    for feature in features:
        if feature.used and feature.kind == "number" and feature.distinct > 10:
            count, farthest = count_beyond_whiskers(feature)
            if count and farthest > FAR_OUT and count < 0.02 * feature.ordered.size:
                names.append(feature.name)
    if not names:
        return []
    message = (
        f"{list_names(names)}: a few values are very far from the others;"
        " check whether they are errors."
    )
    return [Finding(kind="outliers", severity="low", columns=names, message=message)]


def correlation_findings(
    names: list[str], matrix: np.ndarray, categories: list[Feature]
) -> list[Finding]:
    """Report pairs of strongly correlated columns."""
    pairs = [
        (abs(float(matrix[i, j])), names[i], names[j])
        for i in range(len(names))
        for j in range(i)
        if abs(matrix[i, j]) >= CORRELATED
    ]
    with_few_levels = [f for f in categories if 2 <= f.distinct <= MANY_LEVELS]
    coded = [f.bins(MANY_LEVELS) for f in with_few_levels]
    for i in range(len(with_few_levels)):
        for j in range(i):
            strength = cramers_v(coded[i][0], coded[j][0], coded[i][1], coded[j][1])
            if strength >= CORRELATED:
                pairs.append((strength, with_few_levels[i].name, with_few_levels[j].name))
    if not pairs:
        return []
    pairs.sort(reverse=True)
    strongest = "; ".join(f"{a} and {b} ({strength:.2f})" for strength, a, b in pairs[:_NAMED])
    more = f" and {len(pairs) - _NAMED} more pairs" if len(pairs) > _NAMED else ""
    concerned = list(dict.fromkeys(name for _, a, b in pairs for name in (a, b)))
    message = f"Strongly correlated columns: {strongest}{more}; feature importance is divided between them."
    return [Finding(kind="correlated", severity="low", columns=concerned, message=message)]


def rare_class_findings(target: ExploredTarget) -> list[Finding]:
    """Report classes with few rows."""
    if not target.is_classes:
        return []
    counts = target.counts
    rare_classes = [
        label for label, count in zip(target.classes, counts, strict=True) if count < RARE_ROWS
    ]
    if rare_classes:
        message = (
            f"{list_names(rare_classes)}: classes with fewer than {RARE_ROWS} rows, whose results are"
            " uncertain."
        )
        return [Finding(kind="rare", severity="medium", columns=[target.name], message=message)]
    share = counts.min() / counts.sum()
    if len(counts) == 2 and share < RARE_SHARE:
        label = target.classes[int(counts.argmin())]
        message = f"{label!r} is rare ({share:.1%}); use precision and recall instead of accuracy."
        return [Finding(kind="rare", severity="medium", columns=[target.name], message=message)]
    return []


def missing_column_findings(absent: list[str]) -> list[Finding]:
    """Report columns that the test table lacks."""
    if not absent:
        return []
    message = (
        f"{list_names(absent)}: not in the test table, so the model cannot predict its rows; add the"
        " columns to the test table or drop them here."
    )
    return [Finding(kind="drift", severity="high", columns=absent, message=message)]


def limit_findings(examined: int, columns: int, sampled: int, n_rows: int) -> list[Finding]:
    """Report which columns and rows were not examined, to save time."""
    messages: list[Any] = []
    if examined < columns:
        messages.append(
            f"Only the {examined} of {columns:,} columns most associated with the target were examined."
        )
    if sampled < n_rows:
        messages.append(
            f"Associations and leaks of whole columns were measured on {sampled:,} of the {n_rows:,} rows."
        )
    return [Finding(kind="limits", severity="low", columns=[], message=text) for text in messages]


def list_names(names: list[str]) -> str:
    """Return the names separated by commas; of many, the first ones and the number of the others."""
    first_names = ", ".join(names[:_NAMED])
    return first_names + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")

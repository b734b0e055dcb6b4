"""A copy of the record of limited size for the report, with notes on what was left out."""

from __future__ import annotations

import copy
from typing import Any

from bosquet.study.record import Record

MAX_COLUMNS = 400
MAX_POINTS = 400
MAX_ROWS = 200
MAX_VALUES = 60  # of one row
MAX_CORRELATED = 40
MAX_NODES = 1500
MAX_LEVELS = 60
MAX_IMPORTANCES = 500


def thin_record(record: Record) -> tuple[Record, list[str]]:
    """Return a copy of `record` of limited size, and a note for each part that was shortened."""
    notes: list[str] = []
    chosen: Any = record["chosen"]
    tree, cut = _copy_upper_part(chosen["tree"]) if chosen and chosen["tree"] else (None, False)
    if cut:
        notes.append("This report draws only the upper levels of the tree.")
    bare: Any = {**record, "chosen": {**chosen, "tree": None} if chosen else None}
    page = copy.deepcopy(bare)
    _thin_exploration(page["exploration"], notes)
    for method in page["methods"]:
        test = method.get("test") or {}
        for curve in ("roc", "pr"):
            test[curve] = {
                k: _evenly_spaced(points) for k, points in (test.get(curve) or {}).items()
            }
        if test.get("thresholds"):
            test["thresholds"] = _evenly_spaced(test["thresholds"])
        if test.get("scatter"):
            test["scatter"] = _evenly_spaced(test["scatter"], 2 * MAX_POINTS)
        if test:
            method["test"] = test
    if page["chosen"]:
        _thin_chosen(page["chosen"], notes)
        page["chosen"]["tree"] = tree
    return page, notes


def _thin_exploration(exploration: dict[str, Any], notes: list[str]) -> None:
    columns = exploration["columns"]
    if len(columns) > MAX_COLUMNS:
        suspected = {c for f in exploration["warnings"] for c in f["columns"][:10]}
        ranked = sorted(
            columns, key=lambda c: (c["name"] not in suspected, -(c["relation"] or 0.0))
        )[:MAX_COLUMNS]
        kept_ids = {id(c) for c in ranked}
        exploration["columns"] = [c for c in columns if id(c) in kept_ids]
        notes.append(
            f"This report shows {MAX_COLUMNS} of {len(columns):,} columns, those most related to the target."
        )
    for finding in exploration["warnings"]:
        finding["columns"] = finding["columns"][:30]
    related = exploration["correlations"]
    if related and len(related.get("names", [])) > MAX_CORRELATED:
        related["names"] = related["names"][:MAX_CORRELATED]
        related["matrix"] = [row[:MAX_CORRELATED] for row in related["matrix"][:MAX_CORRELATED]]


def _thin_chosen(chosen: dict[str, Any], notes: list[str]) -> None:
    importances = chosen["importances"]
    if len(importances) > MAX_IMPORTANCES:
        chosen["importances"] = importances[:MAX_IMPORTANCES]
        notes.append(
            f"This report shows the {MAX_IMPORTANCES} largest of {len(importances):,} importances."
        )
    chosen["rows"] = chosen["rows"][:MAX_ROWS]
    for row in chosen["rows"]:
        row["reasons"] = row["reasons"][:MAX_VALUES]
        if len(row["values"]) > MAX_VALUES:
            first = [r["feature"] for r in row["reasons"]] + list(row["values"])
            names = list(dict.fromkeys(name for name in first if name in row["values"]))
            row["values"] = {name: row["values"][name] for name in names[:MAX_VALUES]}
    certificate = chosen["certificate"]
    if certificate:
        for key, values in certificate.items():
            if isinstance(values, list):
                certificate[key] = _evenly_spaced(values)


def _evenly_spaced(points: list[Any], max_points: int = MAX_POINTS) -> list[Any]:
    """Return at most `max_points` of the points, evenly spaced, with the first and the last."""
    if len(points) <= max_points:
        return points
    step = (len(points) - 1) / (max_points - 1)
    return [points[round(i * step)] for i in range(max_points)]


def _copy_upper_part(tree: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a copy of the upper nodes of a tree, and whether any nodes were left out.

    The tree is copied level by level, not recursively: its depth may exceed the recursion limit of Python.
    """
    root = {**tree, "children": []}
    level, remaining, cut = [(root, tree)], MAX_NODES - 1, False
    for _ in range(MAX_LEVELS):
        below: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for copied, node in level:
            if len(node["children"]) > remaining:
                cut = copied["cut"] = True
                continue
            pairs = [({**child, "children": []}, child) for child in node["children"]]
            copied["children"] = [pair[0] for pair in pairs]
            remaining -= len(pairs)
            below.extend(pairs)
        level = below
    for copied, node in level:
        if node["children"]:
            cut = copied["cut"] = True
    return root, cut

"""`bosquet info`: describe this machine or the content of a file."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Any

from bosquet._files import MODEL_FILE
from bosquet._text_table import text_table
from bosquet.cli.arguments import table_argument
from bosquet.cli.inputs import read_input_table
from bosquet.cli.models import PICKLE, begins_with, load_model, trust_arguments
from bosquet.cli.output import print_result

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pandas import DataFrame


NAME = "info"
HELP = "print versions and machine; with a file, describe its content"
DESCRIPTION = (
    "Without a file, print the versions of Bosquet and its dependencies, the number of cores and the"
    " instruction set. With a model file, describe the model, its columns and its target. With a table,"
    " describe its format and its columns."
)
EXAMPLES = """
bosquet info
bosquet info model.bosquet
bosquet info data.csv --json
"""
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "narwhals",
    "pandas",
    "pyarrow",
    "matplotlib",
    "statsmodels",
)
PEERS = ("lightgbm", "xgboost", "xgboost-cpu", "catboost")
_SHOWN = 60


def add_arguments(parser: ArgumentParser) -> None:
    table_argument(parser, "a model file or a table", nargs="?")
    trust_arguments(parser)


def run(arguments: Namespace) -> None:
    if arguments.data is None:
        return _print_machine(arguments)
    if begins_with(arguments.data, MODEL_FILE) or begins_with(arguments.data, PICKLE):
        return _print_model(arguments, load_model(arguments.data, arguments))
    return _print_table(arguments, read_input_table(arguments))


# ----------------------------------------------------------------------------------------- machine
def machine() -> dict[str, Any]:
    """Return versions, the number of cores and the instruction set of the C++ core."""
    from importlib.metadata import PackageNotFoundError, version

    from bosquet import __version__
    from bosquet._core import best_isa

    def installed(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "bosquet": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": cores,
        "instruction_set": best_isa(),
        "packages": {name: installed(name) for name in PACKAGES},
        "peers": {name: installed(name) for name in PEERS},
    }


def _print_machine(arguments: Namespace) -> None:
    description = machine()
    rows = [
        [key.replace("_", " "), str(value)]
        for key, value in description.items()
        if not isinstance(value, dict)
    ]
    for group in ("packages", "peers"):
        rows += [[name, version or "not installed"] for name, version in description[group].items()]
    print_result(arguments, description, "\n".join(text_table(rows, left=(0, 1))))


# ------------------------------------------------------------------------------------------- model
def _print_model(arguments: Namespace, model: Any) -> None:
    tidier = getattr(model, "tidier", None)
    inner = model
    if tidier is not None:  # a TableModel, or the chosen model of a study
        inner = model.model if hasattr(model, "model") else model.estimator
    summary: dict[str, Any] = {
        "file": arguments.data,
        "bytes": os.path.getsize(arguments.data),
        "written_by": _written_by(arguments.data),
        "estimator": type(inner).__name__,
        "method": getattr(model, "title", None) or None,
        "target": getattr(tidier, "target", None),
        "classes": [str(label) for label in getattr(inner, "classes_", [])] or None,
        "columns": int(getattr(inner, "n_features_in_", 0)),
    }
    for name in ("n_iter_", "n_estimators"):
        if hasattr(inner, name):
            summary["rounds" if name == "n_iter_" else "trees"] = getattr(inner, name)
            break
    plans = tidier.plans if tidier is not None else []
    summary["features"] = [plan.to_state() for plan in plans] or [
        {"name": str(name)} for name in getattr(inner, "feature_names_in_", [])
    ]
    rows = [
        [key, ", ".join(value[:20]) if isinstance(value, list) else str(value)]
        for key, value in summary.items()
        if key != "features" and value is not None
    ]
    feature_lines = [
        [f"  {feature['name']}", _plan_text(feature)] for feature in summary["features"][:_SHOWN]
    ]
    if len(summary["features"]) > _SHOWN:
        feature_lines.append([f"  ... and {len(summary['features']) - _SHOWN} more", ""])
    lines = text_table(rows, left=(0, 1)) + text_table(feature_lines, left=(0, 1))
    print_result(arguments, summary, "\n".join(lines))


def _written_by(path: str) -> str | None:
    """Return the version that wrote a model file."""
    from bosquet.io.models import writer_version

    if not begins_with(path, MODEL_FILE):
        return None
    with open(path, "rb") as file:
        return f"Bosquet {writer_version(file.read())}"


def _plan_text(state: dict[str, Any]) -> str:
    kind = state.get("kind", "")
    if kind == "left out":
        return f"left out: {state.get('reason', '')}"
    date_parts = ", ".join(state.get("parts", []))
    return f"{kind} ({date_parts})" if date_parts else kind


# ------------------------------------------------------------------------------------------- table
def _print_table(arguments: Namespace, frame: DataFrame) -> None:
    from bosquet.tables.planning import plan_column
    from bosquet.tables.unique_rows import UniqueRows

    unique_rows = UniqueRows(frame)
    descriptions: list[dict[str, Any]] = []
    for name, series in list(frame.items())[:_SHOWN]:
        plan, note = plan_column(str(name), series, unique_rows)
        descriptions.append(
            {
                "name": str(name),
                "kind": plan.kind if plan.used else plan.reason,
                "missing": int(series.isna().sum()),
                "distinct": int(series.nunique()) if plan.reason != "nested" else None,
                "example": str(series.dropna().iloc[0]) if series.notna().any() else "",
                "note": note,
            }
        )
    about = dict(frame.attrs["reading"])
    notes = about.pop("notes")
    summary = {
        "file": arguments.data,
        "rows": len(frame),
        "columns": frame.shape[1],
        "reading": about,
        "notes": notes,
        "described": descriptions,
    }
    heading = ["column", "kind", "missing", "distinct", "for example", ""]
    rows = [
        [
            description["name"][:40],
            description["kind"],
            str(description["missing"]),
            str(description["distinct"]),
            description["example"][:24],
            description["note"],
        ]
        for description in descriptions
    ]
    shown = {key: value for key, value in about.items() if key not in ("name", "repeated")}
    reading_options = ", ".join(f"{key} {value!r}" for key, value in shown.items())
    more = f"\n... and {frame.shape[1] - _SHOWN} more columns" if frame.shape[1] > _SHOWN else ""
    text = f"{arguments.data}: {len(frame):,} rows, {frame.shape[1]:,} columns; {reading_options}\n"
    lines = text_table([heading, *rows], left=(0, 1, 4, 5))
    print_result(arguments, summary, text + "\n".join(lines) + more)

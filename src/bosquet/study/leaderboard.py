"""The table of a study: a row for each method, as a frame, as text and as HTML."""

from __future__ import annotations

import html
from typing import Any

from bosquet.study._figures import figure
from bosquet.study._frames import pandas_or_error
from bosquet.study.alarms import alarms
from bosquet.study.record import MethodRecord, Record


def leaderboard(record: Record) -> Any:
    """The methods of a record as a pandas frame, best first, indexed by name.

    Columns: `title`, the metric's mean with `low` and `high`; `difference` to the best with
    `difference_low`, `difference_high` and whether it is `distinguishable`; all other metrics; `splits`,
    `rows`, `fit_seconds`, `predict_microseconds`, `setting`, `status`, `message`.
    """
    pandas = pandas_or_error()
    rows = [_row(record, method) for method in record["methods"]]
    names = pandas.Index([method["name"] for method in record["methods"]], name="method")
    return pandas.DataFrame(rows, index=names)


def _row(record: Record, method: MethodRecord) -> dict[str, Any]:
    low, high = method["interval"] or (None, None)
    difference = method["difference"]
    others = [one["name"] for one in record["metrics"] if one["name"] != record["metric"]["name"]]
    return {
        "title": method["title"],
        record["metric"]["name"]: method["mean"],
        "low": low,
        "high": high,
        "difference": None if difference is None else difference["mean"],
        "difference_low": None if difference is None else difference["low"],
        "difference_high": None if difference is None else difference["high"],
        "distinguishable": None if difference is None else difference["distinguishable"],
        **{name: method["metrics"].get(name) for name in others},
        "splits": len(method["scores"]),
        "rows": method["rows_used"],
        "fit_seconds": round(method["fit_seconds"], 3),
        "predict_microseconds": round(method["predict_microseconds"], 2),
        "setting": ", ".join(f"{key}={value}" for key, value in method["setting"].items()),
        "status": method["status"],
        "message": method["message"],
    }


HEADINGS = ("method", "{metric}", "95 % interval", "difference to the best", "fit", "")


def cells(record: Record) -> list[list[str]]:
    """The leaderboard as text: a heading, then a line for each method."""
    metric = record["metric"]["title"]
    lines = [[heading.format(metric=metric) for heading in HEADINGS]]
    for method in record["methods"]:
        lines.append(_cells(record, method))
    return lines


def _cells(record: Record, method: MethodRecord) -> list[str]:
    if method["mean"] is None:
        return [method["title"], "", "", "", "", f"{method['status']}: {method['message']}"]
    interval = method["interval"]
    difference = method["difference"]
    told = "best"
    if difference is not None:
        told = figure(difference["mean"], 3, signed=True)
        low, high = difference["low"], difference["high"]
        if low is not None and high is not None:
            told += f" [{figure(low, 3, signed=True)} to {figure(high, 3, signed=True)}]"
        told += "" if difference["distinguishable"] else "  not distinguishable"
    marks = []
    winner = record["winner"]
    if winner is not None and winner["name"] == method["name"]:
        marks.append("chosen")
    if method["subsampled"]:
        marks.append(f"on {method['rows_used']:,} rows")
    return [
        method["title"],
        figure(method["mean"]),
        "" if interval is None else f"[{figure(interval[0])} to {figure(interval[1])}]",
        told,
        f"{method['fit_seconds']:.1f} s",
        ", ".join(marks),
    ]


def as_text(record: Record) -> str:
    """The leaderboard in columns, with what was chosen and why."""
    lines = cells(record)
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    winner = record["winner"]
    first = [f"Look here first: {one['message']}" for one in alarms(record["exploration"])]
    why = ["", winner["why"]] if winner else []
    return "\n".join([summary(record), *first, "", *text, *why])


def summary(record: Record) -> str:
    """What was studied, in one line."""
    tests = f"{record['n_test']:,} test rows"
    splits = f"1 split with {tests}"
    if record["repeats"] > 1:
        splits = f"{record['repeats']} splits with {tests} each"
    return (
        f"{record['title']}: {record['n_rows']:,} rows, {record['task']}, {splits},"
        f" {record['seconds']:.0f} s"
    )


def as_html(record: Record) -> str:
    """The leaderboard for a notebook."""
    heading, *lines = [[html.escape(cell) for cell in line] for line in cells(record)]
    head = "".join(f"<th style='text-align:left'>{cell}</th>" for cell in heading)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in line) + "</tr>"
        for line in lines
    )
    winner = record["winner"]
    why = f"<p>{html.escape(winner['why'])}</p>" if winner else ""
    first = "".join(
        f"<p><b>Look here first:</b> {html.escape(one['message'])}</p>"
        for one in alarms(record["exploration"])
    )
    return (
        f"<div><p><b>{html.escape(summary(record))}</b></p>{first}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{why}</div>"
    )

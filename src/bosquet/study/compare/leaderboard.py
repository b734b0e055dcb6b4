"""The table of a study: a row for each method, as a frame, as text and as HTML."""

from __future__ import annotations

import html
from typing import Any

from bosquet._text_table import text_table
from bosquet.study.exploration.alarms import alarms
from bosquet.study.metrics.formatting import figure
from bosquet.study.record import MethodRecord, Record
from bosquet.study.table.frames import pandas_or_error


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
    told = "best" if method["name"] == record["comparison"]["best"] else "not compared"
    if difference is not None:
        told = figure(difference["mean"], 3, signed=True)
        low, high = difference["low"], difference["high"]
        if low is not None and high is not None:
            told += f" [{figure(low, 3, signed=True)} to {figure(high, 3, signed=True)}]"
            told += "" if difference["distinguishable"] else "  not significant"
        else:
            told += "  not tested: other training rows"
    marks = []
    winner = record["winner"]
    if winner is not None and winner["name"] == method["name"]:
        marks.append("chosen")
    if not method["finished"]:
        marks.append("cut short by the time limit")
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
    text = text_table(lines, left=range(len(lines[0])))
    winner = record["winner"]
    first = [f"Look here first: {one['message']}" for one in alarms(record["exploration"])]
    why = ["", winner["why"], *final_rows(record)] if winner else []
    tested = [on_test_table(record)] if record.get("test_table") else []
    return "\n".join([summary(record), *first, "", *text, *why, *tested])


_OF_DESIGN = {
    "time": "by time",
    "group": "by group",
    "split": "as given",
    "weight": "rows weighted",
    "offset": "with an offset",
    "exposure": "by exposure",
}


def final_rows(record: Record) -> list[str]:
    """A sentence if the model that is kept was not fitted to all rows."""
    final = record["final"]
    if final["rows"] >= final["of"]:
        return []
    return [f"The model is fitted to {final['rows']:,} of {final['of']:,} rows: {final['why']}."]


def summary(record: Record) -> str:
    """What was studied, in one line."""
    tests = f"{record['n_test']:,} test rows"
    splits = f"1 split with {tests}"
    if record["repeats"] > 1:
        splits = f"{record['repeats']} splits with {tests} each"
    design = record.get("design")
    if design is not None:
        splits += f" ({', '.join(_OF_DESIGN[option] for option in design['columns'])})"
    return (
        f"{record['title']}: {record['n_rows']:,} rows, {record['task']}, {splits},"
        f" {record['seconds']:.0f} s"
    )


def on_test_table(record: Record) -> str:
    """What the test table showed, beside what the study promised; "" without a test table."""
    found = record.get("test_table")
    if found is None:
        return ""
    metric = record["metric"]
    score = found["metrics"][metric["name"]]
    low, high = found["interval"]
    weighted = " (weighted)" if found["weighted"] else ""
    said = (
        f"On the {found['n_rows']:,} rows of the test table{weighted}: {metric['title']} {figure(score)}"
        f" (95 % interval {figure(low)} to {figure(high)})."
    )
    if found["unknown_classes"]:
        said += f" {found['unknown_classes']:,} rows of classes that the model does not know are left out."
    promised = found["promised"]
    if promised is None:
        return said
    said += f" The splits of the study gave {figure(promised[0])} to {figure(promised[1])}"
    if high < promised[0] or low > promised[1]:
        better = (low > promised[1]) == metric["higher_is_better"]
        return f"{said}: the test rows score {'better' if better else 'worse'} than rows of the table do."
    return f"{said}."


def as_html(record: Record) -> str:
    """The leaderboard for a notebook."""
    heading, *lines = [[html.escape(cell) for cell in line] for line in cells(record)]
    head = "".join(f"<th style='text-align:left'>{cell}</th>" for cell in heading)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in line) + "</tr>"
        for line in lines
    )
    winner = record["winner"]
    told = " ".join([winner["why"], *final_rows(record)]) if winner else ""
    why = f"<p>{html.escape(told)}</p>" if winner else ""
    why += f"<p>{html.escape(on_test_table(record))}</p>" if record.get("test_table") else ""
    first = "".join(
        f"<p><b>Look here first:</b> {html.escape(one['message'])}</p>"
        for one in alarms(record["exploration"])
    )
    return (
        f"<div><p><b>{html.escape(summary(record))}</b></p>{first}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{why}</div>"
    )

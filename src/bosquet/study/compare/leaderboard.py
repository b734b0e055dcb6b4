"""The leaderboard of a study, one row per method: as a data frame, as text and as HTML."""

from __future__ import annotations

import html
from typing import Any

from bosquet._optional import import_pandas
from bosquet._text_table import text_table
from bosquet.study.exploration.alarms import alarm_findings
from bosquet.study.metrics.formatting import format_score
from bosquet.study.record import MethodRecord, Record


def leaderboard(record: Record) -> Any:
    """Return the methods of a record as a pandas frame, best first, indexed by name.

    Columns: `title`, the metric's mean with `low` and `high`; `difference` to the best with
    `difference_low`, `difference_high` and whether it is `distinguishable`; all other metrics; `splits`,
    `rows`, `fit_seconds`, `predict_microseconds`, `setting`, `status`, `message`.
    """
    pandas = import_pandas("Study")
    rows = [_method_row(record, method) for method in record["methods"]]
    names = pandas.Index([method["name"] for method in record["methods"]], name="method")
    return pandas.DataFrame(rows, index=names)


def _method_row(record: Record, method: MethodRecord) -> dict[str, Any]:
    low, high = method["interval"] or (None, None)
    difference = method["difference"]
    others = [
        metric["name"] for metric in record["metrics"] if metric["name"] != record["metric"]["name"]
    ]
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


HEADINGS = ("method", "{metric}", "95 % interval", "difference to the best", "fit time", "")


def leaderboard_cells(record: Record) -> list[list[str]]:
    """Return the leaderboard as text cells: a heading, then one line per method."""
    metric = record["metric"]["title"]
    lines = [[heading.format(metric=metric) for heading in HEADINGS]]
    for method in record["methods"]:
        lines.append(_method_cells(record, method))
    return lines


def _method_cells(record: Record, method: MethodRecord) -> list[str]:
    if method["mean"] is None:
        return [method["title"], "", "", "", "", f"{method['status']}: {method['message']}"]
    interval = method["interval"]
    difference = method["difference"]
    to_best = "best" if method["name"] == record["comparison"]["best"] else "not compared"
    if difference is not None:
        to_best = format_score(difference["mean"], 3, signed=True)
        low, high = difference["low"], difference["high"]
        if low is not None and high is not None:
            to_best += (
                f" [{format_score(low, 3, signed=True)} to {format_score(high, 3, signed=True)}]"
            )
            to_best += "" if difference["distinguishable"] else "  not significant"
        else:
            to_best += "  not tested: different training rows"
    marks = []
    chosen = record["chosen"]
    if chosen is not None and chosen["name"] == method["name"]:
        marks.append("chosen")
    if not method["finished"]:
        marks.append("cut short by the time limit")
    if method["subsampled"]:
        marks.append(f"on {method['rows_used']:,} rows")
    if len(method["scores"]) < record["repeats"]:
        marks.append(f"{len(method['scores'])} of {record['repeats']} splits")
    return [
        method["title"],
        format_score(method["mean"]),
        "" if interval is None else f"[{format_score(interval[0])} to {format_score(interval[1])}]",
        to_best,
        f"{method['fit_seconds']:.1f} s",
        ", ".join(marks),
    ]


def leaderboard_text(record: Record) -> str:
    """Return the leaderboard as text, with the choice and its reasons."""
    lines = leaderboard_cells(record)
    text = text_table(lines, left=range(len(lines[0])))
    chosen = record["chosen"]
    warnings = [
        f"Warning: {finding['message']}" for finding in alarm_findings(record["exploration"])
    ]
    why = ["", chosen["why"], *final_rows(record)] if chosen else []
    tested = [text_on_test_table(record)] if record.get("test_table") else []
    return "\n".join([summary_line(record), *warnings, "", *text, *why, *tested])


_DESIGN_TEXTS = {
    "time": "by time",
    "group": "by group",
    "split": "given split",
    "weight": "with weights",
    "offset": "with an offset",
    "exposure": "with an exposure",
}


def final_rows(record: Record) -> list[str]:
    """Return a sentence if the final model was not fitted to all rows."""
    final = record["final"]
    if final["rows"] >= final["of"]:
        return []
    return [f"The model is fitted to {final['rows']:,} of {final['of']:,} rows: {final['why']}."]


def summary_line(record: Record) -> str:
    """Return one line on the table, the splits and the time of a study."""
    tests = f"{record['n_test']:,} test rows"
    splits = f"1 split with {tests}"
    if record["repeats"] > 1:
        splits = f"{record['repeats']} splits with {tests} each"
    design = record.get("design")
    if design is not None:
        splits += f" ({', '.join(_DESIGN_TEXTS[option] for option in design['columns'])})"
    return (
        f"{record['title']}: {record['n_rows']:,} rows, {record['task']}, {splits},"
        f" {record['seconds']:.0f} s"
    )


def text_on_test_table(record: Record) -> str:
    """Return sentences that compare the score on the test table with that of the splits, or ""."""
    result = record.get("test_table")
    if result is None:
        return ""
    metric = record["metric"]
    score = result["metrics"][metric["name"]]
    low, high = result["interval"]
    weighted = " (weighted)" if result["weighted"] else ""
    text = (
        f"On the {result['n_rows']:,} rows of the test table{weighted}: {metric['title']}"
        f" {format_score(score)} (95 % interval {format_score(low)} to {format_score(high)})."
    )
    if result["unknown_classes"]:
        text += f" {result['unknown_classes']:,} rows of unknown classes are not scored."
    promised = result["promised"]
    if promised is None:
        return text
    text += (
        f" The interval from the splits of the study is {format_score(promised[0])} to"
        f" {format_score(promised[1])}"
    )
    if high < promised[0] or low > promised[1]:
        better = (low > promised[1]) == metric["higher_is_better"]
        return f"{text}: the score on the test table is {'better' if better else 'worse'}."
    return f"{text}."


def leaderboard_html(record: Record) -> str:
    """Return the leaderboard as HTML for a notebook."""
    heading, *lines = [[html.escape(cell) for cell in line] for line in leaderboard_cells(record)]
    head = "".join(f"<th style='text-align:left'>{cell}</th>" for cell in heading)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in line) + "</tr>"
        for line in lines
    )
    chosen = record["chosen"]
    reasons = " ".join([chosen["why"], *final_rows(record)]) if chosen else ""
    why = f"<p>{html.escape(reasons)}</p>" if chosen else ""
    why += f"<p>{html.escape(text_on_test_table(record))}</p>" if record.get("test_table") else ""
    warnings = "".join(
        f"<p><b>Warning:</b> {html.escape(finding['message'])}</p>"
        for finding in alarm_findings(record["exploration"])
    )
    return (
        f"<div><p><b>{html.escape(summary_line(record))}</b></p>{warnings}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{why}</div>"
    )

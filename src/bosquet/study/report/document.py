"""The HTML document of the report: inlined styles and scripts, the embedded record, and the text parts."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from bosquet.study.compare.leaderboard import text_on_test_table
from bosquet.study.exploration.alarms import alarm_findings
from bosquet.study.record import Record
from bosquet.study.report.embedding import script_data, text
from bosquet.study.report.leaderboard import leaderboard_section
from bosquet.study.report.selection import chosen_or_best, is_by_time
from bosquet.study.report.summary import headline, summary_sentences
from bosquet.study.report.thinning import thin_record
from bosquet.study.report.wording import count_text, duration, format_count, shorten

_STYLES = ("palette", "text", "controls", "tables", "figures", "panels", "print")
# In this order: each file may use the names of the files before it.
_SCRIPTS = (
    "elements",
    "numbers",
    "axes",
    "chart",
    "record",
    "theme",
    "leaderboard",
    "complexity",
    "evaluation",
    "threshold",
    "confusion",
    "regression",
    "importance",
    "boosting",
    "tree_layout",
    "tree",
    "rows",
    "columns",
    "exploration",
    "properties",
    "page",
)
MAX_ALARMS = 4
# Runs before the first paint, so that a page with the dark theme does not flash white.
_THEME_FIRST = (
    'try{const t=localStorage.getItem("bosquet-theme");'
    'if(t==="dark"||t==="light")document.documentElement.dataset.theme=t}catch(e){}'
    'document.documentElement.classList.add("scripted")'
)
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Ccircle cx='8' cy='3.5' r='2.5' fill='%233b6ea5'/%3E"
    "%3Ccircle cx='3.5' cy='12' r='2.5' fill='%23d9822b'/%3E"
    "%3Ccircle cx='12.5' cy='12' r='2.5' fill='%232f7d5b'/%3E"
    "%3Cpath d='M8 6 3.5 9.5M8 6l4.5 3.5' stroke='%238a8a8a'/%3E%3C/svg%3E"
)


def page_html(record: Record) -> str:
    """Return the report as one HTML document without external resources.

    Summary, leaderboard and notes do not need JavaScript. The figures are drawn by a script from the record,
    which is embedded as JSON.
    """
    record, left_out = thin_record(record)
    styles, script = _inline_files("style", _STYLES, "css"), _script()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src {_script_digest(_THEME_FIRST)} {_script_digest(script)}"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Bosquet {text(record["bosquet"])}">
<title>{text(shorten(record["title"], 80))} · Bosquet</title>
<link rel="icon" href="{_ICON}">
<script>{_THEME_FIRST}</script>
<style>
{styles}
</style>
</head>
<body>
<a class="skip" href="#content">Skip to the study</a>
<header class="bar"><div class="bar-inner">
<a class="mark" href="#top">Bosquet</a>
<nav aria-label="Sections" id="sections"></nav>
<button type="button" id="theme" class="plain" hidden></button>
</div></header>
<main id="content" tabindex="-1">
{_opening_html(record)}
{leaderboard_section(record)}
<div id="figures"></div>
<noscript><p class="wide note">The figures need JavaScript, which is disabled. The summary, the leaderboard
and the notes are shown without it.</p></noscript>
{_closing_html(record, left_out)}
</main>
<div id="tip" role="status" aria-live="polite" hidden></div>
<script type="application/json" id="record">{script_data(record)}</script>
<script>{script}</script>
</body>
</html>
"""


@cache
def _inline_files(folder: str, names: tuple[str, ...], ending: str) -> str:
    source = files("bosquet.study.report") / folder
    return "\n".join((source / f"{name}.{ending}").read_text("utf-8") for name in names)


def _script() -> str:
    return f'(() => {{\n"use strict";\n{_inline_files("script", _SCRIPTS, "js")}\n}})();\n'


def _script_digest(script: str) -> str:
    """Return the hash of a script for the content security policy, which forbids all other scripts."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _opening_html(record: Record) -> str:
    method = chosen_or_best(record)
    why = record["chosen"]["why"] if record["chosen"] else ""
    facts = [
        (format_count(record["n_rows"]), "rows"),
        (format_count(record["exploration"]["n_columns"]), "columns"),
        (
            format_count(sum(method["status"] == "done" for method in record["methods"])),
            "methods compared",
        ),
        (format_count(record["repeats"]), "split" if record["repeats"] == 1 else "repeated splits"),
        (duration(record["seconds"]), "total time"),
    ]
    numbers = "".join(
        f"<div><dt>{label}</dt><dd>{text(value)}</dd></div>" for value, label in facts
    )
    kicker = record["title"]
    if record["source"] and record["source"] not in kicker:
        kicker = f"{kicker} · {record['source']}"
    reason = f'<p class="why">{text(why)}</p>' if why and method else ""
    tested = text_on_test_table(record)
    reason += f'<p class="why" id="tested">{text(tested)}</p>' if tested else ""
    return f"""<section id="top" class="opening">
<p class="kicker" title="{text(kicker)}">{text(shorten(kicker, 110))}</p>
<h1>{text(headline(record))}</h1>
<p class="summary" id="summary">{text(" ".join(summary_sentences(record)))}</p>
{reason}
{_warnings_html(record)}
<dl class="facts">{numbers}</dl>
</section>"""


def _warnings_html(record: Record) -> str:
    """Return the warnings about leaks and duplicates, which make scores too optimistic."""
    findings = alarm_findings(record["exploration"])
    if not findings:
        return ""
    items = "".join(
        f"<li>{text(shorten(finding['message'], 300))}</li>" for finding in findings[:MAX_ALARMS]
    )
    if len(findings) > MAX_ALARMS:
        items += f"<li>{count_text(len(findings) - MAX_ALARMS, 'more warning')} of this kind.</li>"
    return (
        '<div class="alarms" role="note"><h2>Warnings about the data</h2>'
        f'<ul>{items}</ul><p><a href="#data">All findings about the data</a></p></div>'
    )


def _closing_html(record: Record, left_out: list[str]) -> str:
    notes = [*record["notes"], *left_out]
    items = "".join(f"<li>{text(note)}</li>" for note in notes)
    noted = f'<ul class="notes">{items}</ul>' if notes else "<p>There are no notes.</p>"
    return f"""<section id="notes" class="block"><h2>Notes</h2>{noted}</section>
<section id="method" class="block"><h2>Procedure</h2>
{"".join(f"<p>{text(paragraph)}</p>" for paragraph in _procedure_sentences(record))}
<dl class="settings">{_settings_sentences(record)}</dl></section>"""


def _procedure_sentences(record: Record) -> list[str]:
    test, rows = record["n_test"], record["n_rows"]
    share = f" ({100 * test / rows:.0f}\u00a0%)" if rows else ""
    splits = {1: "once", 2: "twice"}.get(
        record["repeats"], f"{format_count(record['repeats'])} times"
    )
    return [
        f"The table was split {splits} {_split_method_text(record)} into training rows and "
        f"{count_text(test, 'test row')}{share}. The hyper-parameters of each method were tuned on"
        " the training rows; the tuned methods were then scored on the test rows. All methods were run on the"
        " same splits, so that differences are paired.",
        f"{_interval_method_text(record)} {_simultaneous_text(record)} A difference whose interval"
        " contains 0 is not significant. The curves and confusion matrices above show the test rows of the"
        " first split only.",
    ]


def _interval_method_text(record: Record) -> str:
    if is_by_time(record):
        return (
            "The interval of a score is a prediction interval for the next block of time, computed from the "
            "blocks of the study."
        )
    if record["comparison"]["interval"] == "splits":
        return (
            "The splits of one table share rows, which would make plain confidence intervals too narrow; the "
            "intervals use the correction of Nadeau and Bengio."
        )
    return (
        "With so few splits the confidence intervals come from a bootstrap of the test rows of the first "
        "split; they do not include the variation over training sets."
    )


def _split_method_text(record: Record) -> str:
    design = record.get("design")
    if design is None:
        return "at random"
    names = {option: f" ({name})" if name else "" for option, name in design["columns"].items()}
    how = {
        "time": f"by time{names.get('time', '')}, with test rows later than all training rows,",
        "group": f"at random by whole groups{names.get('group', '')}",
        "fixed": f"by the given split{names.get('split', '')}",
        "random": "at random",
    }[design["splits"]]
    weighted = f", with sample weights{names['weight']}," if "weight" in names else ""
    return how.rstrip(",") + weighted if weighted else how


def _simultaneous_text(record: Record) -> str:
    comparison = record["comparison"]
    how = {
        "Dunnett": "with Dunnett’s critical value",
        "max-t": "with the quantile of the largest deviation over the draws (max-t)",
    }[comparison["simultaneous"]]
    return (
        f"The intervals of the {count_text(comparison['comparisons'], 'difference')} to the best method are "
        f"simultaneous, with {comparison['confidence']:.0%} confidence, {how}. The selection of the best "
        "method by the same scores is not corrected for."
    )


def _settings_sentences(record: Record) -> str:
    budget = record["budget"]
    pairs = [
        ("Source", record["source"] or "a table in memory"),
        ("Target", record["target"]),
        ("Task", _task_text(record)),
        ("Metric", record["metric"]["title"]),
        (
            "Time budget",
            duration(budget) if budget is not None else "none: a fixed number of splits",
        ),
        ("Total time", duration(record["seconds"])),
        ("Random seed", str(record["random_state"])),
        ("Bosquet", record["bosquet"]),
    ]
    return "".join(f"<div><dt>{name}</dt><dd>{text(value)}</dd></div>" for name, value in pairs)


def _task_text(record: Record) -> str:
    if record["task"] == "regression":
        return "regression"
    classes = count_text(len(record["classes"]), "class", "classes")
    positive = record["positive"]
    return f"classification, {classes}" + (
        f"; positive class “{positive}”" if positive is not None else ""
    )

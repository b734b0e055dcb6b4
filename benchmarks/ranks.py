"""Ranks of the libraries from their scores, and the ratios of our losses and times to CatBoost's.

Each of our configurations is ranked only against the peers, never against another of our configurations,
so that ten variants do not push the peers down ten places. The rank on a task is that of the mean loss over
the splits.
"""

import math
from statistics import fmean

from scipy.stats import rankdata

RIVAL = "CatBoost"
# The log loss on a table that can be predicted without errors is close to zero, and a ratio of two such
# losses says little. Ratios are limited to this factor, so that no task decides the mean.
LARGEST_RATIO = 2.0


def collect(cache, kept, peers, ours, problems, seeds):
    """Return the content of the report as plain dictionaries."""
    records = {label: _records(cache, label, problems, seeds) for label in peers}
    records |= {label: _records(kept, label, problems, seeds) for label in ours}
    names = [problem.name for problem in problems]
    fields = [[label, *peers] for label in ours] or [list(peers)]
    return {
        "datasets": {p.name: {"rows": len(p.X), "task": p.task} for p in problems},
        "splits": len(seeds),
        "losses": {
            label: _mean_by_table(records[label], "loss", names, seeds) for label in records
        },
        "seconds": {
            label: _mean_by_table(records[label], "fit", names, seeds) for label in records
        },
        "fields": [
            _rank_field(records, field, [p.name for p in group], seeds) | {"kind": kind}
            for field in fields
            for kind, group in _kinds(problems).items()
        ],
        "errors": _errors(records),
        "records": {
            label: [{"dataset": d, "split": s, **r} for (d, s), r in held.items()]
            for label, held in records.items()
        },
    }


def _kinds(problems):
    """The problems by kind: all, classification, regression; kinds without a problem are left out."""
    kinds = {
        "all": problems,
        "classification": [p for p in problems if p.task != "regression"],
        "regression": [p for p in problems if p.task == "regression"],
    }
    return {kind: group for kind, group in kinds.items() if group}


def _records(cache, label, problems, seeds):
    found = {(p.name, seed): cache.get(p.name, label, seed) for p in problems for seed in seeds}
    return {key: record for key, record in found.items() if record is not None}


def _mean_by_table(held, quantity, names, seeds):
    """Return the mean of one quantity over the splits; None if a split is missing."""
    means = {}
    for name in names:
        values = [held.get((name, seed), {}).get(quantity) for seed in seeds]
        means[name] = fmean(values) if None not in values else None
    return means


def _errors(records):
    return [
        f"{label} on {table}, split {seed}: {record['error']}"
        for label, held in records.items()
        for (table, seed), record in held.items()
        if "error" in record
    ]


def _rank_field(records, field, names, seeds):
    """Return the ranks of the libraries in `field`, over the tables that all of them have completed."""
    whole = [
        name
        for name in names
        if all("loss" in records[label].get((name, s), {}) for label in field for s in seeds)
    ]
    by_table = []
    for name in whole:
        grid = [[records[label][name, s]["loss"] for label in field] for s in seeds]
        by_table.append(rankdata([fmean(column) for column in zip(*grid, strict=True)]))
    return {
        "libraries": field,
        "tables": whole,
        "rank": _column_means(by_table),
        "ranks": {name: list(map(float, row)) for name, row in zip(whole, by_table, strict=True)},
        "excess": _excess(records, field, whole, seeds),
        "ratio": _mean_ratio(records, field, whole, seeds),
        "time_ratio": _time_ratio(records, field, whole, seeds),
    }


def _column_means(rows):
    return [fmean(map(float, column)) for column in zip(*rows, strict=True)]


def _excess(records, field, tables, seeds):
    """Return the mean log ratio of the losses of the first of `field` to those of the best of the others.

    When a default is tuned, it is more sensitive than ranks.
    """
    if not tables or len(field) < 2:
        return None
    ratios = []
    for name in tables:
        means = [fmean(records[label][name, s]["loss"] for s in seeds) for label in field]
        ratios.append(math.log(means[0] / min(means[1:])))
    return fmean(ratios)


def _mean_ratio(records, field, tables, seeds):
    """Return the mean ratio of the losses of the first of `field` to those of `RIVAL`."""
    if not tables or RIVAL not in field[1:]:
        return None
    ratios = []
    for name in tables:
        ours, rival = (
            fmean(records[label][name, s]["loss"] for s in seeds) for label in (field[0], RIVAL)
        )
        ratio = ours / rival if rival else LARGEST_RATIO
        ratios.append(min(max(ratio, 1 / LARGEST_RATIO), LARGEST_RATIO))
    return fmean(ratios)


def _time_ratio(records, field, tables, seeds):
    """Return the total fit time of the first of `field` divided by that of `RIVAL`."""
    if not tables or RIVAL not in field[1:]:
        return None
    ours, rival = (
        sum(records[label][name, s]["fit"] for name in tables for s in seeds)
        for label in (field[0], RIVAL)
    )
    return ours / rival


def to_markdown(table):
    """Return the study as Markdown."""
    parts = [
        "# Accuracy of the defaults\n",
        f"Mean over {table['splits']} seeded splits (75 % to train, 25 % to test); log loss for "
        "classes, RMSE for numbers: smaller is better. `adult-500` has 500 training rows of adult, "
        "and tables are limited to 100,000 training rows.\n",
        "## Loss\n",
        _by_table(table, "losses", "{:.5g}", mark_best=True),
        "## Mean rank\n",
        _rank_table(table),
        "## Fit seconds\n",
        "Indicative: scores from the cache keep the time they took when they were fitted.\n",
        _by_table(table, "seconds", "{:.2f}"),
    ]
    if table["errors"]:
        parts += ["## Errors\n", *(f"- {line}\n" for line in table["errors"])]
    return "\n".join(parts)


def _by_table(table, what, form, mark_best=False):
    columns = table[what]
    lines = [_row(["data set", *columns]), _row(["---"] * (len(columns) + 1))]
    for name in table["datasets"]:
        values = [columns[label][name] for label in columns]
        known = [value for value in values if value is not None]
        best = min(known) if known and mark_best else None
        shown = ["" if v is None else form.format(v) for v in values]
        shown = [f"**{s}**" if v == best and s else s for s, v in zip(shown, values, strict=True)]
        lines.append(_row([name, *shown]))
    return "\n".join(lines) + "\n"


def _rank_table(table):
    """Return one line per configuration and kind of task, the best configuration first."""
    fields = [field for field in table["fields"] if field["tables"]]
    if not fields:
        return "No table has every library yet.\n"
    peers = fields[0]["libraries"][1:]
    head = [
        "tasks",
        "configuration",
        "its mean rank",
        *peers,
        f"loss / {RIVAL}'s",
        "time",
        "loss to the best",
    ]
    lines = []
    for field in sorted(fields, key=lambda f: (f["kind"], f["rank"])):
        label = field["libraries"][0]
        ratio, spent, excess = field["ratio"], field["time_ratio"], field["excess"]
        lines.append(
            _row(
                [
                    f"{field['kind']} ({len(field['tables'])})",
                    label,
                    *map("{:.2f}".format, field["rank"]),
                    "" if ratio is None else f"{ratio:.4f}",
                    "" if spent is None else f"{spent:.2f}",
                    "" if excess is None else f"{math.expm1(excess):+.2%}",
                ]
            )
        )
    notes = (
        f"The columns of the peers are their mean ranks. The ratio of losses is the mean over the tasks, each"
        f" within 1/{LARGEST_RATIO:g} and {LARGEST_RATIO:g}; the ratio of times is that of the totals. The"
        " last column is the geometric mean relative to the best peer of each task.\n"
    )
    return "\n".join([_row(head), _row(["---"] * len(head)), *lines, "", notes])


def _row(cells):
    return "| " + " | ".join(cells) + " |"

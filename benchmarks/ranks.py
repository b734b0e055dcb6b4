"""Ranks of the libraries from their scores.

Each of our configurations is ranked only against the peers, never against another of our configurations,
so that ten variants do not push the peers down ten places. Two mean ranks are given: over the tables, of
the mean loss over the splits; and over every (table, split) pair.
"""

import math
from statistics import fmean

from scipy.stats import rankdata


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
        "fields": [_rank_field(records, field, names, seeds) for field in fields],
        "errors": _errors(records),
        "records": {
            label: [{"dataset": d, "split": s, **r} for (d, s), r in held.items()]
            for label, held in records.items()
        },
    }


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
    by_table, by_cell = [], []
    for name in whole:
        grid = [[records[label][name, s]["loss"] for label in field] for s in seeds]
        by_table.append(rankdata([fmean(column) for column in zip(*grid, strict=True)]))
        by_cell.extend(rankdata(row) for row in grid)
    return {
        "libraries": field,
        "tables": whole,
        "rank": _column_means(by_table),
        "rank_by_split": _column_means(by_cell),
        "ranks": {name: list(map(float, row)) for name, row in zip(whole, by_table, strict=True)},
        "excess": _excess(records, field, whole, seeds),
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


def to_markdown(table):
    """Return the study as Markdown."""
    parts = [
        "# Accuracy of the defaults\n",
        f"Mean over {table['splits']} seeded splits (75 % to train, 25 % to test); log loss for "
        "classes, RMSE for numbers: smaller is better. covertype trains on 100,000 rows.\n",
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
    lines = [_overview(table)] if len(table["fields"]) > 1 else []
    for field in table["fields"]:
        if not field["tables"]:
            lines.append("No table has every library yet.\n")
            continue
        labels = field["libraries"]
        lines += [_row(["", *labels]), _row(["---"] * (len(labels) + 1))]
        lines.append(_row(["mean rank", *map("{:.2f}".format, field["rank"])]))
        lines.append(_row(["by split", *map("{:.2f}".format, field["rank_by_split"])]))
        lines.append(
            f"\nOver {len(field['tables'])} tables ({', '.join(field['tables'])}); "
            f"{labels[0]}'s loss against the best of the others: "
            f"{math.expm1(field['excess']):+.2%} (geometric mean).\n"
        )
    return "\n".join(lines)


def _overview(table):
    """Return one line per configuration, the best first."""
    head = [
        "configuration",
        "mean rank",
        "by split",
        "best peer",
        "loss to the best",
        "fit seconds",
    ]
    lines = []
    for field in sorted(table["fields"], key=lambda f: f["rank"][:1] or [math.inf]):
        if not field["tables"]:
            continue
        label, *peers = field["libraries"]
        rank, peer = min(zip(field["rank"][1:], peers, strict=True))
        spent = sum(table["seconds"][label][name] for name in field["tables"])
        lines.append(
            _row(
                [
                    f"{label} ({len(field['tables'])} tables)",
                    f"{field['rank'][0]:.2f}",
                    f"{field['rank_by_split'][0]:.2f}",
                    f"{peer} {rank:.2f}",
                    f"{math.expm1(field['excess']):+.2%}",
                    f"{spent:.1f}",
                ]
            )
        )
    return "\n".join([_row(head), _row(["---"] * len(head)), *lines]) + "\n"


def _row(cells):
    return "| " + " | ".join(cells) + " |"

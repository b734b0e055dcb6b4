"""From the predictions of the study's benchmark to losses, intervals, ranks and Markdown.

Losses are log loss, RMSE, or 1 - average precision: lower is better everywhere. The interval of a difference
comes from a bootstrap of the test rows (of whole groups or days, where rows are split by group or time), the
same draws for both systems. Over several splits it is that of the mean difference, with independent draws per
split. It does not include how the losses would change with other training rows.
"""

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score

from benchmarks.machine import in_words
from benchmarks.report import markdown_table
from benchmarks.study_tables import DEVELOPMENT, FINAL, TABLES

OURS, REFERENCE = "study", "default boosting"
DRAWS = 1000
LOSSES = {"log_loss": "log loss", "rmse": "RMSE", "average_precision": "1 - average precision"}


def row_losses(y, predictions, metric):
    """A value per test row: squared error, log loss, or the predicted probability of the rare class."""
    if metric == "rmse":
        return (np.asarray(y, dtype=float) - predictions["prediction"].to_numpy()) ** 2
    if metric == "average_precision":
        return predictions["1"].to_numpy()
    # A class that the model has never seen has probability 0.
    shares = predictions.reindex(columns=sorted(set(y) | set(predictions)), fill_value=0.0)
    place = shares.columns.get_indexer(np.asarray(y))
    return -np.log(np.clip(shares.to_numpy()[np.arange(len(place)), place], 1e-15, 1))


def loss(values, y, metric, weights=None):
    """The loss of the test rows, each as often as its weight states."""
    if metric == "average_precision":
        return 1 - average_precision_score(np.asarray(y) == "1", values, sample_weight=weights)
    mean = np.average(values, weights=weights)
    return np.sqrt(mean) if metric == "rmse" else mean


def draws_of_difference(ours, theirs, y, metric, units, seed=0, draws=DRAWS):
    """Differences of the losses over bootstrap draws of the units."""
    random = np.random.default_rng(seed)
    number = units.max() + 1
    differences = []
    for _ in range(draws):
        counts = np.bincount(random.integers(0, number, size=number), minlength=number)
        weights = counts[units]
        if metric == "average_precision" and not weights[np.asarray(y) == "1"].any():
            continue
        differences.append(loss(ours, y, metric, weights) - loss(theirs, y, metric, weights))
    return np.array(differences)


def interval(draws):
    """95 % of the mean over the splits; `draws` is {split: draws of the difference}."""
    shortest = min(map(len, draws.values()))
    mean = np.mean([d[:shortest] for d in draws.values()], axis=0)
    return np.quantile(mean, [0.025, 0.975])


def mean_losses(lines, names, systems):
    """{table: {system: mean loss over the splits}}; infinite for a system that failed on one of them."""
    means = {}
    for name in names:
        some = [line for line in lines if line["table"] == name]
        means[name] = {
            system: float(np.mean([line.get("loss", np.inf) for line in some if line["system"] == system]))
            for system in systems
        }  # fmt: skip
    return means


def ranks(means, systems):
    """{table: {system: rank}}; 1 is the lowest loss, equal losses share their mean rank."""
    return {
        name: dict(zip(systems, rankdata([by[s] for s in systems]).tolist(), strict=True))
        for name, by in means.items()
    }


def report(lines, differences, machine, seconds):
    """Return the report as Markdown.

    `lines` has a dictionary per fit, `differences` {(table, system): {split: draws of the difference}}.
    """
    found = dict.fromkeys(line["system"] for line in lines)
    systems = sorted((s for s in found if s != REFERENCE), key=lambda s: s != OURS)
    both = systems + [s for s in found if s == REFERENCE]
    whole, partial = complete_tables(lines, both)
    means = mean_losses(lines, whole, both)
    parts = [
        f"# Studies compared with other systems, {seconds:g} seconds each",
        in_words(machine),
        versions(lines),
        f"Left out, as not every system has run on every split: {', '.join(partial)}."
        if partial
        else "",
        "## Losses on the test rows, mean over the splits: lower is better",
        losses_table(lines, means, both),
        "## Ranks of the systems with equal seconds",
        ranks_table(ranks(means, systems), systems),
        "## Loss of the study less that of the other, with 95 % intervals",
        differences_table(means, differences, [s for s in both if s != OURS]),
        verdict(means, differences) if REFERENCE in both else "",
        "## Seconds and memory of a fit",
        costs_table(lines, both),
        failures(lines),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def complete_tables(lines, systems):
    """Tables with a line of every system on every split that was begun, and the others."""
    held = {}
    for line in lines:
        held.setdefault(line["table"], {}).setdefault(line["split"], set()).add(line["system"])
    whole = {
        name for name, by_split in held.items() if all(set(systems) <= some for some in by_split.values())
    }  # fmt: skip
    in_order = [name for name in TABLES if name in held]
    return [n for n in in_order if n in whole], [n for n in in_order if n not in whole]


def versions(lines):
    found = {line["system"]: line["version"] for line in lines if "version" in line}
    return "Systems: " + ", ".join(f"{system} {version}" for system, version in found.items()) + "."


def losses_table(lines, means, systems):
    rows = []
    for name, by_system in means.items():
        some = [line for line in lines if line["table"] == name]
        least = min(by_system[s] for s in systems)
        cells = [number(by_system[s], bold=by_system[s] == least) for s in systems]
        splits = len({line["split"] for line in some})
        table = TABLES[name]
        chosen = ", ".join(
            dict.fromkeys(x["chosen"] for x in some if x["system"] == OURS and "chosen" in x)
        )
        rows.append([
            name, list_of(name), some[0]["training rows"], table.design, splits, LOSSES[table.metric],
            *cells, chosen,
        ])  # fmt: skip
    heads = ["table", "list", "training rows", "split by", "splits", "loss", *systems, "chosen"]
    return markdown_table(heads, rows)


def ranks_table(by_table, systems):
    rows = [[name, *(f"{by[s]:g}" for s in systems)] for name, by in by_table.items()]
    for title, some in (("development", DEVELOPMENT), ("final", FINAL), ("all", TABLES)):
        held = [by for name, by in by_table.items() if name in some]
        if held:
            means = (np.mean([by[s] for by in held]) for s in systems)
            rows.append([
                f"**mean rank, {title}** ({len(held)} tables)", *(f"**{mean:.2f}**" for mean in means)
            ])  # fmt: skip
    return markdown_table(["table", *systems], rows)


def differences_table(means, differences, systems):
    rows = []
    for name, by_system in means.items():
        cells = [name]
        for system in systems:
            if (name, system) not in differences:
                cells.append("")
                continue
            low, high = interval(differences[name, system])
            mark = " worse" if low > 0 else " better" if high < 0 else ""
            gap = by_system[OURS] - by_system[system]
            cells.append(f"{gap:+.3g} [{low:+.3g}, {high:+.3g}]{mark}")
        rows.append(cells)
    return markdown_table(["table", *systems], rows)


def verdict(means, differences):
    """Return whether the study is nowhere significantly worse than default gradient boosting."""
    worse, single, splits = [], [], 0
    for name, by_system in means.items():
        draws = differences.get((name, REFERENCE))
        if draws is None:
            worse += [name] if np.isinf(by_system[OURS]) else []
            continue
        worse += [name] if interval(draws)[0] > 0 else []
        splits += len(draws)
        single += [f"{name} {k}" for k, some in draws.items() if interval({k: some})[0] > 0]
    result = f"no, on {', '.join(worse)}" if worse else "yes"
    return (
        f"Not worse than default gradient boosting beyond noise, on {len(means)} tables: **{result}**. "
        f"Of {splits} single splits worse: {', '.join(single) or 'none'}. "
        "Of systems that are equally good, one in forty would be worse beyond its interval by chance."
    )


def costs_table(lines, systems):
    rows = []
    for system in systems:
        some = [x for x in lines if x["system"] == system and "seconds" in x]
        if some:
            seconds = [x["seconds"] for x in some]
            predicting = max(x["predict seconds"] for x in some)
            held = max(x["megabytes"] for x in some)
            rows.append([
                system, f"{np.mean(seconds):.0f}", f"{max(seconds):.0f}", f"{predicting:.1f}", held
            ])  # fmt: skip
    heads = [
        "system",
        "mean seconds",
        "most",
        "most to predict the test rows",
        "peak MB without the table",
    ]
    return markdown_table(heads, rows)


def failures(lines):
    return "\n".join(
        f"- {x['system']} failed on {x['table']}, split {x['split']}: {x['error']}"
        for x in lines
        if "error" in x
    )


def list_of(name):
    return "development" if name in DEVELOPMENT else "final"


def number(value, bold=False):
    if not np.isfinite(value):
        return "failed"
    shown = f"{value:.4f}" if value < 10 else f"{value:.1f}"
    return f"**{shown}**" if bold else shown

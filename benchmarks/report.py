"""The results as Markdown: a summary, the figures of every library, the time of each phase."""

from benchmarks.machine import in_words

HEAD = (
    "work",
    "Bosquet",
    "compared with",
    "its figure",
    "ratio",
    "must",
    "aim",
    "loss to its",
    "to the best",
    "reached",
)
PREDICTOR_LIMIT = 10e-6
# The phases follow one another and add up to the fit; those of growing are summed over the
# threads, so they add up to more than the time it took.
PHASES = ("bin", "gradient", "sample", "grow", "leaves", "update", "validation")
GROWING = ("histogram", "split", "partition")


def to_markdown(results):
    """Return the whole report."""
    sections = results["sections"]
    parts = ["# Speed and memory compared with the peers\n", in_words(results["machine"]) + "\n"]
    if results["quick"]:
        parts.append("**A quick run on small tables: it shows that the bench works, no more.**\n")
    parts += [
        f"Best of {results['repeats']} interleaved rounds, {results['rounds']} boosting rounds of "
        "63 leaves, binning included; ratio = ours / theirs, smaller is better. Losses are on "
        "held-out rows: ours over that of the peer compared with, and over the best peer's.\n",
        markdown_table(HEAD, [_summary(section) for section in sections]),
        *(_details(section) for section in sections),
        _where_time_goes(sections),
    ]
    return "\n".join(part for part in parts if part)


def _summary(section):
    found, outcomes = section["verdict"], section["outcomes"]
    ours = found.get("ours", _name_of_ours(section))
    theirs = found.get("fastest")
    return (
        section["title"],
        _figure(section, outcomes.get(ours, {})),
        theirs or "",
        _figure(section, outcomes.get(theirs, {})),
        _number(found.get("ratio"), "{:.2f}"),
        _number(section["must"], "{:.2f}"),
        _number(section["aim"], "{:.2f}"),
        _number(found.get("excess"), "{:+.2%}"),
        _number(found.get("excess_best"), "{:+.2%}"),
        reached(section),
    )


def _name_of_ours(section):
    if section["kind"] == "growth":
        return next(reversed(section["outcomes"]), None)
    return "Bosquet"


def reached(section):
    """Return `aim`, `yes` or `no`, with the reason; empty if ours was not measured."""
    found = section["verdict"]
    if "ratio" not in found:
        return ""
    lacking = []
    if found["ratio"] > section["must"]:
        lacking.append("ratio")
    if not found.get("loss_held", True):
        lacking.append(f"loss {found['excess']:+.2%}")
    if section["kind"] == "predict" and "ratio_compiled" not in found:
        lacking.append("LightGBM not measured")
    if found.get("ratio_compiled", 0) >= 1:
        lacking.append("slower than lleaves")
    if section["kind"] == "latency" and "predictor" not in found:
        lacking.append("predictor() not measured")
    if found.get("predictor", 0) > PREDICTOR_LIMIT:
        lacking.append(f"predictor() {1e6 * found['predictor']:.1f} µs")
    if lacking:
        return "no: " + ", ".join(lacking)
    return "aim" if section["aim"] and found["ratio"] <= section["aim"] else "yes"


def _figure(section, outcome):
    """Format the figure of a contestant in the unit of the section."""
    if section["kind"] == "memory":
        return _number(outcome.get("loaded"), "{:.0f} MB")
    if section["kind"] == "growth":
        return _number(outcome.get("a_row"), "{:.2f} µs/row")
    return seconds(outcome.get("seconds"))


def seconds(value):
    """Format a time with a suitable unit."""
    if value is None:
        return ""
    if value >= 1:
        return f"{value:.2f} s"
    return f"{1e3 * value:.1f} ms" if value >= 1e-3 else f"{1e6 * value:.1f} µs"


def _number(value, form):
    return "" if value is None else form.format(value)


def _details(section):
    """List every contestant of a section, then skipped and failed ones with the reason."""
    rows = {"fit": _fit_rows, "race": _fit_rows, "memory": _memory_rows}
    head, lines = rows.get(section["kind"], _time_rows)(section)
    notes = [f"- {name}: not run ({reason})" for name, reason in section["skipped"].items()]
    notes += [
        f"- {name}: failed ({outcome['error']})"
        for name, outcome in section["outcomes"].items()
        if "error" in outcome
    ]
    parts = [f"\n## {section['title']}\n", markdown_table(head, lines) if lines else ""]
    parts += [_remark(section), "\n".join(notes) + "\n" if notes else ""]
    return "\n".join(part for part in parts if part)


def _fit_rows(section):
    outcomes = {name: o for name, o in section["outcomes"].items() if "seconds" in o}
    unit = section.get("unit", "log loss")
    best = min((o["loss"] for o in outcomes.values()), default=None)
    lines = [
        (
            name,
            seconds(outcome["seconds"]),
            ", ".join(f"{t:.3g}" for t in outcome["times"]),
            f"{outcome['loss']:.5f}",
            f"{outcome['loss'] / best - 1:+.2%}",
        )
        for name, outcome in outcomes.items()
    ]
    return ("library", "best", "rounds (s)", unit, "to the best"), lines


def _memory_rows(section):
    lines = [
        (name, _number(o.get("loaded"), "{:.0f}"), _number(o.get("generated"), "{:.0f}"))
        for name, o in section["outcomes"].items()
        if "error" not in o
    ]
    return ("library", "table read from a file", "table generated in place"), lines


def _time_rows(section):
    lines = [
        (name, _figure(section, o), ", ".join(seconds(t) for t in o["times"]))
        for name, o in section["outcomes"].items()
        if "seconds" in o
    ]
    return ("contestant", "best", "rounds"), lines


def _remark(section):
    """Return the notes of a section."""
    found = section["verdict"]
    if section["kind"] == "fit" and "ratio" in found:
        return (
            f"Loss: {found['excess']:+.2%} of the fastest peer's ({found['fastest']}), "
            f"{found['excess_best']:+.2%} of the best peer's ({found['best']}). Time: "
            f"{found['ratio_comparable']:.2f} of {found['comparable']}'s, the fastest peer with a "
            "loss within 1 % of the best peer's.\n"
        )
    if section["kind"] == "race" and "ours" in found:
        return f"Ours: {found['ours']}, to reach {found['target']:.5f}.\n"
    if "compiled" in found:
        result = f"lleaves, estimated as 0.26 of LightGBM: {seconds(found['compiled'])}"
        ratio = found.get("ratio_compiled")
        return result + (f"; ours is {ratio:.2f} of it.\n" if ratio else ".\n")
    if section["kind"] == "memory":
        return f"The input itself is {section['input']:.0f} MB.\n"
    return ""


def _where_time_goes(sections):
    """Return a table with one column per fit of ours: seconds and share of each phase."""
    fits = {}
    for section in sections:
        if section["kind"] == "growth":
            fits |= {name: o for name, o in section["outcomes"].items() if o.get("phases")}
        elif section["outcomes"].get("Bosquet", {}).get("phases"):
            fits[section["title"]] = section["outcomes"]["Bosquet"]
    if not fits:
        return ""
    columns = fits.values()
    lines = []
    for phase in PHASES:
        lines.append([phase, *(_share(o["phases"].get(phase), o) for o in columns)])
        if phase == "grow":
            for part in GROWING:
                result = (seconds(o["phases"].get(part)) for o in columns)
                lines.append([f"— {part}, all threads", *result])
    spent = [sum(o["phases"].get(phase, 0.0) for phase in PHASES) for o in columns]
    rest = [_share(o["seconds"] - s, o) for o, s in zip(columns, spent, strict=True)]
    lines.append(["rest", *rest])
    lines.append(["fit", *(seconds(o["seconds"]) for o in columns)])
    lines.append(["predict held-out rows", *(seconds(o.get("predict")) for o in columns)])
    return "\n## Where the time goes\n\n" + markdown_table(("", *fits), lines)


def _share(spent, outcome):
    return "" if spent is None else f"{seconds(max(spent, 0))} ({spent / outcome['seconds']:.0%})"


def markdown_table(head, lines):
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows) + "\n"

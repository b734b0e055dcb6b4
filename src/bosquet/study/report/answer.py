"""The answer of a study in words: which method, how good, and what it does not differ from significantly."""

from __future__ import annotations

from bosquet.study.compare.verdict import is_level, is_worse, unfinished, without_score
from bosquet.study.exploration.alarms import leaking
from bosquet.study.record import MethodRecord, Record
from bosquet.study.report.wording import (
    averaged,
    best_of,
    better,
    count,
    counted,
    decimal,
    finished,
    in_sentence,
    known,
    listed,
    places_for,
    shortened,
)

# Names of the method that always gives the same answer.
BASELINES = ("constant", "baseline")


def chosen(record: Record) -> MethodRecord | None:
    """The method the study chose: the winner, or the best while none has been chosen yet."""
    done = finished(record)
    name = record["winner"]["name"] if record["winner"] else None
    return next((m for m in done if m["name"] == name), done[0] if done else None)


def baseline(record: Record) -> MethodRecord | None:
    return next((m for m in finished(record) if m["name"] in BASELINES), None)


def level_with_best(record: Record) -> list[MethodRecord]:
    """Methods other than the best whose difference to it may be chance."""
    best = best_of(record)
    return [m for m in finished(record) if m is not best and is_level(m)]


def compared(record: Record) -> bool:
    """Whether there are intervals to tell methods apart by."""
    return any(
        m["difference"] is not None and known(m["difference"]["low"]) for m in finished(record)
    )


def headline(record: Record) -> str:
    """What a newspaper would print above the study."""
    leaks, verdict, final = leaking(record["exploration"]), _verdict(record), record["final"]
    if chosen(record) is None:
        return verdict
    if final["rows"] < final["of"]:
        rows = f"{count(final['rows'])} of {count(final['of'])} rows"
        verdict += f" (fitted to {rows}: {final['why']})"
    if not leaks:
        return verdict
    named = listed([f"“{shortened(name, 40)}”" for name in leaks], 2)
    return f"{verdict} – but {named} {'gives' if len(leaks) == 1 else 'give'} it away"


def _verdict(record: Record) -> str:
    method = chosen(record)
    target = f"“{shortened(record['target'], 40)}”"
    if method is None:
        return f"No method could be fitted to predict {target}"
    best, title = best_of(record), in_sentence(method["title"])
    kind = record["verdict"]["kind"]
    if kind == "inconclusive":
        missing = without_score(record["verdict"]) + len(record["verdict"]["cut_short"])
        return f"No conclusion on {target}: {counted(missing, 'method')} stopped, failed or not reached"
    if kind in ("constant", "weak"):
        return f"Nothing here is significantly better at {target} than a constant"
    level = [m for m in level_with_best(record) if m is not method]
    if method is not best:
        return f"To predict {target}, choose {title}"
    if not level or not compared(record):
        return f"{target} is best predicted by {title}"
    others = in_sentence(level[0]["title"]) if len(level) == 1 else f"{len(level)} others"
    return f"{target} is best predicted by {title}, level with {others}"


def answer(record: Record) -> list[str]:
    """How good the choice is, what it does not differ from significantly, and what was not compared."""
    method = chosen(record)
    if method is None:
        return [
            "Every method failed or was left out.",
            "The table below says why, method by method.",
        ]
    sentences = [_how_good(record, method), _how_sure(record, method)]
    if unfinished(record["verdict"]):
        sentences.append(f"Not all methods were finished: {unfinished(record['verdict'])}.")
    return sentences


def _how_good(record: Record, method: MethodRecord) -> str:
    metric, places = record["metric"], places_for(record["methods"])
    sentence = (
        f"On rows it had not seen, the {averaged(metric['title'], record['repeats'])} of "
        f"{in_sentence(method['title'])} is {decimal(method['mean'], places)}"
    )
    interval = method["interval"]
    if interval and known(interval[0]) and known(interval[1]):
        low, high = (decimal(end, places) for end in interval)
        sentence += f" (95\u00a0% interval {low} to {high}; {better(metric)})"
    else:
        sentence += f" ({better(metric)})"
    constant = baseline(record)
    if constant is not None and constant is not method:
        sentence += f", against {decimal(constant['mean'], places)} for the constant"
    return sentence + "."


def _how_sure(record: Record, method: MethodRecord) -> str:
    done, best = finished(record), best_of(record)
    others = [m for m in done if m is not best]
    if not others or best is None:
        return "No other method was compared with it."
    if not compared(record):
        return "A single split without intervals does not show which differences are chance."
    if method["subsampled"]:
        return (
            f"It was trained on {count(method['rows_used'])} rows alone; methods with different training "
            "rows are not tested against each other."
        )
    others = [m for m in others if not m["subsampled"]]
    if not others:
        return "No other method was trained on the same rows."
    level = [in_sentence(m["title"]) for m in level_with_best(record) if m is not method]
    worse = [m for m in others if is_worse(m)]
    if method is best:
        if len(worse) == len(others):
            return f"All {counted(len(others), 'other method')} on the same rows are significantly worse."
        rest = f"; {len(worse)} are significantly worse" if len(worse) > 1 else ""
        if not level:
            return (
                f"Of {counted(len(others), 'other method')}, {len(worse)} are significantly worse."
            )
        return f"It does not differ significantly from {listed(level)}{rest}."
    places = places_for(record["methods"])
    score = "mean" if record["repeats"] > 1 else "score"
    lead = f"The best {score}, {decimal(best['mean'], places)}, is that of {in_sentence(best['title'])}"
    if is_worse(method):
        return f"{lead}, significantly better; the choice weighs robustness and readability too."
    also = f", and neither do {listed(level)}" if level else ""
    return f"{lead}, but the two do not differ significantly{also}."

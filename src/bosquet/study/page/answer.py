"""The answer of a study in words: which method, how good, and what it cannot be told apart from."""

from __future__ import annotations

from bosquet.study.alarms import leaking
from bosquet.study.page.wording import (
    averaged,
    better,
    counted,
    decimal,
    finished,
    in_sentence,
    known,
    listed,
    places_for,
    shortened,
)
from bosquet.study.record import MethodRecord, Record

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
    return [
        m
        for m in finished(record)[1:]
        if m["difference"] is not None and not m["difference"]["distinguishable"]
    ]


def compared(record: Record) -> bool:
    """Whether there are intervals to tell methods apart by."""
    return any(
        m["difference"] is not None and known(m["difference"]["low"]) for m in finished(record)
    )


def headline(record: Record) -> str:
    """What a newspaper would print above the study."""
    leaks = leaking(record["exploration"])
    if not leaks or chosen(record) is None:
        return _verdict(record)
    named = listed([f"“{shortened(name, 40)}”" for name in leaks], 2)
    return f"{_verdict(record)} – but {named} {'gives' if len(leaks) == 1 else 'give'} it away"


def _verdict(record: Record) -> str:
    method = chosen(record)
    target = f"“{shortened(record['target'], 40)}”"
    if method is None:
        return f"No method could be fitted to predict {target}"
    best, title = finished(record)[0], in_sentence(method["title"])
    constant = baseline(record)
    level = [m for m in level_with_best(record) if m is not method]
    if constant is not None and compared(record) and (constant in level or constant is method):
        return f"Nothing here is measurably better at {target} than one constant answer"
    if method is not best:
        return f"To predict {target}, choose {title}"
    if not level or not compared(record):
        return f"{target} is best predicted by {title}"
    others = in_sentence(level[0]["title"]) if len(level) == 1 else f"{len(level)} others"
    return f"{target} is best predicted by {title}, level with {others}"


def answer(record: Record) -> list[str]:
    """Two sentences: how good the choice is, and what it cannot be told apart from."""
    method = chosen(record)
    if method is None:
        return [
            "Every method failed or was left out.",
            "The table below says why, method by method.",
        ]
    return [_how_good(record, method), _how_sure(record, method)]


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
        sentence += f", against {decimal(constant['mean'], places)} for one constant answer"
    return sentence + "."


def _how_sure(record: Record, method: MethodRecord) -> str:
    done = finished(record)
    best, others = done[0], len(done) - 1
    if not others:
        return "No other method was compared with it."
    if not compared(record):
        return "From a single split there is no telling which differences are chance."
    level = [in_sentence(m["title"]) for m in level_with_best(record) if m is not method]
    if method is best:
        if not level:
            return f"All {counted(others, 'other method')} are measurably worse."
        rest = others - len(level)
        worse = f"; the other {rest} are measurably worse" if rest > 1 else ""
        return f"It cannot be told apart from {listed(level)}{worse}."
    places = places_for(record["methods"])
    score = "mean" if record["repeats"] > 1 else "score"
    lead = f"The best {score}, {decimal(best['mean'], places)}, is that of {in_sentence(best['title'])}"
    if method["difference"] is not None and method["difference"]["distinguishable"]:
        return f"{lead}, and measurably so; the choice weighs robustness and readability too."
    also = f", and neither can {listed(level)}" if level else ""
    return f"{lead}, but the two cannot be told apart{also}."

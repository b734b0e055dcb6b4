"""The leaderboard as HTML without a script: each score is a dot, its interval a bar."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bosquet.study.compare.verdict import is_tied, is_worse
from bosquet.study.metrics.formatting import in_sentence
from bosquet.study.record import MethodRecord, Record
from bosquet.study.report.embedding import text
from bosquet.study.report.selection import (
    best_method,
    chosen_or_best,
    has_intervals_of_differences,
    interval_name,
    scored_methods,
)
from bosquet.study.report.wording import (
    NOTHING,
    decimal,
    direction_text,
    duration,
    format_count,
    is_finite,
    microseconds,
    places_for,
    shorten,
)

_COLUMNS = (
    ("method", "Method", "text"),
    ("score", "Score", "number"),
    ("interval", "", ""),
    ("difference", "Difference to best", "number"),
    ("fit", "Tuning time", "number"),
    ("predict", "Prediction time per row", "number"),
)


def leaderboard_section(record: Record) -> str:
    """Return the section with the table of all methods: best first, those without a score last."""
    done = scored_methods(record)
    scale = Scale.over(done, record["metric"]["higher_is_better"])
    places = places_for(record["methods"])
    rows = [_row_html(record, method, scale, places) for method in done]
    rows += [
        _left_out_html(method) for method in record["methods"] if not any(method is d for d in done)
    ]
    metric = record["metric"]
    lead = (
        f"Dot: mean score over the splits. Bar: 95\u00a0% {interval_name(record)}. Small ticks: scores of "
        "the single splits. Differences to the best method are paired by split."
        if record["comparison"]["interval"] == "splits"
        else f"Dot: score on the test rows. Bar: 95\u00a0% {interval_name(record)} (bootstrap of the test "
        "rows). Differences to the best method are paired by row."
    )
    marks = (
        '<p class="legend"><span><span class="key best"></span>'
        "best, or not significantly different from the best (≈ best)</span>"
        '<span><span class="key worse"></span>significantly worse</span></p>'
        if has_intervals_of_differences(record)
        else ""
    )
    return f"""<section id="leaderboard" class="block wide">
<h2>Leaderboard</h2>
<p class="lead">{text(metric["title"])}, {direction_text(metric)}. {lead}</p>
{marks}
<div class="scroller" tabindex="0" role="region" aria-label="Leaderboard">
<table class="board" id="board">
<caption class="hidden">Methods by {text(in_sentence(metric["title"]))}, {direction_text(metric)}</caption>
<thead><tr>{_head_html(scale)}</tr></thead>
<tbody>{"".join(rows)}</tbody>
</table></div></section>"""


class Scale:
    """The common axis of the dots and bars, in percent of its width.

    The axis covers the better half of the methods with a margin. Scores outside are marked at its edge: a
    method far worse than the others would otherwise compress the axis.
    """

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    @classmethod
    def over(cls, done: Sequence[MethodRecord], higher_is_better: bool) -> Scale:
        if not done:
            return cls(0.0, 1.0)
        ends = [_ends_of_interval(method) for method in done]
        core = ends[: max(math.ceil(len(ends) / 2), min(5, len(ends)))]
        low, high = min(e[0] for e in core), max(e[1] for e in core)
        margin = 1.5 * (high - low) or abs(high) * 0.1 or 1.0
        every_low, every_high = min(e[0] for e in ends), max(e[1] for e in ends)
        if higher_is_better:
            low = max(every_low, low - margin)
            high = max(high, min(every_high, high + margin))
        else:
            high = min(every_high, high + margin)
            low = min(low, max(every_low, low - margin))
        pad = 0.04 * (high - low) or abs(high) * 0.05 or 0.5
        return cls(low - pad, high + pad)

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def ticks(self) -> list[tuple[float, str]]:
        step = _round_step((self.high - self.low) / 5)
        places = max(0, -math.floor(math.log10(step) + 1e-9))
        first = math.ceil(self.low / step)
        values = [i * step for i in range(first, math.floor(self.high / step) + 1)]
        return [(self.at(v), decimal(v, places)) for v in values]


def _round_step(min_step: float) -> float:
    """Return the smallest 1, 2 or 5 times a power of ten that is at least `min_step`."""
    power = 10.0 ** math.floor(math.log10(min_step))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= min_step * 0.999)


def _ends_of_interval(method: MethodRecord) -> tuple[float, float]:
    mean = method["mean"]
    assert mean is not None  # only methods with a score
    interval = method["interval"]
    if interval and is_finite(interval[0]) and is_finite(interval[1]):
        return interval[0], interval[1]
    return mean, mean


def _head_html(scale: Scale) -> str:
    cells = []
    for key, title, sort in _COLUMNS:
        if key == "interval":
            ticks = "".join(
                f'<span style="--at:{at}%">{text(label)}</span>' for at, label in scale.ticks()
            )
            cells.append(
                f'<th scope="col" class="interval-head"><span class="hidden">Interval</span>'
                f'<div class="ticks" aria-hidden="true">{ticks}</div></th>'
            )
            continue
        cells.append(
            f'<th scope="col" class="{key}" data-key="{key}" data-sort="{sort}">{title}</th>'
        )
    return "".join(cells)


def _row_html(record: Record, method: MethodRecord, scale: Scale, places: int) -> str:
    best = best_method(record)
    chosen = chosen_or_best(record)
    tags = '<span class="tag chosen">chosen</span>' if method is chosen else ""
    if has_intervals_of_differences(record) and method is not best and is_tied(method):
        tags += '<span class="tag level" title="not significantly different from the best">≈ best</span>'
    if not method["finished"]:
        tags += f'<span class="tag stopped" title="{text(method["message"])}">cut short</span>'
    if method["subsampled"]:
        tags += f'<span class="tag">on {format_count(method["rows_used"])} rows</span>'
    if len(method["scores"]) < record["repeats"]:
        tags += f'<span class="tag">{len(method["scores"])} of {record["repeats"]} splits</span>'
    tags = f' <span class="tags">{tags}</span>' if tags else ""
    kind = (
        "worse" if is_worse(method) else "level" if method is best or is_tied(method) else "unknown"
    )
    return (
        f'<tr class="{kind}" data-name="{text(method["name"])}">'
        f'<th scope="row" class="method" data-value="{text(method["title"])}">{_name_html(method)}{tags}</th>'
        f'<td class="score" data-value="{method["mean"]}">{decimal(method["mean"], places)}</td>'
        f'<td class="interval-cell">{_interval_html(method, scale, places)}</td>'
        f"{_difference_html(method, method is best, places)}"
        f'<td class="fit" data-value="{_sort_value(method["fit_seconds"])}">'
        f"{duration(method['fit_seconds'])}</td>"
        f'<td class="predict" data-value="{_sort_value(method["predict_microseconds"])}">'
        f"{microseconds(method['predict_microseconds'])}</td></tr>"
    )


def _sort_value(value: float | None) -> str:
    return str(value) if is_finite(value) else ""


def _name_html(method: MethodRecord) -> str:
    return f'<span class="name" title="{text(method["title"])}">{text(shorten(method["title"]))}</span>'


def _interval_html(method: MethodRecord, scale: Scale, places: int) -> str:
    mean = method["mean"]
    assert mean is not None
    low, high = _ends_of_interval(method)
    label = f"mean {decimal(mean, places)}"
    if high > low:
        label += f", 95\u00a0% interval {decimal(low, places)} to {decimal(high, places)}"
    ticks = "".join(
        f'<i class="split" style="--at:{scale.at(score)}%"></i>'
        for score in method["scores"]
        if is_finite(score) and scale.holds(score)
    )
    bar = ""
    if high > low and high >= scale.low and low <= scale.high:
        bar = f'<i class="range" style="--low:{scale.at(low)}%;--high:{scale.at(high)}%"></i>'
    if scale.holds(mean):
        dot = f'<i class="dot" style="--at:{scale.at(mean)}%"></i>'
    else:
        side = "left" if mean < scale.low else "right"
        dot = f'<i class="beyond {side}"></i>'
        label += ", outside the axis"
    return f'<div class="interval" role="img" aria-label="{label}" title="{label}">{ticks}{bar}{dot}</div>'


def _difference_html(method: MethodRecord, is_best: bool, places: int) -> str:
    difference = method["difference"]
    if is_best:
        return '<td class="difference" data-value="0">best</td>'
    if difference is None or not is_finite(difference["mean"]):
        return f'<td class="difference" data-value="">{NOTHING}</td>'
    mean = decimal(difference["mean"], places)
    if difference["mean"] > 0:
        mean = f"+{mean}"
    span = " <small>not tested: different training rows</small>"
    if is_finite(difference["low"]) and is_finite(difference["high"]):
        ends = f"{decimal(difference['low'], places)} to {decimal(difference['high'], places)}"
        span = (
            ' <small title="simultaneous 95\u00a0% interval of the paired difference">'
            f"{ends}</small>"
        )
    return f'<td class="difference" data-value="{abs(difference["mean"])}">{mean}{span}</td>'


def _left_out_html(method: MethodRecord) -> str:
    texts = {"unsuited": "not applicable", "done": "no score"}
    kind = text(method["status"].replace(" ", "-"))
    status = texts.get(method["status"], method["status"])
    message = method["message"] or "no reason is known"
    return (
        f'<tr class="absent" data-name="{text(method["name"])}">'
        f'<th scope="row" class="method" data-value="{text(method["title"])}">{_name_html(method)} '
        f'<span class="tags"><span class="tag {kind}">{text(status)}</span></span></th>'
        f'<td colspan="{len(_COLUMNS) - 1}" class="message" title="{text(message)}">'
        f"{text(shorten(message, 200))}</td></tr>"
    )

"""The headline and summary of the report: the chosen method, its score, and the comparison with others."""

from __future__ import annotations

from bosquet.study.compare.verdict import is_worse, unfinished_methods_text, without_score
from bosquet.study.exploration.alarms import leaking_columns
from bosquet.study.metrics.formatting import in_sentence
from bosquet.study.record import MethodRecord, Record
from bosquet.study.report.selection import (
    baseline_method,
    best_method,
    chosen_or_best,
    has_intervals_of_differences,
    interval_name,
    scored_methods,
    tied_with_best,
)
from bosquet.study.report.wording import (
    count_text,
    decimal,
    direction_text,
    format_count,
    is_finite,
    join_names,
    name_of_mean,
    places_for,
    shorten,
)


def headline(record: Record) -> str:
    """Return the headline of the report."""
    leaks, verdict, final = (
        leaking_columns(record["exploration"]),
        _verdict_sentence(record),
        record["final"],
    )
    if chosen_or_best(record) is None:
        return verdict
    if final["rows"] < final["of"]:
        rows = f"{format_count(final['rows'])} of {format_count(final['of'])} rows"
        verdict += f" (fitted to {rows}: {final['why']})"
    if not leaks:
        return verdict
    named = join_names([f"“{shorten(name, 40)}”" for name in leaks], 2)
    return f"{verdict} – but {named} may reveal the target (leak)"


def _verdict_sentence(record: Record) -> str:
    method = chosen_or_best(record)
    target = f"“{shorten(record['target'], 40)}”"
    if method is None:
        return f"No method could be fitted to predict {target}"
    best, title = best_method(record), in_sentence(method["title"])
    kind = record["verdict"]["kind"]
    if kind == "inconclusive":
        missing = without_score(record["verdict"]) + len(record["verdict"]["cut_short"])
        return f"No conclusion on {target}: {count_text(missing, 'method')} stopped, failed or not reached"
    if kind in ("constant", "weak"):
        return f"No method predicts {target} significantly better than a constant"
    tied = [other for other in tied_with_best(record) if other is not method]
    if method is not best:
        return f"The chosen method for {target} is {title}"
    if not tied or not has_intervals_of_differences(record):
        return f"The best method for {target} is {title}"
    others = in_sentence(tied[0]["title"]) if len(tied) == 1 else f"{len(tied)} others"
    verb = "is" if len(tied) == 1 else "are"
    return f"The best method for {target} is {title}; {others} {verb} not significantly worse"


def summary_sentences(record: Record) -> list[str]:
    """Return sentences on the score of the choice, its comparison with others, and unfinished methods."""
    method = chosen_or_best(record)
    if method is None:
        return [
            "Every method failed or was left out.",
            "The table below has the reason for each method.",
        ]
    sentences = [_performance_sentence(record, method), _certainty_sentence(record, method)]
    if unfinished_methods_text(record["verdict"]):
        sentences.append(
            f"Not all methods were finished: {unfinished_methods_text(record['verdict'])}."
        )
    return sentences


def _performance_sentence(record: Record, method: MethodRecord) -> str:
    metric, places = record["metric"], places_for(record["methods"])
    sentence = (
        f"On test rows, the {name_of_mean(metric['title'], record['repeats'])} of "
        f"{in_sentence(method['title'])} is {decimal(method['mean'], places)}"
    )
    interval = method["interval"]
    if interval and is_finite(interval[0]) and is_finite(interval[1]):
        low, high = (decimal(end, places) for end in interval)
        sentence += (
            f" (95\u00a0% {interval_name(record)} {low} to {high}; {direction_text(metric)})"
        )
    else:
        sentence += f" ({direction_text(metric)})"
    constant = baseline_method(record)
    if constant is not None and constant is not method:
        sentence += f", compared with {decimal(constant['mean'], places)} for the constant"
    return sentence + "."


def _certainty_sentence(record: Record, method: MethodRecord) -> str:
    done, best = scored_methods(record), best_method(record)
    others = [method for method in done if method is not best]
    if not others or best is None:
        return "No other method was compared with it."
    if not has_intervals_of_differences(record):
        return "There are no confidence intervals, so differences may be due to chance."
    if method["subsampled"]:
        return (
            f"It was trained on only {format_count(method['rows_used'])} rows; methods with different"
            " training rows are not tested against each other."
        )
    others = [method for method in others if not method["subsampled"]]
    if not others:
        return "No other method was trained on the same rows."
    tied = [in_sentence(other["title"]) for other in tied_with_best(record) if other is not method]
    worse = [method for method in others if is_worse(method)]
    if method is best:
        if len(worse) == len(others):
            if len(others) == 1:
                return "The other method on the same rows is significantly worse."
            return f"All {format_count(len(others))} other methods on the same rows are significantly worse."
        about_worse = f"; {len(worse)} are significantly worse" if len(worse) > 1 else ""
        if not tied:
            return f"Of {count_text(len(others), 'other method')}, {len(worse)} are significantly worse."
        return f"It does not differ significantly from {join_names(tied)}{about_worse}."
    places = places_for(record["methods"])
    score = "mean" if record["repeats"] > 1 else "score"
    lead = f"The best {score} is {decimal(best['mean'], places)}, of {in_sentence(best['title'])}"
    if is_worse(method):
        return (
            f"{lead}. It is significantly better; the choice also considers the probabilities and"
            " interpretability."
        )
    also = f" The same holds for {join_names(tied)}." if tied else ""
    return f"{lead}, but the two do not differ significantly.{also}"

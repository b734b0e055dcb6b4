"""`bosquet study`: from a table to a chosen, explained model."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

from bosquet.cli.arguments import (
    UserError,
    named_list,
    positive,
    positive_argument,
    table_argument,
    target_arguments,
)
from bosquet.cli.inputs import read, refuse_repeated
from bosquet.cli.output import answer, check_writable, say, written

NAME = "study"
HELP = "tune, compare, choose and explain methods; one page at the end"
DESCRIPTION = (
    "Look at a table, split it, tune every method by cross-validation, compare the tuned methods on rows"
    " that none of them saw, repeat, choose by accuracy, robustness and readability, explain the winner, and"
    " write one HTML page. Results appear as they come."
)
EXAMPLES = """
bosquet study churn.csv --target left --report churn.html --save churn.bosquet
bosquet study houses.parquet -t price --budget 10m --metric mae --methods linear,cart,gradient-boosting
bosquet study fraud.csv -t fraud --costs "0,1;50,0"            # missing a fraud costs 50 false alarms
bosquet study mail.csv -t kind --positive spam --metric f1     # F1 of spam, though spam is not the rarer
bosquet study dose.csv -t died --tune-by bic --methods logistic,lda
bosquet study big.csv -t y --budget none --resume big.journal  # goes on where it was killed
"""
PICKLED = ".pkl"
WAYS = ("cv", "validation", "oob", "bootstrap", "aic", "bic")


def arguments(parser: Any) -> None:
    table_argument(parser)
    target_arguments(parser)
    group = parser.add_argument_group("the study")
    group.add_argument(
        "--budget",
        default="2m",
        metavar="TIME",
        help="90s, 2m, 1h30m; none counts instead of timing (2m)",
    )
    group.add_argument(
        "--methods", type=named_list, metavar="A,B", help="which methods to try (all)"
    )
    group.add_argument(
        "--metric", default="auto", metavar="NAME", help="what to tune and compare by"
    )
    group.add_argument(
        "--tune-by",
        choices=WAYS,
        metavar="WAY",
        help=f"how complexities are chosen: {', '.join(WAYS)} (each method's own way)",
    )
    group.add_argument(
        "--costs", metavar="MATRIX", help='"0,5;1,0" or a CSV file: a row for each true class, a column for'
        " each decision, classes sorted",
    )  # fmt: skip
    positive_argument(
        group,
        "of two classes the one that is looked for, as precision and recall mean it (the rarer)",
    )
    group.add_argument(
        "--test",
        metavar="FILE",
        help="a table of later rows, or of those to predict, to look for drift",
    )
    group.add_argument("--repeats", type=positive, metavar="N", help="how many splits, at most")
    group.add_argument("--jobs", type=int, metavar="N", help="fits at a time (1)")
    group = parser.add_argument_group("what to write")
    group.add_argument(
        "--report",
        "-o",
        metavar="FILE",
        help="the page (NAME-of-the-table-report.html; table-report.html of the standard input)",
    )
    group.add_argument("--no-report", action="store_true", help="no page")
    group.add_argument(
        "--save",
        metavar="FILE",
        help="the chosen model, with the preparation of its table: a model file, or a pickle (.pkl, added to"
        " the name) where it is scikit-learn's",
    )
    group.add_argument(
        "--resume", metavar="FILE", help="keep results here, and go on where they end"
    )


def run(arguments: Any) -> None:
    report = None if arguments.no_report else arguments.report or default_report(arguments.data)
    for path in (report, arguments.save, arguments.resume):
        check_writable(path)
    costs = None if arguments.costs is None else cost_matrix(arguments.costs)
    study = new_study(arguments, costs)
    frame = read(arguments)
    refuse_repeated(frame, arguments.target)
    source = "the standard input" if arguments.data == "-" else os.path.basename(arguments.data)
    test = None if arguments.test is None else read(arguments, arguments.test)
    title = f"{arguments.target} of {Path(source).stem}"
    study.fit(frame, arguments.target, title=title, source=source, test=test)
    finish(arguments, study, report)


def new_study(arguments: Any, costs: Any = None) -> Any:
    """The study that the options ask for."""
    from bosquet import Study

    return Study(
        task=arguments.task,
        methods=arguments.methods,
        budget=budget_seconds(arguments.budget),
        metric=arguments.metric,
        repeats=arguments.repeats,
        random_state=arguments.seed,
        costs=costs,
        positive=getattr(arguments, "positive", None),
        tune_by=getattr(arguments, "tune_by", None),
        n_jobs=arguments.jobs,
        checkpoint=arguments.resume,
        verbose=0 if arguments.quiet else 1,
    )


def budget_seconds(text: str) -> float | None:
    """A budget as it is written on the command line."""
    from bosquet.study._clock import seconds_of

    try:
        return None if text.lower() == "none" else seconds_of(_plain_number(text))
    except ValueError:
        raise UserError(
            f"--budget {text}: not a time to work in; 90s, 2m and 1h30m are, and none, which counts instead"
        ) from None


def _plain_number(text: str) -> Any:
    try:
        return float(text)  # seconds
    except ValueError:
        return text


def finish(arguments: Any, study: Any, report: str | None) -> None:
    """Write what was asked for, and tell the result, also where it cannot be written: it took its time."""
    lines = [str(study)]
    lines += [f"note: {note}" for note in study.record_["notes"]] if not arguments.quiet else []
    files: dict[str, str | None] = {"report": None, "model": None}
    try:
        if report is not None:
            _page(report, study)
            files["report"] = report
            lines.append(f"The page is {os.path.abspath(report)}")
        if arguments.save:
            files["model"], told = _saved(arguments.save, study)
            lines.append(told)
            if arguments.json:
                say(arguments, told)
    finally:
        answer(arguments, {**study.record_, "files": files}, "\n".join(lines))


def _page(path: str, study: Any) -> None:
    try:
        study.report(path)
    except OSError as error:  # which says all there is to say
        raise UserError(str(error.strerror or error)) from None


def _saved(path: str, study: Any) -> tuple[str, str]:
    """Writes the chosen model; the file's name, and a sentence that says how it is used.

    A model file holds Bosquet's own models alone; so that none is lost, another is pickled beside it, with
    the preparation of its table and its way to decide.
    """
    reason = ""
    if not path.endswith(PICKLED):
        try:
            with written(path) as place:
                study.save(place)
            return path, f"The model is {os.path.abspath(path)}: bosquet predict {path} NEW.csv"
        except ValueError:
            reason = (
                f"{path} is not written: {study.best_.title} is not wholly Bosquet's own, and a model file"
                " holds nothing else. "
            )
            path += PICKLED
    with written(path) as place, open(place, "wb") as file:
        pickle.dump(study.best_, file)
    return path, (
        f"{reason}The model, with the preparation of its table, is the pickle {os.path.abspath(path)}:"
        f" bosquet predict {path} NEW.csv --trust"
    )


def default_report(data: str) -> str:
    """A page beside nothing: in the working folder, named after the table."""
    stem = "table" if data == "-" else Path(data).name.split(".")[0] or "table"
    return f"{stem}-report.html"


def cost_matrix(text: str) -> list[list[float]]:
    """Costs as "0,5;1,0", or a file of such lines.

    Examples
    --------
    >>> from bosquet.cli.commands.study import cost_matrix
    >>> cost_matrix("0,5;1,0")
    [[0.0, 5.0], [1.0, 0.0]]
    """
    where = "--costs"
    if os.path.isfile(text):
        where = f"--costs {text}"
        try:
            text = Path(text).read_text(encoding="utf-8-sig").strip().replace("\n", ";")
        except (OSError, UnicodeError) as error:
            raise UserError(f"{where}: cannot be read: {error}") from None
    rows = [[cell.strip() for cell in row.split(",")] for row in text.split(";") if row.strip()]
    try:
        costs = [[float(cell) for cell in row] for row in rows]
    except ValueError:
        raise UserError(
            f'{where}: {text[:40]!r} is neither a file nor numbers such as "0,5;1,0"'
        ) from None
    if not costs or any(len(row) != len(costs) for row in costs):
        raise UserError(f'{where}: a row and a column for each class, such as "0,5;1,0"')
    return costs

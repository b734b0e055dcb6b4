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
from bosquet.cli.inputs import read
from bosquet.cli.models import key_arguments, key_of
from bosquet.cli.output import answer, check_outputs, say, written

NAME = "study"
HELP = "tune, compare, choose and explain methods; one page at the end"
DESCRIPTION = (
    "Explore a table, split it, tune the hyper-parameters of every method by cross-validation, compare the"
    " tuned methods on a test set, repeat on other splits, choose one by accuracy, robustness and"
    " readability, explain it and write an HTML report. Results are printed as they come."
)
EXAMPLES = """
bosquet study churn.csv --target left --report churn.html --save churn.bosquet
bosquet study houses.parquet -t price --budget 10m --metric mae --methods linear,cart,gradient-boosting
bosquet study fraud.csv -t fraud --costs "0,1;50,0"            # missing a fraud costs 50 false alarms
bosquet study mail.csv -t kind --positive spam --metric f1     # F1 of spam, though spam is not the rarer
bosquet study dose.csv -t died --tune-by bic --methods logistic,lda
bosquet study claims.csv -t claims --exposure days             # the rate per day; predictions are counts
bosquet study big.csv -t y --budget none --resume big.journal  # goes on where it was killed
"""
PICKLED = ".pkl"
INCONCLUSIVE = 3  # exit code
EXIT_CODES = """exit codes: 0 a conclusion was reached, also that no method is better than the constant;
  3 no conclusion: no method is better than the constant, but methods were stopped by the time limit,
  failed or were not reached
"""
WAYS = ("cv", "validation", "oob", "bootstrap", "aic", "bic")


def arguments(parser: Any) -> None:
    table_argument(parser)
    target_arguments(parser)
    parser.epilog = f"{parser.epilog or ''}\n{EXIT_CODES}"
    _study_arguments(parser.add_argument_group("the study"))
    _design_arguments(parser.add_argument_group("design of the rows"))
    _output_arguments(parser.add_argument_group("what to write"))
    key_arguments(parser, "sign the model file of --save with this key")


def _study_arguments(group: Any) -> None:
    group.add_argument(
        "--budget",
        default="2m",
        metavar="TIME",
        help="time limit, for example 90s, 2m or 1h30m; none: five splits, every candidate (default: 2m)",
    )
    group.add_argument(
        "--methods",
        type=named_list,
        metavar="A,B",
        help="comma-separated methods to try (default: all)",
    )
    group.add_argument(
        "--metric",
        default="auto",
        metavar="NAME",
        help="metric for tuning and comparison (default: by the kind of target)",
    )
    group.add_argument(
        "--tune-by",
        choices=WAYS,
        metavar="WAY",
        help=f"how hyper-parameters are tuned: {', '.join(WAYS)} (default: per method)",
    )
    group.add_argument(
        "--costs",
        metavar="MATRIX",
        help='cost matrix, "0,5;1,0" or a CSV file: one row per true class, one column per predicted class,'
        " classes sorted",
    )
    positive_argument(
        group,
        "positive class of precision and recall, with two classes (default: the rarer class)",
    )
    group.add_argument(
        "--repeats", type=positive, metavar="N", help="maximum number of train/test splits"
    )
    group.add_argument("--jobs", type=int, metavar="N", help="parallel fits (default: 1)")


def _design_arguments(group: Any) -> None:
    group.add_argument(
        "--time",
        metavar="COLUMN",
        help="time of each row: train on earlier rows, test on later ones",
    )
    group.add_argument(
        "--group",
        metavar="COLUMN",
        help="group of each row: groups are never divided by splits and folds",
    )
    group.add_argument(
        "--weight", metavar="COLUMN", help="sample weight of each row, in fits, scores and curves"
    )
    group.add_argument(
        "--exposure",
        metavar="COLUMN",
        help="exposure of each count, for example days: methods that accept an offset fit the rate",
    )
    group.add_argument("--offset", metavar="COLUMN", help="offset: the logarithm of an exposure")
    group.add_argument(
        "--split", metavar="COLUMN", help="fixed split: train and test, or fold numbers"
    )
    group.add_argument(
        "--test",
        metavar="FILE",
        help="test table: measure drift and, if it has the target, score the chosen model on it",
    )


def _output_arguments(group: Any) -> None:
    group.add_argument(
        "--report",
        "-o",
        metavar="FILE",
        help="HTML report to write (default: NAME-report.html; table-report.html for standard input)",
    )
    group.add_argument("--no-report", action="store_true", help="write no report")
    group.add_argument(
        "--save",
        metavar="FILE",
        help="write the chosen model with the preparation of its table: a model file, or a pickle (.pkl is"
        " appended to the name) if it is a scikit-learn model",
    )
    group.add_argument(
        "--resume",
        metavar="FILE",
        help="checkpoint: keep results in this file and continue from it",
    )


def run(arguments: Any) -> int:
    report = None if arguments.no_report else arguments.report or default_report(arguments.data)
    outputs = [("--report", report), ("--resume", arguments.resume), ("--save", arguments.save)]
    if arguments.save and not arguments.save.endswith(PICKLED):
        outputs.append(("--save", arguments.save + PICKLED))  # where it may have to go
    check_outputs(outputs, [arguments.data, arguments.test, arguments.costs, arguments.key_file])
    key = key_of(arguments)
    if key is not None and (arguments.save or PICKLED).endswith(PICKLED):
        raise UserError("a key signs a model file: give --save a name that does not end in .pkl")
    costs = None if arguments.costs is None else cost_matrix(arguments.costs)
    study = new_study(arguments, costs)
    frame = read(arguments)
    source = "the standard input" if arguments.data == "-" else os.path.basename(arguments.data)
    test = None if arguments.test is None else read(arguments, arguments.test)
    title = f"{arguments.target} of {Path(source).stem}"
    study.fit(
        frame,
        arguments.target,
        time=arguments.time,
        groups=arguments.group,
        sample_weight=arguments.weight,
        offset=arguments.offset,
        exposure=arguments.exposure,
        split=arguments.split,
        title=title,
        source=source,
        test=test,
    )
    return finish(arguments, study, report, key)


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
    from bosquet.study.run.clock import seconds_of

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


def finish(arguments: Any, study: Any, report: str | None, key: bytes | None = None) -> int:
    """Write what was asked for, and print the result, also where it cannot be written: it took its time.

    Returns the exit code.
    """
    lines = [str(study)]
    lines += [f"note: {note}" for note in study.record_["notes"]] if not arguments.quiet else []
    files: dict[str, str | None] = {"report": None, "model": None}
    try:
        if report is not None:
            _page(report, study)
            files["report"] = report
            lines.append(f"The page is {os.path.abspath(report)}")
        if arguments.save:
            files["model"], told = _saved(arguments.save, study, key)
            lines.append(told)
            if arguments.json:
                say(arguments, told)
    finally:
        answer(arguments, {**study.record_, "files": files}, "\n".join(lines))
    return INCONCLUSIVE if study.record_["verdict"]["kind"] == "inconclusive" else 0


def _page(path: str, study: Any) -> None:
    try:
        study.report(path)
    except OSError as error:  # which says all there is to say
        raise UserError(str(error.strerror or error)) from None


def _saved(path: str, study: Any, key: bytes | None) -> tuple[str, str]:
    """Writes the chosen model; the file's name, and a sentence that says how it is used.

    A model file holds Bosquet's own models alone; so that none is lost, another is pickled beside it, with
    the preparation of its table and its way to decide.
    """
    reason = ""
    if not path.endswith(PICKLED):
        try:
            with written(path) as place:
                study.save(place, key)
            return path, f"The model is {os.path.abspath(path)}: bosquet predict {path} NEW.csv"
        except ValueError:
            why = f"{study.best_.title} is not wholly Bosquet's own, and a model file holds nothing else"
            if study.best_.offset is not None:
                why = f"a model file does not hold a model with an {study.best_.offset.kind}"
            reason = f"{path} is not written: {why}. "
            reason += "A pickle cannot be signed. " if key is not None else ""
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

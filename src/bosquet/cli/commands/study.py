"""`bosquet study`: tune and compare methods, and explain the chosen one."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bosquet.cli.arguments import (
    UserError,
    comma_separated,
    positive_argument,
    positive_int,
    table_argument,
    target_arguments,
)
from bosquet.cli.inputs import read_input_table
from bosquet.cli.models import key_arguments, read_key
from bosquet.cli.option_names import with_option_names
from bosquet.cli.output import check_outputs, print_note, print_result, write_atomically

if TYPE_CHECKING:
    import argparse
    from argparse import ArgumentParser, Namespace

    from numpy.typing import ArrayLike


NAME = "study"
HELP = "tune and compare methods, choose and explain one, write an HTML report"
DESCRIPTION = (
    "Explore a table and split it into training and test rows. Tune the hyper-parameters of every method,"
    " compare the tuned methods on the test rows, and repeat on other splits. Choose the most accurate"
    " method, or a more interpretable one that is not significantly worse. Explain it, fit it to all rows and"
    " write an HTML report. Results are printed as soon as they are available."
)
EXAMPLES = """
bosquet study churn.csv --target left --report churn.html --save churn.bosquet
bosquet study houses.parquet -t price --budget 10m --metric mae --methods linear,cart,gradient-boosting
bosquet study fraud.csv -t fraud --costs "0,1;50,0"            # a missed fraud equals 50 false alarms
bosquet study mail.csv -t kind --positive spam --metric f1     # F1 of spam, even if spam is not rarer
bosquet study dose.csv -t died --tune-by bic --methods logistic,lda
bosquet study claims.csv -t claims --exposure days             # fits a rate per day; predicts counts
bosquet study big.csv -t y --budget none --resume big.study    # continues after an interruption
bosquet study big.csv -t y --cluster tcp://scheduler:8786      # on the workers of a Dask cluster
"""
PICKLED = ".pkl"
# How to get a model file, by the cause of a `NoModelFileError`.
MODEL_FILE_ADVICE = {
    "library": " To get a model file, pass --methods gradient-boosting,random-forest,cart.",
    "constant": " To get a model file of one method, use bosquet fit.",
    "offset": "",
}
INCONCLUSIVE = 3  # exit code
EXIT_CODES = """
exit codes:
  0    a conclusion was reached; it may be that no method is better than the constant
  1    an internal error; please report it
  2    an error in the arguments or the files, which the user can fix
  3    no conclusion: no method is significantly better than the constant, but some methods were stopped by
       the time limit, failed or were not reached
  130  interrupted
"""
METHODS_HELP = (
    "comma-separated methods to try, for example linear,cart,gradient-boosting; an"
    " unknown name prints the list of all (default: all)"
)
REPEATS_HELP = "maximum number of train/test splits (default: 10; 5 with --budget none)"
SCHEMES = ("cv", "validation", "oob", "bootstrap", "aic", "bic")


def add_arguments(parser: ArgumentParser) -> None:
    table_argument(parser)
    target_arguments(parser)
    _add_study_arguments(parser.add_argument_group("study"))
    _add_design_arguments(parser.add_argument_group("time, groups, weights and splits"))
    _add_output_arguments(parser.add_argument_group("files to write"))
    key_arguments(parser, "The model file of --save is signed with it.")


def _add_study_arguments(group: Any) -> None:
    group.add_argument(
        "--budget",
        default="2m",
        metavar="TIME",
        help="time limit, for example 90s, 2m or 1h30m; none: no limit, five splits, all candidates"
        " (default: 2m)",
    )
    group.add_argument(
        "--methods",
        type=comma_separated,
        metavar="A,B",
        help=METHODS_HELP,
    )
    group.add_argument(
        "--metric",
        default="auto",
        metavar="NAME",
        help="metric for tuning and comparison: log_loss, roc_auc, average_precision, brier, accuracy,"
        " balanced_accuracy, f1 or mcc for classes, cost with --costs, rmse, mae, median_error or r2 for"
        " numbers (default: cost with --costs, average_precision if one of two classes is rarer than 10%%,"
        " log_loss for other classes, rmse for numbers)",
    )
    group.add_argument(
        "--tune-by",
        choices=SCHEMES,
        metavar="SCHEME",
        help="how hyper-parameters are tuned: cv (cross-validation), validation (validation set), oob"
        " (out-of-bag), bootstrap, aic, bic (default: depends on the method)",
    )
    group.add_argument(
        "--costs",
        metavar="MATRIX",
        help='cost matrix, "0,5;1,0" or a CSV file: one row per true class, one column per predicted class,'
        " classes sorted",
    )
    positive_argument(
        group,
        "positive class of precision, recall and F1, if the target has two classes (default: the rarer one)",
    )
    group.add_argument("--repeats", type=positive_int, metavar="N", help=REPEATS_HELP)
    group.add_argument(
        "--jobs",
        type=positive_int,
        metavar="N",
        help="number of parallel fits (default: one per processor)",
    )
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="address of the scheduler of a Dask cluster, for example tcp://host:8786: its workers tune and"
        " test the methods",
    )


def _add_design_arguments(group: argparse._ArgumentGroup) -> None:
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
    group.add_argument(
        "--offset",
        metavar="COLUMN",
        help="column added to the logarithm of the predicted count, usually log(exposure); not with"
        " --exposure",
    )
    group.add_argument(
        "--split",
        metavar="COLUMN",
        help="fixed split of the rows: the words train and test (and optionally validation), or fold numbers",
    )
    group.add_argument(
        "--test",
        metavar="FILE",
        help="test table: measure drift and, if it has the target, score the chosen model on it",
    )


def _add_output_arguments(group: argparse._ArgumentGroup) -> None:
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
        help="model file to write: the chosen model with the preparation of its table. A model file cannot"
        " hold a scikit-learn model, a super learner with a scikit-learn member, the constant, or a model"
        " with an exposure or offset. For these, the study writes a pickle (.pkl is appended to the name)",
    )
    group.add_argument(
        "--resume",
        metavar="FILE",
        help="checkpoint file: results are stored in it, and a later run continues from it",
    )


def run(arguments: Namespace) -> int:
    report = None if arguments.no_report else arguments.report or default_report(arguments.data)
    outputs = [("--report", report), ("--resume", arguments.resume), ("--save", arguments.save)]
    if arguments.save and not arguments.save.endswith(PICKLED):
        # If a model file cannot hold the model.
        outputs.append(("--save", arguments.save + PICKLED))
    check_outputs(outputs, [arguments.data, arguments.test, arguments.costs, arguments.key_file])
    key = read_key(arguments)
    if key is not None and (arguments.save or PICKLED).endswith(PICKLED):
        raise UserError(
            "a key signs a model file; pass --save with a name that does not end in .pkl"
        )
    costs = None if arguments.costs is None else cost_matrix(arguments.costs)
    study = new_study(
        arguments,
        costs=costs,
        positive=arguments.positive,
        tune_by=arguments.tune_by,
        client=arguments.cluster,
    )
    frame = read_input_table(arguments)
    source = "the standard input" if arguments.data == "-" else os.path.basename(arguments.data)
    test = None if arguments.test is None else read_input_table(arguments, arguments.test)
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
    return write_results(arguments, study, report, key)


def new_study(
    arguments: Namespace,
    *,
    costs: ArrayLike | None = None,
    positive: str | None = None,
    tune_by: str | None = None,
    client: str | None = None,
) -> Any:
    """Return the study with the options that `study` and `demo` share, and those of `study`."""
    from bosquet import Study

    return Study(
        task=arguments.task,
        methods=arguments.methods,
        budget=budget_seconds(arguments.budget),
        metric=arguments.metric,
        repeats=arguments.repeats,
        random_state=arguments.seed,
        costs=costs,
        positive=positive,
        tune_by=tune_by,
        n_jobs=arguments.jobs,
        checkpoint=arguments.resume,
        client=client,
        verbose=0 if arguments.quiet else 1,
    )


def budget_seconds(text: str) -> float | None:
    """Return the seconds of a budget of the command line, or None for no limit."""
    from bosquet.study.run.clock import seconds_of

    try:
        return None if text.lower() == "none" else seconds_of(_plain_number(text))
    except ValueError:
        raise UserError(
            f"--budget {text} is not valid; pass a time above 0 such as 90s, 2m or 1h30m, or none for no"
            " limit"
        ) from None


def _plain_number(text: str) -> Any:
    try:
        return float(text)  # seconds
    except ValueError:
        return text


def write_results(
    arguments: Namespace, study: Any, report: str | None, key: bytes | None = None
) -> int:
    """Write the report and the model, print the result and return the exit code.

    The result is printed even if a file cannot be written, because the study took a long time.
    """
    lines = [str(study)]
    if not arguments.quiet:
        lines += [f"note: {with_option_names(note)}" for note in study.record_["notes"]]
    files: dict[str, str | None] = {"report": None, "model": None}
    try:
        if report is not None:
            _write_report(report, study)
            files["report"] = report
            lines.append(f"Report: {os.path.abspath(report)}")
        if arguments.save:
            files["model"], message = _save_model(arguments.save, study, key)
            lines.append(message)
            if arguments.json:
                print_note(arguments, message)
    finally:
        print_result(arguments, {**study.record_, "files": files}, "\n".join(lines))
    return INCONCLUSIVE if study.record_["verdict"]["kind"] == "inconclusive" else 0


def _write_report(path: str, study: Any) -> None:
    try:
        study.report(path)
    except OSError as error:  # its message is complete
        raise UserError(str(error.strerror or error)) from None


def _save_model(path: str, study: Any, key: bytes | None) -> tuple[str, str]:
    """Write the chosen model; return the name of the file and a sentence on how to use it.

    A model that a model file cannot hold is written as a pickle, with the preparation of its table and its
    decision threshold or costs.
    """
    from bosquet.study.chosen_model import NoModelFileError

    reason = ""
    if not path.endswith(PICKLED):
        try:
            with write_atomically(path) as draft:
                study.save(draft, key)
            return path, f"Model: {os.path.abspath(path)} (use: bosquet predict {path} NEW.csv)"
        except ValueError as error:
            if isinstance(error, NoModelFileError):
                advice = MODEL_FILE_ADVICE[error.cause]
                reason = f"{path} was not written, because {error.reason}.{advice} "
            else:
                reason = f"{path} was not written: {error}. "
            reason += "A pickle cannot be signed. " if key is not None else ""
            path += PICKLED
    with write_atomically(path) as draft, open(draft, "wb") as file:
        pickle.dump(study.best_, file)
    return path, (
        f"{reason}Model, with the preparation of its table, as a pickle: {os.path.abspath(path)}"
        f" (use: bosquet predict {path} NEW.csv --trust)"
    )


def default_report(data: str) -> str:
    """Return the default name of the report, after the table, in the working directory."""
    stem = "table" if data == "-" else Path(data).name.split(".")[0] or "table"
    return f"{stem}-report.html"


def cost_matrix(text: str) -> list[list[float]]:
    """Read a cost matrix from text such as "0,5;1,0" or from a CSV file.

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
            raise UserError(f"{where} cannot be read: {error}") from None
    rows = [[cell.strip() for cell in row.split(",")] for row in text.split(";") if row.strip()]
    try:
        costs = [[float(cell) for cell in row] for row in rows]
    except ValueError:
        raise UserError(
            f'{where}: {text[:40]!r} is neither a file nor a matrix such as "0,5;1,0"'
        ) from None
    if not costs or any(len(row) != len(costs) for row in costs):
        raise UserError(
            f"{where}: the cost matrix is not square; pass one row and one column per class, such as"
            ' "0,5;1,0"'
        )
    return costs

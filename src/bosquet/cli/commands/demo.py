"""`bosquet demo`: a study of a built-in data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bosquet.cli.arguments import comma_separated, non_negative_int, positive_int
from bosquet.cli.commands.study import METHODS_HELP, REPEATS_HELP, new_study, write_results
from bosquet.cli.output import check_outputs, print_note

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


NAME = "demo"
HELP = "study a built-in data set"
DESCRIPTION = (
    "Study a data set that needs no download, write the report and print its path. Tumours, wines and"
    " diabetes are data sets of scikit-learn. Salaries are simulated, so that the leaderboard can include the"
    " Bayes rule."
)
EXAMPLES = """
bosquet demo
bosquet demo --data salaries --budget 1m --report salaries.html
"""
TABLES = ("tumours", "wines", "diabetes", "salaries")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--data", choices=TABLES, default="tumours", help="data set (default: tumours)"
    )
    parser.add_argument("--budget", default="45s", metavar="TIME", help="time limit (default: 45s)")
    parser.add_argument(
        "--methods",
        type=comma_separated,
        metavar="A,B",
        help=METHODS_HELP,
    )
    parser.add_argument("--repeats", type=positive_int, metavar="N", help=REPEATS_HELP)
    parser.add_argument(
        "--seed", type=non_negative_int, default=0, metavar="N", help="random seed (default: 0)"
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        default="demo.html",
        help="HTML report to write (default: demo.html)",
    )
    parser.set_defaults(task="auto", metric="auto", jobs=None, resume=None, save=None)


def run(arguments: Namespace) -> int:
    check_outputs([("--report", arguments.report)])
    frame, target, bayes, source = table_of(arguments.data, arguments.seed)
    print_note(arguments, f"{source}: {len(frame):,} rows, target {target!r}")
    study = new_study(arguments)
    study.fit(frame, target, bayes=bayes, title=f"{arguments.data}: {target}", source=source)
    return write_results(arguments, study, arguments.report)


def table_of(name: str, seed: int = 0) -> tuple[Any, str, Any, str]:
    """Return a table, its target, its Bayes rule (or None) and its source."""
    if name == "salaries":
        return _salaries_table(seed)
    from sklearn import datasets

    load = {"tumours": "load_breast_cancer", "wines": "load_wine", "diabetes": "load_diabetes"}[
        name
    ]
    data = getattr(datasets, load)(as_frame=True)
    frame = data.frame.rename(columns={"target": _TARGETS[name]})
    if name != "diabetes":
        labels = [str(label) for label in data.target_names]
        frame[_TARGETS[name]] = [labels[code] for code in data.target]
    return frame, _TARGETS[name], None, f"scikit-learn's {load[5:]}"


_TARGETS = {"tumours": "diagnosis", "wines": "grower", "diabetes": "progression"}


def _salaries_table(seed: int) -> tuple[Any, str, Any, str]:
    from bosquet.datasets import Salaries
    from bosquet.tables.errors import import_pandas

    generator = Salaries()
    X, y = generator.sample(2000, random_state=seed)
    frame = import_pandas().DataFrame(X, columns=["age", "studies"])
    frame["high"] = y
    return frame, "high", generator, "simulated salaries"

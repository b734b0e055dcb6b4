"""The argument parser: one-line errors, help with examples, and options shared by several commands.

This module and the top of every command import only the standard library, so that help is printed quickly.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

STDIN = "-"


class UserError(Exception):
    """An error that the user can fix; it is printed as one line with exit code 2."""


class OneLineParser(argparse.ArgumentParser):
    """ArgumentParser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise UserError(
            f"{' '.join(message.split())}{_suggestion(message)} (see {self.prog} --help)"
        )


_CHOICE = re.compile(r"invalid choice: '?([^']+?)'? \(choose from (.*)\)")


def _suggestion(message: str) -> str:
    """Return a suggestion of the most similar choice for an invalid one, or ""."""
    from bosquet._suggestions import nearest

    match = _CHOICE.search(message)
    near = match and nearest(match[1], [choice.strip(" '") for choice in match[2].split(",")])
    return f"; did you mean {near!r}?" if near else ""


_NEGATIVE = re.compile(r"-[\d.]")


def join_negative_values(words: Sequence[str]) -> list[str]:
    """Join options and values that begin with a minus sign, which argparse would read as options.

    Examples
    --------
    >>> from bosquet.cli.arguments import join_negative_values
    >>> join_negative_values(["study", "a.csv", "--budget", "-5s", "-q"])
    ['study', 'a.csv', '--budget=-5s', '-q']
    """
    joined: list[str] = []
    for word in words:
        after_option = (
            joined and joined[-1].startswith("--") and "=" not in joined[-1] and len(joined[-1]) > 2
        )
        if after_option and _NEGATIVE.match(word):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def refuse_unknown_options(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Raise UserError for an unknown option, before argparse reports a required one as missing."""
    from bosquet._suggestions import nearest

    subparsers = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    command = subparsers.choices.get(next((word for word in words if word[:1] != "-"), ""))
    if command is None:
        return
    option_names = [name for name in command._option_string_actions if name.startswith("--")]
    for word in words:
        if word == "--":
            return
        name = word.split("=", 1)[0]
        if name.startswith("--") and name not in option_names:
            near = nearest(name, option_names)
            suggestion = f"; did you mean {near}?" if near else ""
            raise UserError(f"unknown option {name}{suggestion} (see {command.prog} --help)")


def add_command(commands: Any, module: Any) -> argparse.ArgumentParser:
    """Add the parser of a command, described by its module."""
    examples = textwrap.indent(textwrap.dedent(module.EXAMPLES).strip(), "  ")
    exit_codes = getattr(module, "EXIT_CODES", "exit codes: bosquet --help").strip()
    parser: argparse.ArgumentParser = commands.add_parser(
        module.NAME,
        help=module.HELP,
        description=textwrap.fill(module.DESCRIPTION, 100),
        epilog=f"examples:\n{examples}\n\n{exit_codes}\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument("-q", "--quiet", action="store_true", help="print no progress and no notes")
    group.add_argument(
        "--traceback", action="store_true", help="print the traceback of an error, for a bug report"
    )
    parser.set_defaults(run=module.run, command=module.NAME)
    return parser


BATCHED_TABLE = (
    "CSV, TSV, Parquet, Arrow or Feather file, compressed or not; a folder or a quoted pattern of such files,"
    " as one table; - reads standard input"
)
_TABLE = "CSV, TSV, Parquet, Arrow or Feather file, compressed or not; - reads standard input"


def table_argument(parser: argparse.ArgumentParser, what: str = _TABLE, nargs: Any = None) -> None:
    """Add the table to read and the options for its format."""
    parser.add_argument("data", help=what, nargs=nargs)
    group = parser.add_argument_group("format of a text file (default: detected)")
    group.add_argument("--delimiter", metavar="D", help="column delimiter: ',' ';' '|' or tab")
    group.add_argument(
        "--decimal", choices=(".", ","), metavar="MARK", help="decimal separator: '.' or ','"
    )
    group.add_argument("--encoding", metavar="NAME", help="character encoding: utf-8, cp1252, ...")
    group.add_argument(
        "--header", choices=("yes", "no"), help="whether the first line contains the column names"
    )


def target_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the target and the columns."""
    parser.add_argument(
        "--target", "-t", required=True, metavar="COLUMN", help="column to predict (required)"
    )
    parser.add_argument(
        "--task",
        choices=("auto", "classification", "binary", "multiclass", "regression"),
        default="auto",
        help="kind of target (default: auto, detected from the column)",
    )
    parser.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COLUMN",
        help="column to leave out, or several separated by commas; can be repeated",
    )
    parser.add_argument(
        "--seed", type=non_negative_int, default=0, metavar="N", help="random seed (default: 0)"
    )


def positive_argument(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option for the positive class."""
    parser.add_argument("--positive", metavar="LABEL", help=what)


def non_negative_int(text: str) -> int:
    """Return an integer >= 0."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer >= 0")
    return value


def positive_int(text: str) -> int:
    """Return an integer >= 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer >= 1")
    return value


def comma_separated(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]

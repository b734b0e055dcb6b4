"""The parser: errors of one line, help with examples, options that several commands share.

Only the standard library is imported here and at the top of every command, so that help comes at once.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

STDIN = "-"


class UserError(Exception):
    """An error that the user can fix: printed as one line, exit code 2."""


class OneLineParser(argparse.ArgumentParser):
    """argparse, whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{' '.join(message.split())}{_meant(message)} (see {self.prog} --help)")


_CHOICE = re.compile(r"invalid choice: '?([^']+?)'? \(choose from (.*)\)")


def _meant(message: str) -> str:
    """Of a choice that there is not, the one that it is most like."""
    from bosquet._suggestions import nearest

    found = _CHOICE.search(message)
    near = found and nearest(found[1], [one.strip(" '") for one in found[2].split(",")])
    return f"; did you mean {near!r}?" if near else ""


_NEGATIVE = re.compile(r"-[\d.]")


def joined(words: Sequence[str]) -> list[str]:
    """A value that begins with a minus sign tied to its option, for argparse would take it for another.

    Examples
    --------
    >>> from bosquet.cli.arguments import joined
    >>> joined(["study", "a.csv", "--budget", "-5s", "-q"])
    ['study', 'a.csv', '--budget=-5s', '-q']
    """
    found: list[str] = []
    for word in words:
        tied = found and found[-1].startswith("--") and "=" not in found[-1] and len(found[-1]) > 2
        if tied and _NEGATIVE.match(word):
            found[-1] += f"={word}"
        else:
            found.append(word)
    return found


def refuse_unknown_options(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """An option that is none, told before argparse misses the one that it was meant for."""
    from bosquet._suggestions import nearest

    subparsers = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    command = subparsers.choices.get(next((word for word in words if word[:1] != "-"), ""))
    if command is None:
        return
    known = [name for name in command._option_string_actions if name.startswith("--")]
    for word in words:
        if word == "--":
            return
        name = word.split("=", 1)[0]
        if name.startswith("--") and name not in known:
            near = nearest(name, known)
            meant = f"; did you mean {near}?" if near else ""
            raise UserError(f"there is no option {name}{meant} (see {command.prog} --help)")


def add_command(commands: Any, module: Any) -> argparse.ArgumentParser:
    """The parser of one command, from what its module says."""
    examples = textwrap.indent(textwrap.dedent(module.EXAMPLES).strip(), "  ")
    parser: argparse.ArgumentParser = commands.add_parser(
        module.NAME,
        help=module.HELP,
        description=textwrap.fill(module.DESCRIPTION, 100),
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.arguments(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument("-q", "--quiet", action="store_true", help="print no progress and no notes")
    group.add_argument(
        "--traceback", action="store_true", help="print the traceback of an error, to report it"
    )
    parser.set_defaults(run=module.run, command=module.NAME)
    return parser


_TABLE = "CSV, TSV, Parquet, Arrow or Feather file, compressed or not; - reads standard input"


def table_argument(parser: argparse.ArgumentParser, what: str = _TABLE, nargs: Any = None) -> None:
    """Add the table to read and the options for its format."""
    parser.add_argument("data", help=what, nargs=nargs)
    group = parser.add_argument_group("format of a text file (default: detected)")
    group.add_argument("--delimiter", metavar="D", help="column delimiter: ',' ';' '|' or tab")
    group.add_argument("--decimal", choices=(".", ","), help="decimal separator")
    group.add_argument("--encoding", metavar="NAME", help="character encoding: utf-8, cp1252, ...")
    group.add_argument(
        "--header", choices=("yes", "no"), help="whether the first line holds the column names"
    )


def target_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the target and the columns."""
    parser.add_argument("--target", "-t", required=True, metavar="COLUMN", help="column to predict")
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
        help="column to leave out; can be repeated",
    )
    parser.add_argument(
        "--seed", type=whole, default=0, metavar="N", help="random seed (default: 0)"
    )


def positive_argument(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option for the positive class."""
    parser.add_argument("--positive", metavar="LABEL", help=what)


def whole(text: str) -> int:
    """A whole number, 0 or more."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer >= 0")
    return value


def positive(text: str) -> int:
    """A whole number, 1 or more."""
    value = whole(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be an integer >= 1, got 0")
    return value


def named_list(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]

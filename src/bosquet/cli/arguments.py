"""The parser: errors of one line, help with examples, options that several commands share.

Only the standard library is imported here and at the top of every command, so that help comes at once.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn


class UserError(Exception):
    """Something that the user can mend: one line, exit code 2."""


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
    group.add_argument("--json", action="store_true", help="answer in JSON")
    group.add_argument("-q", "--quiet", action="store_true", help="no progress, no notes")
    group.add_argument(
        "--traceback", action="store_true", help="where an error comes from, for reporting it"
    )
    parser.set_defaults(run=module.run, command=module.NAME)
    return parser


_TABLE = "CSV, TSV, Parquet, Arrow or Feather, packed or not; - is the standard input"


def table_argument(parser: argparse.ArgumentParser, what: str = _TABLE, nargs: Any = None) -> None:
    """A table to read, and what may be said of how it is written."""
    parser.add_argument("data", help=what, nargs=nargs)
    group = parser.add_argument_group("reading a text file (found by itself unless given)")
    group.add_argument("--delimiter", metavar="D", help="what parts columns: ',' ';' '|' or tab")
    group.add_argument("--decimal", choices=(".", ","), help="the decimal mark")
    group.add_argument("--encoding", metavar="NAME", help="utf-8, cp1252, ...")
    group.add_argument(
        "--header", choices=("yes", "no"), help="whether the first line names the columns"
    )


def target_arguments(parser: argparse.ArgumentParser) -> None:
    """What is to be predicted, and from what."""
    parser.add_argument("--target", "-t", required=True, metavar="COLUMN", help="what to predict")
    parser.add_argument(
        "--task",
        choices=("auto", "classification", "binary", "multiclass", "regression"),
        default="auto",
        help="classes or numbers; found by itself unless given",
    )
    parser.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COLUMN",
        help="a column not to use; may be repeated",
    )
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="of what is drawn (0)")


def positive_argument(parser: argparse.ArgumentParser, what: str) -> None:
    """Of two classes, the one that is looked for."""
    parser.add_argument("--positive", metavar="LABEL", help=what)


def whole(text: str) -> int:
    """A whole number, 0 or more."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return value


def positive(text: str) -> int:
    """A whole number, 1 or more."""
    value = whole(text)
    if value == 0:
        raise argparse.ArgumentTypeError("0 is too few: 1 or more")
    return value


def named_list(text: str) -> list[str]:
    """Names parted by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]

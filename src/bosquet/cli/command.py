"""`main`: from words to exit codes.

0 is success, 1 a failure of Bosquet's own, 2 something that the user can mend, 3 a study without a
conclusion, 130 an interrupt.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from bosquet.cli.arguments import (
    OneLineParser,
    UserError,
    add_command,
    joined,
    refuse_unknown_options,
)
from bosquet.cli.commands import COMMANDS

OK, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130

_EPILOG = """examples:
  bosquet demo                                              study a built-in data set
  bosquet study data.csv --target y --report page.html      compare all methods, write a report
  bosquet fit data.csv --target y --out model.bosquet       fit one model, write it to a file
  bosquet predict model.bosquet new.csv > predictions.csv   predict new rows
  bosquet COMMAND --help                                    options and examples of a command
"""


def build_parser() -> OneLineParser:
    """The parser of all commands."""
    import argparse

    parser = OneLineParser(
        prog="bosquet",
        description="Ensemble learning: fit, compare, explain and apply models of tables.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", parser_class=OneLineParser
    )
    for module in COMMANDS:
        add_command(commands, module)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code.

    Examples
    --------
    >>> from bosquet.cli import main
    >>> main(["--version"])
    bosquet ...
    0
    """
    traceback = "--traceback" in (sys.argv[1:] if words is None else words)
    try:
        code = _run(words)
        sys.stdout.flush()
    except SystemExit as exit_:  # --help
        code = int(exit_.code or 0)
    except KeyboardInterrupt:
        _complain("interrupted")
        code = INTERRUPTED
    except BrokenPipeError:  # | head
        _forget_output()
        code = OK
    except Exception as error:
        if traceback:
            raise
        code = _explained(error)
    return code


def _run(words: Sequence[str] | None) -> int:
    parser = build_parser()
    given = joined(sys.argv[1:] if words is None else words)
    refuse_unknown_options(parser, given)
    arguments = parser.parse_args(given)
    if arguments.version:
        from bosquet import __version__

        print(f"bosquet {__version__}")
        return OK
    if arguments.command is None:
        parser.print_help()
        return OK
    return int(arguments.run(arguments) or OK)


def _explained(error: Exception) -> int:
    """One line, and the exit code."""
    if isinstance(error, OSError):
        _forget_output()
        _complain(f"{error.filename or 'the output'}: {error.strerror or error}")
        return WRONG
    if isinstance(error, UserError | ValueError | ImportError):
        _complain(str(error))
        return WRONG
    if isinstance(error, MemoryError):
        _complain("there is not enough memory for this table; try a part of its rows or columns")
        return WRONG
    _complain(
        f"internal failure: {type(error).__name__}: {error} (--traceback shows where; please report it)"
    )
    return FAILED


def _complain(message: str) -> None:
    print(f"bosquet: {' '.join(message.split())}", file=sys.stderr)


def _forget_output() -> None:
    """What is left in the buffer cannot be written; Python would complain of it once more at the end."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        pass  # the output is no file

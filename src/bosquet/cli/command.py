"""`main`, which runs a command and returns its exit code.

Exit codes: 0 success, 1 an internal error, 2 an error that the user can fix, 3 a study without a conclusion,
130 an interrupt.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from bosquet.cli.arguments import (
    OneLineParser,
    UserError,
    add_command,
    join_negative_values,
    refuse_unknown_options,
)
from bosquet.cli.commands import COMMANDS
from bosquet.cli.option_names import with_option_names

OK, INTERNAL_ERROR, USER_ERROR, INTERRUPTED = 0, 1, 2, 130

_EPILOG = """examples:
  bosquet demo                                              study a built-in data set
  bosquet study data.csv --target y --report page.html      compare all methods, write a report
  bosquet fit data.csv --target y --out model.bosquet       fit one model, write it to a file
  bosquet predict model.bosquet new.csv > predictions.csv   predict new rows
  bosquet COMMAND --help                                    options and examples of a command

exit codes:
  0    success
  1    an internal error; please report it
  2    an error in the arguments or the files, which the user can fix
  3    a study without a conclusion
  130  interrupted
"""


def build_parser() -> OneLineParser:
    """Return the parser of all commands."""
    import argparse

    parser = OneLineParser(
        prog="bosquet",
        description="Ensemble learning on tables: fit, compare and explain models, and predict new rows.",
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
    """Run a command and return its exit code.

    Examples
    --------
    >>> from bosquet.cli import main
    >>> main(["--version"])
    bosquet ...
    0
    """
    with_traceback = "--traceback" in (sys.argv[1:] if words is None else words)
    try:
        code = _run(words)
        sys.stdout.flush()
    except SystemExit as exit_:  # --help
        code = int(exit_.code or 0)
    except KeyboardInterrupt:
        _print_error("interrupted")
        code = INTERRUPTED
    except BrokenPipeError:  # | head
        _discard_output()
        code = OK
    except Exception as error:
        if with_traceback:
            raise
        code = _report_error(error)
    return code


def _run(words: Sequence[str] | None) -> int:
    parser = build_parser()
    joined_words = join_negative_values(sys.argv[1:] if words is None else words)
    refuse_unknown_options(parser, joined_words)
    arguments = parser.parse_args(joined_words)
    if arguments.version:
        from bosquet import __version__

        print(f"bosquet {__version__}")
        return OK
    if arguments.command is None:
        parser.print_help()
        return OK
    return int(arguments.run(arguments) or OK)


def _report_error(error: Exception) -> int:
    """Print an error in one line and return the exit code."""
    if isinstance(error, UserError | ImportError | ConnectionError):
        _print_error(str(error))
        return USER_ERROR
    if isinstance(error, OSError):
        _discard_output()
        _print_error(f"{error.filename or 'the output'}: {error.strerror or error}")
        return USER_ERROR
    if isinstance(error, ValueError) or _is_about_input(error):
        _print_error(with_option_names(str(error)))
        return USER_ERROR
    if isinstance(error, MemoryError):
        _print_error("not enough memory for this table; use fewer rows or columns")
        return USER_ERROR
    _print_error(
        f"internal error: {type(error).__name__}: {error} (please report it with the output of --traceback)"
    )
    return INTERNAL_ERROR


def _is_about_input(error: Exception) -> bool:
    """Return whether an error is a TypeError that a `raise` statement of Bosquet raised.

    Its message is about an argument or a column. Any other TypeError, such as that of None + 1, is internal.
    """
    if not isinstance(error, TypeError):
        return False
    origin = traceback.extract_tb(error.__traceback__)[-1]
    is_ours = Path(origin.filename).is_relative_to(Path(__file__).parents[1])
    return is_ours and (origin.line or "").startswith("raise ")


def _print_error(message: str) -> None:
    print(f"bosquet: {' '.join(message.split())}", file=sys.stderr)


def _discard_output() -> None:
    """Redirect standard output to the null device, so that Python reports no second error at exit."""
    try:
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, sys.stdout.fileno())
        os.close(null_device)
    except (OSError, ValueError, AttributeError):
        pass  # standard output has no file descriptor

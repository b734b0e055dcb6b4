"""Parameters of Python in messages of the library, written as options of the command line."""

from __future__ import annotations

import ast
import re
import shlex

_OPTIONS = {
    "checkpoint": "--resume",
    "memory_limit": "--memory-limit",
    "methods": "--methods",
    "metric": "--metric",
    "positive": "--positive",
    "task": "--task",
}
_PARAMETER = re.compile(rf"\b({'|'.join(_OPTIONS)})=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")


def with_option_names(message: str) -> str:
    """Replace parameters whose value is text by the options that set them.

    Examples
    --------
    >>> from bosquet.cli.option_names import with_option_names
    >>> with_option_names("task='binary' needs 2 classes, but 'y' has 3; pass task='multiclass'")
    "--task binary needs 2 classes, but 'y' has 3; pass --task multiclass"
    """

    def as_option(match: re.Match[str]) -> str:
        return f"{_OPTIONS[match[1]]} {shlex.quote(ast.literal_eval(match[2]))}"

    return _PARAMETER.sub(as_option, message)

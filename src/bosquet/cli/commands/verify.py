"""`bosquet verify`: whether a model file is whole."""

from __future__ import annotations

import os
from typing import Any

from bosquet.cli.arguments import UserError
from bosquet.cli.models import MODEL_FILE, begins_with, load_model, model_argument
from bosquet.cli.output import answer

NAME = "verify"
HELP = "whether a model file is whole"
DESCRIPTION = (
    "Read a model file with every check there is: its length and checksum, its description, every node of"
    " every tree; then write the model again and compare, byte for byte. The exit code is 2 for a file that"
    " is damaged, cut short, or no model file."
)
EXAMPLES = """
bosquet verify model.bosquet
bosquet verify model.bosquet --json && ./deploy model.bosquet
"""


def arguments(parser: Any) -> None:
    model_argument(parser)


def run(arguments: Any) -> None:
    from bosquet.io import model_bytes

    model = load_model(arguments.model, arguments.trust)
    if not begins_with(arguments.model, MODEL_FILE):
        return _pickled(arguments, model)
    with open(arguments.model, "rb") as file:
        data = file.read()
    if model_bytes(model) != data:
        # Older formats stay readable, and are written anew in today's.
        written_by = int.from_bytes(data[8:12], "little")
        newest = int.from_bytes(model_bytes(model)[8:12], "little")
        if written_by == newest:
            raise UserError(
                f"{arguments.model}: written again it is another file; it was made by hand"
            )
    inner = getattr(model, "model", model)
    name = type(inner).__name__
    size = os.path.getsize(arguments.model)
    answer(
        arguments,
        {"model": arguments.model, "whole": True, "estimator": name, "bytes": size},
        f"{arguments.model}: a whole model file, {name}, {size:,} bytes",
    )
    return None


def _pickled(arguments: Any, model: Any) -> None:
    """Of a pickle there is no more to say than that it loads."""
    name, size = repr(model), os.path.getsize(arguments.model)
    answer(
        arguments,
        {"model": arguments.model, "whole": None, "estimator": name, "bytes": size},
        f"{arguments.model}: a pickle that loads, {name}, {size:,} bytes; it has no checksum, so that whether"
        " it is as it was written cannot be told",
    )

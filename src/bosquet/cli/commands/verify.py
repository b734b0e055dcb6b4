"""`bosquet verify`: whether a model file is whole."""

from __future__ import annotations

import os
from typing import Any

from bosquet.cli.arguments import UserError
from bosquet.cli.models import MODEL_FILE, begins_with, load_model, model_argument
from bosquet.cli.output import answer

NAME = "verify"
HELP = "check a model file"
DESCRIPTION = (
    "Check a model file: its length and checksum, its description and every node of every tree. Then"
    " write the model again and compare the bytes. With a key, check the signature too. The exit code is 2"
    " for a file that is damaged, truncated, not signed with the key or not a model file."
)
EXAMPLES = """
bosquet verify model.bosquet
bosquet verify model.bosquet --json && ./deploy model.bosquet
"""


def arguments(parser: Any) -> None:
    model_argument(parser)


def run(arguments: Any) -> None:
    from bosquet import __version__
    from bosquet.io.models import model_bytes, written_by
    from bosquet.io.signatures import is_signed, unsigned

    model = load_model(arguments.model, arguments)
    if not begins_with(arguments.model, MODEL_FILE):
        return _pickled(arguments, model)
    with open(arguments.model, "rb") as file:
        data = file.read()
    version = written_by(data)
    if version == __version__ and model_bytes(model) != unsigned(data, None):
        raise UserError(f"{arguments.model}: written again it is another file; it was made by hand")
    inner = getattr(model, "model", model)
    name = type(inner).__name__
    size = os.path.getsize(arguments.model)
    has_key = arguments.key_file is not None or arguments.key_env is not None
    signature = "signed with this key" if has_key else "signed, not checked without a key"
    signature = signature if is_signed(data) else "not signed"
    found = {
        "model": arguments.model,
        "whole": True,
        "estimator": name,
        "bytes": size,
        "written_by": version,
        "signature": signature,
    }
    answer(
        arguments,
        found,
        f"{arguments.model}: a whole model file, {name}, {size:,} bytes, written by Bosquet {version};"
        f" {signature}",
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

"""`bosquet verify`: check a model file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from bosquet._files import MODEL_FILE
from bosquet.cli.arguments import UserError
from bosquet.cli.models import begins_with, load_model, model_argument
from bosquet.cli.output import print_result

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


NAME = "verify"
HELP = "check a model file"
DESCRIPTION = (
    "Check a model file: its length and checksum, its metadata and every node of every tree. Then"
    " write the model again and compare the bytes. With a key, check the signature too. The exit code is 2"
    " for a file that is damaged, truncated, not signed with the key or not a model file."
)
EXAMPLES = """
bosquet verify model.bosquet
bosquet verify model.bosquet --json && ./deploy model.bosquet
"""


def add_arguments(parser: ArgumentParser) -> None:
    model_argument(parser)


def run(arguments: Namespace) -> None:
    from bosquet import __version__
    from bosquet.io.models import model_bytes, writer_version
    from bosquet.io.signatures import is_signed, strip_signature

    model = load_model(arguments.model, arguments)
    if not begins_with(arguments.model, MODEL_FILE):
        return _report_pickle(arguments, model)
    with open(arguments.model, "rb") as file:
        data = file.read()
    version = writer_version(data)
    if version == __version__ and model_bytes(model) != strip_signature(data, None):
        raise UserError(
            f"{arguments.model}: writing the model again gives different bytes; the file was not written by"
            " Bosquet: do not use it, and fit the model again"
        )
    inner = getattr(model, "model", model)
    name = type(inner).__name__
    size = os.path.getsize(arguments.model)
    has_key = arguments.key_file is not None or arguments.key_env is not None
    signature = "signed with this key" if has_key else "signed, not checked without a key"
    signature = signature if is_signed(data) else "not signed"
    summary = {
        "model": arguments.model,
        "whole": True,
        "estimator": name,
        "bytes": size,
        "written_by": version,
        "signature": signature,
    }
    print_result(
        arguments,
        summary,
        f"{arguments.model}: a valid model file, {name}, {size:,} bytes, written by Bosquet {version};"
        f" {signature}",
    )
    return None


def _report_pickle(arguments: Namespace, model: Any) -> None:
    """Report that a pickle can be loaded, which is all that can be checked."""
    name, size = repr(model), os.path.getsize(arguments.model)
    print_result(
        arguments,
        {"model": arguments.model, "whole": None, "estimator": name, "bytes": size},
        f"{arguments.model}: a pickle that can be loaded, {name}, {size:,} bytes; it has no checksum, so"
        " changes since it was written cannot be detected",
    )

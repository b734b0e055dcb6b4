"""Writes the model files of this version, with what their models predict, to tests/compat/VERSION.

    python tests/compat/write.py            files that are not there yet
    python tests/compat/write.py --anew     all of them, before the version is released

A released version's files are never written again: they are what `test_compatibility.py` keeps readable.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path

from kept_models import answers, models

import bosquet
from bosquet.io import model_bytes, model_from_bytes

FOLDER = Path(__file__).resolve().parent / bosquet.__version__


def file_name(name: str) -> str:
    """A file's name for that of a model."""
    return re.sub(r"[^a-z0-9+]+", "-", name.lower()) + ".bosquet"


def main(anew: bool) -> None:
    warnings.simplefilter("ignore")
    FOLDER.mkdir(exist_ok=True)
    expected = FOLDER / "expected.json"
    known = json.loads(expected.read_text()) if expected.exists() and not anew else {}
    written = 0
    for name, model in models().items():
        if file_name(name) in known:
            continue
        data = model_bytes(model)
        (FOLDER / file_name(name)).write_bytes(data)
        known[file_name(name)] = answers(model_from_bytes(data))
        written += 1
    lines = [f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known)]
    expected.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{written} files written to {FOLDER}, {len(known)} in all")


if __name__ == "__main__":
    main("--anew" in sys.argv[1:])

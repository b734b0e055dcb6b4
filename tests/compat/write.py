"""Write the model files of this version, with their predictions, to tests/compat/VERSION.

    python tests/compat/write.py            files that do not exist yet
    python tests/compat/write.py --anew     all files, before the version is released

The files of a released version are never written again: `test_compatibility.py` loads them.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path

from kept_models import models, predictions_of

import bosquet
from bosquet.io import model_bytes, model_from_bytes

FOLDER = Path(__file__).resolve().parent / bosquet.__version__


def file_name(name: str) -> str:
    """Return the file name of a model."""
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
        known[file_name(name)] = predictions_of(model_from_bytes(data))
        written += 1
    lines = [f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known)]
    expected.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{written} files written to {FOLDER}, {len(known)} in all")


if __name__ == "__main__":
    main("--anew" in sys.argv[1:])

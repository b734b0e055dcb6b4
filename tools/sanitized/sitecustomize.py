"""Makes every Python process load `bosquet._core` from the file that BOSQUET_CORE names.

tools/sanitize.py puts this folder on PYTHONPATH, so that processes that a test starts use the
sanitized core as well.
"""

import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location


class SanitizedCore:
    """Finds the core before the finder of the editable installation does."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return where the core is, and nothing for other modules."""
        if name != "bosquet._core":
            return None
        return spec_from_file_location(name, os.environ["BOSQUET_CORE"])


if "BOSQUET_CORE" in os.environ:
    sys.meta_path.insert(0, SanitizedCore)  # type: ignore[arg-type]

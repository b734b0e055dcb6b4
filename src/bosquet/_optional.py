"""Import of optional packages, and the error message for one that is not installed."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

_PACKAGES = {"PIL": "Pillow", "matplotlib": "Matplotlib"}  # by the name of the module


def import_optional(module: str, purpose: str, requirement: str) -> Any:
    """Import a module of an optional package.

    If the package is not installed, the ImportError names it, the `purpose` that needs it, and the pip
    command with the `requirement`, such as ``bosquet[plot]``.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise ImportError(
            f"{_PACKAGES.get(name, name)} is not installed, but {purpose} needs it; run: pip install"
            f" '{requirement}'"
        ) from None


def import_pandas(purpose: str, requirement: str = "bosquet[study]") -> Any:
    """Import pandas; the ImportError names the purpose and the command that installs pandas."""
    return import_optional("pandas", purpose, requirement)


def import_pyplot() -> ModuleType:
    """Import matplotlib.pyplot; the ImportError names the command that installs Matplotlib."""
    return import_optional("matplotlib.pyplot", "drawing", "bosquet[plot]")

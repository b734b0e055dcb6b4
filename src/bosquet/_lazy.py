"""Names that are looked up when first used, so that importing a package costs no more than what is used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def looked_up(package: str, home: Mapping[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for `package` that finds each name in the module that `home` gives."""

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home[name]), name)
        setattr(sys.modules[package], name, value)  # asked for once only
        return value

    return find

"""Lazy evaluation: names of a package that are imported at first use, attributes computed at first use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


def lazy_getattr(package: str, module_of: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for `package` that imports each name from the module `module_of[name]`."""

    def find(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)  # the next lookup finds it directly
        return value

    return find


class cached_property(Generic[Value]):
    """Attribute that is computed when it is first read.

    Threads that read it at the same time may compute it twice. Unlike `functools.cached_property`, which in
    Python 3.11 holds one lock for all objects, it has no lock: a child process that is forked while a thread
    holds such a lock would wait forever.
    """

    def __init__(self, compute: Callable[[Any], Value]):
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, owner: None, kind: type) -> cached_property[Value]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> Value: ...

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        value = self.compute(owner)
        owner.__dict__[self.name] = value  # from now on found before this descriptor
        return value

"""What is looked up or computed when it is first used: names of packages, attributes of objects."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


def looked_up(package: str, home: Mapping[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for `package` that finds each name in the module that `home` gives."""

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home[name]), name)
        setattr(sys.modules[package], name, value)  # asked for once only
        return value

    return find


class cached_property(Generic[Value]):
    """An attribute that is computed when it is first read; threads that read it at once compute it twice.

    That of functools holds a lock in Python 3.11, one for all objects: a child that is forked while a thread
    holds it would wait for ever.
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
        owner.__dict__[self.name] = value  # found before this descriptor from now on
        return value

"""Values that a bound function does not expect, and small mutations of values that it does."""

from __future__ import annotations

import contextlib
import itertools
from random import Random
from typing import Any

import numpy as np

from bosquet import _core

INTEGERS = [0, 1, -1, 2, 3, 7, 10**400]
INTEGERS += [2**k + near for k in (8, 16, 20, 24, 30, 31, 32, 53, 63, 64) for near in (-1, 0)]
INTEGERS += [-(2**31), -(2**63)]
FLOATS = [0.0, -0.0, 0.5, 1.0, -1.0, 1 + 2**-52, float("nan"), float("inf"), float("-inf")]
FLOATS += [1e-300, 5e-324, 1e30, 3.5e38, 1e154, 1.7e308, -1e308]
TEXTS = [
    "",
    "\ud800",
    "a\0b",
    "x" * 5000,
    *["auto", "baseline", "avx2", "avx512", "gini", "gain", "error"],
]
TEXTS += ["squared", "squared_error", "log_loss", "huber", "quantile", "poisson", "log", "zero-one"]
DTYPES = [
    "f8",
    "f4",
    "f2",
    "i1",
    "i4",
    "i8",
    "u1",
    "u4",
    "u8",
    "?",
    "c16",
    "O",
    "U2",
    ">f8",
    ">i4",
    "M8[s]",
]
CLASSES = [
    value
    for value in vars(_core).values()
    if isinstance(value, type) and not issubclass(value, Exception)
]


class HostileError(Exception):
    """An exception raised by a hostile value; the core passes it on."""


class ChangesList:
    """A number whose conversion empties the list that contains it."""

    def __init__(self, entries: list[Any]) -> None:
        self.entries = entries

    def __float__(self) -> float:
        self.entries.clear()
        return 1.0

    def __index__(self) -> int:
        self.entries.clear()
        return 1


class Raises:
    """An object whose conversion to a number, an array or a sequence raises HostileError."""

    def _raise(self, *_: Any, **__: Any) -> Any:
        raise HostileError("hostile value")

    __float__ = __index__ = __len__ = __getitem__ = __iter__ = __call__ = __dlpack__ = _raise
    __repr__ = __hash__ = __eq__ = _raise  # type: ignore[assignment]


class FreshArray:
    """An array that exports a new copy each time, which is freed with the exported object."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.copy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class CallsBack:
    """A callback that uses the objects of the call that calls it."""

    def __init__(self, random: Random, objects: list[Any]) -> None:
        self.random, self.objects = random, objects

    def __call__(self, *arguments: Any) -> Any:
        for name in ("round", "truncate", "set_validation", "train_loss", "start_from"):
            for target in self.random.sample(self.objects, min(4, len(self.objects))):
                if hasattr(type(target), name):
                    given = self.random.choice(
                        [(), (0,), (target,), (np.zeros(1),), *zip(self.objects)]
                    )
                    with contextlib.suppress(ValueError, TypeError, IndexError):
                        getattr(target, name)(*given)
        leaves = arguments[1] if len(arguments) > 1 else 1
        return self.random.choice(
            [None, np.zeros(leaves), np.zeros(leaves + 1), np.full(leaves, np.nan)]
        )


def some_array(random: Random) -> np.ndarray:
    """Return an array of any dtype with up to three dimensions and any memory order."""
    shape = tuple(random.choice([0, 1, 2, 3, 12, 40]) for _ in range(random.randrange(4)))
    array = np.zeros(shape, dtype=random.choice(DTYPES))
    return _mutated_array(array, random) if random.random() < 0.5 else array


def some_value(random: Random, objects: list[Any]) -> Any:
    """Return a random value of any type."""
    kind = random.randrange(12)
    if kind == 0:
        return random.choice(INTEGERS)
    if kind == 1:
        return random.choice(FLOATS)
    if kind == 2:
        return random.choice(TEXTS)
    if kind == 3:
        return some_array(random)
    if kind == 4:
        return random.choice(
            [None, True, False, b"", b"\0" * 40, object(), Raises(), Random, iter([])]
        )
    if kind == 5:
        return [some_value(random, objects) for _ in range(random.randrange(4))]
    if kind == 6:
        return {some_key(random): some_value(random, objects) for _ in range(random.randrange(3))}
    if kind == 7:
        return FreshArray(np.random.default_rng(0).random((40, 3)))
    if kind == 8:
        entries: list[Any] = []
        entries.extend(ChangesList(entries) for _ in range(random.choice([1, 3, 40])))
        return entries
    if kind == 9:
        cls = random.choice(CLASSES)
        return cls.__new__(cls)  # an object without __init__
    if kind == 10:
        return CallsBack(random, objects)
    return random.choice(objects) if objects else itertools.count()


def some_key(random: Random) -> Any:
    """Return a random key of a dict."""
    return random.choice(
        ["max_leaf_nodes", "isa", "rule.regret", "\ud800", 3, None, ("a",), "rows"]
    )


def mutated(value: Any, random: Random, objects: list[Any]) -> Any:
    """Return a mutation of a value, or sometimes a random value."""
    if random.random() < 0.15:
        return some_value(random, objects)
    if isinstance(value, np.ndarray):
        return _mutated_array(value, random)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        near = [value + 1, value - 1, -value, value * 2]
        return random.choice(INTEGERS + near)
    if isinstance(value, float):
        return random.choice([*FLOATS, -value, value * 1e10])
    if isinstance(value, str):
        return random.choice(TEXTS)
    if isinstance(value, bytes):
        return _mutated_bytes(value, random)
    if isinstance(value, list | tuple):
        return _mutated_sequence(value, random, objects)
    if isinstance(value, dict):
        return _mutated_dict(value, random, objects)
    same_type = [item for item in objects if type(item) is type(value)]
    return random.choice(same_type) if same_type else some_value(random, objects)


def _mutated_bytes(value: bytes, random: Random) -> bytes:
    changed = bytearray(value)
    for _ in range(random.randrange(1, 4)):
        if changed:
            changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(
        changed[: random.randrange(len(changed) + 1)] if random.random() < 0.3 else changed
    )


def _mutated_sequence(value: Any, random: Random, objects: list[Any]) -> Any:
    entries = list(value)
    kind = random.randrange(6)
    if kind == 0:
        entries = entries[:-1]
    elif kind == 1:
        entries = entries * 2
    elif kind == 2:
        entries.append(ChangesList(entries))
    elif kind == 3:
        entries = []
    elif entries:
        at = random.randrange(len(entries))
        entries[at] = mutated(entries[at], random, objects)
    if isinstance(value, tuple) and random.random() < 0.8:
        return tuple(entries)
    return entries


def _mutated_dict(value: dict[Any, Any], random: Random, objects: list[Any]) -> dict[Any, Any]:
    changed = dict(value)
    if not changed or random.random() < 0.2:
        changed[some_key(random)] = some_value(random, objects)
        return changed
    key = random.choice(list(changed))
    if random.random() < 0.2:
        del changed[key]
    else:
        changed[key] = mutated(changed[key], random, objects)
    return changed


def _mutated_array(array: np.ndarray, random: Random) -> np.ndarray:
    if random.random() < 0.5 and array.size and array.dtype.kind in "fiu":
        return _with_other_values(array, random)
    kind = random.randrange(10)
    if kind == 0:
        return array[:-1] if array.ndim else array
    if kind == 1:
        return np.repeat(array, 2, axis=0) if array.ndim else array
    if kind == 2:
        return array[:0] if array.ndim else array
    if kind == 3:
        return array.T
    if kind == 4:
        return array[::-1] if array.ndim else array
    if kind == 5:
        return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
    if kind == 6:
        return array[None]
    if kind == 7:
        return array.reshape(-1)
    if kind == 8:
        with np.errstate(all="ignore"):
            try:
                return array.astype(random.choice(DTYPES))
            except (ValueError, TypeError, RuntimeError):
                return array
    return array[..., 0] if array.ndim and array.shape[-1] else array


def _with_other_values(array: np.ndarray, random: Random) -> np.ndarray:
    """Return the array with a few values changed; sometimes it is read-only."""
    changed = array.copy()
    flat = changed.reshape(-1)
    for _ in range(random.choice([1, 1, 3, flat.size])):
        at = random.randrange(flat.size)
        if array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                flat[at] = random.choice(FLOATS)
        else:
            limits = np.iinfo(array.dtype)
            wanted = random.choice([limits.min, limits.max, 0, 1, 2, 3, int(flat[at]) + 1])
            flat[at] = min(max(wanted, limits.min), limits.max)
    changed.flags.writeable = random.random() < 0.7
    return changed

"""Mutations of the metadata of a model: JSON values, and the JSON text."""

from __future__ import annotations

import copy
import json
import re
from random import Random
from typing import Any

INTEGERS = (
    0, 1, -1, 2, 3, 7, 127, 128, 255, 256, 4000, 65535, 65536, 10**6, 2**31 - 1, 2**31, -(2**31),
    2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64, 10**30, 10**400,
)  # fmt: skip
REALS = (
    0.0, -0.0, 0.5, 1.0, 1.5, -1.0, 1e-300, 5e-324, 1e-9, 1 - 1e-9, 1 + 1e-9, 255.0, 1e9, 1e18, 3e38,
    4e38, 1e300, 1.7e308, -1e308,
)  # fmt: skip
TEXTS = (
    "", " ", "a", "nan", "inf", "-inf", "1", "0.5", "None", "\x00", "\ud800", "a\udfffb", "é", "𝄞",
    "drop", "prefit", "oob", "auto", "sqrt", "log2", "balanced", "hard", "soft", "real", "number",
    "object", "int64", "i8", "u1", "float64", "f2", "f4", "f8", "g", "O", "U", "U0", "U1", "U262144",
    "U1000000", "S5", "M8[ns]", "m8", "V8", "c16", "b1", "i4,f8", "(2,)f8", "U99999999999", "x" * 3000,
    "__class__", "random_state", "estimator", "%Y-%m-%d", "%", "{0}", "../x", "\n",
)  # fmt: skip
# Values of parameters without a JSON type, as bosquet.io.parameters writes them.
TAGGED = (
    {"range": [0, 2**27, 1]}, {"range": [0, 3, 1]}, {"range": [5, 0, -1]}, {"range": [0, 5, 0]},
    {"tuple": [1, 2]}, {"tuple": []}, {"set": [1, 2]}, {"set": ["a", "a"]}, {"frozenset": [0]},
    {"dict": [[0, 1.0], [1, 5.0]]}, {"dict": [["a", None]]}, {"float": "nan"}, {"float": "-inf"},
    {"array": {"type": "float64", "shape": [2], "values": [0.5, 0.5]}},
    {"array": {"type": "float64", "shape": [2**31, 0], "values": []}}, {"part": 0}, {"not stored": "x"},
)  # fmt: skip
NUMBER_TEXTS = (
    "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "00", "-0", "-0.0", "1E5", "1.", ".5", "+1",
    "1" * 5000, "0x10", "1" + "0" * 250 + "e99", "1e-400", "9" * 400, "null", "true",
)  # fmt: skip
# Texts, numbers, literals and punctuation of JSON.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[][{},:]')

_NESTED = re.compile(rb'"(list|dict) nested ([0-9]+)"')


class Pool:
    """Values that occur in the metadata of the corpus, by their key, as JSON.

    They are stored as text, so that changing a value does not change later cases.
    """

    def __init__(self, metadata_of_models: list[Any]) -> None:
        found: dict[str, dict[str, None]] = {}
        for metadata in metadata_of_models:
            _gather(metadata, found)
        self.keys = sorted(found)
        self._texts = {key: list(texts) for key, texts in found.items()}

    def alike(self, key: Any, rng: Random) -> Any:
        """Return a value that occurs under this key in the corpus, or any value."""
        known = self._texts.get(key) if isinstance(key, str) else None
        if known is None or rng.random() < 0.2:
            known = self._texts[rng.choice(self.keys)]
        return json.loads(rng.choice(known))


def _gather(value: Any, found: dict[str, dict[str, None]]) -> None:
    """Return the values inside a value, each once, in order of occurrence."""
    if isinstance(value, dict):
        for key, inner in value.items():
            found.setdefault(key, {})[json.dumps(inner)] = None
            _gather(inner, found)
    elif isinstance(value, list):
        for inner in value:
            _gather(inner, found)


def mutated(text: bytes, pool: Pool, rng: Random) -> bytes:
    """Make one to four changes of the metadata."""
    if rng.random() < 0.1:
        return _mutated_text(text.decode(), rng).encode("utf-8", "surrogatepass")
    metadata = {"": json.loads(text)}  # so that the root is mutated like any other value
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        container, key = _place(metadata, rng)
        _change(container, key, pool, rng)
    text = json.dumps(metadata.get(""), separators=(",", ":")).encode("ascii")
    return _NESTED.sub(_deep_value, text)


def _place(metadata: dict[str, Any], rng: Random) -> tuple[Any, Any]:
    """Return a random value by its container and key: at each level all children are equally likely."""
    container: Any = metadata
    key: Any = ""
    while True:
        value = container[key] if isinstance(container, list) else container.get(key)
        if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
            return container, key
        container = value
        key = rng.randrange(len(value)) if isinstance(value, list) else rng.choice(list(value))


def _change(container: Any, key: Any, pool: Pool, rng: Random) -> None:
    value = container[key] if isinstance(container, list) else container.get(key)
    way = rng.random()
    if way < 0.1:
        _change_container(container, key, pool, rng)
    elif way < 0.3 and isinstance(value, list) and value:
        container[key] = _changed_list(value, rng)
    elif way < 0.3 and isinstance(value, dict) and value:
        _change_container(value, rng.choice(list(value)), pool, rng)
    elif way < 0.5:
        container[key] = pool.alike(key, rng)
    elif way < 0.8:
        container[key] = _edge_like(value, rng)
    else:
        container[key] = _edge(rng)


def _change_container(container: Any, key: Any, pool: Pool, rng: Random) -> None:
    """Remove, add, rename or swap entries."""
    if isinstance(container, list):
        if rng.random() < 0.5:
            del container[key]
        else:
            container.insert(key, container[rng.randrange(len(container))])
        return
    way = rng.randrange(4)
    if way == 0:
        container.pop(key, None)
    elif way == 1:
        name = rng.choice(pool.keys)
        container[name] = pool.alike(name, rng)
    elif way == 2 and key in container:
        container[rng.choice((*pool.keys, *TEXTS))] = container.pop(key)
    elif key in container:
        other = rng.choice(list(container))
        container[key], container[other] = container[other], container[key]


def _changed_list(values: list[Any], rng: Random) -> list[Any]:
    way = rng.randrange(9)
    some = rng.randrange(len(values))
    if way == 0:
        return values[:some]
    if way == 1:
        return values[some:]
    if way == 2:
        return [*values, values[some]]
    if way == 3:
        return values[::-1]
    if way == 4:
        return rng.sample(values, len(values))
    if way == 5:
        return values * rng.choice((2, 3, 50))
    if way == 6:
        return [values]
    if way == 7:
        return [_edge_like(values[some], rng)] * len(values)
    return [*values[:some], _edge_like(values[some], rng), *values[some + 1 :]]


def _edge_like(value: Any, rng: Random) -> Any:
    """Return an edge value of the same type."""
    if isinstance(value, bool) or value is None:
        return rng.choice((True, False, None))
    if isinstance(value, int):
        return rng.choice((*INTEGERS, value + 1, value - 1, 2 * value, -value))
    if isinstance(value, float):
        return rng.choice((*REALS, -value, 2 * value, value + 1, value / 1e9))
    if isinstance(value, str):
        return rng.choice((*TEXTS, value + "x", value[:-1], value.upper()))
    return rng.choice(([], {}, [None], [[]], {"a": 1}, [0], [1, 2], ["a", "b"]))


def _edge(rng: Random) -> Any:
    """Return an edge value of any type."""
    way = rng.randrange(9)
    if way == 8:
        return copy.deepcopy(rng.choice(TAGGED))  # later mutations may change it again
    if way < 2:
        return rng.choice(INTEGERS)
    if way < 4:
        return rng.choice(REALS)
    if way < 6:
        return rng.choice(TEXTS)
    if way == 6 and rng.random() < 0.2:
        return f"{rng.choice(('list', 'dict'))} nested {rng.choice((2, 20, 100, 450, 500, 900))}"
    return rng.choice((None, True, False, [], {}, [None], [[]], {"": 0}, [0.5] * 100, ["a"] * 3000))


def _deep_value(found: re.Match[bytes]) -> bytes:
    """Return the JSON text for a name such as "list nested 500", which `json.dumps` could not write."""
    depth = int(found[2])
    if found[1] == b"list":
        return b"[" * depth + b"1" + b"]" * depth
    return b'{"a":' * depth + b"1" + b"}" * depth


def _mutated_text(text: str, rng: Random) -> str:
    """Change tokens: duplicate keys, numbers that are not JSON, unbalanced brackets."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.randint(1, 2)):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        way = rng.randrange(5)
        if way == 0:
            same = [i for i, token in enumerate(tokens) if token[0] in '-0123456789"']
            tokens[rng.choice(same)] = rng.choice(NUMBER_TEXTS)
        elif way == 1:
            keys = [i for i in range(len(tokens) - 1) if tokens[i + 1] == ":"]
            if keys:
                tokens[rng.choice(keys)] = tokens[rng.choice(keys)]
        elif way == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif way == 3:
            tokens[at] = "[" * rng.choice((1, 100_000))
        else:
            tokens[at : at + 1] = [tokens[at]] * rng.choice((0, 2))
        if not tokens:
            break
    return "".join(tokens)

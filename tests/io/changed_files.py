"""Model files in which one value of the metadata is changed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from bosquet.io import load_bytes, save_bytes
from bosquet.io.container import load_parts, save_parts


def metadata_of(data: bytes) -> dict[str, Any]:
    return (load_parts(data) or load_bytes(data))[1]


def with_metadata(data: bytes, metadata: dict[str, Any]) -> bytes:
    """Return the same trees or members with different metadata."""
    parts = load_parts(data)
    if parts is not None:
        return save_parts(parts[0], metadata)
    return save_bytes(load_bytes(data)[0], metadata)


def changed(data: bytes, *path: Any, to: Any) -> bytes:
    """Replace the value at a path of keys; `...` removes it."""
    metadata = copy.deepcopy(metadata_of(data))
    inner: Any = metadata
    for key in path[:-1]:
        inner = inner[key]
    if to is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return with_metadata(data, metadata)


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the path of keys of every value in the metadata."""
    yield path
    items: Any = ()
    if isinstance(node, dict):
        items = node.items()
    elif isinstance(node, list):
        items = enumerate(node)
    for key, value in items:
        yield from places(value, (*path, key))

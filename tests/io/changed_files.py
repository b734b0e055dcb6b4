"""Model files in which one value of the metadata is changed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from bosquet.io import pack_trees, unpack_trees
from bosquet.io.container import pack_members, unpack_members


def metadata_of(data: bytes) -> dict[str, Any]:
    return (unpack_members(data) or unpack_trees(data))[1]


def with_metadata(data: bytes, metadata: dict[str, Any]) -> bytes:
    """Return the same trees or members with different metadata."""
    parts = unpack_members(data)
    if parts is not None:
        return pack_members(parts[0], metadata)
    return pack_trees(unpack_trees(data)[0], metadata)


def change_metadata(data: bytes, *path: Any, to: Any) -> bytes:
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


def paths_of_values(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the path of keys of every value in the metadata."""
    yield path
    items: Any = ()
    if isinstance(node, dict):
        items = node.items()
    elif isinstance(node, list):
        items = enumerate(node)
    for key, value in items:
        yield from paths_of_values(value, (*path, key))

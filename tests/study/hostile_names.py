"""Column names that could inject code into the report."""

from __future__ import annotations

from typing import Any

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "\"'><svg onload=alert(1)>",
    "a\u2028b\u2029c",
    "]]>&lt;&#0;\x00\x1b",
    "\ud800 half a character",
    "javascript:alert(1)",
]


def renamed(value: Any, old: str, new: str) -> Any:
    """Return `value` with every string equal to `old` replaced, also keys."""
    if isinstance(value, dict):
        return {renamed(k, old, new): renamed(v, old, new) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [renamed(item, old, new) for item in value]
    return new if value == old else value

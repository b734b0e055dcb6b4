"""Escaping of text for HTML and of data for a script element."""

from __future__ import annotations

import html
import json
import math
from typing import Any

# "<" could end the script element, "&" could start an entity in old parsers, and the two separators end a
# line of JavaScript. JSON reads each escape as the same character.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
# Control characters that HTML does not allow become the replacement character.
_CONTROLS = {code: "\ufffd" for code in (*range(9), 11, 12, *range(14, 32), 127)}


def text(value: Any) -> str:
    """Return `value` escaped for use as HTML text or attribute."""
    plain = str(value).encode("utf-8", "replace").decode("utf-8").translate(_CONTROLS)
    return html.escape(plain, quote=True)


def plain_data(value: Any) -> Any:
    """Return `value` as JSON types: NaN and infinity become None, NumPy types become Python types.

    Floats keep six significant digits, which halves the size of the file.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, dict):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_data(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return plain_data(value.tolist())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return str(value)


def script_data(value: Any) -> str:
    """Return `value` as JSON that is safe inside a script element."""
    encoded = json.dumps(plain_data(value), allow_nan=False, separators=(",", ":"))
    for character, escape in _ESCAPES.items():
        encoded = encoded.replace(character, escape)
    return encoded

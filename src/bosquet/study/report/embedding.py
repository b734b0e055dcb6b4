"""Making anything safe to stand inside a page: text in HTML, data in a script element."""

from __future__ import annotations

import html
import json
import math
from typing import Any

# "<" would let a value end the script element, "&" start an entity in old parsers, and the two separators
# end a line of JavaScript; all four have an escape that JSON reads back as the same character.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
# Characters that are not allowed in HTML, shown as the sign for a character that could not be.
_CONTROLS = {code: "\ufffd" for code in (*range(9), 11, 12, *range(14, 32), 127)}


def text(value: Any) -> str:
    """`value` as text or as an attribute of HTML, whatever it holds."""
    plain = str(value).encode("utf-8", "replace").decode("utf-8").translate(_CONTROLS)
    return html.escape(plain, quote=True)


def plain_data(value: Any) -> Any:
    """`value` in JSON's own types: NaN and infinities become None, NumPy's numbers Python's.

    Floats keep six significant digits: nothing on a page shows more, and it halves the file.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, dict):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_data(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return plain_data(value.tolist())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return str(value)


def script_data(value: Any) -> str:
    """`value` as JSON that cannot end or leave the script element it is put in."""
    encoded = json.dumps(plain_data(value), allow_nan=False, separators=(",", ":"))
    for character, escape in _ESCAPES.items():
        encoded = encoded.replace(character, escape)
    return encoded

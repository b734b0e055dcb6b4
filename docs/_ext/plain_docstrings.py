"""Docstrings are written to be read in a terminal too: |x| is an absolute value and not a
substitution, and a name that ends with an underscore is a name and not a reference."""

import re

CODE = re.compile(r"(`+[^`]*`+)")
NAME = re.compile(r"(?<![\w\\])([A-Za-z]\w*)_(?=[\s,.;:)\]]|$)")


def plain(line):
    """The line, with what reStructuredText would misread escaped outside of its code."""
    parts = CODE.split(line)
    parts[::2] = [NAME.sub(r"\1\\_", part).replace("|", r"\|") for part in parts[::2]]
    return "".join(parts)


def process(app, what, name, obj, options, lines):
    if what == "data" and isinstance(obj, dict):  # the docstring of dict would be shown
        lines[:] = [f"A dictionary with the keys {', '.join(f'``{key!r}``' for key in obj)}.", ""]
        return
    in_math = False
    for number, line in enumerate(lines):
        in_math = line.startswith(".. math::") or (in_math and (not line or line[0] == " "))
        if not in_math and not line.lstrip().startswith(">>>"):
            lines[number] = plain(line)


def setup(app):
    app.connect("autodoc-process-docstring", process, priority=800)  # after napoleon
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

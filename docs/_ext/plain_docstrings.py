"""Docstrings are written to be read in a terminal too: |x| is an absolute value and not a
substitution, and a name that ends with an underscore is a name and not a reference. An entry of the
attributes may have several names, which napoleon would read as one name and a type. A docstring names the
page of its guide by title, and on the built pages this is a link."""

import re
from functools import cache
from pathlib import Path

CODE = re.compile(r"(`+[^`]*`+)")
NAME = re.compile(r"(?<![\w\\])([A-Za-z]\w*)_(?=[\s,.;:)\]]|$)")


NAMES = re.compile(r"\w+(, \w+)+( : .*)?$")
GUIDE = re.compile(r'(?P<start>\s*Guide: )the page "(?P<title>[^"]+)" of the documentation$')


def one_name_per_entry(lines):
    """The lines of a docstring, with an entry for each name of an entry of its attributes."""
    result, in_attributes, number = [], False, 0
    while number < len(lines):
        line = lines[number]
        if lines[number + 1 : number + 2] and re.fullmatch("-{3,}", lines[number + 1]):
            in_attributes = line == "Attributes"
            result += [line, lines[number + 1]]
            number += 2
            continue
        number += 1
        if in_attributes:
            while re.match(r"\w.*,$", line) and number < len(lines):  # the names go on
                line = f"{line} {lines[number]}"
                number += 1
        if not in_attributes or not NAMES.match(line):
            result.append(line)
            continue
        names, _, kind = line.partition(" : ")
        description = []
        while number < len(lines) and lines[number].startswith(" "):
            description.append(lines[number])
            number += 1
        for name in names.split(", "):
            result += [f"{name} : {kind}" if kind else name, *description]
    return result


def split_entries(app, what, name, obj, options, lines):
    lines[:] = one_name_per_entry(lines)


@cache
def pages_by_title(docs):
    """The pages by the words of their titles before a colon."""
    pages = {}
    for path in sorted(Path(docs).glob("*.md")):
        first_line = path.read_text(encoding="utf-8").partition("\n")[0]
        pages[first_line.removeprefix("# ").partition(":")[0]] = path.stem
    return pages


def with_guide_linked(line, pages):
    """The line, with the title of the guide as a link to its page."""
    found = GUIDE.match(line)
    if found is None:
        return line
    return f"{found['start']}:doc:`{found['title']} </{pages[found['title']]}>`"


def plain(line):
    """The line, with what reStructuredText would misread escaped outside of its code."""
    parts = CODE.split(line)
    parts[::2] = [NAME.sub(r"\1\\_", part).replace("|", r"\|") for part in parts[::2]]
    return "".join(parts)


def process(app, what, name, obj, options, lines):
    if what == "data" and isinstance(obj, dict):  # the docstring of dict would be shown
        lines[:] = [f"A dictionary with the keys {', '.join(f'``{key!r}``' for key in obj)}.", ""]
        return
    pages = pages_by_title(app.srcdir)
    in_math = False
    for number, line in enumerate(lines):
        in_math = line.startswith(".. math::") or (in_math and (not line or line[0] == " "))
        if not in_math and not line.lstrip().startswith(">>>"):
            lines[number] = plain(with_guide_linked(line, pages))


def setup(app):
    app.connect("autodoc-process-docstring", split_entries, priority=300)  # before napoleon
    app.connect("autodoc-process-docstring", process, priority=800)  # after napoleon
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

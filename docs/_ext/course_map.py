"""The course map: docs/course/map.toml, written out as Markdown in place of ```{course-map}```.

It is put into the page's source before that is parsed, so that items are headings like any other: they have
anchors, stand in the table of contents and are found by the search.
"""

import re
import tomllib
from pathlib import Path

# Where the galleries' pages are written, and where their examples are.
GALLERIES = {"gallery": "examples", "course": "examples/course"}
FENCE = "```{course-map}\n```"
LANGUAGES = {"fr": "français", "ru": "русский"}


def read_map(docs):
    """Chapters with their sentence, and items in order."""
    with open(Path(docs) / "course/map.toml", "rb") as file:
        found = tomllib.load(file)
    return found["chapters"], found["item"]


def slug(heading):
    """The anchor that a heading has on its page."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def headings(page):
    """Headings of a Markdown page by their anchors."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {slug(heading): heading for heading in found}


def built_mark(heading):
    """The id that docutils gives the section of a heading, which is not the anchor that sources link to."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def page_address(docs, target):
    """Where a guide's section is in the built pages, seen from the map."""
    path, _, anchor = target.partition("#")
    address = "../" + path.removesuffix(".md") + ".html"
    return f"{address}#{built_mark(headings(docs / path)[anchor])}" if anchor else address


def page_link(docs, target):
    """A link to a guide, with the names of the page and of the section."""
    path, _, anchor = target.partition("#")
    names = headings(docs / path)
    title = next(iter(names.values()))
    words = f"{title}: {names[anchor]}" if anchor else title
    return f"[{words}](../{target})"


def api_link(name):
    """A link to the API page of a name, if it has one."""
    return f"{{py:obj}}`{name.removeprefix('bosquet.')} <{name}>`"


def test_words(test):
    """A test's name is a sentence: here it is, with its file."""
    path, _, name = test.partition("::")
    sentence = re.sub(r"^test_(item_\d+_)?", "", name).replace("_", " ")
    return f"{sentence} (`{path}`)"


def example_of(name):
    """The script that draws the picture of a gallery: gallery/plot_x is examples/plot_x.py."""
    first, _, rest = name.partition("/")
    return f"{GALLERIES[first]}/{rest}.py"


def picture(docs, item):
    """The picture beside an item, with a link to the guide's section or to the page that draws it."""
    name = item["picture"]
    if name.startswith("img/"):
        uri, target = f"../{name}", page_address(docs, item["page"])
    else:
        folder, _, stem = name.rpartition("/")
        uri = f"../{folder}/images/thumb/sphx_glr_{stem}_thumb.png"
        target = f"../{name}.html"
        if not (docs / "course" / uri).exists():  # the gallery was not built
            return []
    return [
        f"```{{image}} {uri}",
        f":alt: {item['title']}",
        ":class: course-picture",
        f":target: {target}",
        "```",
        "",
    ]


def seen(name):
    """A link to the page of a gallery on which the picture is drawn."""
    return [] if name.startswith("img/") else [f"- **Example** {{doc}}`/{name}`"]


def item_lines(docs, item):
    """One item."""
    terms = " · ".join(f"*{LANGUAGES[key]}* {words}" for key, words in item["terms"].items())
    return [
        f"### {item['number']}. {item['title']}",
        "",
        *picture(docs, item),
        item["text"].strip(),
        "",
        f"- {terms}",
        f"- **Functions** {', '.join(api_link(name) for name in item['functions'])}",
        f"- **Guide** {page_link(docs, item['page'])}",
        *seen(item["picture"]),
        "- **Tests**",
        *(f"  - {test_words(test)}" for test in item["tests"]),
        "",
    ]


def overview(docs, chapters, items):
    """A table of the chapters: their items, and the guides to read with them."""
    lines = ["## Chapters", "", "| chapter | items | guide |", "|---|---|---|"]
    for chapter in chapters:
        own = [item for item in items if item["chapter"] == chapter]
        titles = "; ".join(f"{item['number']} {item['title']}" for item in own)
        pages = dict.fromkeys(item["page"].partition("#")[0] for item in own)
        names = {page: next(iter(headings(docs / page).values())) for page in pages}
        guides = "; ".join(f"[{name.partition(':')[0]}](../{page})" for page, name in names.items())
        lines.append(f"| [{chapter}](#{slug(chapter)}) | {titles} | {guides} |")
    return [*lines, ""]


def markdown(docs):
    """The whole map."""
    docs = Path(docs)
    chapters, items = read_map(docs)
    lines = overview(docs, chapters, items)
    for chapter, sentence in chapters.items():
        lines += [f"## {chapter}", "", sentence, ""]
        for item in items:
            if item["chapter"] == chapter:
                lines += item_lines(docs, item)
    return "\n".join(lines)


def fill_in(app, docname, source):
    if FENCE in source[0]:
        app.env.note_dependency(str(Path(app.srcdir) / "course/map.toml"), docname=docname)
        source[0] = source[0].replace(FENCE, markdown(app.srcdir))


def setup(app):
    app.connect("source-read", fill_in)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

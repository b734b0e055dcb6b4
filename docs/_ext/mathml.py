"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network."""

from docutils import nodes
from latex2mathml.converter import convert


def inline(writer, node):
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def display(writer, node):
    writer.body.append(writer.starttag(node, "div", CLASS="math-display"))
    writer.body.append(convert(node.astext(), display="block"))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect(
        "config-inited", lambda app, config: config.__setattr__("html_math_renderer", "mathml")
    )
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""How the documentation is built: `make docs`, then open docs/_build/html/index.html."""

import os
import sys
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("MPLBACKEND", "Agg")

project = "Bosquet"
author = "The Bosquet developers"
release = installed("bosquet")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "plain_docstrings",
    "course_map",
]
exclude_patterns = [
    "_build",
    "_ext",
    "_templates",
    "gallery/*.py",
    "gallery/*.ipynb",
    "course/exercises/*.py",
    "course/exercises/*.ipynb",
    "course/cases/*.py",
    "course/cases/*.ipynb",
    "**/GALLERY_HEADER.rst",
]
# A page's source is Markdown; the gallery writes its own in reStructuredText.
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "Bosquet"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["bosquet.css"]
html_show_sourcelink = False
html_copy_source = False

autosummary_generate = True
autodoc_typehints = "none"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    # Exercises and cases lie one folder deeper, where the gallery does not take them for its own.
    "examples_dirs": ["../examples", "../examples/course/exercises", "../examples/course/cases"],
    "gallery_dirs": ["gallery", "course/exercises", "course/cases"],
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"case_(data|pictures)\.py",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib",),
    "min_reported_time": 60,
}
suppress_warnings = [
    "config.cache",  # the gallery's settings are no text
    "ref.python",  # `classes_` is an attribute of many; no link is better than one to some
]

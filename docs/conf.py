"""How Sphinx makes the pages: from Markdown and docstrings, without the network, formulas as MathML."""

from __future__ import annotations

import sys
from inspect import getdoc
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for the modules beside this file

from pages import write_pages  # noqa: E402
from sources import link_sources  # noqa: E402

import btai  # noqa: E402

project = "btai"
author = "The btai authors"
project_copyright = "The btai authors; MIT licence"
version = release = btai.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "_made/parts"]
html_theme = "furo"
html_title = f"btai {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_math_renderer = "mathml"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

default_role = "code"  # `name` in a docstring is code, as in Markdown
autodoc_default_options = {"members": True, "undoc-members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 100
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# What signatures say of NumPy, of aliases such as `Vector` and of types of a package's inside has no page here.
nitpick_ignore_regex = [(r"py:.*", r"(?!btai\.).*"), (r"py:class", r"btai(\.\w+){3,}|btai\.notebook\.\w+")]

COLON = "\ue000"  # a character that nobody writes


def mathml(node: Any, *, as_block: bool = False) -> str:
    """A formula as MathML, which browsers draw by themselves; with a set difference that common fonts have."""
    return str(tex2mathml(node.astext(), as_block=as_block)).replace("\N{REVERSE SOLIDUS OPERATOR}", "\N{SET MINUS}")


def formula(self: Any, node: Any) -> None:
    """A formula within the text."""
    self.body.append(mathml(node))
    raise SkipNode  # the formula is written: there is nothing below it


def displayed_formula(self: Any, node: Any) -> None:
    """A formula on a line of its own, its number beside it."""
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    ids = "".join(f' id="{i}"' for i in node["ids"][:1])
    self.body.append(f'<div class="formula"{ids}>{number}{mathml(node, as_block=True)}</div>')
    raise SkipNode  # the formula is written: there is nothing below it


def hide_colon(_app: Sphinx, what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """From Napoleon, which would take what a property's first sentence has before a colon for its type."""
    if what in {"attribute", "data", "property"} and lines:
        lines[0] = lines[0].replace(":", COLON)


def own_words(_app: Sphinx, what: str, _name: str, obj: object, _options: object, lines: list[str]) -> None:
    """Leave out what Python says by itself: the number of a named tuple's field, the help of a constant's type."""
    lines[:] = [line.replace(COLON, ":") for line in lines]
    of_type = what == "data" and lines and (getdoc(obj) or "").startswith(lines[0])
    if of_type or (lines and lines[0].startswith("Alias for field number")):
        lines.clear()


def show_notebook(_app: Sphinx, _page: str, content: list[str]) -> None:
    """Lead to the page that is made of the notebook; where nothing is built, the links lead to the notebook itself."""
    content[0] = content[0].replace("](../examples/cat_and_mouse.ipynb)", "](/_made/cat_and_mouse.md)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (formula, None), (displayed_formula, None))
    app.connect("autodoc-process-docstring", hide_colon, priority=400)  # Napoleon has 500
    app.connect("autodoc-process-docstring", own_words, priority=600)
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir)))
    app.connect("source-read", show_notebook)
    app.connect("doctree-resolved", link_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

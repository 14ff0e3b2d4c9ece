"""Settings of the documentation's site: `make docs` builds it into site/ and refuses warnings.

The pages in docs/ are read in the repository as well, so their links are relative. A link that
leaves docs/ becomes a copy of the file in the site.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))
import generated

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "dpnoise"
author = "the dpnoise authors"
copyright = author  # noqa: A001 - Sphinx's name
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
templates_path = ["_templates"]
autosummary_filename_map = generated.FILES

html_theme = "furo"
html_title = "dpnoise"
html_static_path = ["_static"]
html_extra_path = ["report.html"]  # the page of the recorded run
html_css_files = ["site.css"]
html_show_sourcelink = False

myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_typehints = "none"  # the docstrings say what each argument is
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # autodoc shows them
suppress_warnings = ["ref.ref", "ref.term"]  # of docstrings that scikit-learn hands down

_OF_TUPLES = (tuple.count, tuple.index)
_OUTSIDE = re.compile(r"\]\((\.\./[^)#]+)(#[^)]*)?\)")


def _link_to_copies(app: Sphinx, docname: str, source: list[str]) -> None:
    """Make links to files outside docs/ downloads."""
    del app
    inner = docname.count("/")  # docs/how-to/page.md: ../best.md is inside
    source[0] = _OUTSIDE.sub(
        lambda found: f"](<path:{found[1]}>)" if found[1].count("../") > inner else found.group(),
        source[0],
    )


def _list_new_pages(app: Sphinx, docname: str, source: list[str]) -> None:
    """List pages that no table of contents names yet among the explanations."""
    if docname == "index":
        named = set(re.findall(r"^[\w-]+$", source[0], re.MULTILINE))
        pages = {path.stem for path in app.srcdir.glob("*.md")} - {"index"}
        more = "\n".join(sorted(pages - named))
        source[0] = source[0].replace("(new pages)", more)


def _escape(*arguments: list[str]) -> None:
    """Escape bars and stars in a docstring, where they are mathematics and not markup."""
    lines = arguments[-1]
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.replace(" ... ", " \N{HORIZONTAL ELLIPSIS} ").split("`")
            parts[::2] = [re.sub(r"([|*])", r"\\\1", part) for part in parts[::2]]
            lines[i] = "`".join(parts)


def _not_ours(app: Sphinx, what: str, name: str, found: object, *given: object) -> bool | None:
    """Leave out what scikit-learn or a tuple adds, and what only the package itself reads."""
    del app, what, given
    where = str(getattr(found, "__module__", ""))
    inner = name.endswith("_request") or name in generated.INTERNAL or found in _OF_TUPLES
    return True if inner or where.startswith("sklearn") else None


def setup(app: Sphinx) -> None:
    """Register the changes of text; write the generated pages before they are looked for."""
    generated.write()
    app.connect("source-read", _link_to_copies)
    app.connect("source-read", _list_new_pages)
    app.connect("autodoc-skip-member", _not_ours)
    app.connect("autodoc-process-docstring", _escape, priority=100)  # before numpydoc

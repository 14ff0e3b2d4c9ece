"""Documents that hold an account of what came out, between two marks, and the templates of these.

A mark `<!-- from published/NAME.md -->` names the template, `<!-- end -->` ends the account.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

DOCUMENTS = ("README.md", "docs/fairness.md")
_ACCOUNT = re.compile(r"<!-- from (published/[\w-]+\.md) -->\n(.*?)<!-- end -->", re.DOTALL)


class Account(NamedTuple):
    """Path of the template of an account, what the account says and where it starts in its page."""

    template: str
    text: str
    start: int


def account(document: str | Path) -> Account:
    """Account in a document; ValueError if the document does not have both marks once."""
    found = list(_ACCOUNT.finditer(Path(document).read_text(encoding="utf-8")))
    if len(found) != 1:
        wanted = "'<!-- from published/NAME.md -->' and '<!-- end -->'"
        raise ValueError(f"{document}: expected {wanted} once, found {len(found)} pairs")
    return Account(found[0][1], found[0][2], found[0].start(2))


def templates(root: str | Path = ".") -> dict[str, str]:
    """Path of the template by the path of its document, of those below a folder."""
    root = Path(root)
    kept = (name for name in DOCUMENTS if (root / name).is_file())
    named = {name: account(root / name).template for name in kept}
    return {name: path for name, path in named.items() if (root / path).is_file()}

"""Names that the commands know, for completion and for 'did you mean', without the library.

Tests hold them against the library's.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise._validation import Problems

FAMILIES = (
    "gaussian",
    "laplace",
    "flipped-huber",
    "offset-symmetric-gaussian",
    "staircase",
    "truncated-laplace",
    "subbotin",
    "huber",
    "discrete-gaussian",
    "discrete-laplace",
    "discrete-staircase",
)
METHOD_FAMILIES = (  # of `best` and `compare`, which have joint noise, too
    "k-norm",
    "norm-staircase",
    "blocks",
    "gaussian",
    "correlated-gaussian",
    "laplace",
    "staircase",
    "truncated-k-norm",
    "generalised-gamma",
    "flipped-huber",
    "offset-symmetric-gaussian",
    "truncated-laplace",
    "subbotin",
    "huber",
    "histogram",
)
ERRORS = ("variance", "mean-abs", "half-width", "max", "norm")
ALLOCATED = ("gaussian", "laplace", "discrete-gaussian", "discrete-laplace")
SCHEMES = ("optimal", "spr", "iid")
METHODS = ("exact", "grid", "sufficient")
RELATIONS = ("add-remove", "replace-one")


def suggestion(value: str, known: Iterable[str]) -> str:
    """The known name next to a value, as the end of a message; empty if none is near."""
    kebab = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", value).lower()
    kebab = re.sub(r"[\s_-]+", "-", kebab).strip("-")
    near = difflib.get_close_matches(kebab, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def require_name(problems: Problems, name: str, value: str, known: tuple[str, ...]) -> bool:
    """Record of a problem unless a value is a known name."""
    if value not in known:
        hint = suggestion(value, known)
        problems.add(f"{name}: expected one of {', '.join(known)}, got {value!r}{hint}")
    return value in known

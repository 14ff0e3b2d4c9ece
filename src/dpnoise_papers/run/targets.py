"""Targets given to Snakemake that no rule makes, answered with the nearest that one makes.

A target is the name of a rule or a file. People ask for items as the paper numbers them
('figure-2', 'Table 3'), so names are compared without case, ends and separators.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_NEAREST = 4
_LIKE = 0.6  # of SequenceMatcher: what is less alike is no suggestion
_MARGIN = 0.1  # and what is so much less alike than the best


def unknown_targets(
    given: Iterable[str], known: Callable[[str], bool], names: Sequence[str]
) -> str:
    """Message on the given targets that are not `known`, or the empty text.

    `names` are the names of rules and files among which the nearest are looked for.
    """
    lines = []
    for target in given:
        if not known(target):
            near = nearest(target, names)
            hint = f"; the nearest: {', '.join(near)}" if near else ""
            lines.append(f"no rule makes {target!r}{hint}")
    return "\n".join(lines)


def nearest(target: str, names: Sequence[str]) -> list[str]:
    """Names most like a target, best first; none if all are unlike it."""
    wanted, end = _plain(target), PurePosixPath(target).suffix
    likeness = {
        name: max(
            SequenceMatcher(None, wanted, _plain(one)).ratio()
            for one in (name, PurePosixPath(name).name)
        )
        for name in names
    }

    def order(name: str) -> tuple[float, bool, bool, str]:
        own = PurePosixPath(name).suffix
        return -likeness[name], own != end, own in {".pdf", ".png"}, name

    best = sorted(likeness, key=order)
    enough = max([_LIKE, *(likeness[name] - _MARGIN for name in best[:1])])
    one_of_each = {_plain(name): name for name in reversed(best) if likeness[name] >= enough}
    return [name for name in best if name in one_of_each.values()][:_NEAREST]


def _plain(name: str) -> str:
    """Name without case, end and separators of words."""
    path = PurePosixPath(name)
    plain = str(path.with_suffix("")) if path.suffix else name
    return "".join(letter for letter in plain.lower() if letter.isalnum() or letter == "/")

"""Files among the results that no rule makes: left over, put there by hand, or half written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Container, Iterable, Sequence

_SHOWN = 5


def stray_files(
    folders: Iterable[str], made: Container[str], patterns: Sequence[re.Pattern[str]] = ()
) -> list[str]:
    """Paths of the files below folders that are neither in `made` nor match a pattern, sorted.

    Hidden files count: a job that is killed while it writes leaves one.
    """
    paths = (str(path) for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    return sorted(
        path
        for path in paths
        if path not in made and not any(pattern.fullmatch(path) for pattern in patterns)
    )


def warning(strays: Sequence[str]) -> str:
    """One message on stray files, "" if there are none."""
    if not strays:
        return ""
    more = f" and {len(strays) - _SHOWN} more" if len(strays) > _SHOWN else ""
    return (
        f"{len(strays)} file(s) among the results that no rule makes: "
        f"{', '.join(strays[:_SHOWN])}{more}. They are no results of this run; move or delete them."
    )

"""Code of a job while it runs: the sources must be those that the run was planned with.

A module that is edited while a run goes on would give a table of code that nobody has any more, all
the more so if it is put back afterwards. A job therefore compares its sources at its beginning and
at its end with what they were when the run was planned. Comments and docstrings may change.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.code_inputs import planned_sources, raw_digest, said_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 5


class ChangedError(Exception):
    """Code or an input of a job that changed while the run went on; the message names the files."""


class Sources:
    """Sources of a job, as they were when the run was planned.

    `code` is the digest of the job's code. ChangedError if the sources are others by now.
    """

    def __init__(self, code: str) -> None:
        planned = planned_sources(code)
        if planned is None:
            raise ChangedError("it is not known which sources this job was planned with: run again")
        self._planned = planned
        self._touched: dict[str, int] = {}
        self.check()
        self._touched = {path: _touched(path) for path in planned}

    def check(self) -> None:
        """Compare the sources with the plan, and with what they were at the job's beginning.

        ChangedError if one says something else, or was written since with the same content.
        """
        other, put_back = [], []
        for path, (raw, said) in self._planned.items():
            try:
                content = Path(path).read_bytes()
            except OSError:
                other.append(path)
                continue
            if raw_digest(content) != raw:
                if said_digest(content) != said:
                    other.append(path)
            elif path in self._touched and _touched(path) != self._touched[path]:
                put_back.append(path)
        if other:
            raise changed("code", other, "not what it was when the run was planned")
        if put_back:
            raise changed("code", put_back, "edited and put back while this job ran")


def changed(what: str, files: Sequence[str], how: str) -> ChangedError:
    """Error on code or inputs that changed while the run went on."""
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return ChangedError(
        f"{what} of this job changed while the run went on: {', '.join(files[:_SHOWN])}{more}"
        f" ({how}). Nothing that this job made is kept: run again"
    )


def _touched(path: str) -> int:
    """When a file or its content was last changed, in nanoseconds; no program can set it back."""
    return Path(path).stat().st_ctime_ns

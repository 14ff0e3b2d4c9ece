"""Files of the papers' run that a run with other settings takes over.

A run with a few settings of its own would make most files exactly as the papers' run made them. The
records of the jobs (`dpnoise_papers.making.records`) tell which: those of the same settings, code
and inputs. These files are copied before the run is planned, if they still are what was made.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.making.records import MARK, Record, file_digest, record_path, write_record
from dpnoise_papers.result_files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dpnoise_papers.run.doubts import Making, Records

PAPERS = {"results": "results", "figures": "figures"}  # folders of the papers' run


def take_over(made: Iterable[Making], places: Mapping[str, str], papers: Records) -> list[Making]:
    """Jobs of a run without files so far, whose files were copied from the papers' run.

    `places` are the folders of the run by kind, `papers` the records of the papers' run. Each job
    gets its record, and a log that says whence its files are.
    """
    same = _Same(made, places, papers)
    taken = [(making, record) for making in same.made if (record := same.record(making))]
    for making, record in taken:
        for path in making.outputs:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(same.there(path), path)  # with the date, which Snakemake compares
        log = (
            f"taken over from {PAPERS['results']}: made there with the same settings, code, inputs"
        )
        write_text(f"{log}\n", Path(places["logs"]) / f"{making.stem}.log")
        write_record(record, record_path(places["results"], making.stem))
    return [making for making, _ in taken]


def words_on_takeover(taken: Sequence[Making]) -> str:
    """Message on the jobs whose files were taken over, "" if there are none."""
    if not taken:
        return ""
    files = sum(len(making.outputs) for making in taken)
    return (
        f"{files} file(s) of {len(taken)} job(s) were taken over from {PAPERS['results']}/ and"
        f" {PAPERS['figures']}/: the changed settings do not concern them. `--forceall` makes them"
        " again"
    )


class _Same:
    """Jobs that the papers' run made as this run would make them."""

    def __init__(self, made: Iterable[Making], places: Mapping[str, str], papers: Records) -> None:
        self.made = list(made)
        self._places, self._papers = places, papers
        self._makers = {path: making for making in self.made for path in making.outputs}
        self._found: dict[str, Record | None] = {}

    def there(self, path: str) -> str:
        """Path in the papers' run of a path in this run."""
        return _moved(path, {self._places[kind]: folder for kind, folder in PAPERS.items()})

    def record(self, making: Making) -> Record | None:
        """Record that a job of this run would have, None if it has to be run."""
        if making.stem not in self._found:
            self._found[making.stem] = self._record(making)
        return self._found[making.stem]

    def _record(self, making: Making) -> Record | None:
        old = self._papers.of(making)
        if old is None or (old.told, old.code) != (making.told, making.code):
            return None
        if any(Path(path).exists() for path in making.outputs):
            return None
        here = {folder: self._places[kind] for kind, folder in PAPERS.items()}
        inputs, outputs = (
            {_moved(path, here): digest for path, digest in paths.items() if digest != MARK}
            for paths in (old.inputs, old.outputs)
        )
        if set(outputs) != set(making.outputs) or set(inputs) != set(making.inputs):
            return None
        if any(self._digest(path) != digest for path, digest in inputs.items()):
            return None
        if any(_digest(self.there(path)) != digest for path, digest in outputs.items()):
            return None
        return Record(old.told, old.code, inputs, outputs)

    def _digest(self, path: str) -> str | None:
        """Digest of an input of this run as it is, or will be after the takeover."""
        maker = self._makers.get(path)
        taken = self.record(maker) if maker else None
        return taken.outputs[path] if taken else _digest(path)


def _digest(path: str) -> str | None:
    return file_digest(path) if Path(path).is_file() else None


def _moved(path: str, folders: Mapping[str, str]) -> str:
    """Path below another folder, if it lies below one of those given."""
    for old, new in sorted(folders.items(), reverse=True):  # a folder within another one first
        if path.startswith(f"{old}/"):
            return f"{new}{path.removeprefix(old)}"
    return path

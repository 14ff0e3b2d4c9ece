"""Results that are not what was made, or that would be made otherwise now; and those to take over.

Before a run is planned, every file among its results is compared with the record of its making
(`dpnoise_papers.making`): its bytes, the settings and code behind it, and what it was made
from. Nothing of this needs Snakemake's own memory, the folder `.snakemake`. What is in doubt is
named, and made again where it is asked for: the job has an input of its own, a mark, which is
newer than its files as long as these are in doubt.

A run with a few settings of its own would make most files exactly as the papers' run made them. The
records tell which: those of the same settings, code and inputs. These files are copied before the
run is planned, if they still are what was made.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dpnoise_papers.item import PART
from dpnoise_papers.making import (
    FOLDER,
    MARK,
    Record,
    file_digest,
    kept_records,
    read_record,
    record_path,
    write_record,
)
from dpnoise_papers.result_files import write_text
from dpnoise_papers.steps import steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from dpnoise_papers.item import Paper
    from dpnoise_papers.settings import Section
    from dpnoise_papers.steps import Step

    Kind = Literal["altered", "unrecorded", "outdated"]

_SHOWN = 5
PAPERS = {"results": "results", "figures": "figures"}  # folders of the papers' run


class Making(NamedTuple):
    """One job as it would be run now.

    `stem` is the path of its log and of its record without folder and end; `inputs` and `outputs`
    are paths; `told` and `code` are the digests of its params and of its code.
    """

    stem: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    told: str
    code: str


class Doubt(NamedTuple):
    """Files of one job that are not what was made, or not what would be made now.

    The kind is 'altered' (other bytes than the job wrote), 'unrecorded' (nothing is known of their
    making) or 'outdated' (made with other settings, code or inputs, as `why` says).
    """

    kind: Kind
    files: tuple[str, ...]
    why: str


def told_digest(params: Mapping[str, Any]) -> str:
    """Digest (sha256) of what a job is told, whatever the order of its params."""
    text = json.dumps(params, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def makings(
    config: Section,
    papers: tuple[Paper, ...],
    places: Mapping[str, str],
    code: Callable[[Step], str],
) -> Iterator[tuple[str, str, Making]]:
    """Rule, part and job of every table, figure and page; `code` is the digest of a step's code."""
    for kind in ("table", "figure", "page"):
        for step in steps(config, papers, kind):
            for part in step.parts or [""]:

                def path(name: str, part: str = part) -> str:
                    return placed(name.replace(PART, part) if part else name, places)

                own = SimpleNamespace(part=part)
                params = {
                    name: value(own) if callable(value) else value
                    for name, value in step.params.items()
                }
                yield step.rule, part, Making(
                    stem=path(step.stem),
                    outputs=tuple(map(path, step.outputs)),
                    inputs=tuple(path(one) for paths in step.inputs.values() for one in paths),
                    told=told_digest(params),
                    code=code(step),
                )  # fmt: skip


def placed(name: str, places: Mapping[str, str]) -> str:
    """Path with the folders of a run, such as that of '<results>/datasets.csv'."""
    for kind, folder in places.items():
        name = name.replace(f"<{kind}>", folder)
    return name


def mark_path(results: str, stem: str) -> str:
    """Path of the mark by which a job runs again."""
    return str(Path(record_path(results, stem)).with_suffix(".mark"))


def kept_in(results: str) -> list[str]:
    """Paths of records and marks, which lie among the results and are none."""
    return [str(path) for path in (Path(results) / FOLDER).rglob("*") if path.is_file()]


class Records:
    """Records of the jobs of a run: those that its jobs left, else those in its provenance.json."""

    def __init__(self, results: str) -> None:
        self._results = results
        self._kept = kept_records(results)
        self._digest = cache(file_digest)

    def of(self, making: Making) -> Record | None:
        """Record of a job, None if there is none."""
        found = read_record(record_path(self._results, making.stem))
        return found or self._kept.get(making.stem)

    def mark(self, made: Iterable[Making], doubts: Mapping[str, Doubt]) -> None:
        """Have the jobs of the files in doubt run again, and no others.

        The mark of a job is newer than what the job made if that is in doubt. Else it is older, and
        is there only if the job ran with it: Snakemake compares the inputs of then and now.
        """
        for making in made:
            path, doubt = Path(mark_path(self._results, making.stem)), doubts.get(making.stem)
            if doubt:
                now = time.time_ns()
                write_text(f"{doubt.kind}: {doubt.why}\nas of {now}\n", path)
                for file in doubt.files:
                    if Path(file).stat().st_mtime_ns >= now:  # a date in the future
                        os.utime(file, ns=(now - 10**9, now - 10**9))
                continue
            record = self.of(making)
            if record is None or record.inputs.get(str(path)) != MARK:
                path.unlink(missing_ok=True)
                continue
            if not path.exists():
                write_text("", path)
            os.utime(path, ns=(0, 0))

    def restore(self) -> None:
        """Write the records that only provenance.json has."""
        for stem, record in self._kept.items():
            path = record_path(self._results, stem)
            if read_record(path) is None:
                write_record(record, path)

    def doubts(self, made: Iterable[Making]) -> dict[str, Doubt]:
        """What is wrong with the files of some jobs that are there, by stem of the job."""
        found: dict[str, Doubt] = {}
        sound = []
        for making in made:
            there = tuple(path for path in making.outputs if Path(path).is_file())
            record = self.of(making) if there else None
            altered = tuple(
                path for path in there if record and record.outputs.get(path) != self._digest(path)
            )
            if there and record is None:
                found[making.stem] = Doubt("unrecorded", there, "no record of their making")
            elif altered:
                found[making.stem] = Doubt("altered", altered, "other bytes than were made")
            elif there and record:
                sound.append((making, record, there))
        altered_files = {path for one in found.values() for path in one.files}
        for making, record, there in sound:
            why = "; ".join(self._changes(making, record, altered_files))
            if why:
                found[making.stem] = Doubt("outdated", there, why)
        return found

    def _changes(self, making: Making, record: Record, altered: set[str]) -> Iterator[str]:
        """What changed since a job ran, in words; but for files that are made again."""
        if record.told != making.told:
            yield "settings"
        if record.code != making.code:
            yield "code"
        inputs = [
            path
            for path in sorted({*making.inputs, *record.inputs})
            if record.inputs.get(path) != MARK
            and (
                path not in making.inputs
                or path not in record.inputs
                or (
                    path not in altered
                    and Path(path).is_file()
                    and self._digest(path) != record.inputs[path]
                )
            )
        ]
        if inputs:
            yield f"inputs ({_listed(inputs)})"


def words_on(doubts: Iterable[Doubt]) -> str:
    """Message on results that are not what was made or would be made otherwise, "" if none are."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in doubts:
        found.setdefault((one.kind, one.why), []).extend(one.files)
    words = {
        "altered": "are not what was made",
        "unrecorded": "are of unknown origin",
        "outdated": "would be made otherwise now",
    }
    lines = [
        f"{len(files)} result(s) {words[kind]} ({why}): {_listed(files)}"
        for (kind, why), files in sorted(found.items())
    ]
    return "\n".join([*lines, "What this run needs of them is made again."] if lines else [])


def refusal_of_doubts(doubts: Iterable[Doubt]) -> str:
    """Message of a strict run on files that are not what was made, "" if there are none."""
    files = [path for one in doubts if one.kind != "outdated" for path in one.files]
    if not files:
        return ""
    return (
        f"strict: {len(files)} result(s) are not what a job made: {_listed(files)}. Delete them, or"
        " run without strict, which makes them again"
    )


def _listed(names: Sequence[str]) -> str:
    """The first of some names."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


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

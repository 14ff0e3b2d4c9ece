"""What came out of a run, beside the recorded run or any other.

The recorded run is the one that `docs/snapshot` keeps. A run of one's own may differ from it
without a defect: data may be missing, and another processor or other versions may move a number
across a threshold. Each verdict that differs is named with what is known of the reason, and each
file that is not what provenance.json says.

A change of the code that should move no number is checked by `dpnoise-papers compare OLD NEW`: two
folders of results, file by file and column by column.
"""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from dpnoise_papers.claims.findings import different_verdicts, read_texts
from dpnoise_papers.claims.judge import DIFFERS, LEGEND, MISPRINT, NOT_RUN, REPRODUCED
from dpnoise_papers.claims.published import FORMS
from dpnoise_papers.claims.report import findings
from dpnoise_papers.run.provenance import PROVENANCE, differing

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from dpnoise_papers.steps import Run

RUN = "run.json"  # in docs/snapshot: machine and packages of the recorded run
_NAMED = 5  # verdicts that the last line names
_PLURAL = {DIFFERS: "differ", MISPRINT: "misprints"}


class Outcome(NamedTuple):
    """Lines to print, of which the last sums up, and the exit code."""

    lines: list[str]
    code: int


def outcome(run: Run, snapshot: str | os.PathLike[str] = "docs/snapshot") -> Outcome:
    """Outcome of a run that has ended, beside the recorded one.

    The code is 1 if data are missing or a file is not what provenance.json says, else 0. ValueError
    if the run has no verdicts.
    """
    results, snapshot = Path(run.results), Path(snapshot)
    if not (results / "verdicts.csv").is_file():
        raise ValueError(f"outcome: no verdicts in {results}: `make reproduce` makes them")
    verdicts = read_texts(results / "verdicts.csv")
    provenance = _json(results / PROVENANCE)
    own = verdicts[verdicts["kind"] == "printed"]
    counts = own["verdict"].value_counts()
    told = [f"{counts[word]} {_PLURAL.get(word, word)}" for word in LEGEND if word in counts]
    if REPRODUCED in counts:
        forms = own["form"][own["verdict"] == REPRODUCED].value_counts()
        told[0] += f" ({', '.join(f'{forms[form]} {form}s' for form in FORMS if form in forms)})"
    empty = list(own["id"][(own["verdict"] == NOT_RUN) & (own["optional"] == "no")])
    lines = [f"no value to judge: {', '.join(empty)}"] if empty else []
    parts = [f"{len(own)} assertions printed: {', '.join(told)}; errors found: {findings(own)}"]
    if run.changed:
        parts.append(
            "settings are not the papers', so that nothing is compared with the recorded run"
        )
    elif not (snapshot / "verdicts.csv").is_file():
        parts.append("there is no recorded run to compare with")
    else:
        different = different_verdicts(read_texts(snapshot / "verdicts.csv"), verdicts)
        lines += [f"{name}: {now}, recorded {said}" for name, (said, now) in different.items()]
        differ = "verdict differs" if len(different) == 1 else "verdicts differ"
        words = f"{len(different)} {differ} from the recorded run"
        if different:
            named = [*list(different)[:_NAMED], *(["..."] if len(different) > _NAMED else [])]
            why = _reason(provenance, _json(snapshot / RUN), run.no_data())
            words += f" ({', '.join(named)}), likely reason: {why}"
        parts.append(words)
    lacking, other = run.no_data(), differing(results, run.told())
    if other:
        parts.append(f"{len(other)} file(s) DIFFER from {PROVENANCE}: {'; '.join(other)}. Delete "
                     "them and run again")  # fmt: skip
    return Outcome([*lines, *lacking, "; ".join(parts)], int(bool(other or lacking)))


def _reason(run: Mapping[str, Any], recorded: Mapping[str, Any], lacking: Sequence[str]) -> str:
    """What is known to be different from the recorded run, in words."""
    found = [f"no data ({len(lacking)} set(s))"] if lacking else []
    if run.get("modified"):
        found.append("sources that are not those of the commit")
    cpus = [one.get("machine", {}).get("cpu", "unknown") for one in (run, recorded)]
    if cpus[0] != cpus[1]:
        found.append(f"other processor ({cpus[0]}, recorded {cpus[1]})")
    packages, before = (one.get("packages", {}) for one in (run, recorded))
    other = [
        f"{name} {packages.get(name, 'none')}, recorded {before.get(name, 'none')}"
        for name in sorted({*packages, *before})
        if packages.get(name) != before.get(name)
    ]
    found += [f"other versions ({'; '.join(other)})"] if other else []
    return "; ".join(found) or "none is known, so that this is worth a report"


def _json(path: Path) -> dict[str, Any]:
    """Content of a JSON file, or nothing where there is none that can be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


class Comparison(NamedTuple):
    """Files of two folders: with the same bytes, differing (how, in words), and ignored."""

    same: list[str]
    differing: dict[str, list[str]]
    ignored: list[str]


def compare(
    old: str | os.PathLike[str], new: str | os.PathLike[str], ignore: Iterable[str] = ()
) -> Comparison:
    """Comparison of the files of two folders, but hidden ones.

    Files that match a pattern of `ignore`, such as 'inid-2024/*.csv', are not compared, nor is
    'provenance.json', which tells of date and machine. ValueError if a folder does not exist or
    neither holds a file.
    """
    before, after = _files(Path(old)), _files(Path(new))
    if not before and not after:
        raise ValueError(f"compare: no files in {old} and {new}")
    patterns = [PROVENANCE, *ignore]
    found = Comparison([], {}, [])
    for name in sorted(before | after):
        if any(fnmatch(name, pattern) for pattern in patterns):
            found.ignored.append(name)
        elif name not in after:
            found.differing[name] = ["missing"]
        elif name not in before:
            found.differing[name] = ["new"]
        elif (Path(old) / name).read_bytes() == (Path(new) / name).read_bytes():
            found.same.append(name)
        else:
            found.differing[name] = _differences(Path(old) / name, Path(new) / name)
    return found


def _files(folder: Path) -> set[str]:
    """Paths of all files below a folder."""
    if not folder.is_dir():
        raise ValueError(f"compare: no folder {folder}")
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not any(part[0] == "." for part in path.parts)}


def _differences(old: Path, new: Path) -> list[str]:
    """Words on how two files with different bytes differ."""
    if old.suffix != ".csv":
        return ["other bytes"]
    try:
        before, after = (pd.read_csv(p, dtype=str, keep_default_na=False) for p in (old, new))
    except (ValueError, OSError):  # pandas' ParserError and UnicodeDecodeError included
        return ["other bytes, not readable as a table"]
    words = [f"column {name!r} is missing" for name in before if name not in after]
    words += [f"column {name!r} is new" for name in after if name not in before]
    if len(before) != len(after):
        return [*words, f"{len(before)} rows before, {len(after)} now"]
    if not words and list(before) != list(after):
        words.append("columns in another order")
    for name in before.columns.intersection(after.columns):
        words += _column(name, before[name], after[name])
    return words or ["the same cells, written with other bytes"]


def _column(name: str, before: pd.Series, after: pd.Series) -> Sequence[str]:
    """Words on how the cells of two columns of one length differ."""
    other = (before != after).to_numpy()
    if not other.any():
        return []
    x, y = (
        pd.to_numeric(cells[other], errors="coerce").to_numpy(dtype=float)
        for cells in (before, after)
    )
    words = f"column {name!r}: {other.sum()} of {len(other)} cells differ"
    numbers = np.isfinite(x) & np.isfinite(y)
    if numbers.any():
        x, y = x[numbers], y[numbers]
        scale = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.finfo(float).tiny)
        relative = np.abs(x / scale - y / scale)
        place = np.flatnonzero(other)[np.flatnonzero(numbers)[np.argmax(relative)]]
        told = f"{before.iloc[place]} before, {after.iloc[place]} now"
        words += f", by at most {np.max(relative):.2g} of the value (row {place + 1}: {told})"
    if not numbers.all():
        place = np.flatnonzero(other)[np.flatnonzero(~numbers)[0]]
        told = f"{before.iloc[place][:40]!r} before, {after.iloc[place][:40]!r} now"
        words += f"; {np.sum(~numbers)} of them not as numbers (row {place + 1}: {told})"
    return [words]

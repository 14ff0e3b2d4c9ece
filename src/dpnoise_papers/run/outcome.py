"""What came out of a run, beside the recorded run or any other.

The recorded run is the one that `docs/snapshot` keeps. A run of one's own may differ from it
without a defect: data may be missing, and another processor or other versions may move a number
across a threshold. Each verdict that differs is named with what is known of the reason, and each
file that is not what provenance.json says.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise_papers.claims.findings import different_verdicts
from dpnoise_papers.claims.judge import LEGEND, NOT_RUN, REPRODUCED
from dpnoise_papers.claims.published import FORMS
from dpnoise_papers.claims.report import kinds_of_findings
from dpnoise_papers.result_files import read_texts
from dpnoise_papers.run.provenance import PROVENANCE, differing

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from dpnoise_papers.steps import Run

RUN = "run.json"  # in docs/snapshot: machine and packages of the recorded run
_NAMED = 5  # verdicts that the last line names


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
    own = verdicts[verdicts["kind"] == "printed"]
    counts = own["verdict"].value_counts()
    told = [f"{counts[word]} {word}" for word in LEGEND if word in counts]
    if REPRODUCED in counts:
        forms = own["form"][own["verdict"] == REPRODUCED].value_counts()
        told[0] += f" ({', '.join(f'{forms[form]} {form}s' for form in FORMS if form in forms)})"
    kinds = kinds_of_findings(own)
    some = ", ".join(f"{number} {kind}" for kind, number in kinds.items() if number)
    found = f"findings: {sum(kinds.values())}" + (f" ({some})" if some else "")
    parts = [f"{len(own)} assertions printed: {', '.join(told)}; {found}"]
    empty = own["id"][(own["reason"] == NOT_RUN) & (own["optional"] == "no")]
    lines = [f"no value to judge: {', '.join(empty)}"] if len(empty) else []
    lacking, other = run.no_data(), differing(results, run.told())
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
            why = _reason(_json(results / PROVENANCE), _json(snapshot / RUN), lacking)
            words += f" ({', '.join(named)}), likely reason: {why}"
        parts.append(words)
    if other:
        parts.append(f"{len(other)} file(s) DIFFER from {PROVENANCE}: {'; '.join(other)}. Delete "
                     "them and run again")  # fmt: skip
    return Outcome([*lines, *lacking, "; ".join(parts)], int(bool(other or lacking)))


def _reason(run: Mapping[str, Any], recorded: Mapping[str, Any], lacking: Sequence[str]) -> str:
    """What is known to be different from the recorded run, in words."""
    found = [f"no data ({len(lacking)} set(s))"] if lacking else []
    if run.get("modified"):
        found.append("sources that are not those of the commit")
    cpu, known = (one.get("machine", {}).get("cpu", "unknown") for one in (run, recorded))
    if cpu != known:
        found.append(f"other processor ({cpu}, recorded {known})")
    packages, before = (one.get("packages", {}) for one in (run, recorded))
    pairs = {name: (packages.get(name, "none"), before.get(name, "none"))
             for name in sorted({*packages, *before})}  # fmt: skip
    if other := [f"{one} {a}, recorded {b}" for one, (a, b) in pairs.items() if a != b]:
        found.append(f"other versions ({'; '.join(other)})")
    return "; ".join(found) or "none is known, so that this is worth a report"


def _json(path: Path) -> dict[str, Any]:
    """Content of a JSON file, or nothing where there is none that can be read."""
    content = None
    with suppress(OSError, ValueError):
        content = json.loads(path.read_text(encoding="utf-8"))
    return content if isinstance(content, dict) else {}

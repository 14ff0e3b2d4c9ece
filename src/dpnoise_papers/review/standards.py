"""Files of other standards from the items and from a run: CODECHECK's manifest, an RO-Crate."""

from __future__ import annotations

import json
import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dpnoise_papers.result_files import write_text
from dpnoise_papers.run.settings import places

if TYPE_CHECKING:
    from dpnoise_papers.item import Paper
    from dpnoise_papers.settings import Section

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
METADATA = "ro-crate-metadata.json"
_LICENSE = "https://spdx.org/licenses/MIT"


def codecheck(papers: tuple[Paper, ...]) -> str:
    """Text of codecheck.yml: each figure or table that the default run makes, and what it shows."""
    manifest = [
        {"file": file, "comment": f"{paper.id}, {item.id}: {item.caption or 'numbers'}"}
        for paper in papers
        for item in paper.items
        if not item.extra
        for file in (
            [f"figures/{paper.id}/{item.id}.pdf"]
            if item.figure
            else [f"results/{paper.id}/{name}.csv" for name in item.tables if "{" not in name]
        )
    ]
    manifest.insert(
        0, {"file": "results/verdicts.md", "comment": "verdict on every printed number"}
    )
    content = {"version": "https://codecheck.org.uk/spec/config/1.0/", "manifest": manifest}
    head = (
        "---\n# Written by `dpnoise-papers codecheck codecheck.yml`; names and report are added.\n"
    )
    return head + yaml.safe_dump(content, sort_keys=False, width=98, allow_unicode=True)


def crate(config: Section) -> dict[str, Any]:
    """RO-Crate 1.1 of a run, from its provenance.json: every file with digest, size and type.

    ValueError if there is no run.
    """
    results = Path(places(config)["results"])
    path = results / "provenance.json"
    if not path.is_file():
        raise ValueError(f"crate: no {path}: a run (make reproduce) comes first")
    record = json.loads(path.read_text(encoding="utf-8"))
    files = [_file(name, told) for name, told in sorted(record["files"].items())]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": "Results of dpnoise",
        "description": "Tables and figures of three papers on noise for differential privacy, "
        f"recomputed at revision {record['revision']}",
        "datePublished": record["date"],
        "license": {"@id": _LICENSE},
        "hasPart": [{"@id": one["@id"]} for one in files],
        "mentions": [{"@id": "#run"}],
    }
    about = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": "make reproduce",
        "endTime": record["date"],
        "instrument": {"@id": "#dpnoise"},
        "result": [{"@id": one["@id"]} for one in files],
        "description": f"{record['machine']['system']}, {record['machine']['cpu']}",
    }
    software = {
        "@id": "#dpnoise",
        "@type": "SoftwareApplication",
        "name": "dpnoise",
        "softwareVersion": record["revision"],
    }
    license_ = {"@id": _LICENSE, "@type": "CreativeWork", "name": "MIT License"}
    return {"@context": CONTEXT, "@graph": [about, root, run, software, license_, *files]}


def write_crate(config: Section) -> Path:
    """Write the RO-Crate beside the folders of a run; return its path."""
    path = Path(config.folder or ".") / METADATA  # type: ignore[attr-defined]
    write_text(json.dumps(crate(config), indent=1, ensure_ascii=False) + "\n", path)
    return path


def _file(name: str, told: dict[str, Any]) -> dict[str, Any]:
    """Entity of a file."""
    parts = Path(name).parts
    below = next((k for k, part in enumerate(parts) if part in {"results", "figures"}), 0)
    found: dict[str, Any] = {
        "@id": "/".join(parts[below:]),
        "@type": "File",
        "name": told["item"],
        "sha256": told["sha256"],
        "encodingFormat": mimetypes.guess_type(name)[0] or "text/plain",
    }
    if Path(name).is_file():
        found["contentSize"] = str(Path(name).stat().st_size)
    return found

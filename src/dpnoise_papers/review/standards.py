"""Files of other standards from the items and from a run: CODECHECK's manifest, an RO-Crate."""

from __future__ import annotations

import json
import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import yaml

from dpnoise_papers.config import places
from dpnoise_papers.data.registry import read_cities, read_registry
from dpnoise_papers.result_files import file_digest, write_text
from dpnoise_papers.review.model import read_provenance

if TYPE_CHECKING:
    from dpnoise_papers.data.registry import SetEntry
    from dpnoise_papers.item import Paper
    from dpnoise_papers.settings import Section

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
METADATA = "ro-crate-metadata.json"
_SHOWN = 5
AUTHOR = "the dpnoise authors"  # as in CITATION.cff
_SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
_LICENSE = "https://spdx.org/licenses/MIT"
_HEAD = """\
---
# Written by `dpnoise-papers codecheck codecheck.yml` (rules 2.0 of the register).
# codechecker, report, summary and certificate are for who checks; ORCIDs come from CITATION.cff.
"""
_SOURCE = (
    "Code and data are in this repository: origin, licence and digest of each data set are in "
    "data/registry.yaml and data/shipped/README.md."
)


def codecheck(papers: tuple[Paper, ...], citation: str = "CITATION.cff") -> str:
    """Text of codecheck.yml (specification 2.0): the part that comes before a check.

    It has each figure or table that the default run makes with what it shows, and the papers with
    title, authors and DOI, from the references of `citation`. `codechecker`, `report`, `summary`
    and `certificate` are added by who checks, ORCIDs where the references have them.
    """
    manifest = [
        {"file": file, "comment": f"{paper.id}, {item.id}: {item.caption or 'numbers'}"}
        for paper in papers
        for item in paper.items
        if not item.target
        for file in (
            [f"figures/{paper.id}/{item.id}.svg"]
            if item.figure
            else [f"results/{paper.id}/{name}.csv" for name in item.tables if "{" not in name]
        )
    ]
    manifest.insert(
        0, {"file": "results/verdicts.md", "comment": "verdict on every printed number"}
    )
    first, *others = yaml.safe_load(Path(citation).read_text(encoding="utf-8"))["references"]
    content = {
        "version": "https://codecheck.org.uk/spec/config/2.0/",
        "paper": _paper(first),
        "dpnoise_other_papers": [_paper(one) for one in others],  # `paper` is one by specification
        "source": _SOURCE,
        "manifest": manifest,
    }
    return _HEAD + yaml.safe_dump(content, sort_keys=False, width=98, allow_unicode=True)


def _paper(reference: dict[str, Any]) -> dict[str, Any]:
    """A reference of CITATION.cff as CODECHECK's `paper`."""
    authors = []
    for one in reference["authors"]:
        author = {"name": f"{one['given-names']} {one['family-names']}"}
        if "orcid" in one:
            author["ORCID"] = one["orcid"].rpartition("/")[2]
        authors.append(author)
    doi = f"https://doi.org/{reference['doi']}"
    return {"title": reference["title"], "authors": authors, "reference": doi}


def crate(config: Section) -> dict[str, Any]:
    """RO-Crate 1.1 of a run, from its provenance.json: results, workflow, inputs and author.

    ValueError if there is no run, or names every file that is not the one that was recorded: a
    result or an input of a job.
    """
    results = Path(places(config)["results"])
    path = results / "provenance.json"
    if not path.is_file():
        raise ValueError(f"crate: no {path}: a run (make reproduce) comes first")
    record = read_provenance(path)
    if not record.get("files"):
        raise ValueError(f"crate: {path} lists no files: a run (make reproduce) comes first")
    digests = {name: told["sha256"] for name, told in record["files"].items()}
    read: dict[str, str] = record.get("inputs") or {}
    other = [
        name
        for name, digest in sorted((read | digests).items())
        if not _is_that_of(name, digest) and (name in digests or Path(name).is_file())
    ]
    if other:
        more = f" and {len(other) - _SHOWN} more" if len(other) > _SHOWN else ""
        raise ValueError(
            f"crate: {len(other)} file(s) are missing or not those that {path} recorded:"
            f" {', '.join(other[:_SHOWN])}{more}. `make reproduce` makes them again"
        )
    own = not config.folder  # type: ignore[attr-defined]
    files = [_file(name, told) for name, told in sorted(record["files"].items())]
    inputs = [_input(name, digest, own) for name, digest in sorted(read.items())]
    inputs += _data_sets(record.get("data") or {})
    inputs += _settings(record)
    packages, revision, date = record.get("packages") or {}, record["revision"], record["date"]
    ours = {"author": {"@id": "#author"}, "license": {"@id": _LICENSE}}
    kinds = ["SoftwareSourceCode", "ComputationalWorkflow"]
    workflow = {  # a file of the crate where that lies at the top of the repository
        "@id": "Snakefile" if own else "#Snakefile", "@type": ["File", *kinds] if own else kinds,
        "name": "Snakefile of dpnoise", "version": revision,
        "programmingLanguage": {"@id": _SNAKEMAKE}, **ours,
        "softwareRequirements": {"@id": "#dpnoise"},
    }  # fmt: skip
    parts = [one for one in (workflow, *inputs, *files) if "File" in one["@type"]]
    graph = [
        {"@id": METADATA, "@type": "CreativeWork",
         "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"}, "about": {"@id": "./"}},
        {"@id": "./", "@type": "Dataset", "name": "Results of dpnoise",
         "description": "Tables and figures of three papers on noise for differential privacy, "
         f"recomputed at revision {revision}", "datePublished": date, **ours,
         "mainEntity": {"@id": workflow["@id"]}, "hasPart": _ids(parts),
         "mentions": [{"@id": "#run"}]},
        {"@id": "#run", "@type": "CreateAction", "name": "make reproduce", "endTime": date,
         "instrument": {"@id": workflow["@id"]}, "object": _ids(inputs), "result": _ids(files),
         "description": f"{record['machine']['system']}, {record['machine']['cpu']}"},
        {"@id": "#author", "@type": "Organization", "name": AUTHOR},
        {"@id": _LICENSE, "@type": "CreativeWork", "name": "MIT License"},
        {"@id": _SNAKEMAKE, "@type": "ComputerLanguage", "name": "Snakemake",
         "url": "https://snakemake.github.io",
         "version": packages.get("snakemake", "not recorded")},
        {"@id": "#dpnoise", "@type": "SoftwareApplication", "name": "dpnoise",
         "softwareVersion": revision, **ours,
         "softwareRequirements": [f"{name} {found}" for name, found in sorted(packages.items())]},
        workflow,
    ]  # fmt: skip
    return {"@context": CONTEXT, "@graph": [*graph, *inputs, *files]}


def _ids(entities: list[dict[str, Any]]) -> list[dict[str, str]]:
    """References to some entities."""
    return [{"@id": one["@id"]} for one in entities]


def _is_that_of(name: str, digest: str) -> bool:
    return Path(name).is_file() and file_digest(name) == digest


def _input(name: str, digest: str, own: bool) -> dict[str, Any]:
    """Entity of a file that jobs read."""
    here = own and Path(name).is_file()
    return {
        "@id": name if here else f"#{quote(name)}",
        "@type": "File" if here else "CreativeWork",
        "name": name,
        "sha256": digest,
        "encodingFormat": mimetypes.guess_type(name)[0] or "application/octet-stream",
    }


def _data_sets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Entities of the data sets of a run, with their origin as data/ has it."""
    known: dict[str, SetEntry] = {**read_registry().sets, **read_cities().sets}
    found = []
    for name, one in sorted(data.items()):
        entity = {
            "@id": f"#data-{name}",
            "@type": "Dataset",
            "name": name,
            "description": f"{one['status']}; identifier: sha256 of the content as it was read",
            "identifier": one["fingerprint"] or "none",
        }
        if name in known:
            origin = known[name]
            entity |= {"alternateName": origin.title, "url": str(origin.homepage)}
            entity |= {"citation": origin.citation, "license": origin.licence}
        found.append(entity)
    return found


def _settings(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Entities of the seed and of the settings that are not the papers'."""
    named = [("seed", record.get("seed", "not recorded"))]
    named += [(one["setting"], one["run"]) for one in record.get("settings_changed") or []]
    return [{"@id": f"#setting-{quote(name)}", "@type": "PropertyValue", "name": name,
             "value": str(value)} for name, value in named]  # fmt: skip


def write_crate(config: Section) -> Path:
    """Write the RO-Crate beside the folders of a run; return its path."""
    path = Path(config.folder or ".") / METADATA  # type: ignore[attr-defined]
    write_text(json.dumps(crate(config), indent=1, ensure_ascii=False) + "\n", path)
    return path


def _file(name: str, told: dict[str, Any]) -> dict[str, Any]:
    """Entity of a file."""
    parts = Path(name).parts
    below = next((k for k, part in enumerate(parts) if part in {"results", "figures"}), 0)
    return {
        "@id": "/".join(parts[below:]),
        "@type": "File",
        "name": told["item"],
        "sha256": told["sha256"],
        "encodingFormat": mimetypes.guess_type(name)[0] or "text/plain",
        "contentSize": str(Path(name).stat().st_size),
    }

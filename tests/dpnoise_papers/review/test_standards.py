import hashlib
import json
import tomllib
from pathlib import Path

import pytest
import yaml

from dpnoise import __version__
from dpnoise_papers.config import load
from dpnoise_papers.papers import papers
from dpnoise_papers.review.standards import CONTEXT, codecheck, crate, write_crate

ROOT = Path(__file__).parents[3]


def test_codecheck_is_that_of_the_items():
    text = (ROOT / "codecheck.yml").read_text(encoding="utf-8")
    assert text == codecheck(papers())
    assert text.startswith("---\n")
    manifest = yaml.safe_load(text)["manifest"]
    assert len({one["file"] for one in manifest}) == len(manifest) > 50
    assert all(one["comment"] for one in manifest)


def test_metadata_agree_with_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    meta = json.loads((ROOT / "codemeta.json").read_text())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert __version__ == meta["version"] == citation["version"]
    assert project["description"] == meta["description"] == citation["abstract"]
    assert project["keywords"] == meta["keywords"] == citation["keywords"]
    assert project["license"] == citation["license"]
    assert meta["license"].endswith(f"/{project['license']}")
    assert meta["softwareRequirements"] == project["dependencies"]
    assert meta["runtimePlatform"] == f"Python {project['requires-python']}"
    assert [one["name"] for one in meta["author"]] == [one["name"] for one in citation["authors"]]


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "config.yaml").symlink_to(ROOT / "config.yaml")
    monkeypatch.chdir(tmp_path)
    file = Path("run/results/p/a.csv")
    file.parent.mkdir(parents=True)
    file.write_text("x\n1\n")
    record = {
        "revision": "abc", "date": "2026-01-01T00:00:00+00:00",
        "machine": {"system": "Linux", "cpu": "some"},
        "files": {str(file): {"sha256": hashlib.sha256(b"x\n1\n").hexdigest(), "item": "p/a"}},
    }  # fmt: skip
    Path("run/results/provenance.json").write_text(json.dumps(record))
    return load("config.yaml", overrides={"folder": "run"})


def test_crate_is_valid(run):
    graph = {one["@id"]: one for one in crate(run)["@graph"]}
    assert crate(run)["@context"] == CONTEXT
    about, root = graph["ro-crate-metadata.json"], graph["./"]
    assert about["conformsTo"]["@id"] == "https://w3id.org/ro/crate/1.1"
    assert about["about"] == {"@id": "./"}
    assert {"name", "description", "datePublished", "license"} <= set(root)
    named = [one["@id"] for one in root["hasPart"]]
    assert named == ["results/p/a.csv"]
    assert all(graph[name]["@type"] == "File" for name in named)
    linked = [one["@id"] for entity in graph.values() for value in entity.values()
              for one in (value if isinstance(value, list) else [value])
              if isinstance(one, dict)]  # fmt: skip
    assert all(name in graph or name.startswith("https://w3id.org/ro/") for name in linked)
    path = write_crate(run)
    assert (path.parent / named[0]).is_file()


def test_crate_without_a_run(run):
    Path("run/results/provenance.json").unlink()
    with pytest.raises(ValueError, match="a run"):
        crate(run)

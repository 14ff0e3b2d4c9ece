import hashlib
import json
import tomllib
from pathlib import Path

import pytest
import yaml

from dpnoise import __version__
from dpnoise_papers.config import load
from dpnoise_papers.item import papers
from dpnoise_papers.review.standards import AUTHOR, CONTEXT, codecheck, crate, write_crate

ROOT = Path(__file__).parents[3]


def test_codecheck_lists_what_the_items_make():
    manifest = yaml.safe_load(codecheck(papers()))["manifest"]
    assert len({one["file"] for one in manifest}) == len(manifest) > 50
    assert "figures/inid-2024/figure-5.svg" in {one["file"] for one in manifest}
    assert all(one["comment"] for one in manifest)


def test_codecheck_keeps_the_rules_for_what_comes_before_a_check():
    """Those of rules-2.0.yml (codecheckers/register) that authors can keep, by their numbers."""
    text = codecheck(papers())  # CC-CFG-001, 003
    assert text.startswith("---\n")  # 002
    found = yaml.safe_load(text)
    assert all(not Path(one["file"]).is_absolute() for one in found["manifest"])  # 004 to 006
    assert not any(".." in Path(one["file"]).parts for one in found["manifest"])
    assert found["version"] == "https://codecheck.org.uk/spec/config/2.0/"  # 014, 015
    for paper in [found["paper"], *found["dpnoise_other_papers"]]:
        assert paper["title"]  # 016 to 019
        assert all(author["name"] for author in paper["authors"])
        assert len(paper["authors"]) == 2
        assert paper["reference"].startswith("https://doi.org/10.")  # 021, 022, 027, 028
    assert not {"FIXME", "TODO", "XXX"} & set(text.split())  # 023
    # Who checks adds these (008 to 013, 024 to 026); a value before a check would be invented.
    assert not {"codechecker", "report", "summary", "certificate"} & set(found)


def test_an_orcid_of_the_citation_reaches_codecheck(tmp_path):
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    citation["references"][0]["authors"][0]["orcid"] = "https://orcid.org/0000-0002-1825-0097"
    (tmp_path / "CITATION.cff").write_text(yaml.safe_dump(citation), encoding="utf-8")
    found = yaml.safe_load(codecheck(papers(), str(tmp_path / "CITATION.cff")))
    assert found["paper"]["authors"][0]["ORCID"] == "0000-0002-1825-0097"  # CC-CFG-020
    assert "ORCID" not in found["paper"]["authors"][1]


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
    names = [one["name"] for one in meta["author"]]
    assert names == [one["name"] for one in citation["authors"]] == [AUTHOR]


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def made(folder):
    """Settings of a run in a folder ("" is that of the papers), of which one file is left."""
    Path("Snakefile").touch()
    Path("published").mkdir()
    Path("published/p.csv").write_text("id\n")
    file = Path(folder) / "results/p/a.csv"
    file.parent.mkdir(parents=True)
    file.write_text("x\n1\n")
    read = {"published/p.csv": sha256("id\n"), "data/prepared/airfoil.npz": "0" * 64}
    record = {
        "revision": "abc", "date": "2026-01-01T00:00:00+00:00",
        "machine": {"system": "Linux", "cpu": "some"},
        "packages": {"snakemake": "9.0", "numpy": "2.0"},
        "seed": 7,
        "settings_changed": [{"setting": "p.a [x]", "paper": 1, "run": [2]}],
        "data": {"airfoil": {"status": "ok", "fingerprint": "f" * 64},
                 "own": {"status": "missing", "fingerprint": None}},
        "inputs": read,
        "files": {str(file): {"sha256": sha256("x\n1\n"), "item": "p/a"}},
    }  # fmt: skip
    (Path(folder) / "results/provenance.json").write_text(json.dumps(record))
    return load("config.yaml", overrides={"folder": folder} if folder else {})


@pytest.fixture
def empty(tmp_path, monkeypatch):
    (tmp_path / "config.yaml").symlink_to(ROOT / "config.yaml")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(empty):  # noqa: ARG001 - for its folder
    return made("run")


def entities(config):
    return {one["@id"]: one for one in crate(config)["@graph"]}


def assert_linked(graph):
    """Check that every entity that is named is there, and every file of the root a file."""
    linked = [one["@id"] for entity in graph.values() for value in entity.values()
              for one in (value if isinstance(value, list) else [value])
              if isinstance(one, dict)]  # fmt: skip
    assert all(name in graph or name == "https://w3id.org/ro/crate/1.1" for name in linked)
    assert all("File" in graph[one["@id"]]["@type"] for one in graph["./"]["hasPart"])


def test_crate_is_valid(run):
    graph = entities(run)
    assert crate(run)["@context"] == CONTEXT
    about, root = graph["ro-crate-metadata.json"], graph["./"]
    assert about["conformsTo"]["@id"] == "https://w3id.org/ro/crate/1.1"
    assert about["about"] == {"@id": "./"}
    assert {"name", "description", "datePublished", "license"} <= set(root)
    assert [one["@id"] for one in root["hasPart"]] == ["results/p/a.csv"]
    assert_linked(graph)
    path = write_crate(run)
    assert (path.parent / "results/p/a.csv").is_file()


def test_crate_names_author_workflow_and_inputs(run):
    graph = entities(run)
    root, workflow = graph["./"], graph["#Snakefile"]
    assert graph[root["author"]["@id"]]["name"] == AUTHOR
    assert root["mainEntity"] == graph["#run"]["instrument"] == {"@id": "#Snakefile"}
    assert workflow["@type"] == ["SoftwareSourceCode", "ComputationalWorkflow"]
    assert workflow["version"] == "abc"
    assert graph[workflow["programmingLanguage"]["@id"]]["version"] == "9.0"
    assert graph["#dpnoise"]["softwareRequirements"] == ["numpy 2.0", "snakemake 9.0"]
    read = [one["@id"] for one in graph["#run"]["object"]]
    assert read == ["#data/prepared/airfoil.npz", "#published/p.csv", "#data-airfoil", "#data-own",
                    "#setting-seed", "#setting-p.a%20%5Bx%5D"]  # fmt: skip
    assert graph["#published/p.csv"]["sha256"] == sha256("id\n")
    known = graph["#data-airfoil"]
    assert known["identifier"] == "f" * 64
    assert {"alternateName", "citation", "license"} <= set(known)
    assert known["url"].startswith("https://")
    assert graph["#setting-seed"]["value"] == "7"
    assert graph["#setting-p.a%20%5Bx%5D"]["value"] == "[2]"


@pytest.mark.usefixtures("empty")
def test_crate_at_the_top_of_the_repository_holds_workflow_and_inputs():
    graph = entities(made(""))
    parts = [one["@id"] for one in graph["./"]["hasPart"]]
    assert parts == ["Snakefile", "published/p.csv", "results/p/a.csv"]
    assert all(Path(part).is_file() for part in parts)
    assert graph["./"]["mainEntity"] == {"@id": "Snakefile"}
    assert_linked(graph)


def test_crate_refuses_an_input_that_is_not_the_one_that_was_read(run):
    Path("published/p.csv").write_text("id\nnew\n")
    with pytest.raises(ValueError, match=r"1 file.s. .* published/p\.csv\. `make"):
        crate(run)


@pytest.mark.parametrize("content", ["x\n2\n", ""])
def test_crate_refuses_a_file_that_is_not_the_one_that_was_recorded(run, content):
    file = Path("run/results/p/a.csv")
    file.write_text(content)
    with pytest.raises(ValueError, match=r"1 file.s. are missing or not .* run/results/p/a.csv"):
        write_crate(run)
    file.unlink()
    with pytest.raises(ValueError, match=r"run/results/p/a\.csv"):
        write_crate(run)
    assert not Path("run/ro-crate-metadata.json").exists()


@pytest.mark.parametrize("content", ["{", "[]", "{}"])
def test_crate_of_a_garbled_record_names_it(run, content):
    Path("run/results/provenance.json").write_text(content)
    with pytest.raises(ValueError, match=r"run/results/provenance\.json"):
        crate(run)


def test_crate_without_a_run(run):
    Path("run/results/provenance.json").unlink()
    with pytest.raises(ValueError, match="a run"):
        crate(run)

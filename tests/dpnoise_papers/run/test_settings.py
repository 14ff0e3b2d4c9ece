"""Settings of a run beside the papers': what differs, and a folder of its own for it."""

import json
from pathlib import Path

import pytest

from dpnoise_papers.config import ConfigError, load, places
from dpnoise_papers.run.settings import load_run, settings_changed

OTHER = {"inid_2024": {"figure_2": {"dimensions": [1, 2]}}}


@pytest.fixture(scope="module")
def paper():
    return load("config.yaml")


def test_settings_of_the_papers_are_not_changed(paper):
    assert settings_changed(paper, paper) == []
    apart = {"strict": True, "data": {"offline": True, "cache": "data/else"}, "folder": "mine"}
    assert settings_changed(load("config.yaml", overrides=apart), paper) == []


def test_a_changed_setting_is_named_with_both_values(paper):
    new = {"table_3_replicates": {"variants": {"new": {"passes": [2]}}}}
    changed = {"seed": 7, "flipped_huber_2023": new, **OTHER}
    found = settings_changed(load("config.yaml", overrides=changed), paper)
    named = {one["setting"]: (one["paper"], one["run"]) for one in found}
    old = list(paper.inid_2024.figure_2.dimensions)
    assert named.pop("seed") == (paper.seed, 7)
    assert named.pop("inid_2024.figure_2.dimensions") == (old, [1, 2])
    new = "flipped_huber_2023.table_3_replicates.variants.new."
    assert named[new + "passes"] == (None, [2])
    assert all(name.startswith(new) and before is None for name, (before, _) in named.items())


def test_a_run_by_the_papers_settings_writes_their_results_or_elsewhere():
    run, changed = load_run("config.yaml", overrides={"data": {"offline": True}})
    assert changed == []
    assert places(run) == {
        "results": "results", "figures": "figures", "logs": "logs",
        "benchmarks": "logs/benchmarks",
    }  # fmt: skip
    run, changed = load_run("config.yaml", overrides={"folder": "runs/again"})
    assert changed == []
    assert places(run)["benchmarks"] == "runs/again/logs/benchmarks"


@pytest.mark.parametrize("more", [{}, {"pathvars": {"results": "mine"}}])
def test_other_settings_never_write_over_the_papers_results(more):
    with pytest.raises(ConfigError) as caught:
        load_run("config.yaml", overrides=OTHER | more)
    said = str(caught.value)
    assert "config: 1 setting(s) are not those of config.yaml" in said
    assert "inid_2024.figure_2.dimensions: [1, 2] instead of [1, 2, 3" in said
    assert "--config folder=runs/NAME" in said


@pytest.mark.parametrize(
    "own", [{"folder": "mine"}, {"pathvars": {"results": "mine/a", "figures": "mine/b"}}]
)
def test_other_settings_with_a_folder_of_their_own(own):
    run, changed = load_run("config.yaml", overrides=OTHER | own)
    assert [one["setting"] for one in changed] == ["inid_2024.figure_2.dimensions"]
    assert places(run)["results"].startswith("mine")


def test_many_changes_are_counted_and_some_named():
    with pytest.raises(ConfigError, match=r"- and \d+ more\n") as caught:
        load_run("config.yaml", "config.quick.yaml", overrides={"folder": None})
    assert len(str(caught.value).splitlines()) == 6


@pytest.mark.parametrize("folder", ["results", "figures/x", "logs", "data/mine"])
def test_the_folder_of_a_run_lies_outside_the_papers_results(folder):
    with pytest.raises(ConfigError, match="outside those of the papers"):
        load_run("config.yaml", overrides={"folder": folder})
    with pytest.raises(ConfigError, match="below the repository"):
        load_run("config.yaml", overrides={"folder": "../x"})


SPELLINGS = ["./results", "results/", "results//x", "results/./sub", "figures", "figures/x"]


@pytest.mark.parametrize("more", [{}, OTHER])
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("kind", ["results", "figures", "logs", "benchmarks"])
def test_no_spelling_takes_a_folder_of_the_papers(kind, spelling, more):
    if f"{kind}" == spelling.strip("./") and not more:  # the papers' settings in their own place
        run, _ = load_run("config.yaml", overrides={"pathvars": {kind: spelling}})
        assert places(run)[kind] == kind
        return
    with pytest.raises(ConfigError, match=r"folder of its own|a folder apart from"):
        load_run("config.yaml", overrides={"pathvars": {kind: spelling}} | more)


@pytest.mark.parametrize("target", ["results", "results/inid-2024", "figures", "data/raw"])
def test_no_link_takes_a_folder_of_the_papers(tmp_path, monkeypatch, target):
    config = tmp_path / "config.yaml"
    config.write_bytes(Path("config.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    Path(target).mkdir(parents=True)
    Path("mine").symlink_to(target)
    with pytest.raises(ConfigError, match="a folder apart from"):
        load_run(config, overrides={"pathvars": {"results": "mine"}} | OTHER)


@pytest.mark.parametrize(
    ("cache", "more"),
    [("results", {}), ("results/raw", {}), ("figures/x", {}), ("./logs/x", {}),
     ("mine/results/raw", {"folder": "mine"}), ("mine", {"folder": "mine"}),
     ("x", {"pathvars": {"results": "x/y", "figures": "z"}})],
)  # fmt: skip
def test_downloads_lie_apart_from_results(cache, more):
    with pytest.raises(ConfigError, match=r"data\.cache: expected a folder apart from"):
        load_run("config.yaml", overrides={"data": {"cache": cache}} | more)


@pytest.mark.parametrize(
    "folder",
    ["config.yaml", "README.md/x", ".venv", ".venv-deep/x", ".snakemake", ".git/x", "a/.b", "a\nb",
     "a\tb", "a\rb", "{part}", "<results>", "a*b", "$(x)", "a;b", "-x", " a", "a ", "Src",
     "papers/x", "config/x", "a\x00b"],
)  # fmt: skip
def test_a_run_has_a_folder_that_can_be_one(folder):
    with pytest.raises(ConfigError, match="folder: expected a"):
        load("config.yaml", overrides={"folder": json.dumps(folder)})


@pytest.mark.parametrize("folder", ["mine", "runs/mine", "runs/my run", "läufe/ä-1", "a.b", "1"])
def test_folders_that_people_use(folder):
    text = f'"{folder}"'  # as text: 1 would be a number
    assert places(load("config.yaml", overrides={"folder": text}))["results"] == f"{folder}/results"


def test_long_values_are_cut_in_messages():
    listed = {"inid_2024": {"figure_2": {"dimensions": list(range(1, 50_000))}}}
    for more in ({}, {"seed": "x" * 10**6}, {"typo" * 10_000: 1}):
        with pytest.raises(ConfigError) as caught:
            load_run("config.yaml", overrides=listed | more)
        assert len(str(caught.value)) < 3000


def test_many_mistakes_are_counted_and_some_named():
    wrong = {"inid_2024": {"figure_2": {"dimensions": [-1] * 10_000}}}
    with pytest.raises(ConfigError, match=r"(?s)config: 10000 mistake.*and 9950 more") as caught:
        load("config.yaml", overrides=wrong)
    assert len(str(caught.value)) < 20_000

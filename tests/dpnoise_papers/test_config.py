import copy
import json
import math
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from pydantic import create_model

from dpnoise_papers import cli
from dpnoise_papers import config as module
from dpnoise_papers.config import (
    ConfigError,
    config_model,
    load,
    load_run,
    places,
    sections,
    settings_changed,
    typed,
    validate,
)
from dpnoise_papers.item import MODULES
from dpnoise_papers.settings import Section, Seeded
from dpnoise_papers.strict_yaml import read_yaml

ROOT = Path(__file__).parents[2]
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
CONFIG, QUICK = ROOT / "config.yaml", ROOT / "config.quick.yaml"
SHIPPED = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
WRONG = {
    int: [True, 2.0, "2", None, [2], -(10**6), 10**13],
    float: [math.nan, math.inf, "1", None, [1.0], True, 1e301, -1e301],
    str: ["", 3, None, ["a"], "no such word"],
    bool: ["yes", 1, None],
}
# Text that may be anything of a kind, and numbers that may be of any size.
FREE = {
    "data.cache": ["no such word"],
    "inid_2024.table_4_cifar10.checkpoints": ["no such word", None],
    "inid_2024.table_3.coarse_trials": [None],  # all trials
    "inid_2024.descent_orders.tasks.electricity.strength": [3],
} | {
    f"inid_2024.descent_orders.documented.electricity.openml.{place}": ["no such word"]
    for place in range(8)
}  # fmt: skip
OTHER = {"inid_2024": {"figure_2": {"dimensions": [1, 2]}}}


def leaves(node, path=()):
    """Every value of the config that is neither a mapping nor a list, with its path."""
    if isinstance(node, dict | list):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in items:
            yield from leaves(value, (*path, key))
    else:
        yield path, node


def branches(node, path=()):
    """Every mapping and every list of the config, with its path."""
    if isinstance(node, dict | list):
        yield path, node
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in items:
            yield from branches(value, (*path, key))


def changed(path, value, node=SHIPPED):
    """What ships, with one entry replaced."""
    if not path:
        return value
    copied = node.copy()
    copied[path[0]] = changed(path[1:], value, node[path[0]])
    return copied


def written(folder, *contents):
    paths = [folder / f"{place}.yaml" for place in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        text = content if isinstance(content, str) else yaml.dump(content, Dumper=DUMPER)
        path.write_text(text, encoding="utf-8")
    return paths


def seeded(paper, name):
    """A section that ships, with the seed if it draws."""
    draws = issubclass(module._models(paper)[name].annotation, Seeded)
    return SHIPPED[paper][name] | ({"seed": SHIPPED["seed"]} if draws else {})


def accepted(path, wrong):
    """Whether what ships is accepted with one entry replaced.

    The section of a paper alone is read first, 100 times as fast: what it refuses, the whole does.
    """
    try:
        if path[0] in MODULES and len(path) > 2:
            paper, name, *inside = path
            typed(paper, {name: changed(inside, wrong, seeded(paper, name))})
        validate(changed(path, wrong))
    except ValueError:
        return False
    return True


KEPT = cache(read_yaml)


@pytest.fixture(autouse=True)
def _what_ships_is_read_once(monkeypatch):
    def read(path):
        return (KEPT if path in {CONFIG, QUICK} else read_yaml)(path)

    monkeypatch.setattr(module, "read_yaml", read)


@pytest.fixture
def refusal(tmp_path):
    """Load some contents, which must be refused, and return the message."""

    def refuse(*contents, **options):
        with pytest.raises(ConfigError) as caught:
            load(*written(tmp_path, *contents), **options)
        return str(caught.value)

    return refuse


def test_what_ships_is_usable_and_handed_on_unchanged():
    config = load(CONFIG)
    assert (config.seed, config.strict) == (SHIPPED["seed"], SHIPPED["strict"])
    for paper in MODULES:
        for name, section in SHIPPED.get(paper, {}).items():
            (plain,) = sections(config, paper, (name,)).values()
            plain.pop("seed", None)
            assert plain == section, (paper, name)
            (again,) = typed(paper, sections(config, paper, (name,)))
            assert again == getattr(getattr(config, paper), name)


def test_quick_results_are_kept_apart_from_the_real_ones():
    quick = load(CONFIG, QUICK)
    assert all(folder.startswith("quick/") for folder in places(quick).values())


def test_no_value_may_be_of_another_type_or_beyond_all_bounds():
    wrongly_accepted = [
        (path, wrong)
        for path, value in leaves(SHIPPED)
        for wrong in WRONG[type(value)]
        if wrong not in FREE.get(".".join(map(str, path)), []) and accepted(path, wrong)
    ]
    assert not wrongly_accepted


@pytest.mark.parametrize("paper", MODULES)
def test_what_a_section_refuses_the_whole_refuses(paper):
    for name in SHIPPED.get(paper, {}):
        assert typed(paper, {name: seeded(paper, name)})
        path = next(path for path, _ in leaves(SHIPPED[paper][name], (paper, name)))
        assert not accepted(path, {"unheard_of": None})
        with pytest.raises(ConfigError, match=rf"{paper}\.{name}\."):
            validate(changed(path, {"unheard_of": None}))


def test_every_section_is_closed_and_no_list_may_be_empty():
    wrongly_accepted = [
        (path, wrong)
        for path, value in branches(SHIPPED)
        if path
        for wrong in ([] if isinstance(value, list) else value | {"unheard_of": 1}, "text")
        if accepted(path, wrong)
    ]
    assert not wrongly_accepted


@pytest.mark.parametrize("where", [(), *((paper,) for paper in MODULES)])
def test_a_missing_section_is_named(where):
    holder = SHIPPED.get(where[0], {}) if where else SHIPPED
    for name in holder:
        config = copy.deepcopy(SHIPPED)
        del (config[where[0]] if where else config)[name]
        with pytest.raises(ConfigError, match=rf"{'.'.join((*where, name))}: missing setting"):
            validate(config)


def test_all_mistakes_are_listed_in_one_message(refusal):
    config = copy.deepcopy(SHIPPED) | {"seed": -1, "strict": "maybe", "typo": 1}
    config["data"]["offline"] = 3
    for paper in MODULES:
        config.setdefault(paper, {})["unheard_of"] = {}
    lines = refusal(config).splitlines()
    assert lines[0] == f"config: {4 + len(MODULES)} mistake(s)"
    assert len(lines) == 5 + len(MODULES)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("seed: [1, 2\n", "expected ',' or ']'"),
        ("seed: 1\n\tdata: 2\n", "line 2"),
        ("- seed\n", "expected a mapping, got list"),
        ("", "expected a mapping, got NoneType"),
        ("2023\n", "expected a mapping, got int"),
        ("a: !!python/object/apply:os.getcwd []\n", "line 1"),
        ("seed: 1\nseed: 2\n", "line 2"),
        ("data:\n  offline: true\n  offline: false\n", "line 3"),
        ("seed: 010\n", "010"),
        ("seed: 1:30\n", "1:30"),
        ("strict: yes\n", "yes"),
        ("__use_yte__: true\n", "__use_yte__"),
    ],
)
def test_a_file_is_read_strictly(content, told, tmp_path):
    (path,) = written(tmp_path, content)
    with pytest.raises(ConfigError) as caught:
        load(CONFIG, path)
    assert told in str(caught.value)
    assert str(path) in str(caught.value) or "__use_yte__" in content


def test_every_unreadable_file_is_named(tmp_path):
    gone, binary = tmp_path / "gone.yaml", tmp_path / "binary.yaml"
    binary.write_bytes(b"strict: true\nseed: \xff\xfe\n")
    with pytest.raises(ConfigError) as caught:
        load(gone, binary, tmp_path)
    assert all(str(bad) in str(caught.value) for bad in (gone, binary, tmp_path))
    assert f"{binary}, line 2" in str(caught.value)
    with pytest.raises(ConfigError, match="no file given"):
        load()


def test_mappings_merge_and_lists_are_replaced_as_snakemake_does(tmp_path):
    utils = pytest.importorskip("snakemake.utils")
    quick = yaml.safe_load(QUICK.read_text(encoding="utf-8"))
    theirs = copy.deepcopy(SHIPPED)
    utils.update_config(theirs, copy.deepcopy(quick))
    assert load(CONFIG, QUICK) == load(*written(tmp_path, theirs))


def test_files_of_a_run_are_laid_over_the_papers_one_after_the_other(tmp_path):
    grids = [0.5, 1.0], {"low": 0.5, "high": 1.0, "count": 3, "spacing": "log"}
    own = [{"flipped_huber_2023": {"figure_6": {"epsilons": grid}}} for grid in grids]
    files = written(tmp_path, {"folder": "runs/own"} | own[0], own[1])
    run, _ = load_run(CONFIG, *files)
    assert run == load(CONFIG, *files)
    own[1]["flipped_huber_2023"]["figure_6"]["epsilons"] = {"low": 0.5}
    files = written(tmp_path, {"folder": "runs/own"} | own[0], own[1])
    for reading in (load, load_run):  # a mapping over a list replaces it, whatever was below
        with pytest.raises(ConfigError, match=r"figure_6\.epsilons.*missing"):
            reading(CONFIG, *files)


@pytest.mark.parametrize(
    ("overrides", "path", "value"),
    [
        ({"strict": "true"}, ("strict",), True),
        ({"strict": True}, ("strict",), True),
        ({"strict": "false"}, ("strict",), False),
        ({"seed": 7}, ("seed",), 7),
        ({"data": {"offline": "true"}}, ("data", "offline"), True),
        ({"data": {"cache": "elsewhere"}}, ("data", "cache"), "elsewhere"),
        (
            {"flipped_huber_2023": {"figure_1": {"points": "11", "half_width": "2.5"}}},
            ("flipped_huber_2023", "figure_1", "points"),
            11,
        ),
    ],
)
def test_switches_on_the_command_line_work_at_any_depth(overrides, path, value):
    # Snakemake hands over text: --config strict=true data='{offline: true}'
    found = load(CONFIG, overrides=overrides)
    for name in path:
        found = getattr(found, name)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("wrong", ["1 2", "010", "yes", "[1", "{"])
def test_a_wrong_switch_is_refused(wrong, refusal):
    assert "config: 1 mistake(s)" in refusal(SHIPPED, overrides={"seed": wrong})


def test_a_wrong_switch_at_any_depth_is_refused_where_it_is(refusal):
    message = refusal(SHIPPED, overrides={"flipped_huber_2023": {"figure_1": {"points": "10"}}})
    assert "flipped_huber_2023.figure_1.points: expected an odd number" in message


@pytest.mark.parametrize(
    "folder",
    ["/x/y", "~/dp", "../x", "a/../../x", "src", "src/x", "workflow/x", "./tests", ".", "a\\b"],
)
@pytest.mark.parametrize("where", ["cache", "folder"])
def test_folders_lie_below_the_repository_and_outside_its_sources(folder, where, refusal):
    section = {"data": {"cache": folder}} if where == "cache" else {"folder": folder}
    assert "below the repository" in refusal(SHIPPED, section)


def test_a_folder_may_not_leave_the_repository_by_a_link(tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    Path("cache").symlink_to(tmp_path / "outside")
    config = copy.deepcopy(SHIPPED)
    config["data"]["cache"] = "cache/raw"
    with pytest.raises(ConfigError, match="not a link that leaves it"):
        load(*written(tmp_path, config))


def test_the_seed_is_set_once(refusal):
    paper, name = next(
        (paper, name)
        for paper in MODULES
        for name, section in getattr(load(CONFIG), paper)
        if hasattr(section, "seed")
    )
    assert load(CONFIG, overrides={"seed": 5}).seed == 5
    changed_seed = load(CONFIG, overrides={"seed": 5})
    assert getattr(getattr(changed_seed, paper), name).seed == 5
    assert f"{paper}.{name}.seed: " in refusal(SHIPPED, {paper: {name: {"seed": 5}}})


def test_the_command_line_says_valid_or_lists_every_mistake(capsys, tmp_path):
    good, bad = written(tmp_path, SHIPPED, {"seed": -1, "data": {"offline": 0}})
    assert cli.main(["config", "check", str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: valid\n"
    assert cli.main(["config", "check", str(good), str(bad)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "2 mistake(s)" in err
    assert "seed: " in err
    assert "data.offline: " in err


def test_bounds_are_short_numbers(refusal):
    message = refusal(SHIPPED, {"balle_wang_2018": {"figure_2": {"delta": 0.0}}})
    assert "figure_2.delta: expected a number of at least 1e-100, got 0.0" in message


def test_a_paper_whose_settings_all_have_defaults_needs_no_section(monkeypatch):
    model = create_model("Settings", __base__=Section, epsilon=(float, 1.0))
    monkeypatch.setitem(sys.modules, "dpnoise_papers.toy.settings", SimpleNamespace(Settings=model))
    monkeypatch.setattr(module, "MODULES", (*MODULES, "toy"))
    config_model.cache_clear()
    try:
        assert validate(SHIPPED).toy.epsilon == 1.0
        assert validate(SHIPPED | {"toy": {"epsilon": 2.0}}).toy.epsilon == 2.0
    finally:
        config_model.cache_clear()


@pytest.fixture(scope="module")
def paper():
    return load(CONFIG)


def test_settings_of_the_papers_are_not_changed(paper):
    assert settings_changed(paper, paper) == []
    apart = {"strict": True, "data": {"offline": True, "cache": "data/else"}, "folder": "mine"}
    assert settings_changed(load(CONFIG, overrides=apart), paper) == []


def test_a_changed_setting_is_named_with_both_values(paper):
    new = {"table_3": {"variants": {"new": {"passes": [2]}}}}
    changed = {"seed": 7, "flipped_huber_2023": new, **OTHER}
    found = settings_changed(load(CONFIG, overrides=changed), paper)
    named = {one["setting"]: (one["paper"], one["run"]) for one in found}
    old = list(paper.inid_2024.figure_2.dimensions)
    assert named.pop("seed") == (paper.seed, 7)
    assert named.pop("inid_2024.figure_2.dimensions") == (old, [1, 2])
    new = "flipped_huber_2023.table_3.variants.new."
    assert named[new + "passes"] == (None, [2])
    assert all(name.startswith(new) and before is None for name, (before, _) in named.items())


def test_a_run_by_the_papers_settings_writes_their_results_or_elsewhere():
    run, changed = load_run(CONFIG, overrides={"data": {"offline": True}})
    assert changed == []
    assert places(run) == {"results": "results", "figures": "figures", "logs": "logs"}
    run, changed = load_run(CONFIG, overrides={"folder": "runs/again"})
    assert changed == []
    assert places(run)["logs"] == "runs/again/logs"


def test_other_settings_never_write_over_the_papers_results():
    with pytest.raises(ConfigError) as caught:
        load_run(CONFIG, overrides=OTHER)
    said = str(caught.value)
    assert "config: 1 setting(s) are not those of config.yaml" in said
    assert "inid_2024.figure_2.dimensions: [1, 2] instead of [1, 2, 3" in said
    assert "--config folder=runs/NAME" in said


def test_other_settings_with_a_folder_of_their_own():
    run, changed = load_run(CONFIG, overrides=OTHER | {"folder": "mine"})
    assert [one["setting"] for one in changed] == ["inid_2024.figure_2.dimensions"]
    assert places(run)["results"].startswith("mine")


def test_a_mistake_is_told_with_the_last_file_and_line_that_has_it(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("inid_2024:\n  figure_2:\n    dimensions: [1,\n      0]\n  figure_9: {}\n")
    with pytest.raises(ConfigError) as caught:
        load(CONFIG, own, overrides={"seed": -1})
    first, *lines = str(caught.value).splitlines()
    assert first == "config: 3 mistake(s)"
    assert any(line.endswith(f"got 0 ({own}, line 4)") for line in lines)
    assert any(line.endswith(f"unknown setting ({own}, line 5)") for line in lines)
    assert sum("seed" in line for line in lines) == 1


def test_null_takes_one_of_several_away(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("flipped_huber_2023: {table_3: {tasks: {houses: null}}}\nfolder: null\n")
    tasks = load(CONFIG, own).flipped_huber_2023.table_3.tasks
    assert set(load(CONFIG).flipped_huber_2023.table_3.tasks) - set(tasks) == {"houses"}


def test_many_changes_are_counted_and_some_named():
    with pytest.raises(ConfigError, match=r"- and \d+ more\n") as caught:
        load_run(CONFIG, QUICK, overrides={"folder": None})
    assert len(str(caught.value).splitlines()) == 6


@pytest.mark.parametrize("folder", ["results", "figures/x", "logs", "data/mine"])
def test_the_folder_of_a_run_lies_outside_the_papers_results(folder):
    with pytest.raises(ConfigError, match="outside those of the papers"):
        load_run(CONFIG, overrides={"folder": folder})
    with pytest.raises(ConfigError, match="below the repository"):
        load_run(CONFIG, overrides={"folder": "../x"})


@pytest.mark.parametrize("target", ["results", "results/inid-2024", "figures", "data/raw"])
def test_no_link_takes_a_folder_of_the_papers(tmp_path, monkeypatch, target):
    config = tmp_path / "config.yaml"
    config.write_bytes(Path("config.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    Path(target).mkdir(parents=True)
    Path("mine").symlink_to(target)
    with pytest.raises(ConfigError, match="a folder apart from"):
        load_run(config, overrides={"folder": "mine"} | OTHER)


@pytest.mark.parametrize(
    ("cache", "more"),
    [("results", {}), ("results/raw", {}), ("figures/x", {}), ("./logs/x", {}),
     ("mine/results/raw", {"folder": "mine"}), ("mine", {"folder": "mine"})],
)  # fmt: skip
def test_downloads_lie_apart_from_results(cache, more):
    with pytest.raises(ConfigError, match=r"data\.cache: expected a folder apart from"):
        load_run(CONFIG, overrides={"data": {"cache": cache}} | more)


@pytest.mark.parametrize(
    "folder",
    ["config.yaml", "README.md/x", ".venv", ".venv-deep/x", ".snakemake", ".git/x", "a/.b", "a\nb",
     "a\tb", "a\rb", "{part}", "<results>", "a*b", "$(x)", "a;b", "-x", " a", "a ", "Src",
     "papers/x", "config/x", "a\x00b"],
)  # fmt: skip
def test_a_run_has_a_folder_that_can_be_one(folder):
    with pytest.raises(ConfigError, match="folder: expected a"):
        load(CONFIG, overrides={"folder": json.dumps(folder)})


@pytest.mark.parametrize("folder", ["mine", "runs/mine", "runs/my run", "läufe/ä-1", "a.b", "1"])
def test_folders_that_people_use(folder):
    text = f'"{folder}"'  # as text: 1 would be a number
    assert places(load(CONFIG, overrides={"folder": text}))["results"] == f"{folder}/results"


def test_long_values_are_cut_in_messages():
    listed = {"inid_2024": {"figure_2": {"dimensions": list(range(1, 50_000))}}}
    for more in ({}, {"seed": "x" * 10**6}, {"typo" * 10_000: 1}):
        with pytest.raises(ConfigError) as caught:
            load_run(CONFIG, overrides=listed | more)
        assert len(str(caught.value)) < 3000


def test_many_mistakes_are_counted_and_some_named():
    wrong = {"inid_2024": {"figure_2": {"dimensions": [-1] * 10_000}}}
    with pytest.raises(ConfigError, match=r"(?s)config: 10000 mistake.*and 9950 more") as caught:
        load(CONFIG, overrides=wrong)
    assert len(str(caught.value)) < 20_000

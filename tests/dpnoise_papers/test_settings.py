"""Settings: what ships is usable, and each kind of mistake is refused, all of them at once."""

import copy
import math
from pathlib import Path

import pytest
import yaml

from dpnoise_papers import cli
from dpnoise_papers.settings import SCHEMA, ConfigError, check, load

ROOT = Path(__file__).parents[2]
PAPER = "flipped_huber_2023"
TABLE = f"{PAPER}.table_3"
NOT_A_NUMBER = [math.nan, math.inf, -math.inf]

# (where, value): one mistake each, at a place that the message must name
MISTAKES = [
    ("seed", -1),
    ("seed", 2023.0),
    ("seed", "2023"),
    ("seed", True),
    ("strict", "yes"),
    ("strict", 1),
    ("data.cache", ""),
    ("data.offline", None),
    ("data", "data/raw"),
    (f"{PAPER}.figure_1.points", 10),
    (f"{PAPER}.figure_1.parameters", []),
    (f"{PAPER}.figure_1.parameters", [[1.0]]),
    (f"{PAPER}.figure_1.parameters", [[1.0, 0.0]]),
    (f"{PAPER}.figure_1.half_width", 0.0),
    (f"{PAPER}.figure_2.smallest", 0),
    (f"{PAPER}.figure_2", {"smallest": 2.0, "largest": 1.0, "points": 5}),
    (f"{TABLE}.epsilon", 0),
    (f"{TABLE}.epsilon", -1.0),
    (f"{TABLE}.epsilon", "1"),
    *((f"{TABLE}.epsilon", value) for value in NOT_A_NUMBER),
    *((f"{TABLE}.delta", value) for value in (0, 1, 1.5, -1, "foo", "1/N", None, [0.1])),
    *((f"{TABLE}.delta", value) for value in NOT_A_NUMBER),
    (f"{TABLE}.mechanisms", []),
    (f"{TABLE}.mechanisms", ["laplace"]),
    (f"{TABLE}.mechanisms", ["gaussian", "gaussian"]),
    (f"{TABLE}.mechanisms", "gaussian"),
    (f"{TABLE}.passes", []),
    (f"{TABLE}.passes", [0]),
    (f"{TABLE}.passes", [2.5]),
    (f"{TABLE}.passes", [2.0]),
    (f"{TABLE}.passes", [2, 2]),
    (f"{TABLE}.passes", 2),
    (f"{TABLE}.steps", {"low": 2.0, "high": 1.0, "count": 3}),
    (f"{TABLE}.steps", {"low": 1.0, "high": 2.0, "count": 0}),
    (f"{TABLE}.clips", {"low": 0.0, "high": 1.0, "count": 3}),
    (f"{TABLE}.clips", {"low": 1.0, "high": math.inf, "count": 3}),
    (f"{TABLE}.clips", {"low": "1e-4", "high": 1.0, "count": 3}),
    (f"{TABLE}.clips", {"low": 1.0, "high": 1.0}),
    (f"{TABLE}.trials", 1),
    (f"{TABLE}.honest", {"select": 5, "evaluate": 0}),
    (f"{TABLE}.setting.test_fraction", 1.0),
    (f"{TABLE}.setting.order", "shuffled"),
    (f"{TABLE}.setting.intercept", "no"),
    (f"{TABLE}.setting", {"order": "cyclic"}),
    (f"{TABLE}.tasks", {}),
    (f"{TABLE}.tasks", {"iris": {"loss": "logistic", "penalty": "l2", "strength": 0.1}}),
    (f"{TABLE}.tasks.houses", {"loss": "hinge", "penalty": "l2", "strength": 0.1}),
    (f"{TABLE}.tasks.houses.strength", -0.1),
    (f"{TABLE}.tasks.houses.strength", math.nan),
    (f"{PAPER}.table_3_ablation.variants", {}),
    (f"{PAPER}.table_3_ablation.variants", {"Not a name": {}}),
    (f"{PAPER}.table_3_ablation.variants.chosen", {"order": "backwards"}),
]

# a key that is unknown at each level
PLACES = [
    *("", "data", "pathvars", PAPER),
    *(f"{PAPER}.{part}" for part in ("figure_1", "figure_2", "table_3", "table_3_ablation")),
    *(f"{TABLE}.{part}" for part in ("steps", "clips", "honest", "setting", "tasks.houses")),
    f"{PAPER}.table_3_ablation.variants.averaged",
]


def shipped():
    return yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def changed(config, where, value):
    """Return a copy with one entry replaced or added."""
    config = copy.deepcopy(config)
    node = config
    *parents, last = where.split(".")
    for part in parents:
        node = node.setdefault(part, {})
    node[last] = value
    return config


def refusal(config):
    with pytest.raises(ConfigError) as caught:
        check(config, ROOT / SCHEMA)
    return str(caught.value)


def write(folder, *contents):
    """Write the schema and settings to a folder; return the paths of the settings."""
    schema = folder / SCHEMA
    schema.parent.mkdir(parents=True)
    schema.write_bytes((ROOT / SCHEMA).read_bytes())
    paths = [folder / f"{i}.yaml" for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        text = content if isinstance(content, str) else yaml.safe_dump(content)
        path.write_text(text, encoding="utf-8")
    return paths


def test_what_ships_is_usable():
    config = load(ROOT / "config.yaml")
    assert config == shipped()
    quick = load(ROOT / "config.yaml", ROOT / "config.quick.yaml")
    assert quick[PAPER]["table_3"]["tasks"] == config[PAPER]["table_3"]["tasks"]
    assert quick[PAPER]["table_3"]["passes"] != config[PAPER]["table_3"]["passes"]


def test_quick_results_are_kept_apart_from_the_real_ones():
    quick = yaml.safe_load((ROOT / "config.quick.yaml").read_text(encoding="utf-8"))
    assert set(quick["pathvars"]) == {"results", "figures", "logs", "benchmarks"}
    assert all(folder.startswith("quick/") for folder in quick["pathvars"].values())


@pytest.mark.parametrize(("where", "value"), MISTAKES, ids=lambda item: str(item)[-40:])
def test_a_mistake_is_refused_where_it_is(where, value):
    message = refusal(changed(shipped(), where, value))
    assert message.startswith("config: ")
    assert f"\n  - {where}" in message


@pytest.mark.parametrize("place", PLACES)
def test_an_unknown_key_is_refused_at_each_level(place):
    where = f"{place}.unheard_of".removeprefix(".")
    message = refusal(changed(shipped(), where, 1))
    assert f"  - {place or 'top level'}: " in message
    assert "'unheard_of' was unexpected" in message


@pytest.mark.parametrize("key", ["seed", "strict", "data", PAPER])
def test_a_missing_section_is_named(key):
    config = shipped()
    del config[key]
    assert f"top level: '{key}' is a required property" in refusal(config)


def test_all_mistakes_are_listed_in_one_message():
    # one mistake for each place; a place inside another one would hide it
    several = {where: value for where, value in MISTAKES if where.count(".") >= 2}
    several = {w: v for w, v in several.items() if not any(o.startswith(f"{w}.") for o in several)}
    config = shipped()
    for where, value in several.items():
        config = changed(config, where, value)
    lines = refusal(config).splitlines()
    assert lines[0] == f"config: {len(lines) - 1} mistake(s)"
    assert len(several) > 12
    for where in several:
        assert any(line.startswith(f"  - {where}") for line in lines)


def test_numbers_at_the_edge_of_what_is_allowed_are_accepted():
    for where, value in [
        ("seed", 0),
        (f"{TABLE}.delta", 1e-300),
        (f"{TABLE}.delta", "1/N^2"),
        (f"{TABLE}.epsilon", 1e-9),
        (f"{TABLE}.steps", {"low": 1.0, "high": 1.0, "count": 1}),
        (f"{TABLE}.tasks.houses.strength", 0),
        (f"{PAPER}.figure_1.parameters", [[0, 1]]),
    ]:
        config = changed(shipped(), where, value)
        assert check(config, ROOT / SCHEMA) is config


def test_the_settings_are_handed_on_unchanged():
    config = shipped()
    check(config, ROOT / SCHEMA)
    assert config == shipped()


OVER = {
    "seed": 7,
    PAPER: {
        "table_3": {"passes": [3], "steps": {"count": 2}, "setting": {"intercept": True}},
        "table_3_ablation": {"variants": {"chosen": {"order": "random"}, "new": {}}},
    },
}


def test_mappings_merge_and_lists_are_replaced(tmp_path):
    base = shipped()
    merged = load(*write(tmp_path, base, OVER, {"seed": 8}))
    table = merged[PAPER]["table_3"]
    assert merged["seed"] == 8
    assert merged["strict"] == base["strict"]
    assert table["passes"] == [3]
    assert table["steps"] == {**base[PAPER]["table_3"]["steps"], "count": 2}
    assert table["setting"] == {**base[PAPER]["table_3"]["setting"], "intercept": True}
    assert set(merged[PAPER]["table_3_ablation"]["variants"]) == {
        *base[PAPER]["table_3_ablation"]["variants"],
        "new",
    }


def test_merging_is_that_of_snakemake(tmp_path):
    utils = pytest.importorskip("snakemake.utils")
    quick = yaml.safe_load((ROOT / "config.quick.yaml").read_text(encoding="utf-8"))
    paths = write(tmp_path, shipped(), OVER, quick)
    theirs = shipped()
    for over in (OVER, quick):
        utils.update_config(theirs, copy.deepcopy(over))
    assert load(*paths) == theirs


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("seed: [1, 2\n", "expected ',' or ']'"),
        ("seed: 1\n\tdata: 2\n", "cannot start any token"),
        ("- seed\n", "expected a mapping, got list"),
        ("", "expected a mapping, got NoneType"),
        ("2023\n", "expected a mapping, got int"),
        ("a: !!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
    ],
)
def test_a_file_that_holds_no_settings_is_refused(tmp_path, content, told):
    (path,) = write(tmp_path, content)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert told in str(caught.value)


def test_every_unreadable_file_is_named(tmp_path):
    (path,) = write(tmp_path, shipped())
    gone, binary = tmp_path / "gone.yaml", tmp_path / "binary.yaml"
    binary.write_bytes(b"seed: \xff\xfe\n")
    with pytest.raises(ConfigError) as caught:
        load(path, gone, binary, tmp_path)
    assert all(str(bad) in str(caught.value) for bad in (gone, binary, tmp_path))


def test_no_file_and_no_schema_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="no file given"):
        load()
    alone = tmp_path / "alone.yaml"
    alone.write_text("seed: 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"no workflow.schemas.config.schema.yaml beside"):
        load(alone)


def test_the_command_line_says_valid_or_lists_every_mistake(capsys, tmp_path):
    good, bad = write(tmp_path, shipped(), {"seed": -1, PAPER: {"table_3": {"epsilon": 0}}})
    assert cli.main(["config", "check", str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: valid\n"
    assert cli.main(["config", "check", str(good), str(bad)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "2 mistake(s)" in err
    assert "seed: " in err
    assert f"{TABLE}.epsilon: " in err

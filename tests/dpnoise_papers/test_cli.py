import sys
from importlib import import_module

import pytest
import yaml

import data_copies as copies
from dpnoise_papers import cli
from dpnoise_papers.data.copies import MIRROR_VARIABLE
from dpnoise_papers.data.registry import read_registry


@pytest.fixture
def where(tmp_path, monkeypatch):
    """Return the options that point at the synthetic set, with an empty mirror."""
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    registry = ["--registry", str(copies.write_registry(tmp_path))]
    (tmp_path / "mirror").mkdir()
    return [*registry, "--cache", str(tmp_path / "raw"), "--mirror", str(tmp_path / "mirror")]


def run(capsys, *arguments):
    code = cli.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err


def test_list(capsys):
    code, out, _ = run(capsys, "data", "list")
    assert code == 0
    assert tuple(line.split()[0] for line in out.splitlines()) == tuple(read_registry().sets)


def test_fetch(capsys, tmp_path, where):
    copies.put(tmp_path / "mirror", copies.text())
    for chosen in ("toy", "--all"):
        code, out, err = run(capsys, "data", "fetch", chosen, *where)
        assert (code, err) == (0, "")
        assert out.split() == ["toy", str(copies.ROWS), "x", "2", "from", "mirror"]


def test_fetch_without_a_copy(capsys, where):
    code, out, err = run(capsys, "data", "fetch", "--all", *where)
    assert (code, out) == (1, "")
    assert err.startswith("dpnoise-papers: data set 'toy' is not available: cache: no file")


def test_fetch_finds_the_mirror_in_the_environment(capsys, tmp_path, where, monkeypatch):
    copies.put(tmp_path / "other", copies.text())
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path / "other"))
    code, out, _ = run(capsys, "data", "fetch", "toy", "--offline", *where[:4])
    assert (code, out.split()[-1]) == (0, "mirror")


def test_a_set_of_ones_own_is_copied_registered_and_has_a_config(capsys, tmp_path, where):
    text = copies.text(header="width,height,class")
    file = copies.put(tmp_path / "elsewhere", text, "some file.csv")
    places = ["--registry", where[1], "--cache", where[3], "--config", str(tmp_path / "own.yaml")]
    code, out, err = run(capsys, "data", "add", file, "--as", "mine", "--target", "class", *places)
    assert (code, err) == (0, "")
    assert "homepage, licence and citation are empty" in out
    assert (tmp_path / "raw/mine.csv").read_bytes() == file.read_bytes()
    assert yaml.safe_load((tmp_path / "registry.yaml").read_text()) == copies.registry_content()
    code, out, _ = run(capsys, "data", "fetch", "mine", "--offline", *where)
    assert (code, out.split()[-1]) == (0, "cache")
    own = yaml.safe_load((tmp_path / "own.yaml").read_text())
    assert own["items"] == ["flipped-huber-2023/table-3"]
    tasks = own["flipped_huber_2023"]["table_3"]["tasks"]
    assert tasks.pop("mine") == {"loss": "logistic", "penalty": "l2", "strength": 0.1}
    assert set(tasks.values()) == {None}
    for name, message in (("mine", "expected a new name"), ("toy", "expected a new name"),
                          ("other", "own.yaml exists")):  # fmt: skip
        code, _, err = run(capsys, "data", "add", file, "--as", name, "--target", "class", *places)
        assert (code, message in err) == (2, True)
    (tmp_path / "own.yaml").unlink()
    page = copies.put(tmp_path, b"class\n<html>\n", "page.csv")
    for one, target, message in (
        (file, "none", "target among"), (page, "class", f"{page}: "), ("gone", "a", "gone"),
    ):  # fmt: skip
        code, out, err = run(capsys, "data", "add", one, "--as", "z", "--target", target, *places)
        assert (code, out, message in err, err.count("\n")) == (2, "", True, 1)
    assert not (tmp_path / "raw/z.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing command. (dpnoise-papers --help)"),
        (["data"], "Missing command. (dpnoise-papers data --help)"),
        (["data", "add", "--target"], "--target"),
        (["data", "fetch"], "names of data sets or --all"),
        (["data", "fetch", "toy", "--all"], "names of data sets or --all"),
        (["data", "fetch", "iris"], "expected one of toy, got 'iris'"),
        (["data", "list", "--colour"], "--colour"),
        (["config", "check"], "FILE"),
        (["config", "check", "gone.yaml"], "gone.yaml"),
    ],
)
def test_bad_usage(capsys, where, arguments, message):
    options = where[:2] if arguments[:2] == ["data", "fetch"] else []
    code, out, err = run(capsys, *arguments, *options)
    assert (code, out) == (2, "")
    assert message in err


def test_help(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "data" in out


def test_config_check(capsys, monkeypatch):
    from dpnoise_papers import config

    seen = []
    monkeypatch.setattr(config, "load", lambda *paths: seen.append(paths) or {})
    code, out, _ = run(capsys, "config", "check", "a.yaml", "b.yaml")
    assert (code, out) == (0, "a.yaml + b.yaml: valid\n")
    assert seen == [("a.yaml", "b.yaml")]

    def refuse(*_paths):
        raise config.ConfigError("config: 2 mistakes")

    monkeypatch.setattr(config, "load", refuse)
    assert run(capsys, "config", "check", "a.yaml") == (
        2,
        "",
        "dpnoise-papers: config: 2 mistakes\n",
    )


def test_all_arguments_that_are_missing_or_wrong_are_named(capsys):
    for words, names in (
        ("data add", ("FILE", "--as", "--target")),
        ("verify --share 0 --seed x --cores y", ("--share", "0<x<=1", "--seed", "'x'", "'y'")),
    ):
        code, out, err = run(capsys, *words.split())
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert all(name in err for name in names), err


@pytest.mark.parametrize("module", ["click", "dpnoise_papers.config"])
def test_a_bare_installation_says_what_to_install(capsys, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "dpnoise_papers.cli")
    with pytest.raises(SystemExit) as stop:
        sys.exit(import_module("dpnoise_papers.cli").main(["config", "check", "config.yaml"]))
    assert stop.value.code == 2
    assert 'pip install ".[papers]" in a checkout' in capsys.readouterr().err

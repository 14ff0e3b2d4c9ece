"""The command as a process: start, completion, terminal, mistakes, and what the documents say."""

import json
import os
import pty
import shlex
import subprocess
import sys
from doctest import ELLIPSIS, OutputChecker

import pytest
from click.testing import CliRunner

import dpnoise
from document_pages import PAGES, ROOT, commands, name
from dpnoise.calibration.calibrate import calibrate
from dpnoise.cli import options
from dpnoise.cli.program import program
from dpnoise.mechanisms.methods import METHOD_FAMILIES
from dpnoise.mechanisms.request import ERRORS
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES
from dpnoise.sensitivity.relation import RELATIONS
from for_all import for_all

COMMAND = [sys.executable, "-m", "dpnoise.cli"]
ONE = "best --sensitivity 1"
MISTAKES = [
    (f"{ONE} --epsilon -1", ["epsilon: expected a finite number in [0, 10000], got -1.0"]),
    (f"{ONE} --epsilon x --delta y", ["epsilon", "'x'", "delta", "'y'"]),
    (ONE, ["--epsilon: expected", "got nothing"]),
    (
        f"{ONE} --epsilon -1 --error x --family KNorm",
        ["epsilon: expected", "error: expected", "'KNorm'; did you mean 'k-norm'?"],
    ),
    (f"{ONE} --epsilon 1 --family gaussian", ["gaussian does not apply to this set and budget"]),
    ("best --epsilon 1", ["expected one of --sensitivity S", "got none"]),
    ("best --sensitivity 1 --l2 1 --epsilon 1", ["got --sensitivity and --l2"]),
    ("best --sensitivity 1,,2 --epsilon 1", ["'1,,2'"]),
    ("best --sensitivity 0 --epsilon 1", ["sensitivity: expected", "got 0.0"]),
    ("best --sensitivity 1 --of 3 --epsilon 1", ["--linf 1 --of 3"]),
    ("best --l1 1 --epsilon 1", ["--of: expected the number of coordinates beside --l1"]),
    (
        "best --counts 5 --of 3 --each 0 --epsilon 1 --relation both",
        ["m: expected an integer from 1 to 3", "got 5", "each", "'both'"],
    ),
    ("best --at-most 1 --of 3 --exactly --epsilon 1", ["--exactly: expected no --exactly"]),
    ("best --at-most 1.5 --of 3 --each x --epsilon 1", ["'1.5'", "'x'"]),
    ("calibrate fliped-huber --epsilon 1 --sensitivity 1", ["did you mean 'flipped-huber'?"]),
    ("calibrate gaussian --epsilon 1 --sensitivity 1", ["delta: expected more than 0"]),
    ("calibrate gaussian --epsilon 1", ["--sensitivity: expected a positive number"]),
    ("calibrate laplace --epsilon 1 --sensitivity 1,2", ["one number", "'1,2'"]),
    ("calibrate discrete-laplace --epsilon 1 --sensitivity 1.5", ["integer", "1.5"]),
    ("profile gaussian sgima=3 --sensitivity 1", ["'sgima=3'; did you mean 'sigma'?"]),
    ("profile gaussian sigma=3 sigma=4 --sensitivity 1", ["'sigma=4'"]),
    ("profile gaussian sigma=3", ["--sensitivity: expected"]),
    ("profile gaussian sigma=3 --sensitivity 1 --delta .1 --epsilon 1", ["got both"]),
]
CONSOLES = {name(page): found for page in PAGES if (found := commands(page))}


def run(*arguments, **environment):
    variables = {**os.environ, **environment}
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env=variables, check=False
    )


def test_the_version_is_that_of_the_package():
    assert run("--version").stdout == f"dpnoise {dpnoise.__version__}\n"


@for_all("arguments", [["--version"], ["--help"], ["best", "--help"]])
def test_the_start_imports_nothing_heavy(arguments):
    code = (
        "import sys, runpy\nsys.argv[1:] = {!r}\n"
        "try:\n    runpy.run_module('dpnoise.cli', run_name='__main__')\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "print(*(set(sys.modules) & {{'numpy', 'scipy', 'rich', 'matplotlib'}}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code.format(arguments)], capture_output=True, text=True, check=True
    )
    assert not done.stderr.strip()


@for_all(
    ("words", "number", "expected"),
    [("dpnoise ca", 1, "calibrate"), ("dpnoise calibrate flip", 2, "flipped-huber")],
)
def test_completion(words, number, expected):
    done = run(_DPNOISE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(number))
    assert done.stdout.strip() == f"plain,{expected}"


@for_all(
    ("arguments", "hint"),
    [
        (["bets"], "'best'"),
        (["best", "--epsiln", "1"], "'--epsilon'"),
        (["allocate"], "Missing argument 'FILE.csv'"),
    ],
)
def test_a_mistyped_command_or_option_is_one_line(arguments, hint):
    done = CliRunner().invoke(program, arguments)
    assert done.exit_code == 2
    assert not done.stdout
    assert hint in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_terminal_gets_a_drawn_table():
    leader, follower = pty.openpty()
    command = [*COMMAND, "profile", "laplace", "beta=2", "--sensitivity", "1"]
    subprocess.run(command, stdout=follower, check=True)
    os.close(follower)
    text = os.read(leader, 2**16).decode()
    os.close(leader)
    assert "│" in text
    assert "delta at most" in text
    assert "neighbouring data sets" in text


def test_a_missing_package_is_one_message(tmp_path):
    code = (
        "import sys\nsys.modules['click'] = None\nsys.argv[1:] = ['--version']\n"
        "from dpnoise.cli.__main__ import main\nmain()"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert not done.stdout
    advice = 'pip install ".[cli]" in a checkout of dpnoise'
    assert done.stderr == f"dpnoise: click is not installed: {advice}\n"


@for_all(("words", "parts"), MISTAKES)
def test_a_mistake_is_one_message_and_no_answer(words, parts):
    if not words.startswith("profile") and "--relation" not in words:
        words += " --relation add-remove"
    done = CliRunner().invoke(program, words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("dpnoise: ")
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in parts), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "best --at-most 3 --of 12 --epsilon 1",
        "compare --l2 1 --of 2 --epsilon 1 --quick",
        "calibrate laplace --epsilon 1 --sensitivity 1",
        "allocate sensitivities.csv --noise laplace --epsilon 1",
        "release counts.csv --l1 1 --epsilon 1 --output noisy.csv --force",
    ],
)
def test_a_relation_has_no_default(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in ("sensitivities.csv", "counts.csv"):
        (tmp_path / file).write_text("1\n2\n")
    done = CliRunner().invoke(program, words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    said = "--relation: expected add-remove (one person more or less) or replace-one (one person"
    assert said in done.stderr
    for relation, sentence in RELATIONS.items():
        stated = CliRunner().invoke(program, [*words.split(), "--relation", relation])
        assert stated.exit_code == 0, stated.output
        assert sentence in stated.stdout


@for_all("words", ["best --epsilon -1 --json", "best --json --nothing"])
def test_with_json_the_message_is_an_object(words):
    done = CliRunner().invoke(program, words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert list(json.loads(done.stderr)) == ["error"]


def test_epsilon_zero_beside_a_large_delta_is_no_mistake():
    words = "calibrate gaussian --sensitivity 1 --epsilon 0 --delta 0.5 --json"
    words += " --relation replace-one"
    done = CliRunner().invoke(program, words.split())
    assert json.loads(done.stdout)["delta"] <= 0.5


def test_the_names_are_those_of_the_library():
    assert (*FAMILIES, *INTEGER_FAMILIES) == options.FAMILIES
    assert options.ERRORS == ERRORS
    assert options.METHOD_FAMILIES == METHOD_FAMILIES
    assert tuple(RELATIONS) == options.RELATIONS
    for family in options.FAMILIES:
        found = options.suggestion(family.replace("-", "_").upper(), options.FAMILIES)
        assert found == f"; did you mean {family!r}?"
        kind = {**FAMILIES, **INTEGER_FAMILIES}[family]
        assert options.suggestion(kind.__name__, options.FAMILIES) == found
    with pytest.raises(ValueError, match="'exact' or 'grid' or 'sufficient'"):
        calibrate("flipped-huber", epsilon=1.0, delta=0.1, method="none")


@pytest.mark.parametrize("page", CONSOLES)
def test_commands_print_what_the_page_says(page, tmp_path, monkeypatch):
    """In order, in one folder, with the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    for command, printed in CONSOLES[page]:
        words = shlex.split(command)
        if words[0] == "cat" and not (tmp_path / words[1]).exists():
            (tmp_path / words[1]).write_text(printed)
        if words[0] == "python":
            done = subprocess.run([sys.executable, *words[1:]], capture_output=True, check=True)
            assert done.stdout.decode() == printed
        if words[0] != "dpnoise":
            continue
        words, target = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, None)
        done = CliRunner().invoke(program, words[1:])
        if target:
            (tmp_path / target).write_bytes(done.stdout_bytes)
            assert (done.exit_code, printed) == (0, "")
            continue
        refuted = "  contradicted" in printed or "  refused: " in printed
        code = 2 if printed.startswith("dpnoise: ") else int(refuted)
        assert done.exit_code == code, done.output
        assert OutputChecker().check_output(printed, done.output, ELLIPSIS), done.output
        assert not (done.stdout and done.stderr)


def test_a_page_has_an_example_of_every_command():
    page = (ROOT / "docs" / "command-line.md").relative_to(ROOT).as_posix()
    shown = {shlex.split(command)[1] for command, _ in CONSOLES[page] if " " in command}
    assert shown >= set(program.commands)

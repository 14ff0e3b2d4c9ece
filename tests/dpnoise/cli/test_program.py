"""The command as a process: version, start, completion, terminal, missing extra."""

import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner

import dpnoise
from dpnoise.cli.program import program

COMMAND = [sys.executable, "-m", "dpnoise.cli"]


def run(*arguments, **environment):
    variables = {**os.environ, **environment}
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env=variables, check=False
    )


def test_the_version_is_that_of_the_package():
    assert run("--version").stdout == f"dpnoise {dpnoise.__version__}\n"


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["best", "--help"]])
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


@pytest.mark.parametrize(
    ("words", "number", "expected"),
    [("dpnoise ca", 1, "calibrate"), ("dpnoise calibrate flip", 2, "flipped-huber")],
)
def test_completion(words, number, expected):
    done = run(_DPNOISE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(number))
    assert done.stdout.strip() == f"plain,{expected}"


@pytest.mark.parametrize("name", ["", *program.commands])
def test_h_is_help(name):
    short, long = (CliRunner().invoke(program, [*name.split(), flag]) for flag in ("-h", "--help"))
    assert short.exit_code == long.exit_code == 0
    assert short.stdout == long.stdout
    assert "-h, --help" in short.stdout


def test_without_arguments_it_prints_its_help():
    done = CliRunner().invoke(program, [])
    assert done.exit_code == 0
    assert all(name in done.stdout for name in program.commands)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("click", ["--version"], "cli"),
        ("matplotlib", ["profile", "laplace", "beta=2", "--sensitivity=1", "--plot=x.svg"], "plot"),
    ],
)
def test_a_missing_package_is_one_message(tmp_path, package, arguments, extra):
    code = (
        f"import sys\nsys.modules[{package!r}] = None\nsys.argv[1:] = {arguments!r}\n"
        "from dpnoise.cli.__main__ import main\nmain()"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert not done.stdout
    advice = f'pip install ".[{extra}]" in a checkout of dpnoise'
    assert done.stderr == f"dpnoise: {package} is not installed: {advice}\n"

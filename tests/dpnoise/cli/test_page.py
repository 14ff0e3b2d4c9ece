"""Every example of docs/command-line.md gives what the page says; '...' stands for anything."""

import re
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpnoise.cli.program import program

PAGE = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
EXAMPLES = [
    example
    for block in BLOCKS
    for example in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command, text in EXAMPLES:
        if command.startswith("cat "):
            (tmp_path / command.removeprefix("cat ")).write_text(text)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "printed"), [e for e in EXAMPLES if e[0].startswith("dpnoise ")]
)
def test_an_example_prints_what_the_page_says(command, printed):
    done = CliRunner().invoke(program, command.split()[1:])
    assert done.exit_code == (2 if printed.startswith("dpnoise: ") else 0)
    assert OutputChecker().check_output(printed, done.output, ELLIPSIS), done.output
    assert not (done.stdout and done.stderr)


def test_the_page_has_an_example_of_every_command():
    assert {command.split()[1] for command, _ in EXAMPLES} >= set(program.commands)

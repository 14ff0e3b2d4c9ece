"""Every command on a page of the documents gives what the page says; '...' stands for anything."""

import shlex
import subprocess
import sys
from doctest import ELLIPSIS, OutputChecker

import pytest
from click.testing import CliRunner

from document_pages import PAGES, ROOT, commands, name
from dpnoise.cli.program import program

CONSOLES = {name(page): found for page in PAGES if (found := commands(page))}


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

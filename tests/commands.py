"""What commands of `dpnoise` print, where they succeed."""

import json

from click.testing import CliRunner

from dpnoise.cli.program import program


def text(words):
    """The output of a command."""
    done = CliRunner().invoke(program, words.split())
    assert done.exit_code == 0, done.output
    return done.stdout


def data(words):
    """The content of its JSON."""
    return json.loads(text(f"{words} --json"))

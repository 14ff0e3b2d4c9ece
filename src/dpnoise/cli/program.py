"""The group of all commands of `dpnoise`.

Modules of commands import the library inside their functions, so that `dpnoise --help` and
completion answer at once.
"""

from __future__ import annotations

from dpnoise._imports import imports_of
from dpnoise._version import __version__

with imports_of("cli"):
    import click

from dpnoise.cli.best import allocate, best, calibrate, compare, profile
from dpnoise.cli.checks import audit, checker, verify
from dpnoise.cli.options import Program
from dpnoise.cli.release import budget, release


@click.group(
    "dpnoise",
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def program(context: click.Context) -> None:
    """Noise for differential privacy, with certified privacy."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _command in (
    *(best, compare, calibrate, profile, allocate, release, budget, audit, verify, checker),
):
    program.add_command(_command)

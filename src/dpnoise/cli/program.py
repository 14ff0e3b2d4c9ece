"""The group of all commands, and how each of them refuses what it cannot do.

A mistake or an impossible request is one message on standard error, exit code 2 and nothing on
standard output; with `--json` the message is an object {"error": ...}. Modules of commands import
the library inside their functions, so that `dpnoise --help` and completion answer at once.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of
from dpnoise._version import __version__

with imports_of("cli"):
    import click

from dpnoise.cli.best import best, compare
from dpnoise.cli.calibrate import allocate, calibrate, profile
from dpnoise.cli.checks import audit, checker, verify
from dpnoise.cli.release import release

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

REFUSED = 2


class Program(click.Group):
    """A group whose commands end with exit code 0 or 2, or 1 where one says so (audit, verify)."""

    def main(  # type: ignore[override]  # never returns
        self,
        args: Sequence[str] | None = None,
        prog_name: str = "dpnoise",
        **extra: Any,  # noqa: ANN401
    ) -> NoReturn:
        """Exit with the code of one command."""
        given = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        try:
            code = super().main(given, prog_name, **extra)
        except click.Abort:
            _refuse("interrupted", given)
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            path = context.command_path if context else prog_name
            _refuse(f"{error.format_message()} ({path} --help)", given)
        except (ValueError, ArithmeticError, RuntimeError, ImportError, OSError) as error:
            _refuse(str(error), given)
        sys.exit(code if isinstance(code, int) else 0)


def _refuse(message: str, arguments: list[str]) -> NoReturn:
    """Exit with one message on standard error."""
    message = message.replace("exhaustive=True", "--exhaustive")
    text = json.dumps({"error": message}) if "--json" in arguments else f"dpnoise: {message}"
    click.echo(text, err=True)
    sys.exit(REFUSED)


@click.group(
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


for _command in (best, compare, calibrate, profile, allocate, release, audit, verify, checker):
    program.add_command(_command)

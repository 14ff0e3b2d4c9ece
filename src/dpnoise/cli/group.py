"""The group of a program's commands: its exit codes, and one message for what is refused.

A mistake or an impossible request is one message on standard error, exit code 2 and nothing on
standard output; with `--json` the message is an object {"error": ...}.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click
    from click.core import iter_params_for_processing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

REFUSED = 2


class Command(click.Command):
    """A command that names all of its arguments that are missing or wrong, not the first only."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remaining arguments; UsageError with the problems of all parameters."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter:
            values, _, order = self.make_parser(ctx).parse_args(given)
            problems = []
            for parameter in iter_params_for_processing(order, self.get_params(ctx)):
                try:
                    parameter.handle_parse_result(ctx, values, [])
                except click.BadParameter as error:
                    problems.append(error.format_message().removesuffix("."))
            raise click.UsageError("; ".join(problems), ctx) from None


class Program(click.Group):
    """A group whose commands end with the exit code that they return, 0 if none, or 2."""

    command_class = Command
    group_class = type
    refusals: tuple[type[Exception], ...] = (
        *(ValueError, ArithmeticError, RuntimeError, ImportError, OSError),
    )

    def main(  # type: ignore[override]  # never returns
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,  # noqa: ARG002  (the name of the group)
        **extra: Any,  # noqa: ANN401
    ) -> NoReturn:
        """Exit with the code of one command."""
        given = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        try:
            code = super().main(given, self.name, **extra)
        except click.Abort:
            self._refuse("interrupted", given)
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            path = context.command_path if context else self.name
            self._refuse(f"{error.format_message()} ({path} --help)", given)
        except self.refusals as error:
            self._refuse(str(error), given)
        sys.exit(code if isinstance(code, int) else 0)

    def _refuse(self, message: str, arguments: list[str]) -> NoReturn:
        """Exit with one message on standard error."""
        message = message.replace("exhaustive=True", "--exhaustive")
        text = (
            json.dumps({"error": message}) if "--json" in arguments else f"{self.name}: {message}"
        )
        click.echo(text, err=True)
        sys.exit(REFUSED)

"""Entry point of the command `dpnoise`, also `python -m dpnoise.cli`."""

from __future__ import annotations

import sys

from dpnoise._imports import imports_of


def main() -> None:
    """One command with the arguments of the process; one message if the extra `cli` is missing."""
    try:
        with imports_of("cli"):
            from dpnoise.cli.program import program  # noqa: PLC0415  (needs the extra)
    except ModuleNotFoundError as error:
        sys.stderr.write(f"dpnoise: {error}\n")
        sys.exit(2)
    program()


if __name__ == "__main__":
    main()

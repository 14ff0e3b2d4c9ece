"""Entry point of the command `dpnoise-papers`, also `python -m dpnoise_papers`."""

from __future__ import annotations

import sys

from dpnoise._imports import imports_of


def main() -> None:
    """One command with the arguments of the process; one message if a package is missing."""
    try:
        with imports_of("papers"):
            from dpnoise_papers.cli import program  # noqa: PLC0415  (needs the extra)
    except ModuleNotFoundError as error:
        sys.stderr.write(f"dpnoise-papers: {error}\n")
        sys.exit(2)
    program()


if __name__ == "__main__":
    main()

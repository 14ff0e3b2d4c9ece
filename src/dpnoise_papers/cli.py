"""The command `dpnoise`: data sets and config files from a shell.

Each command is one function that takes the parsed arguments and returns the exit code:
0 when all is well, 1 when something cannot be had here and now, 2 for a mistake in what
was given. Errors are one message on standard error. The core is imported inside the
commands, so that `dpnoise --help` answers at once.
"""
# ruff: noqa: PLC0415

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, UNAVAILABLE, REFUSED = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name, by default the process's.

    Returns
    -------
    int
        0 ok, 1 unavailable, 2 bad usage or refused input.
    """
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed the message
        return int(stop.code or 0)
    try:
        return arguments.command(arguments)
    except (ValueError, OSError) as error:
        return _fail(str(error), REFUSED)


def _fail(message: str, code: int) -> int:
    print(f"dpnoise: {message}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dpnoise", description="Exact noise, and the data it is tried on."
    )
    groups = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_data(groups.add_parser("data", help="the data sets of the papers"))
    config = groups.add_parser("config", help="config files").add_subparsers(
        required=True, metavar="ACTION"
    )
    check = config.add_parser("check", help="validate config files, later ones over earlier ones")
    check.add_argument("files", nargs="+", metavar="FILE")
    check.set_defaults(command=_config_check)
    return parser


def _add_data(parser: argparse.ArgumentParser) -> None:
    places = argparse.ArgumentParser(add_help=False)
    places.add_argument("--cache", default="data/raw", help="folder of downloads [%(default)s]")
    places.add_argument("--mirror", help="folder of further copies [$DPNOISE_DATA_MIRROR]")
    registry = argparse.ArgumentParser(add_help=False)
    registry.add_argument("--registry", help="registry of data sets [data/registry.yaml]")
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    show = actions.add_parser("list", parents=[registry], help="what there is")
    show.add_argument("--json", action="store_true", help="everything the registry says, as JSON")
    show.set_defaults(command=_data_list)

    fetch = actions.add_parser("fetch", parents=[places, registry], help="get and verify sets")
    fetch.add_argument("names", nargs="*", metavar="NAME")
    fetch.add_argument("--all", action="store_true", help="every set")
    fetch.add_argument("--offline", action="store_true", help="do not ask the official sources")
    fetch.set_defaults(command=_data_fetch)

    verify = actions.add_parser(
        "verify", parents=[places, registry], help="check every copy in the cache and the mirror"
    )
    verify.set_defaults(command=_data_verify)

    print_ = actions.add_parser(
        "fingerprint", parents=[registry], help="what a file says, for the registry"
    )
    print_.add_argument("files", nargs="+", metavar="FILE", help="one for each table of the set")
    print_.add_argument("--as", dest="name", required=True, metavar="NAME", help="which set it is")
    print_.set_defaults(command=_data_fingerprint)


def _data_list(arguments: argparse.Namespace) -> int:
    from dpnoise_papers.data.registry import read_registry

    sets = read_registry(arguments.registry)["sets"]
    if arguments.json:
        print(json.dumps([{"name": name, **entry} for name, entry in sets.items()], indent=2))
        return OK
    for name, entry in sets.items():
        rows, columns = entry["shape"]
        print(f"{name:<15} {entry['task']:<15} {rows:>6} x {columns:<3} {entry['title']}")
    return OK


def _data_fetch(arguments: argparse.Namespace) -> int:
    from dpnoise_papers.data.dataset import DatasetUnavailable
    from dpnoise_papers.data.fetch import PROBE_TIMEOUT
    from dpnoise_papers.data.places import answering
    from dpnoise_papers.data.registry import known_set, names
    from dpnoise_papers.data.sets import load

    if bool(arguments.names) == arguments.all:
        raise ValueError("data fetch: expected names of data sets or --all, one of the two")
    wanted = names(arguments.registry) if arguments.all else arguments.names
    tables = [known_set(name, arguments.registry)[1] for name in wanted]
    if not arguments.offline:  # ask all hosts at once: without network this is one wait
        entries = [entry for group in tables for entry in group.values()]
        answering((s["url"] for e in entries for s in e["sources"]), timeout=PROBE_TIMEOUT)
    missing = []
    for name in wanted:
        try:
            data = load(
                name,
                cache=arguments.cache,
                mirror=arguments.mirror,
                offline=arguments.offline,
                registry=arguments.registry,
            )
        except DatasetUnavailable as error:
            missing.append(str(error))
        else:
            rows, columns = data.features.shape
            print(f"{name:<15} {rows:>6} x {columns:<3} from {data.source}")
    return _fail("\n".join(missing), UNAVAILABLE) if missing else OK


def _data_verify(arguments: argparse.Namespace) -> int:
    from dpnoise_papers.data.fetch import read_verified
    from dpnoise_papers.data.places import in_folder, mirror_folder
    from dpnoise_papers.data.registry import read_registry

    folders = [Path(arguments.cache), mirror_folder(arguments.mirror)]
    absent, bad = [], []
    for name, entry in read_registry(arguments.registry)["tables"].items():
        paths = [p for folder in folders if folder for p in in_folder(name, entry["files"], folder)]
        for path in paths:
            try:
                read_verified(path, entry)
            except (ValueError, OSError) as error:
                bad.append(f"{path}: not table {name!r}: {error}")
            else:
                print(f"{name:<20} {path}")
        if not paths:
            absent.append(name)
    if bad:
        return _fail("\n".join(bad), REFUSED)
    if absent:
        return _fail(f"no copy in the cache or the mirror of: {', '.join(absent)}", UNAVAILABLE)
    return OK


def _data_fingerprint(arguments: argparse.Namespace) -> int:
    import numpy as np

    from dpnoise_papers.data.registry import known_set
    from dpnoise_papers.data.sets import RECIPES
    from dpnoise_papers.data.tables import column_digests, fingerprint, read_table

    entry, wanted = known_set(arguments.name, arguments.registry)
    if len(arguments.files) != len(wanted):
        expected = f"{len(wanted)} file(s), for {', '.join(wanted) or 'no table'}"
        raise ValueError(f"data fingerprint: expected {expected}, got {len(arguments.files)}")
    tables = []
    for file, (name, details) in zip(arguments.files, wanted.items(), strict=True):
        try:
            table = read_table(Path(file).read_bytes(), details)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        tables.append(table)
        print(f"table {name}\n  rows: {len(table.values)}\n  columns:")
        for column, digest in column_digests(table).items():
            print(f'    {column}: "{digest}"')
        print(f'  fingerprint: "{fingerprint(table.columns, table.values)}"')
    features, target, _ = RECIPES[entry["recipe"]](*tables)
    X = np.column_stack(list(features.values()))
    found = fingerprint((*features, "target"), np.column_stack([X, target]))
    print(f'set {arguments.name}\n  shape: {list(X.shape)}\n  fingerprint: "{found}"')
    return OK


def _config_check(arguments: argparse.Namespace) -> int:
    from dpnoise_papers.config import load

    load(*arguments.files)
    print(f"{' + '.join(arguments.files)}: valid")
    return OK

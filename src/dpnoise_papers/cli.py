"""The command `dpnoise-papers`: data sets, config files, results and whole runs from a shell.

Each command is one function that takes the parsed arguments and returns the exit code:
0 when all is well, 1 when something cannot be had here and now or is not the same, 2 for a
mistake in what was given. Errors are one message on standard error. What a command needs is
imported inside it, so that `dpnoise-papers --help` answers at once.
"""
# ruff: noqa: PLC0415

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise._imports import imports_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise_papers.steps import Run

PROGRAM = "dpnoise-papers"
OK, UNAVAILABLE, DIFFERENT, REFUSED = 0, 1, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code of one command, whose arguments are by default the process's."""
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed the message
        return int(stop.code or 0)
    try:
        with imports_of("papers"):
            code: int = arguments.command(arguments)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        return _fail(str(error), REFUSED)
    return code


def _fail(message: str, code: int) -> int:
    """Print a message on standard error and return the exit code."""
    print(f"{PROGRAM}: {message}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    """Parser of all commands."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="The papers recomputed: their data, settings and results."
    )
    groups = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_data(groups.add_parser("data", help="the data sets of the papers"))
    config = groups.add_parser("config", help="config files").add_subparsers(
        required=True, metavar="ACTION"
    )
    check = config.add_parser("check", help="validate config files, later ones over earlier ones")
    check.add_argument("files", nargs="+", metavar="FILE")
    check.set_defaults(command=_config_check)
    schema = config.add_parser("schema", help="JSON schema of config files, for editors")
    schema.set_defaults(command=_config_schema)
    same = groups.add_parser("compare", help="two folders of results, file by file")
    same.add_argument("old", metavar="OLD")
    same.add_argument("new", metavar="NEW")
    same.add_argument(
        "--ignore", action="append", default=[], metavar="PATTERN", help="files not to compare"
    )
    same.set_defaults(command=_compare)
    add_verify(groups.add_parser("verify", help="claims recomputed independently"))
    add_outcome(groups.add_parser("outcome", help="a run beside the recorded one"))
    visit = groups.add_parser("gpu-visit", help="training of Table IV for some minutes on a GPU")
    visit.add_argument("--minutes", type=float, required=True, help="how long it may last")
    visit.add_argument("files", nargs="*", metavar="FILE", help="config files over config.yaml")
    visit.set_defaults(command=_gpu_visit)
    add_standards(
        groups.add_parser("codecheck", help="codecheck.yml from the items"),
        groups.add_parser("crate", help="RO-Crate of a run, from its provenance.json"),
    )
    return parser


def _add_data(parser: argparse.ArgumentParser) -> None:
    """Add the commands on data sets."""
    places = argparse.ArgumentParser(add_help=False)
    places.add_argument("--cache", default="data/raw", help="folder of downloads [%(default)s]")
    places.add_argument("--mirror", help="folder of further copies [$DPNOISE_DATA_MIRROR]")
    official = argparse.ArgumentParser(add_help=False)
    official.add_argument("--offline", action="store_true", help="do not ask official addresses")
    official.add_argument(
        "--source", choices=("nearest", "official"), default="nearest",
        help="official: neither the mirror nor the shipped copies [%(default)s]",
    )  # fmt: skip
    registry = argparse.ArgumentParser(add_help=False)
    registry.add_argument("--registry", help="registry of data sets [data/registry.yaml]")
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    show = actions.add_parser("list", parents=[registry], help="what there is")
    show.add_argument("--json", action="store_true", help="everything the registry says, as JSON")
    show.set_defaults(command=_data_list)

    fetch = actions.add_parser(
        "fetch", parents=[places, official, registry], help="get and verify sets"
    )
    fetch.add_argument("names", nargs="*", metavar="NAME")
    fetch.add_argument("--all", action="store_true", help="every set")
    fetch.set_defaults(command=_data_fetch)

    verify = actions.add_parser(
        "verify", parents=[places, registry], help="check every local and shipped copy"
    )
    verify.set_defaults(command=_data_verify)

    compare = actions.add_parser(
        "compare-official", parents=[registry], help="shipped copies against official addresses"
    )
    compare.add_argument("names", nargs="*", metavar="NAME", help="by default every set")
    compare.set_defaults(command=_data_compare_official)

    images = actions.add_parser(
        "images", parents=[places], help="get and verify labelled images (CIFAR-10)"
    )
    images.add_argument("name", metavar="NAME")
    images.add_argument("--registry", help="registry of images [data/images.yaml]")
    images.set_defaults(command=_data_images)

    count = actions.add_parser(
        "count-trips", parents=[places], help="tables of Manhattan's counts, made of single trips"
    )
    count.add_argument("folder", metavar="FOLDER", help="where the two tables are written")
    count.add_argument("--registry", help="registry of cities [data/cities.yaml]")
    count.set_defaults(command=_data_count_trips)

    add = actions.add_parser("add", help="a data set of one's own, with a config file for it")
    add.add_argument("file", metavar="FILE", help="delimited text with a header")
    add.add_argument("--as", dest="name", required=True, metavar="NAME", help="its name")
    add.add_argument("--target", required=True, metavar="COLUMN", help="what to predict")
    add.add_argument("--cache", default="data/raw", help="folder of the copy [%(default)s]")
    add.add_argument("--registry", default="data/registry.yaml", help="beside it [%(default)s]")
    add.add_argument("--config", default="own.yaml", help="config file to write [%(default)s]")
    add.set_defaults(command=_data_add)

    print_ = actions.add_parser(
        "fingerprint", parents=[registry], help="what a file says, in the words of the registry"
    )
    print_.add_argument("files", nargs="+", metavar="FILE", help="one for each table of the set")
    print_.add_argument("--as", dest="name", required=True, metavar="NAME", help="which set it is")
    print_.add_argument("--target", metavar="COLUMN", help="of a new set, what to predict [last]")
    print_.set_defaults(command=_data_fingerprint)


def _data_list(arguments: argparse.Namespace) -> int:
    """List the sets of the registry."""
    from dpnoise_papers.data.registry import read_registry

    sets = read_registry(arguments.registry).sets
    if arguments.json:
        listed = [{"name": name, **e.model_dump(exclude_defaults=True)} for name, e in sets.items()]
        print(json.dumps(listed, indent=2))
        return OK
    for name, entry in sets.items():
        rows, columns = entry.shape
        print(f"{name:<15} {entry.task:<15} {rows:>6} x {columns:<3} {entry.title}")
    return OK


def _data_fetch(arguments: argparse.Namespace) -> int:
    """Get and verify sets."""
    from dpnoise_papers.data.copies import check_mirror
    from dpnoise_papers.data.registry import read_registry
    from dpnoise_papers.data.sets import DatasetUnavailable, load

    check_mirror(arguments.mirror)
    if bool(arguments.names) == arguments.all:
        raise ValueError("data fetch: expected names of data sets or --all, one of the two")
    registry = read_registry(arguments.registry)
    wanted = list(registry.sets) if arguments.all else arguments.names
    for name in wanted:
        registry.find(name)
    missing = []
    for name in wanted:
        try:
            data = load(
                name,
                cache=arguments.cache,
                mirror=arguments.mirror,
                offline=arguments.offline,
                source=arguments.source,
                registry=arguments.registry,
            )
        except DatasetUnavailable as error:
            missing.append(str(error))
        else:
            rows, columns = data.features.shape
            print(f"{name:<15} {rows:>6} x {columns:<3} from {data.source}")
            for reason in data.refused:
                print(f"{PROGRAM}: refused: {reason}", file=sys.stderr)
    return _fail("\n".join(missing), UNAVAILABLE) if missing else OK


def _data_verify(arguments: argparse.Namespace) -> int:
    """Check every copy in the cache, the mirror and the repository."""
    from dpnoise_papers.data.copies import check_mirror, copies_in, places_of
    from dpnoise_papers.data.fetch import read_verified
    from dpnoise_papers.data.registry import read_cities, read_registry

    check_mirror(arguments.mirror)
    places = places_of(arguments.registry, cache=arguments.cache, mirror=arguments.mirror)
    folders = [place.folder for place in places.folders]
    tables = dict(read_registry(arguments.registry).tables)
    if arguments.registry is None:
        tables |= read_cities().tables
    absent, bad = [], []
    for name, entry in tables.items():
        paths = [p for folder in folders if folder for p in copies_in(folder, name, entry.files)]
        for path in paths:
            try:
                read_verified(path, entry)
            except (ValueError, OSError) as error:
                bad.append(f"{path}: not table {name!r}: {error}")
            else:
                print(f"{name:<20} {path}")
        if not paths and not entry.replaced_by:
            absent.append(name)
    if bad:
        return _fail("\n".join(bad), REFUSED)
    if absent:
        return _fail(f"no local or shipped copy of: {', '.join(absent)}", UNAVAILABLE)
    return OK


def _data_compare_official(arguments: argparse.Namespace) -> int:
    """Compare the shipped copies with what the official addresses serve."""
    from dpnoise_papers.data.fetch import compare_official
    from dpnoise_papers.data.registry import read_cities, read_registry

    registry = read_registry(arguments.registry)
    sets = {name: registry.find(name)[1] for name in registry.sets}
    if arguments.registry is None:
        cities = read_cities()
        sets |= {name: cities.find(name)[1] for name in cities.sets}
    unknown = [name for name in arguments.names if name not in sets]
    if unknown:
        raise ValueError(f"data set: expected some of {', '.join(sets)}, got {', '.join(unknown)}")
    chosen = {name: sets[name] for name in arguments.names or sets}
    code = OK
    for name, words, same in compare_official(chosen, arguments.registry):
        print(f"{name:<15} {words}", flush=True)
        code = code if same else DIFFERENT
    return code


def _data_images(arguments: argparse.Namespace) -> int:
    """Get and verify labelled images, or say what to get and where to put it."""
    from dpnoise_papers.data.copies import check_mirror
    from dpnoise_papers.data.images import load_images
    from dpnoise_papers.data.registry import find_images
    from dpnoise_papers.data.sets import DatasetUnavailable

    check_mirror(arguments.mirror)
    where = {"cache": arguments.cache, "mirror": arguments.mirror}
    entry = find_images(arguments.name, arguments.registry)
    try:
        images, source = load_images(arguments.name, registry=arguments.registry, **where)
    except DatasetUnavailable as error:
        copy, wanted = next(iter(entry.copies.items()))
        return _fail(
            f"{entry.title} cannot be had from here: download {wanted.url} ({wanted.bytes} bytes, "
            f"sha256 {wanted.sha256}) and put it into {arguments.cache} as {copy}.tar.gz "
            f"({error.reason})",
            UNAVAILABLE,
        )
    print(f"{entry.title} from {source}{': ' + images.note if images.note else ''}")
    return OK


def _data_count_trips(arguments: argparse.Namespace) -> int:
    """Write the tables of Manhattan's counts that replace single trips."""
    from dpnoise_papers.data.city import write_counts
    from dpnoise_papers.data.copies import check_mirror
    from dpnoise_papers.data.sets import DatasetUnavailable

    check_mirror(arguments.mirror)
    where = {"cache": arguments.cache, "mirror": arguments.mirror, "offline": True}
    try:
        for path in write_counts(arguments.folder, registry=arguments.registry, **where):
            print(path)
    except DatasetUnavailable as error:
        return _fail(str(error), UNAVAILABLE)
    return OK


def _data_add(arguments: argparse.Namespace) -> int:
    """Take a data set of one's own into the pipeline."""
    from dpnoise_papers.data.describe import add

    places = {name: getattr(arguments, name) for name in ("cache", "registry", "config")}
    content = _content(arguments.file)
    print("\n".join(add(arguments.file, content, arguments.name, arguments.target, places)))
    return OK


def _data_fingerprint(arguments: argparse.Namespace) -> int:
    """Print what files say, in the words of the registry."""
    from dpnoise_papers.data.describe import describe_known, describe_new
    from dpnoise_papers.data.registry import read_registry

    registry = read_registry(arguments.registry)
    contents = {file: _content(file) for file in arguments.files}
    if arguments.name in registry.sets:
        print(describe_known(contents, *registry.find(arguments.name)))
    else:
        print(describe_new(contents, arguments.name, arguments.target))
    return OK


def _content(file: str) -> bytes:
    """Content of a file that a table may have."""
    from dpnoise_papers.data.copies import read_file

    try:
        return read_file(Path(file))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _config_check(arguments: argparse.Namespace) -> int:
    """Check config files."""
    from dpnoise_papers.config import load

    load(*arguments.files)
    print(f"{' + '.join(arguments.files)}: valid")
    return OK


def _config_schema(_: argparse.Namespace) -> int:
    """Print the JSON schema of config files."""
    from dpnoise_papers.config import json_schema

    print(json.dumps(json_schema(), indent=2))
    return OK


def _gpu_visit(arguments: argparse.Namespace) -> int:
    """Train Table IV of inid-2024 for some minutes."""
    began = time.monotonic()  # before PyTorch is imported
    from dpnoise_papers.data.sets import DatasetUnavailable
    from dpnoise_papers.inid_2024.deep.training import NoDeviceError
    from dpnoise_papers.inid_2024.table_4.visit import gpu_visit

    try:
        return gpu_visit(arguments.minutes, arguments.files, began, partial(print, flush=True))
    except (DatasetUnavailable, NoDeviceError) as error:
        return _fail(str(error), UNAVAILABLE)


def _compare(arguments: argparse.Namespace) -> int:
    """Compare two folders of results."""
    from dpnoise_papers.run.compare import compare

    found = compare(arguments.old, arguments.new, arguments.ignore)
    for name, differences in found.differing.items():
        for words in differences:
            print(f"{name}: {words}")
    counts = [len(part) for part in found]
    same, differing, ignored = counts
    print(f"{sum(counts)} files: {same} with the same bytes, {differing} not, {ignored} ignored")
    return DIFFERENT if found.differing else OK


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add the options of `verify`."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="config files over config.yaml")
    parser.add_argument("--folder", default="", help="folder of the run [that of the config]")
    parser.add_argument("--share", type=_share, default=0.1, help="of the claims [%(default)s]")
    parser.add_argument("--seed", type=int, help="of the draw [random, and printed]")
    parser.add_argument("--cores", type=int, default=2, help="processes [%(default)s]")
    parser.add_argument(
        "--mutate",
        action="store_true",
        help="change each claim and its cells: verdicts must change",
    )
    parser.set_defaults(command=_verify)


def add_outcome(parser: argparse.ArgumentParser) -> None:
    """Add the options of `outcome`."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="config files over config.yaml")
    parser.add_argument("--folder", default="", help="folder of the run [that of the papers]")
    parser.set_defaults(command=_outcome)


def _share(text: str) -> float:
    """Share of the claims, above 0 and at most 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"expected a number above 0 and up to 1, got {text!r}")
    return value


def _verify(arguments: argparse.Namespace) -> int:
    """Recompute a random part of the claims; 1 where a cell disagrees or nothing was recomputed.

    With --mutate change the claims and their cells instead; 1 where a verdict stays without reason.
    """
    seed = int(time.time()) % 2**32 if arguments.seed is None else arguments.seed
    if arguments.mutate:
        from dpnoise_papers.verify.controls import mutate

        outcome = mutate(*arguments.files, folder=arguments.folder, seed=seed)
        print("\n".join(outcome.lines()))
        return int(bool(outcome.wrong))
    from dpnoise_papers.verify.run import verify

    report = verify(
        *arguments.files,
        folder=arguments.folder,
        share=arguments.share,
        seed=seed,
        cores=arguments.cores,
    )
    from dpnoise_papers.run.provenance import differing

    run = _run(arguments)
    other = differing(run.results, run.told())
    print("\n".join([*other, *report.lines()]))
    return int(report.fails or bool(other))


def _outcome(arguments: argparse.Namespace) -> int:
    """Say what came out of a run; 1 where data are missing or a file is not what was made."""
    from dpnoise_papers.run.outcome import outcome

    found = outcome(_run(arguments))
    print("\n".join(found.lines))
    return found.code


def _run(arguments: argparse.Namespace) -> Run:
    """Run by its config files and its folder."""
    from dpnoise_papers.steps import Run

    return Run.of(
        *arguments.files, overrides={"folder": arguments.folder} if arguments.folder else None
    )


def add_standards(codecheck: argparse.ArgumentParser, crate: argparse.ArgumentParser) -> None:
    """Add the options of `codecheck` and `crate`."""
    codecheck.add_argument("document", metavar="FILE", help="to write")
    codecheck.set_defaults(command=_codecheck)
    crate.add_argument("files", nargs="*", metavar="FILE", help="config files over config.yaml")
    crate.add_argument("--folder", default="", help="folder of the run [that of the config]")
    crate.set_defaults(command=_crate)


def _codecheck(arguments: argparse.Namespace) -> int:
    """Write the manifest of CODECHECK."""
    from dpnoise_papers.item import papers
    from dpnoise_papers.result_files import write_text
    from dpnoise_papers.review.standards import codecheck

    write_text(codecheck(papers()), arguments.document)
    return 0


def _crate(arguments: argparse.Namespace) -> int:
    """Write the RO-Crate of a run."""
    from dpnoise_papers.config import load
    from dpnoise_papers.review.standards import write_crate

    overrides = {"folder": arguments.folder} if arguments.folder else None
    print(write_crate(load("config.yaml", *arguments.files, overrides=overrides)))
    return 0

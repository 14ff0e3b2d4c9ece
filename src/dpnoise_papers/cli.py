"""The command `dpnoise-papers`: data sets, config files, results and whole runs from a shell.

Each command is one function that returns its exit code: 0 when all is well, 1 when something
cannot be had here and now or is not the same, 2 for a mistake in what was given. What a command
needs is imported inside it, so that `dpnoise-papers --help` answers at once.
"""
# ruff: noqa: PLC0415

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

PROGRAM = "dpnoise-papers"
try:
    with imports_of("papers"):
        import click

        from dpnoise.cli.options import Program
except ModuleNotFoundError as missing:  # only the command imports this module
    sys.stderr.write(f"{PROGRAM}: {missing}\n")
    raise SystemExit(2) from None

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise_papers.steps import Run

OK, UNAVAILABLE, DIFFERENT = 0, 1, 1


class Papers(Program):
    """The group of all commands, whose packages the extra `papers` brings."""

    refusals = (ValueError, OSError, ModuleNotFoundError)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        """Exit code of one command."""
        with imports_of("papers"):
            return super().invoke(ctx)


@click.group(
    PROGRAM, cls=Papers, no_args_is_help=False,
    context_settings={"show_default": True, "help_option_names": ["-h", "--help"]},
)  # fmt: skip
def program() -> None:
    """The papers recomputed: their data, settings and results."""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code of one command, whose arguments are by default the process's."""
    try:
        program.main(argv)
    except SystemExit as stop:
        return int(stop.code or 0)


@program.group(no_args_is_help=False)
def data() -> None:
    """The data sets of the papers."""


@program.group(no_args_is_help=False)
def config() -> None:
    """Config files."""


_registry = click.option("--registry", help="Of data sets.  [data/registry.yaml]")
_names = click.argument("names", nargs=-1, metavar="[NAME]...")
_over = click.argument("files", nargs=-1, metavar="[FILE]...")  # config files over config.yaml
_folder = click.option("--folder", help="Of the run, by default that of the config.")


def _fail(message: str, code: int) -> int:
    """Print a message on standard error and return the exit code."""
    click.echo(f"{PROGRAM}: {message}", err=True)
    return code


@data.command("list")
@_registry
def data_list(registry: str | None) -> int:
    """What there is."""
    from dpnoise_papers.data.registry import read_registry

    for name, entry in read_registry(registry).sets.items():
        rows, columns = entry.shape
        print(f"{name:<15} {entry.task:<15} {rows:>6} x {columns:<3} {entry.title}")
    return OK


@data.command("fetch")
@_names
@click.option("--all", "every", is_flag=True, help="Every set.")
@click.option("--cache", default="data/raw", help="Folder of downloads.")
@click.option("--mirror", help="Folder of further copies.  [$DPNOISE_DATA_MIRROR]")
@click.option("--offline", is_flag=True, help="Do not ask official addresses.")
@click.option(
    "--source",
    type=click.Choice(["nearest", "official"]),
    default="nearest",
    help="official: neither the mirror nor the shipped copies.",
)
@_registry
def data_fetch(names: tuple[str, ...], *, every: bool, **where: Any) -> int:  # noqa: ANN401
    """Get and verify sets, or cifar10."""
    from dpnoise_papers.data.copies import check_mirror
    from dpnoise_papers.data.images import load_images
    from dpnoise_papers.data.registry import read_images_registry, read_registry
    from dpnoise_papers.data.sets import DatasetUnavailable, load

    check_mirror(where["mirror"])
    if bool(names) == every:
        raise ValueError("data fetch: expected names of data sets or --all, one of the two")
    registry, images, missing = read_registry(where["registry"]), read_images_registry(), []
    wanted = list(registry.sets) if every else names
    for name in wanted:
        if name not in images:
            registry.find(name)
    for name in wanted:
        try:
            if name in images:
                found, source = load_images(name, **where | {"registry": None})
                print(f"{name:<15} from {source}{': ' + found.note if found.note else ''}")
                continue
            read = load(name, **where)
        except DatasetUnavailable as error:
            missing.append(str(error))
        else:
            rows, columns = read.features.shape
            print(f"{name:<15} {rows:>6} x {columns:<3} from {read.source}")
            for reason in read.refused:
                print(f"{PROGRAM}: refused: {reason}", file=sys.stderr)
    return _fail("\n".join(missing), UNAVAILABLE) if missing else OK


@data.command("add")
@click.argument("file")
@click.option("--as", "name", required=True, metavar="NAME", help="Its name.")
@click.option("--target", required=True, metavar="COLUMN", help="What to predict.")
@click.option("--cache", default="data/raw", help="Folder of the copy.")
@click.option("--registry", default="data/registry.yaml", help="Its own will lie beside it.")
@click.option("--config", default="own.yaml", help="Config file to write.")
def data_add(file: str, name: str, target: str, **places: str) -> int:
    """Take a data set of one's own, delimited text with a header, into the pipeline."""
    from dpnoise_papers.data.sets import add

    print("\n".join(add(file, name, target, places)))
    return OK


@config.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def config_check(files: tuple[str, ...]) -> int:
    """Validate config files: config.yaml first, then those that lie over it."""
    from dpnoise_papers.config import load

    load(*files)
    print(f"{' + '.join(files)}: valid")
    return OK


@program.command("gpu-visit")
@_over
@click.option("--minutes", type=float, required=True, help="How long it may last.")
def gpu_visit(files: tuple[str, ...], minutes: float) -> int:
    """Train Table IV of inid-2024 for some minutes on a GPU."""
    began = time.monotonic()  # before PyTorch is imported
    from dpnoise_papers.data.sets import DatasetUnavailable
    from dpnoise_papers.inid_2024.deep.cells import gpu_visit as train
    from dpnoise_papers.inid_2024.deep.training import NoDeviceError

    try:
        return train(minutes, files, began, lambda *words: print(*words, flush=True))
    except (DatasetUnavailable, NoDeviceError) as error:
        return _fail(str(error), UNAVAILABLE)


@program.command("compare")
@click.argument("old")
@click.argument("new")
@click.option("--ignore", multiple=True, metavar="PATTERN", help="Files not to compare.")
def compare(old: str, new: str, ignore: tuple[str, ...]) -> int:
    """Compare two folders of results, file by file."""
    from dpnoise_papers.review.run import compare as find

    found = find(old, new, ignore)
    for name, differences in found.differing.items():
        for words in differences:
            print(f"{name}: {words}")
    counts = [len(part) for part in found]
    same, differing, ignored = counts
    print(f"{sum(counts)} files: {same} with the same bytes, {differing} not, {ignored} ignored")
    return DIFFERENT if found.differing else OK


@program.command("verify")
@_over
@_folder
@click.option(
    "--share", type=click.FloatRange(0, 1, min_open=True), default=0.1, help="Of the claims."
)
@click.option("--seed", type=int, help="Of the draw.  [random, and printed]")
@click.option("--cores", type=int, default=2, help="Number of processes.")
@click.option(
    "--mutate", is_flag=True, help="Change the cells of each claim: verdicts must change."
)
def verify(
    files: tuple[str, ...],
    folder: str | None,
    *,
    share: float,
    seed: int | None,
    cores: int,
    mutate: bool,
) -> int:
    """Recompute a random part of the claims; 1 where a cell disagrees or nothing was recomputed.

    With --mutate change the cells behind them instead; 1 where a verdict stays without reason.
    """
    seed = int(time.time()) % 2**32 if seed is None else seed
    if mutate:
        from dpnoise_papers.verify.controls import mutate as change

        outcome = change(*files, folder=folder or "", seed=seed)
        print("\n".join(outcome.lines()))
        return int(bool(outcome.wrong))
    from dpnoise_papers.review.run import differing
    from dpnoise_papers.verify.run import verify as recompute

    report = recompute(*files, folder=folder or "", share=share, seed=seed, cores=cores)
    run = _run(files, folder)
    other = differing(run.results, run.told())
    print("\n".join([*other, *report.lines()]))
    return int(report.fails or bool(other))


@program.command("outcome")
@_over
@_folder
def outcome(files: tuple[str, ...], folder: str | None) -> int:
    """Say what came out of a run; 1 where data are missing or a file is not what was made."""
    from dpnoise_papers.review.run import outcome as find

    found = find(_run(files, folder))
    print("\n".join(found.lines))
    return found.code


def _run(files: Sequence[str], folder: str | None) -> Run:
    """Run by its config files and its folder."""
    from dpnoise_papers.steps import Run

    return Run.of(*files, overrides={"folder": folder} if folder else None)


@program.command("codecheck")
@click.argument("document", metavar="FILE")
def codecheck(document: str) -> int:
    """Write codecheck.yml, the manifest of CODECHECK, from the items."""
    from dpnoise_papers.item import papers
    from dpnoise_papers.result_files import write_text
    from dpnoise_papers.review.standards import codecheck as text

    write_text(text(papers()), document)
    return OK


@program.command("crate")
@_over
@_folder
def crate(files: tuple[str, ...], folder: str | None) -> int:
    """Write the RO-Crate of a run, from its provenance.json."""
    from dpnoise_papers.config import load
    from dpnoise_papers.review.standards import write_crate

    print(
        write_crate(load("config.yaml", *files, overrides={"folder": folder} if folder else None))
    )
    return OK

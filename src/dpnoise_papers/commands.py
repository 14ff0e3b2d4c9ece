"""The commands on a whole run: `submissions`, `verify`, `outcome` and others."""
# ruff: noqa: PLC0415, T201

from __future__ import annotations

import argparse
import time
from pathlib import Path


def add_submissions(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command on submissions."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="config files over config.yaml")
    parser.add_argument("--nodes", type=_whole, nargs="+", default=[1, 2, 4, 8], metavar="N")
    parser.add_argument("--cores", type=_whole, default=8, help="of each node [%(default)s]")
    parser.add_argument(
        "--measured", metavar="FOLDER", help="write benchmarks/seconds.csv from a run's benchmarks"
    )
    parser.set_defaults(command=_submissions)


def _whole(text: str) -> int:
    """Whole number above 0 of an option."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {text!r}")
    return int(text)


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
    parser.add_argument("--folder", default="", help="folder of the run [that of the papers]")
    parser.set_defaults(command=_outcome)


def add_costs(parser: argparse.ArgumentParser) -> None:
    """Add the options of `costs`."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("document", metavar="FILE", nargs="?", help="whose table is written anew")
    what.add_argument("--calibrate", action="store_true", help="what a run costs on this machine")
    what.add_argument("--record", action="store_true", help="this machine as the one measured on")
    parser.add_argument("--benchmarks", default="logs/benchmarks", help="of a run [%(default)s]")
    parser.set_defaults(command=_costs)


def _share(text: str) -> float:
    """Share of the claims, above 0 and at most 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"expected a number above 0 and up to 1, got {text!r}")
    return value


def _submissions(arguments: argparse.Namespace) -> int:
    """Show which jobs share a submission, and the wall time of a run."""
    from dpnoise_papers.cluster.costs import measured, write_measured
    from dpnoise_papers.cluster.submissions import jobs, submissions
    from dpnoise_papers.cluster.wall_time import wall_time
    from dpnoise_papers.config import load
    from dpnoise_papers.papers import papers

    config = load("config.yaml", *arguments.files)
    if arguments.measured:
        points = {job.name: job.points for job in jobs(config, papers(), {})}
        print(f"{write_measured(arguments.measured, points)} jobs in benchmarks/seconds.csv")
    planned = submissions(config, papers(), measured())
    for one in planned:
        longest = max(one.jobs, key=lambda job: job.core_seconds)
        what = f"{len(one.jobs):>3} jobs {one.core_seconds:>9.0f} core-s"
        print(f"{one.name}  wave {one.wave}  {what}, most of it {longest.name}")
    count = sum(len(one.jobs) for one in planned)
    print(f"{count} jobs in {len(planned)} submissions, and one that collects their results")
    for nodes in arguments.nodes:
        minutes = wall_time(planned, nodes, arguments.cores) / 60
        print(f"{nodes:>4} nodes of {arguments.cores} cores: {minutes:.1f} minutes")
    return 0


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
    print("\n".join(report.lines()))
    return int(report.fails)


def _outcome(arguments: argparse.Namespace) -> int:
    """Say what came out of a run; 1 where a copy in data/shipped was refused."""
    from dpnoise_papers.run.outcome import outcome

    found = outcome(Path(arguments.folder) / "results")
    print("\n".join(found.lines))
    return found.code


def _costs(arguments: argparse.Namespace) -> int:
    """Write the table of costs of a document anew, or say what a run costs on this machine."""
    from dpnoise_papers.cluster.calibration import compared, record
    from dpnoise_papers.config import load
    from dpnoise_papers.papers import papers
    from dpnoise_papers.review.making import write_costs

    if arguments.calibrate or arguments.record:
        print(compared() if arguments.calibrate else record())
        return 0
    count = write_costs(arguments.document, arguments.benchmarks, load("config.yaml"), papers())
    print(f"{count} items in {arguments.document}")
    return 0


def add_standards(codecheck: argparse.ArgumentParser, crate: argparse.ArgumentParser) -> None:
    """Add the options of `codecheck` and `crate`."""
    codecheck.add_argument("document", metavar="FILE", help="to write")
    codecheck.set_defaults(command=_codecheck)
    crate.add_argument("files", nargs="*", metavar="FILE", help="config files over config.yaml")
    crate.add_argument("--folder", default="", help="folder of the run [that of the config]")
    crate.set_defaults(command=_crate)


def _codecheck(arguments: argparse.Namespace) -> int:
    """Write the manifest of CODECHECK."""
    from dpnoise_papers.papers import papers
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

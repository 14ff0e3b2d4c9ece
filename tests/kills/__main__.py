"""Command line of the kill test: `python -m kills --kills 24 --seed 1`, see `make kills`."""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

import yaml

from kills.runner import run
from pipeline_copy import ROOT, copy_into


def main():
    parser = argparse.ArgumentParser(prog="kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=24, help="how many (24)")
    parser.add_argument("--seed", type=int, help="default: the seed of config.yaml")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what it started ends with it
    seed = options.seed
    if seed is None:
        seed = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["seed"]
    with tempfile.TemporaryDirectory(prefix="dpnoise-kills-") as folder:
        report = run(
            copy_into(Path(folder)),
            seed=seed,
            kills=options.kills,
            tell=lambda line: print(line, flush=True),  # noqa: T201
        )
    for line in report.wrong:
        print(f"wrong: {line}")  # noqa: T201
    kinds = ", ".join(f"{count} of {way}" for way, count in report.kills.items())
    made = sum(report.kills.values())
    good = made >= options.kills and not report.wrong
    words = "all with the same bytes" if good else "NOT as they should be"
    print(f"{made} kills ({kinds}), {report.unlocked} locks removed, seed {seed}: "  # noqa: T201
          f"{report.files} files, {words}")  # fmt: skip
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

"""Command line of the fuzzer: `python -m fuzz --seconds 60 --seed 1`, see `make fuzz`."""

import argparse
import math
import sys
from pathlib import Path

import yaml
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from fuzz import CHECKS
from fuzz.runner import run, tell

_CONFIG = Path(__file__).parents[2] / "config.yaml"


def main():
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument(
        "--seconds", type=float, help="how long to run (60, without end beside --sets)"
    )
    parser.add_argument(
        "--sets", type=float, default=math.inf, help="stop after so many parameter sets"
    )
    parser.add_argument("--seed", type=int, help="default: the seed of config.yaml")
    parser.add_argument("--only", nargs="+", choices=sorted(CHECKS), help="some checks only")
    options = parser.parse_args()
    seconds = options.seconds
    if seconds is None:
        seconds = 60.0 if options.sets == math.inf else math.inf
    seed = options.seed
    if seed is None:
        seed = yaml.safe_load(_CONFIG.read_text(encoding="utf-8"))["seed"]
    checks = {name: CHECKS[name] for name in options.only or CHECKS}
    total = None if seconds == math.inf else round(seconds)
    bar = tqdm(total=total, unit="s", disable=None, leave=False)

    def progress(passed, report):
        step = int(min(passed, seconds)) - bar.n
        if step > 0:
            bar.set_postfix(sets=report.sets.total(), violations=len(report.violations))
            bar.update(step)

    with threadpool_limits(1):
        report = run(checks, seed=seed, seconds=seconds, sets=options.sets, progress=progress)
    bar.close()
    tell(report)
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())

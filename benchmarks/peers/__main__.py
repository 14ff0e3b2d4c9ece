"""Our accounts beside those of six other libraries: safety, accuracy, failures and time.

    python benchmarks/peers

makes an environment for each peer below benchmarks/peers/environments (from its pinned
requirements), asks every library the same questions and writes peers.csv, one row for each library
and task.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests")]

import pandas as pd  # noqa: E402
from ask import answers, environment, version  # noqa: E402
from judge import LADDER, SHORT, UNDECIDED, UNSAFE, judge  # noqa: E402
from questions import COUNTS, everyday, questions  # noqa: E402

PEERS = {
    "dp-accounting": COUNTS,
    "autodp": COUNTS,
    "diffprivlib": ("sigma",),
    "prv-accountant": ("gaussian_epsilon", "laplace_epsilon"),
    "opendp": COUNTS,
    "riskcal": ("sigma", "gaussian_epsilon"),
}
OURS = "dpnoise"


def row(name: str, task: str, python: Path) -> dict[str, object]:
    """Counts and times of one library on one task."""
    found: Counter[str] = Counter()
    above: Counter[float] = Counter()
    seconds = []
    for arguments, said in answers(python, name, task, questions(task)):
        found["asked"] += 1
        found["everyday"] += everyday(task, arguments)
        seconds.append(float(str(said["seconds"])))
        if "value" not in said:
            kind = str(said["error"])
            found[kind if kind in ("hang", "death") else "error"] += 1
            continue
        verdict = judge(task, arguments, float(str(said["value"])))
        if isinstance(verdict, str):
            found[verdict] += 1
            found["unsafe everyday"] += verdict == UNSAFE and everyday(task, arguments)
        else:
            above[verdict] += 1
    kinds = ("error", "no answer", "hang", "death", UNSAFE, SHORT, UNDECIDED)
    return {
        "library": name,
        "version": "this" if name == OURS else version(name),
        "task": task,
        "asked": found["asked"],
        "everyday": found["everyday"],
        "unsafe everyday": found["unsafe everyday"],
        **{kind: found[kind] for kind in kinds},
        **{f"within {rung:g}" if rung < 1 else "beyond": above[rung] for rung in LADDER},
        "median_seconds": f"{median(seconds):.3g}",
    }


def main() -> None:
    """Ask ours and every peer; print and write the table."""
    os.environ["PYTHONPATH"] = str(HERE.parents[1] / "src")
    rows = [row(OURS, task, Path(sys.executable)) for task in COUNTS]
    for name, tasks in PEERS.items():
        python = environment(name)
        os.environ.pop("PYTHONPATH", None)
        rows += [row(name, task, python) for task in tasks]
    table = pd.DataFrame(rows).sort_values(["task", "library"], kind="stable")
    table.to_csv(HERE / "peers.csv", index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()

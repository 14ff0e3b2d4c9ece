"""Accounts of Gaussian noise on Poisson samples: ours from both sides beside seven others.

    python benchmarks/peers/sampled.py SECONDS

asks all at once, each in its own environment and for as many seconds, and writes sampled.csv (one
row for each account and group of questions) and sampled-named.csv (answers to the named questions).
An answer is judged by our two ends, which no other library shares: 'below' is under the lower end
by more than 1e-6 of it, so that either it claims too much privacy or our lower end is wrong.
"""

from __future__ import annotations

import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from time import monotonic

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from ask import Worker, environment, version  # noqa: E402

from dpnoise import SampledGaussian  # noqa: E402

SEED, COUNT = 20261124, 1000
NAMED = {  # sigma, rate, steps, delta
    "Opacus's tests": (1.5, 0.04, 2250, 1e-5),
    "prv_accountant #36": (0.8, 0.125, 1000, 1e-6),
    "prv_accountant #42": (1.0, 0.2, 10, 1e-5),
    "prv_accountant #17": (4.0, 0.00033, 10_000, 1.1e-18),
    "Opacus #844": (1.2, 0.2, 1, 0.08),
    "Table IV, 5 and 1e-5": (1.4520, 0.02, 5000, 1e-5),
    "Table IV, 8 and 1e-5": (1.0894, 0.02, 5000, 1e-5),
    "Table IV, 5 and 4e-10": (1.9192, 0.02, 5000, 4e-10),
    "Table IV, 8 and 4e-10": (1.3613, 0.02, 5000, 4e-10),
}
EVERYDAY = [
    (sigma, rate, steps, 1e-5)
    for sigma in (0.8, 1.0, 2.0)
    for rate, steps in ((0.001, 10_000), (0.01, 1000), (0.05, 200))
]
ACCOUNTS = (
    ("dpnoise", "sampled_epsilon"),
    ("opacus", "sampled_epsilon"),
    ("opacus", "sampled_epsilon_rdp"),
    ("dp-accounting", "sampled_epsilon"),
    ("dp-accounting", "sampled_epsilon_rdp"),
    ("prv-accountant", "sampled_epsilon"),
    ("riskcal", "sampled_epsilon"),
    ("autodp", "sampled_epsilon_rdp"),
)
NO_ANSWER = ("error", "hang", "death", "not a number", "negative", "infinite")
KINDS = (*NO_ANSWER, "below", "within 1e-6", "within 0.1 %", "within 10 %", "beyond", "undecided")


def questions() -> dict[str, list[tuple[float, float, int, float]]]:
    """Named, everyday and random questions; the latter log-uniform over many decades."""
    rng = np.random.default_rng(SEED)
    ranges = ((0.3, 100.0), (1e-6, 1.0), (1.0, 1e5), (1e-20, 0.1))
    drawn = [np.exp(rng.uniform(*np.log(ends), COUNT)) for ends in ranges]
    rows = zip(*(column.tolist() for column in drawn), strict=True)
    random = [(sigma, rate, round(steps), delta) for sigma, rate, steps, delta in rows]
    return {"named": list(NAMED.values()), "everyday": EVERYDAY, "random": random}


def judge(said: dict[str, object], low: float, high: float) -> str:
    """Kind of an answer beside the two ends; 'undecided' where these are too far apart to say."""
    if "value" not in said:
        return str(said["error"]) if said["error"] in ("hang", "death") else "error"
    value = float(str(said["value"]))
    if math.isnan(value):
        return "not a number"
    if value < 0.0 or math.isinf(value):
        return "negative" if value < 0.0 else "infinite"
    if value < low * (1.0 - 1e-6):
        return "below"
    for most, kind in ((1e-6, "within 1e-6"), (1e-3, "within 0.1 %"), (0.1, "within 10 %")):
        if value <= low * (1.0 + most):  # beside the lower end: never flattered
            return kind
    return "beyond" if value > high * 1.1 else "undecided"


def asked(name: str, task: str, seconds: float) -> list[dict[str, object]]:
    """Answers of an account, with the group of the question and its place there."""
    python = Path(sys.executable) if name == "dpnoise" else environment(name)
    worker, until, found = Worker(python, name, task), monotonic() + seconds, []
    try:
        for group, listed in questions().items():
            for place, arguments in enumerate(listed):
                if monotonic() > until:
                    return found
                said = worker.ask(list(arguments))
                found.append({"group": group, "place": place, **said})
    finally:
        worker.stop()
    return found


def tables(
    answers: dict[tuple[str, str], list[dict[str, object]]],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Counts, times and memory by account and group; the answers to the named questions."""
    listed, ends, rows, named = questions(), {}, [], []
    for said in answers["dpnoise", "sampled_epsilon"]:  # random ones that ours came to
        sigma, rate, steps, delta = listed[str(said["group"])][int(str(said["place"]))]
        ends[said["group"], said["place"]] = (
            SampledGaussian(sigma, rate).epsilon(delta, steps=steps) if "value" in said else None
        )
    for (name, task), found in answers.items():
        account = "Renyi" if task.endswith("rdp") else "losses"
        about = {"library": name, "account": account}
        about["version"] = "this" if name == "dpnoise" else version(name)
        for group in listed:
            here = [a for a in found if a["group"] == group and (group, a["place"]) in ends]
            kinds = [
                judge(a, *two) if (two := ends[group, a["place"]]) else "undecided" for a in here
            ]
            counts = {kind: kinds.count(kind) for kind in KINDS}
            times = [float(str(a["seconds"])) for a in here] or [math.nan]
            memory = max([float(str(a.get("megabytes", 0.0))) for a in here], default=math.nan)
            used = {"median_seconds": f"{median(times):.3g}", "megabytes": f"{memory:.0f}"}
            rows.append({**about, "group": group, "asked": len(here), **counts, **used})
        for place, question in enumerate(NAMED):
            said = next((a for a in found if (a["group"], a["place"]) == ("named", place)), {})
            low, high = ends["named", place]
            what = said.get("value", str(said.get("error", "not asked")).partition(":")[0])
            both = {"lower": repr(low), "upper": repr(high)}
            named.append({"question": question, **both, **about, "answer": what})
    return pd.DataFrame(rows), pd.DataFrame(named)


def main(seconds: float) -> None:
    """Ask all, write both tables."""
    os.environ.setdefault("PYTHONPATH", str(HERE.parents[1] / "src"))
    with ThreadPoolExecutor(len(ACCOUNTS)) as pool:
        found = pool.map(lambda account: asked(*account, seconds), ACCOUNTS)
        answers = dict(zip(ACCOUNTS, found, strict=True))
    counts, named = tables(answers)
    counts.to_csv(HERE / "sampled.csv", index=False)
    named.to_csv(HERE / "sampled-named.csv", index=False)
    print(counts.to_string(index=False), named.to_string(index=False), sep="\n")


if __name__ == "__main__":
    main(float(sys.argv[1]))

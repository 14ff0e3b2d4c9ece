"""Accounts of Gaussian noise on Poisson samples: ours from both sides beside seven others.

    python benchmarks/peers/sampled.py SECONDS [LIBRARY ...]

asks for as many seconds, one question at a time, each account in its own environment and always the
one that has used the least processor time so far. Every answer is added to sampled-answers.csv at
once, so that the same command goes on where it was stopped or killed; with 0 seconds it counts and
no more. A question ends after 10 s of processor time ('hang') or with 4 GiB of data ('memory').

sampled.csv has one row for each account and group of questions, sampled-named.csv the answers to
the named ones. An answer is judged by our two ends, which no other library shares: 'below' is under
the lower end by more than 1e-6 of it, so that either it claims too much privacy or our lower end is
wrong.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from statistics import median
from time import monotonic
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from ask import PATIENCE, Worker, environment, version  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
OURS = ("dpnoise", "losses")
TASKS = {"losses": "sampled_epsilon", "Renyi": "sampled_epsilon_rdp"}
ACCOUNTS = (
    OURS,
    ("opacus", "losses"),
    ("opacus", "Renyi"),
    ("dp-accounting", "losses"),
    ("dp-accounting", "Renyi"),
    ("prv-accountant", "losses"),
    ("riskcal", "losses"),
    ("autodp", "Renyi"),
)
NO_ANSWER = ("error", "memory", "hang", "death", "not a number", "negative", "infinite")
KINDS = (*NO_ANSWER, "below", "within 1e-6", "within 0.1 %", "within 10 %", "beyond", "undecided")
COLUMNS = (
    "library", "account", "group", "place", "lower", "value", "error", "seconds", "megabytes",
)  # fmt: skip
MEMORY = 4 << 30  # bytes of data of a process
ANSWERS = HERE / "sampled-answers.csv"
Place = tuple[str, int]
Answer = dict[str, object]
GROUPS = ("named", "everyday", "random")


def questions() -> dict[Place, tuple[float, float, int, float]]:
    """Named, everyday and random questions; the latter log-uniform over many decades."""
    rng = np.random.default_rng(SEED)
    ranges = ((0.3, 100.0), (1e-6, 1.0), (1.0, 1e5), (1e-20, 0.1))
    drawn = [np.exp(rng.uniform(*np.log(ends), COUNT)) for ends in ranges]
    rows = zip(*(column.tolist() for column in drawn), strict=True)
    random = [(sigma, rate, round(steps), delta) for sigma, rate, steps, delta in rows]
    groups = {"named": list(NAMED.values()), "everyday": EVERYDAY, "random": random}
    return {(group, k): one for group, some in groups.items() for k, one in enumerate(some)}


def judge(said: Answer, low: float, high: float) -> str:
    """Kind of an answer beside the two ends; 'undecided' where these are too far apart to say."""
    error = said["error"]
    if error:
        return str(error) if error in NO_ANSWER else "error"
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


def known(path: Path) -> pd.DataFrame:
    """Answers so far; a line that was cut short by a kill is dropped."""
    if not path.is_file():
        return pd.DataFrame(columns=list(COLUMNS))
    text = path.read_text(encoding="utf-8")
    if not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        path.write_text(text, encoding="utf-8")
    return pd.read_csv(path, keep_default_na=False)


def ask_all(  # noqa: PLR0917
    path: Path,
    seconds: float,
    libraries: list[str],
    listed: Mapping[Place, tuple[float, ...]] | None = None,
    tasks: Mapping[str, str] = TASKS,
    patience: float = PATIENCE,
) -> None:
    """Ask what has no answer yet, the account with the least processor time first.

    All libraries where none is named, and the questions of this file where none are given. Each
    may take `patience` processor seconds.
    """
    found, until = known(path), monotonic() + seconds
    if found.empty:
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    listed = questions() if listed is None else listed
    left: dict[tuple[str, str], list[Place]] = {}
    used = dict.fromkeys(ACCOUNTS, 0.0)
    for account in (a for a in ACCOUNTS if not libraries or a[0] in libraries):
        own = found[(found["library"] == account[0]) & (found["account"] == account[1])]
        done = set(zip(own["group"], own["place"], strict=True))
        left[account] = [place for place in listed if place not in done]
        used[account] = float(own["seconds"].sum())
    workers: dict[tuple[str, str], Worker] = {}
    try:
        while monotonic() < until and any(left.values()):
            account = min((a for a in left if left[a]), key=used.__getitem__)
            name, kind = account
            if account not in workers:
                python = Path(sys.executable) if account == OURS else environment(name)
                workers[account] = Worker(python, name, tasks[kind], patience, memory=MEMORY)
            place = left[account].pop(0)
            said = workers[account].ask(list(listed[place]))
            used[account] += float(str(said["seconds"]))
            with path.open("a", encoding="utf-8") as file:
                file.write(",".join(map(str, row(account, place, said, patience))) + "\n")
    finally:
        for worker in workers.values():
            worker.stop()


def row(
    account: tuple[str, str], place: Place, said: dict[str, object], patience: float = PATIENCE
) -> list[object]:
    """One answer as written: a value, or the kind of an error by its first word."""
    error = str(said.get("error", "")).partition(":")[0].replace(",", " ")
    error = {"MemoryError": "memory", "ArrayMemoryError": "memory"}.get(error.lstrip("_"), error)
    seconds = patience if error == "hang" else float(str(said["seconds"]))
    megabytes = float(str(said.get("megabytes", 0.0)))
    ends = said.get("lower", ""), said.get("value", "")
    return [*account, *place, *ends, error, f"{seconds:.3g}", f"{megabytes:.0f}"]


def answers_of(found: pd.DataFrame) -> dict[tuple[str, str], dict[Place, Answer]]:
    """Answers by account, those of a library by the place of their question."""
    answers: dict[tuple[str, str], dict[Place, Answer]] = {account: {} for account in ACCOUNTS}
    for said in found.to_dict("records"):
        answers[said["library"], said["account"]][said["group"], int(said["place"])] = said
    return answers


def tally(
    found: pd.DataFrame,
    counted: Iterable[Place],
    named: dict[str, dict[str, str]],
    kind: Callable[[Answer, Place], str],
    kinds: Sequence[str],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Counts of each kind, times and memory by account and group; answers to the named questions.

    `counted` are the places of the questions counted, `named` the further columns of each named
    question in the order of their places.
    """
    places = list(counted)
    rows, told = [], []
    for (name, account), own in answers_of(found).items():
        about = {"library": name, "account": account}
        about["version"] = "this" if name == OURS[0] else version(name)
        for group in GROUPS:
            here = {p: own[p] for p in places if p[0] == group and p in own}
            judged = [kind(said, place) for place, said in here.items()]
            counts = {one: judged.count(one) for one in kinds}
            times = [float(str(said["seconds"])) for said in here.values()] or [math.nan]
            sizes = [float(str(said["megabytes"])) for said in here.values()]
            used = {"median_seconds": f"{median(times):.3g}", "most_seconds": f"{max(times):.3g}"}
            used["megabytes"] = f"{max(sizes, default=math.nan):.0f}"
            rows.append({**about, "group": group, "asked": len(here), **counts, **used})
        for k, (question, ends) in enumerate(named.items()):
            said = own.get(("named", k), {"value": "", "error": "not asked"})
            answer = said["error"] or said["value"]
            told.append({"question": question, **ends, **about, "answer": answer})
    return pd.DataFrame(rows), pd.DataFrame(told)


def tables(found: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Counts, times and memory by account and group; the answers to the named questions."""
    ours = answers_of(found)[OURS]
    ends = {
        place: tuple(float(str(said[end])) for end in ("lower", "value"))
        for place, said in ours.items()
        if not said["error"]
    }
    named = {
        question: dict(zip(("lower", "upper"), map(repr, ends["named", k]), strict=True))
        for k, question in enumerate(NAMED)
    }

    def kind(said: Answer, place: Place) -> str:
        return judge(said, *ends[place]) if place in ends else "undecided"

    return tally(found, ours, named, kind, KINDS)


def main(seconds: float, libraries: list[str]) -> None:
    """Ask, then write both tables."""
    os.environ.setdefault("PYTHONPATH", str(HERE.parents[1] / "src"))
    ask_all(ANSWERS, seconds, libraries)
    counts, named = tables(known(ANSWERS))
    counts.to_csv(HERE / "sampled.csv", index=False)
    named.to_csv(HERE / "sampled-named.csv", index=False)
    print(counts.to_string(index=False), named.to_string(index=False), sep="\n")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])

"""Noise multipliers of private training: ours beside seven others.

    python benchmarks/peers/multiplier.py SECONDS [LIBRARY ...]

asks each account of `sampled.py` for the noise with which T steps with Gaussian noise on Poisson
samples keep an epsilon and a delta, as that script does: one question at a time, in the
environment of the library, and each answer is added to multiplier-answers.csv at once. A question
ends after 30 s of processor time or with 4 GiB of data.

multiplier.csv has one row for each account and group of questions, multiplier-named.csv the
answers to the named ones. An answer is enough where our upper end of delta with it keeps the
budget, too little where our lower end does not. How far it is above the least multiplier is
counted from one that our lower end shows to be too little.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]

import numpy as np  # noqa: E402
from sampled import NO_ANSWER, OURS, Answer, Place, answers_of, ask_all, known, tally  # noqa: E402

from dpnoise import SampledGaussian  # noqa: E402

if TYPE_CHECKING:
    import pandas as pd

SEED, COUNT = 20261126, 25
NAMED = {  # epsilon, delta, rate, steps: and what is printed
    "Opacus's tests": ((8.0, 1e-5, 0.04, 2250), 1.34766),
    "dp_accounting's tests": ((1.0, 1e-5, 0.01, 1), 0.67379294682),
    "Table IV, 5 and 1e-5": ((5.0, 1e-5, 0.02, 5000), 1.4520),
    "Table IV, 8 and 1e-5": ((8.0, 1e-5, 0.02, 5000), 1.0894),
    "Table IV, 5 and 4e-10": ((5.0, 4e-10, 0.02, 5000), 1.9192),
    "Table IV, 8 and 4e-10": ((8.0, 4e-10, 0.02, 5000), 1.3613),
}
EVERYDAY = [
    (epsilon, 1e-5, rate, steps)
    for epsilon in (1.0, 3.0, 8.0)
    for rate, steps in ((0.001, 10_000), (0.01, 1000), (0.05, 200))
]
TASKS = {"losses": "sampled_sigma", "Renyi": "sampled_sigma_rdp"}
PATIENCE = 30.0  # processor seconds
SHORT = ("too little by at most 1e-6", "too little by at most 0.1 %", "too little by more")
ABOVE = ("within 1e-6", "within 0.1 %", "within 1 %", "within 10 %", "beyond")
KINDS = (*NO_ANSWER, *SHORT, *ABOVE, "undecided")
LADDER = (1e-6, 1e-3, 1e-2, 0.1)
ANSWERS = HERE / "multiplier-answers.csv"
Question = tuple[float, float, float, int]


def questions() -> dict[Place, Question]:
    """Named, everyday and random questions; the latter log-uniform over some decades."""
    rng = np.random.default_rng(SEED)
    ranges = ((0.1, 20.0), (1e-12, 1e-4), (1e-3, 1.0), (1.0, 1e5))
    drawn = [np.exp(rng.uniform(*np.log(ends), COUNT)) for ends in ranges]
    rows = zip(*(column.tolist() for column in drawn), strict=True)
    random = [(epsilon, delta, rate, round(steps)) for epsilon, delta, rate, steps in rows]
    named = [question for question, _ in NAMED.values()]
    groups = {"named": named, "everyday": EVERYDAY, "random": random}
    return {(group, k): one for group, some in groups.items() for k, one in enumerate(some)}


def worth(question: Question, sigma: float) -> str:
    """Whether our bounds show a multiplier to be 'enough' or 'too little'; '' if neither."""
    epsilon, delta, rate, steps = question
    low, high = SampledGaussian(sigma, rate).delta(epsilon, steps=steps)
    if high <= delta:
        return "enough"
    return "too little" if low > delta else ""


def too_little(question: Question, ours: float) -> float:
    """A multiplier that is shown to be too little, the largest that is found; 0 if none is."""
    lower = (ours * (1.0 - less) for less in (3e-7, 6e-7, *LADDER, 0.5))
    return next((sigma for sigma in lower if worth(question, sigma) == "too little"), 0.0)


def judge(said: Answer, question: Question, low: float) -> str:
    """Kind of an answer, `low` being too little; 'undecided' where our ends do not tell."""
    error = said["error"]
    if error:
        return str(error) if error in NO_ANSWER else "error"
    value = float(str(said["value"]))
    if not 0.0 <= value < math.inf:
        return "not a number" if math.isnan(value) else "negative" if value < 0 else "infinite"
    found = "too little" if value <= low else worth(question, value)
    if found == "too little":
        for kind, more in zip(SHORT, LADDER[:2], strict=False):
            if worth(question, value * (1.0 + more)) == "enough":
                return kind
        return SHORT[-1]
    if not found or low == 0.0:
        return "undecided"
    rungs = zip(ABOVE, LADDER, strict=False)
    return next((kind for kind, more in rungs if value <= low * (1.0 + more)), ABOVE[-1])


def tables(found: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Counts, times and memory by account and group; the answers to the named questions.

    Counted are only questions that have our answer.
    """
    listed = questions()
    ours = answers_of(found)[OURS]
    least = {
        place: too_little(listed[place], float(str(said["value"])))
        for place, said in ours.items()
        if not said["error"]
    }
    named = {
        question: {"too_little": repr(least.get(("named", k), 0.0)), "printed": repr(printed)}
        for k, (question, (_, printed)) in enumerate(NAMED.items())
    }

    def kind(said: Answer, place: Place) -> str:
        return judge(said, listed[place], least[place])

    return tally(found, least, named, kind, KINDS)


def main(seconds: float, libraries: list[str]) -> None:
    """Ask, then write both tables."""
    os.environ.setdefault("PYTHONPATH", str(HERE.parents[1] / "src"))
    ask_all(ANSWERS, seconds, libraries, questions(), TASKS, PATIENCE)
    counts, named = tables(known(ANSWERS))
    counts.to_csv(HERE / "multiplier.csv", index=False)
    named.to_csv(HERE / "multiplier-named.csv", index=False)
    print(counts.to_string(index=False), named.to_string(index=False), sep="\n")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])

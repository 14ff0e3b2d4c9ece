"""Every statement of flipped-huber-2023 that can be checked, over random parameters.

Each proposition, lemma, theorem and step of a proof that claims something has a row: how
often it failed, how near it came to failing and what its proof is worth. The rows are made
by the checks of the modules `theory_density` to `theory_theorem_8`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise._check import Problems
from dpnoise.experiments import (
    theory_density,
    theory_loss,
    theory_mechanisms,
    theory_scalar,
    theory_theorem_8,
    theory_vector,
)
from dpnoise.experiments._settings import require_count
from dpnoise.experiments.theory_tools import LEAST_TRIALS, run_checks

if TYPE_CHECKING:
    import pandas as pd

CHECKS = (
    *theory_density.CHECKS,
    *theory_loss.CHECKS,
    *theory_scalar.CHECKS,
    *theory_vector.CHECKS,
    *theory_theorem_8.CHECKS,
    *theory_mechanisms.CHECKS,
)


def theory(*, seed: int, trials: int) -> pd.DataFrame:
    """Return one row per statement of the paper.

    Parameters
    ----------
    seed : int
        The seed of the config.
    trials : int
        Random parameters per statement; slow checks make do with a part of them.

    Returns
    -------
    DataFrame
        Columns id, where, statement, trials, violations, worst (the least slack beyond
        what rounding explains, in the unit of the check: negative if and only if there is
        a violation), tolerance, parameters (of the worst trial) and status_of_proof
        (complete, gap, false or misprint, with the reason).

    Raises
    ------
    ValueError
        If `trials` is not a whole number of at least 20 or `seed` is negative.
    """
    problems = Problems("theory")
    require_count(problems, "trials", trials, LEAST_TRIALS)
    problems.number("seed", seed, low=0)
    problems.raise_if_any()
    return run_checks(CHECKS, seed, "theory", trials)

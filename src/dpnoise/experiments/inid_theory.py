"""Every statement of inid-2024 that can be checked, over random parameters.

Each theorem, lemma, remark and footnote, and each sentence between them that claims something,
has a row: how often it failed, how near it came to failing and what its proof is worth. The rows
are made by the checks of the modules `inid_theory_privacy` to `inid_theory_dispersion`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise._check import Problems
from dpnoise.experiments import (
    inid_theory_dispersion,
    inid_theory_gain,
    inid_theory_optimum,
    inid_theory_privacy,
)
from dpnoise.experiments._settings import require_count
from dpnoise.experiments.theory_tools import LEAST_TRIALS, run_checks

if TYPE_CHECKING:
    import pandas as pd

CHECKS = (
    *inid_theory_privacy.CHECKS,
    *inid_theory_optimum.CHECKS,
    *inid_theory_gain.CHECKS,
    *inid_theory_dispersion.CHECKS,
)


def inid_theory(*, seed: int, trials: int) -> pd.DataFrame:
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
        (complete, cited, none given or false, with the reason).

    Raises
    ------
    ValueError
        If `trials` is not a whole number of at least 20 or `seed` is negative.
    """
    problems = Problems("theory of noise that differs by coordinate")
    require_count(problems, "trials", trials, LEAST_TRIALS)
    require_count(problems, "seed", seed, 0)
    problems.raise_if_any()
    return run_checks(CHECKS, seed, "inid-theory", trials)

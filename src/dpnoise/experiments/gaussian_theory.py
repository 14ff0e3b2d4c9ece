"""Every statement of balle-wang-2018 that can be checked, over random parameters.

Each theorem and lemma, and each sentence between them that claims something, has a row: how
often it failed, how near it came to failing and what its proof is worth. The rows are made by
the checks of `gaussian_theory_privacy` and `gaussian_theory_denoising`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpnoise._check import Problems
from dpnoise.experiments import gaussian_theory_denoising, gaussian_theory_privacy
from dpnoise.experiments._settings import require_count
from dpnoise.seeds import generator

CHECKS = (*gaussian_theory_privacy.CHECKS, *gaussian_theory_denoising.CHECKS)
LEAST_TRIALS = 20  # of the slow checks, which run a part of the trials


def gaussian_theory(*, seed: int, trials: int) -> pd.DataFrame:
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
        (complete, cited, none given, false or misprint, with the reason).

    Raises
    ------
    ValueError
        If `trials` is not a whole number of at least 20 or `seed` is negative.
    """
    problems = Problems("theory of the Gaussian mechanism")
    require_count(problems, "trials", trials, LEAST_TRIALS)
    require_count(problems, "seed", seed, 0)
    problems.raise_if_any()
    rows = []
    for check in CHECKS:
        count = max(LEAST_TRIALS, round(check.share * trials))
        outcome = check.run(generator(seed, "gaussian-theory", check.id), count)
        # A trial without a value does not speak for the statement.
        margin = np.where(np.isnan(outcome.margin), -np.inf, outcome.margin) + outcome.tolerance
        worst = int(np.argmin(margin))
        drawn = (f"{name}={values[worst]:.6g}" for name, values in outcome.parameters.items())
        rows.append(
            {
                "id": check.id,
                "where": check.where,
                "statement": check.statement,
                "trials": count,
                "violations": int(np.sum(margin < 0)),
                "worst": float(f"{margin[worst]:.3g}"),
                "tolerance": outcome.tolerance,
                "parameters": ", ".join(drawn),
                "status_of_proof": check.proof,
            }
        )
    return pd.DataFrame(rows)

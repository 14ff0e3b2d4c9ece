"""Every statement of flipped-huber-2023 that can be checked, over random parameters.

Each proposition, lemma, theorem and step of a proof that claims something has a row: how
often it failed, how near it came to failing and what its proof is worth. The rows are made
by the checks of the modules `theory_density` to `theory_theorem_8`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.checks import run_checks
from dpnoise_papers.flipped_huber_2023.theory import density as theory_density
from dpnoise_papers.flipped_huber_2023.theory import loss as theory_loss
from dpnoise_papers.flipped_huber_2023.theory import mechanisms as theory_mechanisms
from dpnoise_papers.flipped_huber_2023.theory import scalar as theory_scalar
from dpnoise_papers.flipped_huber_2023.theory import theorem_8 as theory_theorem_8
from dpnoise_papers.flipped_huber_2023.theory import vector as theory_vector

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
    """Return one row per statement of the paper: see `theory_tools.run_checks`.

    The status of a proof is complete, gap, false or misprint, with the reason.
    """
    return run_checks(CHECKS, seed, "theory", trials)

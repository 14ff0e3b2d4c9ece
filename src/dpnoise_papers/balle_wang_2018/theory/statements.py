"""Every statement of balle-wang-2018 that can be checked, over random parameters.

Each theorem and lemma, and each sentence between them that claims something, has a row: how
often it failed, how near it came to failing and what its proof is worth. The rows are made by
the checks of `gaussian_theory_privacy`, `gaussian_theory_denoising` and
`gaussian_theory_minimax`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.balle_wang_2018.theory import denoising as gaussian_theory_denoising
from dpnoise_papers.balle_wang_2018.theory import minimax as gaussian_theory_minimax
from dpnoise_papers.balle_wang_2018.theory import privacy as gaussian_theory_privacy
from dpnoise_papers.checks import run_checks

if TYPE_CHECKING:
    import pandas as pd

CHECKS = (
    *gaussian_theory_privacy.CHECKS,
    *gaussian_theory_denoising.CHECKS,
    *gaussian_theory_minimax.CHECKS,
)


def gaussian_theory(*, seed: int, trials: int) -> pd.DataFrame:
    """Return one row per statement of the paper: see `theory_tools.run_checks`.

    The status of a proof is complete, cited, none given, false or misprint, with the reason.
    """
    return run_checks(CHECKS, seed, "gaussian-theory", trials)

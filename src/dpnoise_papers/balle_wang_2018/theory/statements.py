"""Numerical checks of every statement of balle-wang-2018 that can be checked.

Each theorem and lemma, and each sentence between them that claims something, has a row: how
often it failed over random parameters, how near it came to failing and what its proof is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.balle_wang_2018.theory import denoising, minimax, privacy
from dpnoise_papers.checks import run_checks

if TYPE_CHECKING:
    import pandas as pd

    from dpnoise_papers.balle_wang_2018.settings import Theory

CHECKS = (*privacy.CHECKS, *denoising.CHECKS, *minimax.CHECKS)


def statements(settings: Theory) -> pd.DataFrame:
    """Violations of each statement of the paper over random parameters, of `run_checks`.

    The status of a proof is complete, cited, none given, false or misprint, with the reason.
    """
    return run_checks(CHECKS, settings.seed, "gaussian-theory", settings.trials)

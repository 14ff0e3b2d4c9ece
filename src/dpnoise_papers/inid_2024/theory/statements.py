"""Every statement of inid-2024 that can be checked, over random parameters.

Each theorem, lemma, remark and footnote, and each sentence between them that claims something,
has a row: how often it failed, how near it came to failing and what its proof is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.checks import run_checks
from dpnoise_papers.inid_2024.theory import (
    bisection,
    components,
    dispersion,
    gain,
    misprints,
    optimum,
    privacy,
)

if TYPE_CHECKING:
    import pandas as pd

    from dpnoise_papers.inid_2024.settings import Theory

CHECKS = (
    *privacy.CHECKS,
    *bisection.CHECKS,
    *optimum.CHECKS,
    *gain.CHECKS,
    *dispersion.CHECKS,
    *misprints.CHECKS,
    *components.CHECKS,
)


def inid_theory(settings: Theory) -> pd.DataFrame:
    """Verdicts on the statements of the paper, of `dpnoise_papers.checks.run_checks`.

    The status of a proof is complete, cited, none given or false, with the reason.
    """
    return run_checks(CHECKS, settings.seed, "inid-theory", settings.trials)

"""Every statement of inid-2024 that can be checked, over random parameters.

Each theorem, lemma, remark and footnote, and each sentence between them that claims something,
has a row: how often it failed, how near it came to failing and what its proof is worth. The rows
are made by the checks of the modules `inid_theory_*`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.checks import run_checks
from dpnoise_papers.inid_2024.theory import dispersion as inid_theory_dispersion
from dpnoise_papers.inid_2024.theory import gain as inid_theory_gain
from dpnoise_papers.inid_2024.theory import misprints as inid_theory_misprints
from dpnoise_papers.inid_2024.theory import optimum as inid_theory_optimum
from dpnoise_papers.inid_2024.theory import privacy as inid_theory_privacy

if TYPE_CHECKING:
    import pandas as pd

CHECKS = (
    *inid_theory_privacy.CHECKS,
    *inid_theory_optimum.CHECKS,
    *inid_theory_gain.CHECKS,
    *inid_theory_dispersion.CHECKS,
    *inid_theory_misprints.CHECKS,
)


def inid_theory(*, seed: int, trials: int) -> pd.DataFrame:
    """Return one row per statement of the paper: see `theory_tools.run_checks`.

    The status of a proof is complete, cited, none given or false, with the reason.
    """
    return run_checks(CHECKS, seed, "inid-theory", trials)

"""Every statement of inid-2024 that can be checked, over random parameters.

Each theorem, lemma, remark and footnote, and each sentence between them that claims something,
has a row: how often it failed, how near it came to failing and what its proof is worth. The rows
are made by the checks of the modules `inid_theory_*`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise.experiments import (
    inid_theory_dispersion,
    inid_theory_gain,
    inid_theory_misprints,
    inid_theory_optimum,
    inid_theory_privacy,
)
from dpnoise.experiments.theory_tools import run_checks

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

"""Every statement of flipped-huber-2023 that can be checked, over random parameters.

Each proposition, lemma, theorem and step of a proof that claims something has a row: how
often it failed, how near it came to failing and what its proof is worth.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.checks import read_checks, run_checks
from dpnoise_papers.flipped_huber_2023.theory import (
    composition,
    density,
    mechanisms,
    scalar,
    vector,
)

if TYPE_CHECKING:
    import pandas as pd

    from dpnoise_papers.flipped_huber_2023.settings import Theory

CHECKS = read_checks(
    Path(__file__).with_suffix(".yaml"), (density, scalar, vector, composition, mechanisms)
)


def theory(settings: Theory) -> pd.DataFrame:
    """One row per statement of the paper: see `dpnoise_papers.checks.run_checks`.

    The status of a proof is complete, gap, false or misprint, with the reason.
    """
    return run_checks(CHECKS, settings.seed, "theory", settings.trials)

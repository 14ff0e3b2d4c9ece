"""Whether optimal noise has the higher accuracy, where coordinates are decoupled and where not.

The abstract of inid-2024 says that it has, without a condition; Section IV says so 'under the
decoupled setting', where all coordinates can change at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.checks import run_checks
from dpnoise_papers.inid_2024.theory.gain import CHECKS

if TYPE_CHECKING:
    import pandas as pd

    from dpnoise_papers.inid_2024.settings import Theory

_COUPLING = {"section-iv-range": "decoupled", "section-iv-coupled": "weighted histograms"}


def higher_accuracy(settings: Theory) -> pd.DataFrame:
    """Trials in which optimal noise has a greater error than i.i.d. noise, by coupling.

    Columns as of `dpnoise_papers.checks.run_checks` after coupling ('decoupled', or 'weighted
    histograms', where replacing one user changes two coordinates).
    """
    checks = [check for check in CHECKS if check.id in _COUPLING]
    table = run_checks(checks, settings.seed, "inid-theory", settings.trials)
    table.insert(0, "coupling", table["id"].map(_COUPLING))
    return table

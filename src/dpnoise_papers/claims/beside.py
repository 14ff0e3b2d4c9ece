"""Printed numbers of a paper's items, for figures that show them beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from dpnoise_papers import result_files
from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.published import read_claims
from dpnoise_papers.claims.report import printed_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence


def printed_beside(
    claims: str, paper: str, items: Sequence[str], tables: Sequence[str]
) -> pd.DataFrame:
    """Return the printed numbers of some items with their verdicts.

    Parameters
    ----------
    claims : path
        The claims of the paper.
    paper : str
        Its id.
    items : sequence of str
    tables : sequence of path
        Result tables that the figure is drawn from. Claims about them are judged by them; for an
        item without such claims all its numbers are returned, marked 'not run'.

    Returns
    -------
    DataFrame
        See `printed_numbers`.
    """
    known = {"/".join(Path(path).parts[-2:]): result_files.read_table(path) for path in tables}
    parts = []
    for item in items:
        own = [claim for claim in read_claims(claims) if claim.item == item]
        here = [claim for claim in own if claim.result in known] or own
        parts.append(printed_numbers(here, judge(here, known), paper=paper, item=item))
    return pd.concat(parts)

"""Tables for people: numbers with their errors, Markdown and LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def number(value: float, se: float | None = None) -> str:
    """Return a value, or value ± error, with the digits that its error supports.

    Parameters
    ----------
    value : float
    se : float, optional
        Its standard error.

    Returns
    -------
    str
        '-' for a value that is not finite.
    """
    if not np.isfinite(value):
        return "-"
    if se is None or not np.isfinite(se):
        return f"{value:.4g}"
    if se == 0:
        return f"{value:.4g} ± 0"
    places = int(np.clip(1 - np.floor(np.log10(se)), 0, 12))
    return f"{value:.{places}f} ± {se:.{places}f}"


def markdown(title: str, note: str, table: pd.DataFrame) -> str:
    """Return a page with a title, a note and a table of texts.

    Parameters
    ----------
    title, note : str
    table : DataFrame
        Cells are written as they stand; the index is left out.

    Returns
    -------
    str
    """
    rows = table.to_markdown(index=False, tablefmt="github", disable_numparse=True)
    return f"# {title}\n\n{note}\n\n{rows}\n"


def latex(table: pd.DataFrame) -> str:
    """Return a table of texts as LaTeX, with 'epsilon' and '±' typeset outside of formulas.

    Parameters
    ----------
    table : DataFrame
        Cells with a dollar sign are left as they are; the index is left out.

    Returns
    -------
    str
    """

    def typeset(text: str) -> str:
        return (
            text if "$" in text else text.replace("epsilon", r"$\epsilon$").replace("±", r"$\pm$")
        )

    shown = table.map(typeset).rename(columns=typeset)
    written: str = shown.to_latex(index=False, column_format="l" * len(shown.columns))
    return written

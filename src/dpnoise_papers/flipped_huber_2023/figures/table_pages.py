"""Tables I and II of flipped-huber-2023 for people: Markdown and LaTeX, printed beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpnoise_papers.claims.beside import printed_texts
from dpnoise_papers.flipped_huber_2023.figures.variances import METHODS, TABLE_2
from dpnoise_papers.pages import latex, markdown
from dpnoise_papers.style import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise_papers.claims.model import Claim


def table_1(table: pd.DataFrame) -> tuple[str, str]:
    """Table I as Markdown and LaTeX: for each case and border, what random trials found.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar.published_cases` returns it.
    """
    rows = []
    for case, own in table.groupby("case", sort=False):
        inside = own[["t1_in_interval", "t2_in_interval"]].dropna()
        rows.append(
            {
                "case": f"({case})",
                "trials": str(len(own)),
                "t1 and t2 inside": f"{int((inside == 1).all(axis=1).sum())} of {len(inside)}",
                "other ranges that hold epsilon": f"{(own['ranges'] - 1).abs().max():.0f}",
                "largest error of the loss": _error(own["loss_error"]),
                "largest error of delta": _error(own["relative_error"]),
            }
        )
    title = "Table I of flipped-huber-2023: the cases of the exact scalar profile (13)"
    note = (
        "Random parameters, the formulas as printed at 50 digits; (i-ii) is the border of two "
        "cases, where intervals and ranges are not tested. Errors are relative, those of delta "
        "against our own profile."
    )
    shown = pd.DataFrame(rows).replace({"nan": "-", "0 of 0": "-"})
    return markdown(title, note, shown), latex(shown)


def table_2(table: pd.DataFrame, *, claims: Sequence[Claim]) -> tuple[str, str]:
    """Table II as Markdown and LaTeX, with the printed numbers in brackets, and ours below.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.variances.vector_variances` returns
        it; the paper's delta comes first.
    claims : sequence of Claim
        Those of the paper.
    """
    table = table[table["method"] != "infimum"]
    printed = printed_texts(claims, "table-2", ["mechanism", "epsilon"])
    epsilons = sorted(set(table["epsilon"]))
    keys = ["delta", "mechanism", "method"]
    known = table.set_index([*keys, "epsilon"])["variance"].to_dict()
    own = table["delta"].iloc[0]
    groups = list(dict.fromkeys(zip(*(table[key] for key in keys), strict=True)))
    paper = [(own, *pair) for pair in TABLE_2 if (own, *pair) in groups]
    rows = []
    for group in (*paper, *(one for one in groups if one not in paper)):
        delta, mechanism, method = group
        star = "" if group in paper else "*"
        cells = []
        for epsilon in epsilons:
            text = printed.get((mechanism, epsilon)) if group in paper else None
            value = known.get((*group, epsilon), float("nan"))
            ours = "-" if pd.isna(value) else f"{value:.2f}"
            cells.append(ours + (f" [{text}]" if text else ""))
        name = f"{NAMES[mechanism]}, {METHODS.get(method, method)}{star}"
        rows.append([name, f"{delta:g}", *cells])
    heads = ["mechanism", "delta", *(f"epsilon = {value:g}" for value in epsilons)]
    shown = pd.DataFrame(rows, columns=heads)
    title = f"Table II of flipped-huber-2023: variances in {table['dimension'].iloc[0]} dimensions"
    note = (
        "Minimum variance per coordinate; in brackets what the paper prints. Rows with an asterisk "
        "are not in the paper; '-' marks a search that holds no private noise."
    )
    return markdown(title, note, shown), latex(shown)


def _error(errors: pd.Series) -> str:
    """Largest error of a column in words."""
    return f"{errors.abs().max():.0e}"

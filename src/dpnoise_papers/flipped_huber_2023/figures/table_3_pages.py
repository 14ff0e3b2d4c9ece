"""Table III of flipped-huber-2023 for people: Markdown and LaTeX, printed beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers.descent.names import MECHANISMS, title
from dpnoise_papers.flipped_huber_2023.tables.table_3 import REFERENCE, printed_values
from dpnoise_papers.pages import markdown_table, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise_papers.claims.model import Claim

METRICS = {"nmse": "NMSE", "test_error": "test error"}
_PRINTED = (
    "Ours ± one standard error over trials; in brackets "
    "what the paper prints. `gain` is Gaussian minus this mechanism, paired by trial."
)
_HELD_OUT = "`optimism` is how much lower the number looked on the trials that it was selected on."
_NOISE = (
    "alpha and gamma at the most sensitive coordinate. alpha = 0 *is* Gaussian noise: "
    "where both rows of a data set are one distribution, a difference between them would come "
    "from seeds of their own or another calibration (table-3-replicates.md)."
)


def pages(
    printed: pd.DataFrame, held_out: pd.DataFrame, *, claims: Sequence[Claim]
) -> tuple[str, str]:
    """Return the pages of Table III in Markdown and in LaTeX.

    Parameters
    ----------
    printed, held_out : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.table_3.table_3` returns them.
    """
    known = {
        (row["dataset"], row["mechanism"], row["metric"]): row["printed"]
        for row in printed_values(claims).to_dict("records")
    }
    parts = [
        "# Table III of flipped-huber-2023: private coordinate descent",
        "## As printed: selected and reported on the same trials",
        _PRINTED,
        _table(printed, lambda row: _numbers(row, known)),
        "## Held out: selected on some trials, reported on others",
        _HELD_OUT,
        _table(held_out, _held_out),
        "## The noise that was selected",
        _NOISE,
        _table(printed, _noise),
    ]
    return "\n\n".join(parts) + "\n", _latex(printed, known)


def _table(table: pd.DataFrame, cells: Callable[[pd.Series], dict[str, str]]) -> str:
    """Rows of a table in Markdown, with the reason for those that are missing."""
    rows = []
    for _, row in table.iterrows():
        head = {"data set": title(row["dataset"]), "noise": MECHANISMS[row["mechanism"]]}
        if row["status"] == "ok":
            rows.append(head | cells(row))
        else:
            reason = " ".join(row["reason"].split()).replace("|", r"\|")  # one cell of one line
            rows.append(head | {"not run": reason})
    return markdown_table(pd.DataFrame(rows).fillna(""))


def _gain(row: pd.Series, metric: str) -> str:
    """Gain over the Gaussian, with its error."""
    own = row["mechanism"] == REFERENCE
    return "" if own else number(row[f"{metric}_gain"], row[f"{metric}_gain_se"])


def _numbers(row: pd.Series, known: dict[tuple[str, str, str], str]) -> dict[str, str]:
    """One row by the printed protocol."""
    cells = {}
    for metric, name in METRICS.items():
        text = known.get((row["dataset"], row["mechanism"], metric))
        ours = number(row[metric], row[f"{metric}_se"])
        cells[name] = ours + (f" [{text}]" if text else "")
        cells[f"{name}: gain"] = _gain(row, metric)
    return cells


def _held_out(row: pd.Series) -> dict[str, str]:
    """One row by the held-out protocol."""
    nmse = row["nmse"]
    return {
        "NMSE": number(nmse, row["nmse_se"]),
        "NMSE: optimism": f"{1 - row['nmse_pick'] / nmse:+.0%}" if np.isfinite(nmse) else "-",
        "NMSE: gain": _gain(row, "nmse"),
        "test error": number(row["test_error"], row["test_error_se"]),
        "test error: gain": _gain(row, "test_error"),
    }


def _noise(row: pd.Series) -> dict[str, str]:
    """The noise of one row."""
    names = ("passes", "step", "clip", "xi", "eta", "alpha", "gamma")
    return {name: f"{row[name]:.3g}" for name in names} | {"shape": str(row["shape"])}


def _latex(table: pd.DataFrame, known: dict[tuple[str, str, str], str]) -> str:
    """Table III as a LaTeX tabular (booktabs), ours with the printed number below."""
    mechanisms = list(dict.fromkeys(table["mechanism"]))
    heads = " & ".join(rf"\multicolumn{{2}}{{c}}{{{MECHANISMS[m]}}}" for m in mechanisms)
    metrics = " & ".join(["NMSE & test error"] * len(mechanisms))
    lines = [
        rf"\begin{{tabular}}{{l{'rr' * len(mechanisms)}}}",
        r"\toprule",
        rf" & {heads} \\",
        rf"data set & {metrics} \\",
        r"\midrule",
    ]
    for dataset, rows in table.groupby("dataset", sort=False):
        ours, theirs = [title(str(dataset))], [r"\quad printed"]
        for mechanism in mechanisms:
            row = rows[rows["mechanism"] == mechanism].iloc[0]
            for metric in METRICS:
                ok = row["status"] == "ok"
                text = number(row[metric], row[f"{metric}_se"]) if ok else "not run"
                ours.append(text.replace("±", r"$\pm$"))
                theirs.append(known.get((str(dataset), mechanism, metric), ""))
        lines += [" & ".join(ours) + r" \\", " & ".join(theirs) + r" \\"]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

"""Table III of flipped-huber-2023 for people: Markdown and LaTeX, printed beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers import style
from dpnoise_papers.flipped_huber_2023.figures.table_3 import TITLES
from dpnoise_papers.pages import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise_papers.claims.model import Claim

RESULT = "flipped-huber-2023/table-3-replicates.csv"  # by which Table III is judged
NAMES = {**style.NAMES, "gaussian-tight": "Gaussian, tight account"}
METRICS = {"nmse": "NMSE", "test_error": "test error"}


def printed_values(claims: Sequence[Claim]) -> pd.DataFrame:
    """Return what the paper prints: columns dataset, mechanism, metric, printed (as text), value.

    Parameters
    ----------
    claims : sequence of Claim
        All claims; the single numbers of Table III are taken out.
    """
    rows = []
    for claim in claims:
        where = {condition.column: condition.value for condition in claim.select}
        single = claim.quantity == "number" and not claim.relation and claim.column in METRICS
        if claim.result == RESULT and single and claim.printed is not None:
            rows.append(
                {
                    "dataset": where["dataset"],
                    "mechanism": where["mechanism"],
                    "metric": claim.column,
                    "printed": claim.printed.text,
                    "value": claim.printed.value,
                }
            )
    return pd.DataFrame(rows, columns=["dataset", "mechanism", "metric", "printed", "value"])


def markdown(printed: pd.DataFrame, honest: pd.DataFrame, paper: pd.DataFrame) -> str:
    """Return the page of Table III: the printed protocol, the honest one, and the noise.

    Parameters
    ----------
    printed, honest : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.table_3_summary.summarise` returns them.
    paper : DataFrame
        As `printed_values` returns it.
    """
    printed_note = (
        "Ours ± one standard error over trials; in brackets "
        "what the paper prints. `gain` is Gaussian minus this mechanism, paired by trial."
    )
    honest_note = (
        "`optimism` is how much lower the number looked on the trials that it was picked by."
    )
    noise_note = (
        "alpha and gamma at the most sensitive coordinate. alpha = 0 *is* Gaussian noise: "
        "where both rows of a data set are one law, a difference between them would come from "
        "seeds of their own or another calibration (table-3-replicates.md)."
    )
    parts = [
        "# Table III of flipped-huber-2023: private coordinate descent",
        "## As printed: picked and reported on the same trials",
        printed_note,
        _table(printed, paper),
        "## As honest: picked on some trials, reported on others",
        honest_note,
        _honest(honest),
        "## The noise that was selected",
        noise_note,
        _noise(printed),
    ]
    return "\n\n".join(parts) + "\n"


def _lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in body)


def _title(row: pd.Series) -> list[str]:
    return [TITLES.get(row["dataset"], row["dataset"]), NAMES[row["mechanism"]]]


def _missing(row: pd.Series, width: int) -> list[str]:
    reason = " ".join(row["reason"].split()).replace("|", r"\|")  # one cell of one line
    return [*_title(row), f"not run: {reason}", *[""] * (width - 3)]


def _table(table: pd.DataFrame, paper: pd.DataFrame) -> str:
    header = ["data set", "noise", "NMSE", "gain", "test error", "gain"]
    known = paper.set_index(["dataset", "mechanism", "metric"])["printed"].to_dict()
    rows = []
    for _, row in table.iterrows():
        if row["status"] != "ok":
            rows.append(_missing(row, len(header)))
            continue
        cells = _title(row)
        for metric in METRICS:
            text = known.get((row["dataset"], row["mechanism"], metric))
            ours = number(row[metric], row[f"{metric}_se"])
            cells.append(ours + (f" [{text}]" if text else ""))
            is_reference = row["mechanism"] == "gaussian"
            gain = number(row[f"{metric}_gain"], row[f"{metric}_gain_se"])
            cells.append("" if is_reference else gain)
        rows.append(cells)
    return _lines(header, rows)


def _honest(table: pd.DataFrame) -> str:
    header = ["data set", "noise", "NMSE", "optimism", "gain", "test error", "gain"]
    rows = []
    for _, row in table.iterrows():
        if row["status"] != "ok":
            rows.append(_missing(row, len(header)))
            continue
        is_reference = row["mechanism"] == "gaussian"
        gain = {
            m: "" if is_reference else number(row[f"{m}_gain"], row[f"{m}_gain_se"])
            for m in METRICS
        }
        rows.append(
            [
                *_title(row),
                number(row["nmse"], row["nmse_se"]),
                f"{1 - row['nmse_pick'] / row['nmse']:+.0%}" if np.isfinite(row["nmse"]) else "-",
                gain["nmse"],
                number(row["test_error"], row["test_error_se"]),
                gain["test_error"],
            ]
        )
    return _lines(header, rows)


def _noise(table: pd.DataFrame) -> str:
    header = ["data set", "noise", "passes", "step", "clip", "xi", "eta", "alpha", "gamma", "shape"]
    rows = []
    for _, row in table.iterrows():
        if row["status"] != "ok":
            rows.append(_missing(row, len(header)))
            continue
        values = [f"{row[name]:.3g}" for name in header[2:-1]]
        rows.append([*_title(row), *values, str(row["shape"])])
    return _lines(header, rows)


def latex(table: pd.DataFrame, paper: pd.DataFrame) -> str:
    """Return Table III as a LaTeX tabular (booktabs), ours with the printed number below.

    Parameters
    ----------
    table, paper : DataFrame
        As for `markdown`.
    """
    known = paper.set_index(["dataset", "mechanism", "metric"])["printed"].to_dict()
    mechanisms = list(dict.fromkeys(table["mechanism"]))
    heads = " & ".join(rf"\multicolumn{{2}}{{c}}{{{NAMES[m]}}}" for m in mechanisms)
    metrics = " & ".join(["NMSE & test error"] * len(mechanisms))
    lines = [
        rf"\begin{{tabular}}{{l{'rr' * len(mechanisms)}}}",
        r"\toprule",
        rf" & {heads} \\",
        rf"data set & {metrics} \\",
        r"\midrule",
    ]
    for dataset, rows in table.groupby("dataset", sort=False):
        ours, theirs = [TITLES.get(dataset, dataset)], [r"\quad printed"]
        for mechanism in mechanisms:
            row = rows[rows["mechanism"] == mechanism].iloc[0]
            for metric in METRICS:
                ok = row["status"] == "ok"
                text = number(row[metric], row[f"{metric}_se"]) if ok else "not run"
                ours.append(text.replace("±", r"$\pm$"))
                theirs.append(known.get((dataset, mechanism, metric), ""))
        lines += [" & ".join(ours) + r" \\", " & ".join(theirs) + r" \\"]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

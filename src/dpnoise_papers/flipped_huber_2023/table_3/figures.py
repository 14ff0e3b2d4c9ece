"""Table III of flipped-huber-2023 as a figure and as pages, printed beside ours; its ablation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

from dpnoise_papers.claims.judge import SIGNS
from dpnoise_papers.descent.names import MECHANISMS, in_order, title
from dpnoise_papers.flipped_huber_2023.table_3.ablation import distances
from dpnoise_papers.flipped_huber_2023.table_3.protocols import REFERENCE, printed_values
from dpnoise_papers.flipped_huber_2023.table_3.settings import CHOSEN
from dpnoise_papers.pages import markdown_table, number, together
from dpnoise_papers.style import COLOURS, GREY, GROUND, NAMES, PAGE, TEXT, house_style, new_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpnoise_papers.claims.model import Claim

ROWS = ("gaussian", "flipped-huber")
ENDS = ("", "_low", "_high")  # of a column: median and interval over replications
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
_NOTE = (
    "One change of the chosen setting at a time, on a coarser grid than the table itself. "
    "`distance` is the mean of |log(ours / printed)| over all printed numbers; the setting "
    "is chosen for all rows together, never per row."
)


def table_3(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw printed numbers against ours for each data set, metric and mechanism.

    The sizes of the data sets' numbers differ by a thousand, so each is drawn in units of
    the number that is printed for the Gaussian.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.table_3.replicates.summary` returns it: median
        and 99 % interval of nmse and test_error over the replications; the variant 'chosen' is
        drawn. Rows whose status is not 'ok' are drawn as 'not run'.
    printed : DataFrame
        The printed numbers with our verdicts: columns dataset, mechanism, column, printed and
        verdict; for every data set in it, both mechanisms and both metrics.
    """
    paper: dict[tuple[str, str, str], dict[Hashable, Any]] = {
        (row["dataset"], row["mechanism"], row["column"]): row for row in printed.to_dict("records")
    }
    chosen = (table["status"] == "ok") & (table["reading"] == CHOSEN)
    ours = {(row["dataset"], row["mechanism"]): row for row in table[chosen].to_dict("records")}
    datasets = in_order(printed["dataset"])
    with house_style():
        figure = new_figure(PAGE, 1.3 + 0.42 * len(datasets))
        panels = figure.subplots(1, 2, sharey=True)
        panels[0].set_yticks(range(len(datasets)), [title(name) for name in datasets])
        panels[0].set_ylim(len(datasets) - 0.5, -0.5)
        for axes, (column, name) in zip(panels, METRICS.items(), strict=True):
            for height, dataset in enumerate(datasets):
                unit = paper[dataset, ROWS[0], column]["printed"]
                for mechanism, shift in zip(ROWS, (-0.2, 0.2), strict=True):
                    cell = paper[dataset, mechanism, column]
                    row = ours.get((dataset, mechanism), {})
                    middle, low, high = (row.get(f"{column}{end}", np.nan) / unit for end in ENDS)
                    theirs = cell["printed"] / unit
                    entry = _Entry(height + shift, middle, low, high, theirs, cell["verdict"])
                    _draw(axes, entry, COLOURS[mechanism])
                axes.annotate(
                    f"1 = {unit:g}", (0, height), (2, 0), textcoords="offset points",
                    xycoords=axes.get_yaxis_transform(), va="center", color=GREY, bbox=GROUND,
                    zorder=4,
                )  # fmt: skip
            _scale(axes, f"{name}, in units of the printed Gaussian one")
        figure.legend(handles=_key(), loc="outside upper center", ncols=4)
        seen = [
            f"{mark}  {word}" for word, mark in SIGNS.items() if word in set(printed["verdict"])
        ]
        figure.supxlabel("        ".join(seen), fontsize=TEXT, color=GREY)
    return figure


class _Entry(NamedTuple):
    """One data set under one mechanism: where it is drawn and what was found."""

    height: float
    ours: float
    low: float
    high: float
    printed: float
    verdict: str


def _draw(axes: Axes, entry: _Entry, colour: str) -> None:
    """Draw one mechanism: open circle printed, dot and bar ours, the verdict at the right."""
    height = entry.height
    axes.plot(entry.printed, height, "o", markersize=5.5, mfc="none", mec=colour)
    if np.isnan(entry.ours):
        axes.annotate(
            "not run", (entry.printed, height), (6, 0), textcoords="offset points",
            va="center", color=GREY, bbox=GROUND,
        )  # fmt: skip
    else:
        axes.plot([entry.printed, entry.ours], [height] * 2, color=colour, lw=0.6, alpha=0.5)
        bar = [[entry.ours - entry.low], [entry.high - entry.ours]]
        axes.errorbar(entry.ours, height, xerr=bar, fmt="o", markersize=3, color=colour)
    axes.text(
        1.01, height, SIGNS[entry.verdict], transform=axes.get_yaxis_transform(),
        va="center", color=colour,
    )  # fmt: skip


def _scale(axes: Axes, label: str) -> None:
    """Give a panel its logarithmic axis, with round numbers, and lines between data sets."""
    axes.set_xscale("log")
    left, right = axes.get_xlim()
    left, right = min(left, 0.45), max(right, 1.6)
    # space on the left for the unit of each data set
    left /= (right / left) ** 0.2
    axes.set_xlim(left, right)
    steps = (1, 1.5, 2, 3, 5, 7) if right / left < 20 else (1, 3)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=50))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axvline(1, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    axes.set_xlabel(label)
    for tick in axes.get_yticks():
        axes.axhline(tick + 0.5, color=GREY, alpha=0.3, linewidth=0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _key() -> list[Line2D]:
    """Return the entries of the key: mechanisms by colour, then printed and ours by shape."""
    colours = [Line2D([], [], color=COLOURS[name], label=NAMES[name]) for name in ROWS]
    open_circle: dict[str, Any] = {
        "marker": "o",
        "markersize": 5.5,
        "mfc": "none",
        "mec": GREY,
        "ls": "",
    }
    return [
        *colours,
        Line2D([], [], **open_circle, label="printed"),
        Line2D(
            [],
            [],
            marker="o",
            markersize=3,
            color=GREY,
            label="ours, median and 99 % of replications",
        ),
    ]


def pages(
    printed: pd.DataFrame, held_out: pd.DataFrame, *, claims: Sequence[Claim]
) -> tuple[str, str]:
    """Return the pages of Table III in Markdown and in LaTeX.

    Parameters
    ----------
    printed, held_out : DataFrame
        As `dpnoise_papers.flipped_huber_2023.table_3.protocols.table_3` returns them.
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


def page(
    ranking: pd.DataFrame, runs: Mapping[str, pd.DataFrame], *, claims: Sequence[Claim]
) -> str:
    """Return the ranking, then ours / printed for the Gaussian rows.

    Parameters
    ----------
    ranking : DataFrame
        As `dpnoise_papers.flipped_huber_2023.table_3.ablation.ranking` returns it.
    runs : mapping of str to DataFrame
        What it was made of.
    """
    shown = pd.DataFrame(
        {
            "variant": ranking["variant"],
            "distance": _texts(ranking["distance"], ".3f"),
            "NMSE only": _texts(ranking["nmse"], ".3f"),
            "test error only": _texts(ranking["test_error"], ".3f"),
            "worst": _texts(ranking["worst"], ".2f"),
            "diverged": [f"{row['diverged']} of {row['numbers']}" for _, row in ranking.iterrows()],
        }
    )
    heading = "# Ablation of what Table III of flipped-huber-2023 leaves open"
    parts = [heading, _NOTE, markdown_table(shown)]
    table = distances(together(runs), printed_values(claims))
    for metric, name in METRICS.items():
        part = table[(table["metric"] == metric) & (table["mechanism"] == REFERENCE)]
        wide = part.pivot_table("log_ratio", "variant", "dataset", sort=False, dropna=False)
        texts = wide.map(lambda value: f"{np.exp(value):.3g}").reset_index()
        parts += [f"## Ours / printed: {name}, Gaussian noise", markdown_table(texts)]
    return "\n\n".join(parts) + "\n"


def _texts(values: pd.Series, form: str) -> list[str]:
    return [format(value, form) for value in values]

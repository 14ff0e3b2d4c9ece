"""Table III of flipped-huber-2023, its replications and its ablation as figures and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

from dpnoise_papers.claims.judge import SIGNS
from dpnoise_papers.flipped_huber_2023.table_3.protocols import REFERENCE, distances, printed_values
from dpnoise_papers.flipped_huber_2023.table_3.settings import CHOSEN
from dpnoise_papers.pages import markdown_table, number, together
from dpnoise_papers.style import (
    COLOURS,
    GREY,
    GROUND,
    MECHANISMS,
    NAMES,
    PAGE,
    TEXT,
    house_style,
    in_order,
    legend_below,
    new_figure,
    title,
)

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
    the number that is printed for the Gaussian, or of ours where the paper has no such data set.

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
    datasets = in_order(table["dataset"])
    with house_style():
        figure = new_figure(PAGE, 1.3 + 0.42 * len(datasets))
        panels = figure.subplots(1, 2, sharey=True)
        panels[0].set_yticks(range(len(datasets)), [title(name) for name in datasets])
        panels[0].set_ylim(len(datasets) - 0.5, -0.5)
        for axes, (column, name) in zip(panels, METRICS.items(), strict=True):
            for height, dataset in enumerate(datasets):
                known = paper.get((dataset, ROWS[0], column), {})
                unit = known.get("printed") or ours.get((dataset, ROWS[0]), {}).get(column, np.nan)
                for mechanism, shift in zip(ROWS, (-0.2, 0.2), strict=True):
                    cell = paper.get((dataset, mechanism, column), {})
                    row = ours.get((dataset, mechanism), {})
                    middle, low, high = (row.get(f"{column}{end}", np.nan) / unit for end in ENDS)
                    theirs = cell.get("printed", np.nan) / unit
                    entry = _Entry(
                        height + shift, middle, low, high, theirs, cell.get("verdict", "")
                    )
                    _draw(axes, entry, COLOURS[mechanism])
                axes.annotate(
                    f"1 = {unit:{'g' if known else '.3g'}}",
                    (0, height), (2, 0), textcoords="offset points",
                    xycoords=axes.get_yaxis_transform(), va="center", color=GREY, bbox=GROUND,
                    zorder=4,
                )  # fmt: skip
            whose = "the printed" if {*printed["dataset"]} & {*datasets} else "our"
            _scale(axes, f"{name}, in units of {whose} Gaussian one")
        figure.legend(handles=_key(), loc="outside upper center", ncols=4)
        seen = [
            f"{mark}  {word}"
            for word, mark in SIGNS.items()
            if word in set(printed["verdict"][printed["dataset"].isin(datasets)])
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
    else:  # where nothing is printed, neither circle nor line is drawn
        axes.plot([entry.printed, entry.ours], [height] * 2, color=colour, lw=0.6, alpha=0.5)
        bar = [[entry.ours - entry.low], [entry.high - entry.ours]]
        axes.errorbar(entry.ours, height, xerr=bar, fmt="o", markersize=3, color=colour)
    axes.text(
        1.01, height, SIGNS.get(entry.verdict, ""), transform=axes.get_yaxis_transform(),
        va="center", color=colour,
    )  # fmt: skip


def _scale(axes: Axes, label: str) -> None:
    """Give a panel its axis, with space on the left for the unit of each data set."""
    axes.set_xscale("log")
    left, right = axes.get_xlim()
    left, right = min(left, 0.45), max(right, 1.6)
    left /= (right / left) ** 0.2
    axes.set_xlim(left, right)
    _axis(axes, label, dense=20)


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


def ablation_page(
    ranking: pd.DataFrame, runs: Mapping[str, pd.DataFrame], *, claims: Sequence[Claim]
) -> str:
    """Return the ranking, then ours / printed for the Gaussian rows.

    Parameters
    ----------
    ranking : DataFrame
        As `dpnoise_papers.flipped_huber_2023.table_3.protocols.ranking` returns it.
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


VARIANTS = {
    CHOSEN: "as chosen",
    "bound-of-mangold": "Gaussian by the bound of [53]",
    "one-pass": "one pass allowed",
    "bound-and-one-pass": "both of these",
    "exact-account": "flipped Huber by the exact account",
    "optimum-50-passes": "optimum: 50 passes without noise",
    "optimum-200-passes": "optimum: 200 passes without noise",
}


def replicates_page(table: pd.DataFrame) -> str:
    """Return the page of the replications.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.table_3.replicates.summary` returns it.
    """
    ok = table[table["status"] == "ok"]
    count = int(ok["replications"].max()) if len(ok) else 0
    missed = int(ok["missed"].sum())
    about = (
        "The whole protocol (for every combination of passes, step and clip the mean NMSE over "
        f"a few trials, then the smallest of these means) {count} times with independent "
        "partitions and noise. `percentile` is the share of replications below the printed number: "
        "near 0 or 100 % seeds do not explain it. `independent seeds` is the probability that the "
        "printed ratio of Gaussian to flipped Huber, or a larger one, comes out when each of the "
        "two has a partition and noise of its own; `same seeds`, when they share both."
    )
    mean = (
        "Mean of the paired differences with its 99 % interval, and in how many replications the "
        "flipped Huber row is better, worse and equal. `same noise` is the share of replications "
        "in which both rows are one distribution: there they are equal by construction."
    )
    open_choices = (
        "Median NMSE and test error of the Gaussian row, the control, under combinations of what "
        "the paper does not print; in brackets what cannot be the printed one, since 99 % of the "
        "replications leave the printed number out."
    )
    gain = (
        "Median ratio of NMSE, Gaussian over flipped Huber noise, same seeds; in brackets how "
        "often the Gaussian's is larger."
    )
    thinned = (
        "The grid is thinned after a pilot; in the audited replications, on the whole grid, the "
        f"thinned grid missed the best {missed} times."
    )
    parts = [
        "# Table III of flipped-huber-2023, repeated", about,
        "## Where each printed number lies", _percentiles(ok),
        "## The probability of the printed gain", _probabilities(ok),
        "## The mean gain", mean, _mean_gains(ok),
        "## What other variants do to the gain", gain, _gains(ok),
        "## What other variants do to the numbers",
        "Median NMSE of the Gaussian row and of the flipped Huber row.", _levels(ok), thinned,
        "## What the paper does not print", open_choices, _combinations(ok),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _percent(value: float) -> str:
    return "" if np.isnan(value) else f"{100 * value:.0f} %"


def _number(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)


def _percentiles(table: pd.DataFrame) -> str:
    rows = []
    for _, row in table[table["reading"] == CHOSEN].iterrows():
        cells = {"data set": title(row["dataset"]), "noise": NAMES[row["mechanism"]]}
        for column, name in METRICS.items():
            low, high = row[f"{column}_low"], row[f"{column}_high"]
            cells |= {
                f"{name}: printed": _number(row[f"{column}_printed"], ".4g"),
                f"{name}: median": f"{row[column]:.3g}",
                f"{name}: 99 % interval": f"{low:.3g} to {high:.3g}",
                f"{name}: percentile": _percent(row[f"{column}_percentile"]),
            }
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows))


def _probabilities(table: pd.DataFrame) -> str:
    rows = []
    part = table[(table["reading"] == CHOSEN) & (table["mechanism"] == ROWS[1])]
    for _, row in part.iterrows():
        cells = {"data set": title(row["dataset"])}
        for column, name in METRICS.items():
            cells |= {
                f"{name}: printed ratio": _number(row[f"{column}_printed_ratio"], ".3f"),
                f"{name}: independent seeds": _percent(row[f"{column}_independent_seeds"]),
                f"{name}: same seeds": _percent(row[f"{column}_same_seeds"]),
            }
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows))


def _mean_gains(table: pd.DataFrame) -> str:
    rows = []
    part = table[(table["reading"] == CHOSEN) & (table["mechanism"] == ROWS[1])]
    for _, row in part.iterrows():
        cells = {"data set": title(row["dataset"]), "same noise": _percent(row["same_noise"])}
        for column, name in METRICS.items():
            ends = " to ".join(f"{row[f'{column}_gain_{end}']:.3g}" for end in ("low", "high"))
            better, worse = (
                round(row[f"{column}_{word}"] * row["replications"]) for word in ("better", "worse")
            )
            cells[f"{name}: gain"] = f"{row[f'{column}_gain']:.3g} ({ends})"
            cells[f"{name}: better, worse, equal"] = (
                f"{better}, {worse}, {row['replications'] - better - worse:.0f}"
            )
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows))


def _combinations(table: pd.DataFrame) -> str:
    part = table[
        ((table["combination"] == 1) | (table["reading"] == CHOSEN))
        & (table["mechanism"] == ROWS[0])
    ]
    rows = []
    for name, same in part.groupby("reading", sort=False):
        cells = {"reading": VARIANTS.get(str(name), str(name))}
        for _, row in same.iterrows():
            texts = [
                f"({row[column]:.3g})"
                if row["contradicted"] in {column, "both"}
                else f"{row[column]:.3g}"
                for column in METRICS
            ]
            cells[title(row["dataset"])] = ", ".join(texts)
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows).fillna(""))


def _gains(table: pd.DataFrame) -> str:
    rows = []
    part = table[(table["mechanism"] == ROWS[1]) & (table["combination"] == 0)]
    for dataset, mine in part.groupby("dataset", sort=False):
        printed = _number(mine["nmse_printed_ratio"].iloc[0], ".3f")
        cells = {"data set": title(str(dataset)), "printed": printed}
        for _, row in mine.iterrows():
            name = VARIANTS.get(row["reading"], row["reading"])
            cells[name] = f"{row['nmse_ratio']:.3f} ({_percent(row['nmse_better'])})"
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows))


def _levels(table: pd.DataFrame) -> str:
    rows = []
    for dataset, mine in table[table["combination"] == 0].groupby("dataset", sort=False):
        printed = mine[mine["reading"] == CHOSEN]["nmse_printed"]
        cells = {"data set": title(str(dataset))}
        cells["printed"] = ", ".join(_number(value, ".4g") for value in printed)
        for name, both in mine.groupby("reading", sort=False):
            texts = [f"{value:.3g}" for value in both["nmse"]]
            cells[VARIANTS.get(str(name), str(name))] = ", ".join(texts)
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows))


def replicates(table: pd.DataFrame) -> Figure:
    """Draw where the printed numbers and gains lie among the replications.

    On the left NMSE in units of the median for the Gaussian: dot the median, bar the 99 % interval,
    open circle printed. On the right the ratio of Gaussian to flipped Huber NMSE with the same
    seeds, for three variants, and the printed one.

    Parameters
    ----------
    table : DataFrame
        As for `page`.
    """
    table = table[table["status"] == "ok"]
    names = in_order(table["dataset"])
    shown = [name for name in (CHOSEN, "bound-of-mangold", "exact-account")
             if name in set(table["reading"])]  # fmt: skip
    shades = dict(zip(shown, (GREY, COLOURS["gaussian"], COLOURS["flipped-huber"]), strict=False))
    by: dict[tuple[str, str, str], dict[Hashable, Any]] = {
        (row["dataset"], row["reading"], row["mechanism"]): row for row in table.to_dict("records")
    }
    with house_style():
        figure = new_figure(PAGE, 1.6 + 0.42 * max(len(names), 1))
        left, right = figure.subplots(1, 2, sharey=True)
        left.set_yticks(range(len(names)), [title(name) for name in names])
        left.set_ylim(max(len(names), 1) - 0.5, -0.5)
        for height, dataset in enumerate(names):
            unit = by[dataset, CHOSEN, ROWS[0]]["nmse"]
            for mechanism, shift in zip(ROWS, (-0.18, 0.18), strict=True):
                row = by[dataset, CHOSEN, mechanism]
                _bar(left, _ends(row, "nmse", unit), height + shift, COLOURS[mechanism])
                left.plot(row["nmse_printed"] / unit, height + shift, "o", mfc="none",
                          mec=COLOURS[mechanism], markersize=5.5)  # fmt: skip
            for name, shift in zip(shown, np.linspace(-0.25, 0.25, len(shown)), strict=True):
                row = by[dataset, name, ROWS[1]]
                _bar(right, _ends(row, "nmse_ratio"), height + shift, shades[name])
            ratio = by[dataset, CHOSEN, ROWS[1]]["nmse_printed_ratio"]
            right.plot(ratio, height, "D", mfc="none", mec="black", markersize=5)
        _axis(left, "NMSE, in units of our median for the Gaussian")
        _axis(right, "NMSE of Gaussian over flipped Huber noise")
        legend_below(figure, _replicates_key(shades))
    return figure


def _bar(axes: Axes, spread: list[float], height: float, colour: str) -> None:
    """Draw a median and its interval."""
    middle, *ends = spread
    axes.plot(ends, [height] * 2, color=colour, linewidth=1.2)
    axes.plot(middle, height, "o", color=colour, markersize=3)


def _ends(row: dict[Hashable, Any], column: str, unit: float = 1.0) -> list[float]:
    return [row[f"{column}{end}"] / unit for end in ENDS]


def _axis(axes: Axes, label: str, dense: float = 12) -> None:
    """Give a panel a logarithmic axis with round numbers, more of them where it spans less than
    `dense`, and lines between data sets.
    """
    axes.set_xscale("log")
    left, right = axes.get_xlim()
    steps = (1, 1.5, 2, 3, 5, 7) if right / left < dense else (1, 3)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=50))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axvline(1, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    axes.set_xlabel(label)
    for tick in axes.get_yticks():
        axes.axhline(tick + 0.5, color=GREY, alpha=0.3, linewidth=0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _replicates_key(shades: dict[str, str]) -> list[Line2D]:
    rows = [
        Line2D([], [], color=COLOURS[name], marker="o", markersize=3, label=f"left: {NAMES[name]}")
        for name in ROWS
    ]
    rows.append(
        Line2D([], [], color=GREY, marker="o", mfc="none", linestyle="", label="left: printed")
    )
    rows += [
        Line2D([], [], color=colour, marker="o", markersize=3, label=f"right: {VARIANTS[name]}")
        for name, colour in shades.items()
    ]
    rows.append(
        Line2D([], [], color="black", marker="D", mfc="none", linestyle="", label="right: printed")
    )
    return rows

"""Table III of flipped-huber-2023 as a figure and as pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

from dpnoise_papers.claims.judge import SIGNS
from dpnoise_papers.flipped_huber_2023.table_3.replicates import ROWS, printed_values
from dpnoise_papers.flipped_huber_2023.table_3.settings import CHOSEN
from dpnoise_papers.pages import latex, markdown_table
from dpnoise_papers.style import (
    COLOURS,
    GREY,
    GROUND,
    NAMES,
    PAGE,
    TEXT,
    house_style,
    in_order,
    new_figure,
    title,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpnoise_papers.claims.model import Claim


ENDS = ("", "_low", "_high")  # of a column: median and interval over replications
METRICS = {"nmse": "NMSE", "test_error": "test error"}
VARIANTS = {
    CHOSEN: "as chosen",
    "bound-of-mangold": "Gaussian by the bound of [53]",
    "one-pass": "one pass allowed",
    "bound-and-one-pass": "both of these",
    "exact-account": "flipped Huber by the exact account",
    "optimum-50-passes": "optimum: 50 passes without noise",
    "optimum-200-passes": "optimum: 200 passes without noise",
}
_RATIOS = {  # readings whose ratios are drawn: mark and label
    CHOSEN: ("o", "ratio: as chosen"),
    "bound-of-mangold": ("s", "ratio: Gaussian by [53]"),
    "exact-account": ("^", "ratio: exact account"),
}


def table_3(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw printed numbers against ours for each data set, metric and mechanism.

    The sizes of the data sets' numbers differ by a thousand, so each is drawn in units of
    the number that is printed for the Gaussian, or of ours where the paper has no such data set.
    At the right stands the ratio of Gaussian to flipped Huber NMSE with the same seeds.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.table_3.replicates.table_3` returns it: median
        and 99 % interval of nmse and test_error over the replications. Rows whose status is not
        'ok' are drawn as 'not run'.
    printed : DataFrame
        The printed numbers with our verdicts: columns dataset, mechanism, column, printed and
        verdict; for every data set in it, both mechanisms and both metrics.
    """
    paper: dict[tuple[str, str, str], dict[Hashable, Any]] = {
        (row["dataset"], row["mechanism"], row["column"]): row for row in printed.to_dict("records")
    }
    ours: dict[tuple[str, str, str], dict[Hashable, Any]] = {
        (row["dataset"], row["mechanism"], row["reading"]): row
        for row in table[table["status"] == "ok"].to_dict("records")
    }
    datasets = in_order(table["dataset"])
    judged = printed["verdict"][printed["dataset"].isin(datasets)]
    common = judged.mode().iloc[0] if len(judged) else ""
    with house_style():
        figure = new_figure(PAGE, 1.5 + 0.42 * len(datasets))
        *panels, right = figure.subplots(1, 3, sharey=True)
        right.set_yticks(range(len(datasets)), [title(name) for name in datasets])
        right.set_ylim(len(datasets) - 0.5, -0.5)
        for axes, (column, name) in zip(panels, METRICS.items(), strict=True):
            for height, dataset in enumerate(datasets):
                known = paper.get((dataset, ROWS[0], column), {})
                one = ours.get((dataset, ROWS[0], CHOSEN), {}).get(column, np.nan)
                unit = known.get("printed") or one
                for mechanism, shift in zip(ROWS, (-0.2, 0.2), strict=True):
                    cell = paper.get((dataset, mechanism, column), {})
                    row = ours.get((dataset, mechanism, CHOSEN), {})
                    middle, low, high = (row.get(f"{column}{end}", np.nan) / unit for end in ENDS)
                    theirs = cell.get("printed", np.nan) / unit
                    word = cell.get("verdict", common)
                    sign = SIGNS.get(word, "") if word != common else ""
                    entry = _Entry(height + shift, middle, low, high, theirs, sign)
                    _draw(axes, entry, COLOURS[mechanism])
                axes.annotate(
                    f"1 = {unit:{'g' if known else '.3g'}}",
                    (0, height), (2, 0), textcoords="offset points",
                    xycoords=axes.get_yaxis_transform(), va="center", color=GREY, bbox=GROUND,
                    zorder=4,
                )  # fmt: skip
            whose = "the printed" if {*printed["dataset"]} & {*datasets} else "our"
            _scale(axes, f"{name}, {whose} Gaussian = 1")
        for height, dataset in enumerate(datasets):
            for name, shift in zip(_RATIOS, np.linspace(-0.25, 0.25, len(_RATIOS)), strict=True):
                if (dataset, ROWS[1], name) in ours:
                    row = ours[dataset, ROWS[1], name]
                    middle, *ends = (row[f"nmse_ratio{end}"] for end in ENDS)
                    right.plot(ends, [height + shift] * 2, color=GREY, linewidth=1.0)
                    right.plot(middle, height + shift, _RATIOS[name][0], color="black", ms=3)
            theirs = [paper.get((dataset, one, "nmse"), {}).get("printed", np.nan) for one in ROWS]
            right.plot(theirs[0] / theirs[1], height, "D", mfc="none", mec="black", markersize=5)
        _axis(right, "NMSE, Gaussian / flipped Huber")
        figure.legend(handles=_key(), loc="outside upper center", ncols=4)
        seen = [f"{SIGNS[word]}  {word}" for word in SIGNS if word in {*judged} - {common}]
        seen += [f"{'all other numbers' if seen else 'all numbers'}: {common}"] if common else []
        figure.supxlabel("        ".join(seen), fontsize=TEXT, color=GREY)
    return figure


class _Entry(NamedTuple):
    """One data set under one mechanism: where it is drawn and what was found."""

    height: float
    ours: float
    low: float
    high: float
    printed: float
    sign: str


def _draw(axes: Axes, entry: _Entry, colour: str) -> None:
    """Draw one mechanism: open circle printed, dot and bar ours, a sign at the right."""
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
        1.01, height, entry.sign, transform=axes.get_yaxis_transform(),
        va="center", color=colour,
    )  # fmt: skip


def _scale(axes: Axes, label: str) -> None:
    """Give a panel its axis, with space on the left for the unit of each data set."""
    axes.set_xscale("log")
    left, right = axes.get_xlim()
    left, right = min(left, 0.45), max(right, 1.6)
    left /= (right / left) ** 0.45
    axes.set_xlim(left, right)
    _axis(axes, label, dense=20)


def _key() -> list[Line2D]:
    """Entries of the key: mechanisms by colour, printed and ours by shape, then the ratios."""
    hollow: dict[str, Any] = {"mfc": "none", "ls": ""}
    return [
        *(Line2D([], [], color=COLOURS[name], label=NAMES[name]) for name in ROWS),
        Line2D([], [], marker="o", markersize=5.5, mec=GREY, label="printed", **hollow),
        Line2D([], [], marker="o", markersize=3, color=GREY, label="ours: median, 99 %"),
        *(Line2D([], [], marker=mark, markersize=3, color="black", ls="", label=label)
          for mark, label in _RATIOS.values()),
        Line2D([], [], marker="D", markersize=5, mec="black", label="ratio: printed", **hollow),
    ]  # fmt: skip


def pages(table: pd.DataFrame, *, claims: Sequence[Claim]) -> tuple[str, str]:
    """Return the pages of Table III in Markdown and in LaTeX.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.table_3.replicates.table_3` returns it.
    """
    return _markdown(table), latex(_medians(table, printed_values(claims)))


def _medians(table: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Table III: our medians with the printed number below."""
    known = printed.set_index(["dataset", "mechanism", "metric"])["printed"].to_dict()
    chosen = table[table["reading"] == CHOSEN].to_dict("records")
    by = {(row["dataset"], row["mechanism"]): row for row in chosen}
    rows = []
    for dataset in in_order(table["dataset"]):
        ours, theirs = {"data set": title(dataset)}, {"data set": "printed"}
        for mechanism in ROWS:
            row = by[dataset, mechanism]
            for metric, name in METRICS.items():
                head = f"{NAMES[mechanism]}: {name}"
                ours[head] = f"{row[metric]:.3g}" if row["status"] == "ok" else "not run"
                theirs[head] = known.get((dataset, mechanism, metric), "")
        rows += [ours, theirs]
    return pd.DataFrame(rows)


def _markdown(table: pd.DataFrame) -> str:
    """Page of the replications."""
    ok = table[table["status"] == "ok"]
    count = int(ok["replications"].max()) if len(ok) else 0
    missed = int(ok["missed"].sum())
    about = (
        "The protocol takes the mean NMSE over a few trials for every combination of passes, step "
        f"and clip, and the smallest of these means. It is run {count} times with independent "
        "partitions and noise. `percentile` is the share of replications below the printed number: "
        "near 0 or 100 % seeds do not explain it. `independent seeds` is the probability of the "
        "printed ratio of Gaussian to flipped Huber, or a larger one, when each of the two has a "
        "partition and noise of its own. `same seeds` is that when they share both."
    )
    mean = (
        "Mean of the paired differences with its 99 % interval. Beside it stands in how many "
        "replications the flipped Huber row is better, worse and equal. `same noise` is the share "
        "of those in which both rows are one distribution: there they are equal by construction."
    )
    open_choices = (
        "Median NMSE and test error of the Gaussian row, the control, under combinations of what "
        "the paper does not print. In brackets stands what cannot be the printed one, since 99 % "
        "of the replications leave the printed number out."
    )
    gain = (
        "Median ratio of NMSE, Gaussian over flipped Huber noise, same seeds; in brackets how "
        "often the Gaussian's is larger."
    )
    thinned = (
        "The grid is thinned after a pilot; in the audited replications, on the whole grid, the "
        f"thinned grid missed the best {missed} times."
    )
    gone = table[table["status"] != "ok"].drop_duplicates("dataset")
    # a reason is one line
    why = [f"- {title(row['dataset'])}: {' '.join(row['reason'].split())}"
           for row in gone.to_dict("records")]  # fmt: skip
    parts = [
        "# Table III of flipped-huber-2023: private coordinate descent", about,
        "## Where each printed number lies", _percentiles(ok),
        "## The probability of the printed gain", _probabilities(ok),
        "## The mean gain", mean, _mean_gains(ok),
        "## What other variants do to the gain", gain, _gains(ok), thinned,
        "## What the paper does not print", open_choices, _combinations(ok),
        *(["## Not run", "\n".join(why)] if why else []),
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

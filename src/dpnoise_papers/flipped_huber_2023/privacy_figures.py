"""Figures 1, 2 and 5 to 7 of flipped-huber-2023, and Table I as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb
from matplotlib.ticker import MaxNLocator

from dpnoise_papers.pages import latex, markdown
from dpnoise_papers.style import COLOURS, GREY, GROUND, NAMES, house_style, legend_below, look, page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LINES = ("-", "--", ":", "-.")  # by gamma, the most frequent first
_SMALLEST = 1e-12  # smaller delta is of no use to anyone


@house_style()
def figure_1(table: pd.DataFrame) -> Figure:
    """Flipped Huber densities, plainly and on a logarithmic scale.

    The logarithmic panel shows the graft: straight (Laplace) up to the dot at abs(t) = alpha, a
    parabola (Gaussian) beyond.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.privacy.densities` returns it.
    """
    alphas = sorted(set(table["alpha"]) - {0.0})
    gammas = list(table.groupby("gamma").size().sort_values(ascending=False, kind="stable").index)
    figure, ((plain, logarithmic),) = page(1, 2, height=3.2)
    for alpha, gamma in dict.fromkeys(zip(table["alpha"], table["gamma"], strict=True)):
        rows = table[(table["alpha"] == alpha) & (table["gamma"] == gamma)]
        colour = _shade(alpha, alphas)
        look: dict[str, Any] = {
            "color": colour,
            "linestyle": LINES[gammas.index(gamma) % len(LINES)],
            "zorder": 3 if alpha == 0 else 2,  # the reference stays visible
        }
        name = " (Gaussian)" if alpha == 0 else ""
        marks = rows[rows["transition"] == 1]
        for axes in (plain, logarithmic):
            label = rf"$\alpha={alpha:g},\ \gamma={gamma:g}${name}"
            axes.plot(rows["t"], rows["density"], **look, label=label)
            axes.plot(marks["t"], marks["density"], "o", color=colour)
            axes.set_xlim(table["t"].min(), table["t"].max())
            axes.set_xlabel(r"noise $t$")
    peak = table["density"].max()
    logarithmic.set_yscale("log")
    logarithmic.set_ylim(peak * 1e-6, peak * 2)
    plain.set_ylim(0, None)
    plain.set_ylabel(r"density $g(t)$")
    logarithmic.set_ylabel(r"density $g(t)$, logarithmic")
    plain.set_title("Sharp centre")
    logarithmic.set_title("Laplace centre, Gaussian tails")
    legend_below(figure)
    return figure


def _shade(alpha: float, alphas: list[float]) -> tuple[float, ...] | str:
    """Colour of the Gaussian for alpha = 0, else of flipped Huber noise, darker with alpha."""
    if alpha == 0:
        return COLOURS["gaussian"]
    base = np.array(to_rgb(COLOURS["flipped-huber"]))
    weight = alphas.index(alpha) / max(len(alphas) - 1, 1)
    light, dark = 0.5 * base + 0.5, 0.4 * base
    return tuple((light + weight * (dark - light)).tolist())


@house_style()
def figure_2(table: pd.DataFrame) -> Figure:
    """Normalised Fisher information against alpha/gamma.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.privacy.fisher_information` returns it.
    """
    curve = table[(table["mechanism"] == "flipped-huber") & (table["ratio"] > 0)]
    figure, ((axes,),) = page(height=2.8)
    left, right = curve["ratio"].min(), curve["ratio"].max()
    for mechanism, word, align, lift in (
        ("gaussian", "Gaussian", "top", -3),
        ("laplace", "Laplace", "bottom", 3),
    ):
        level = table.loc[table["mechanism"] == mechanism, "nfi"].iloc[0]
        axes.axhline(level, **look(mechanism), linewidth=1)
        axes.annotate(
            f"{word}: {level:g}", (right, level), (0, lift), textcoords="offset points",
            ha="right", va=align, color=COLOURS[mechanism],
        )  # fmt: skip
    axes.plot(curve["ratio"], curve["nfi"], **look("flipped-huber"))
    middle = curve.iloc[(curve["nfi"] - 1.5).abs().argmin()]
    axes.annotate(
        "flipped Huber", (middle["ratio"], middle["nfi"]), (-6, 4), textcoords="offset points",
        ha="right", color=COLOURS["flipped-huber"],
    )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(0.9, 2.1)
    axes.set_xlabel(r"$\alpha/\gamma$: Gaussian at 0, Laplace at infinity")
    axes.set_ylabel(r"Fisher information $\times$ variance")
    axes.grid(axis="y")
    return figure


@house_style()
def figure_5(table: pd.DataFrame) -> Figure:
    """Centred privacy losses of flipped Huber noise below their affine bounds.

    One panel per shift d. The open dot is the ridge, where loss and bound meet.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.privacy.loss_and_bound` returns it.
    """
    shifts = sorted(set(table["d"]))
    alpha, gamma = table["alpha"].iloc[0], table["gamma"].iloc[0]
    figure, (panels,) = page(1, len(shifts), height=2.9)
    for axes, d in zip(panels, shifts, strict=True):
        rows = table[table["d"] == d]
        ridge = rows[rows["ridge"] == 1]
        axes.plot(rows["t"], rows["bound"], color=GREY, linewidth=1, label="affine bound (18)")
        axes.plot(rows["t"], rows["loss"], **look("flipped-huber"), label="privacy loss")
        axes.plot(
            ridge["t"], ridge["loss"], "o", color="black", markerfacecolor="white", markersize=5,
            label="ridge",
        )  # fmt: skip
        _cross(axes)
        axes.set_xlim(rows["t"].min(), rows["t"].max())
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlabel(r"centred noise $t$")
        axes.set_title(_relation(alpha, d))
    panels[0].set_ylabel(r"centred privacy loss $\tilde{\zeta}_d(t)$")
    legend_below(figure, title=rf"flipped Huber noise, $\alpha={alpha:g},\ \gamma={gamma:g}$")
    return figure


def _cross(axes: Axes) -> None:
    """Draw thin lines through the origin."""
    axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    axes.axvline(0, color=GREY, linewidth=0.4, zorder=0)


def _relation(alpha: float, d: float) -> str:
    """Case of (25) that a shift belongs to."""
    if alpha >= d:
        case = r"$|d| \leq \alpha$"
    elif alpha >= d / 2:
        case = r"$|d|/2 \leq \alpha < |d|$"
    else:
        case = r"$\alpha < |d|/2$"
    return f"d = {d:g}: {case}"


@house_style()
def figure_6(table: pd.DataFrame) -> Figure:
    """Privacy profiles of three mechanisms with one variance.

    A logarithmic panel over all epsilon and a plain one near 0, up to where flipped Huber noise
    takes over.

    Parameters
    ----------
    table : DataFrame
        As `profiles_at_one_variance` of
        `dpnoise_papers.flipped_huber_2023.privacy` returns it.
    """
    positive = table[table["delta"] > 0]
    crossing = _crossing(table)
    figure, ((whole, near),) = page(1, 2, height=3.1)
    for mechanism in dict.fromkeys(positive["mechanism"]):
        rows = positive[positive["mechanism"] == mechanism]
        for axes in (whole, near):
            axes.plot(rows["epsilon"], rows["delta"], **look(mechanism), label=NAMES[mechanism])
            axes.set_xlabel(r"privacy budget $\epsilon$")
            axes.grid(visible=True)
    whole.set_yscale("log")
    whole.set_xlim(table["epsilon"].min(), table["epsilon"].max())
    whole.set_ylim(max(positive["delta"].min(), _SMALLEST), positive["delta"].max() * 1.5)
    inside = table[table["epsilon"] <= max(2.5 * crossing, table["epsilon"].iloc[1])]
    near.set_xlim(inside["epsilon"].min(), inside["epsilon"].max())
    near.set_ylim(inside["delta"].min(), inside["delta"].max() * 1.03)
    near.axvline(crossing, color=GREY, linestyle=":", linewidth=1)
    near.annotate(
        f"from {crossing:.2g} on flipped Huber\nhas the smallest $\\delta$", (crossing, 1),
        (4, -2), xycoords=("data", "axes fraction"), textcoords="offset points", va="top",
        color=GREY, bbox=GROUND,
    )  # fmt: skip
    whole.set_ylabel(r"privacy profile $\delta(\epsilon)$")
    whole.set_title("One variance, three mechanisms")
    near.set_title("Near 0 the order is reversed")
    legend_below(figure)
    return figure


def _crossing(table: pd.DataFrame) -> float:
    """Epsilon from which on flipped Huber has the smallest delta, at most the last."""
    wide = table.pivot_table(index="epsilon", columns="mechanism", values="delta")
    worse = np.flatnonzero(wide["flipped-huber"] > wide.min(axis=1))
    place = worse[-1] + 1 if len(worse) else 0
    return float(wide.index[min(place, len(wide) - 1)])


@house_style()
def figure_7(table: pd.DataFrame) -> Figure:
    """Centred privacy losses of four mechanisms with one scale parameter.

    The flipped Huber's loss joins the Gaussian's in the tails; the offset-symmetric Gaussian's is
    the sum of Gaussian and Laplace throughout.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.privacy.losses_at_one_scale` returns it.
    """
    figure, ((axes,),) = page(height=3.6)
    _cross(axes)
    for mechanism in dict.fromkeys(table["mechanism"]):
        rows = table[table["mechanism"] == mechanism]
        axes.plot(rows["t"], rows["loss"], **look(mechanism), label=NAMES[mechanism])
    axes.set_xlim(table["t"].min(), table["t"].max())
    axes.set_xlabel(r"centred noise $t$")
    axes.set_ylabel(r"centred privacy loss $\tilde{\zeta}_d(t)$")
    axes.set_title("One scale parameter, four losses")
    legend_below(figure)
    return figure


def table_1_page(table: pd.DataFrame) -> tuple[str, str]:
    """Table I as Markdown and LaTeX: for each case and border, what random trials found.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.privacy.published_cases` returns it.
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


def _error(errors: pd.Series) -> str:
    """Largest error of a column in words."""
    return f"{errors.abs().max():.0e}"

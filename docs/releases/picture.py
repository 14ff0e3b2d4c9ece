"""Picture of docs/real-releases.md: printed and exact epsilon, and the variance that is needed.

python docs/releases/picture.py      (writes docs/images/real-releases.svg)
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise import L1, Counts, Gaussian, LInf, best, epsilon_at, gaussian_sigma
from dpnoise_papers.style import COLOURS, GREY, house_style, page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCS = Path(__file__).parents[1]
ENERGY = (4.0, 4.08e-8)  # epsilon, delta of 48 means
ADDED, REPLACED = "add-remove", "replace-one"


def printed() -> list[tuple[str, float, float, float]]:
    """Releases with Gaussian noise: name, printed and exact epsilon, and the share of variance."""
    found = []
    with (DOCS / "releases" / "printed.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            epsilon, delta, rho = (float(row[name]) for name in ("epsilon", "delta", "rho"))
            sigma = 1.0 / math.sqrt(2.0 * rho)
            exact = float(epsilon_at(Gaussian(sigma), 1.0, delta))
            share = (float(gaussian_sigma(epsilon, delta)) / sigma) ** 2
            found.append((row["release"], epsilon, exact, share))
    return found


def vectors() -> list[tuple[str, float, float]]:
    """Other releases: name, share of the variance that the least noise needs, and of the floor."""
    energy = 48.0 * float(gaussian_sigma(*ENERGY)) ** 2
    mobility, symptoms, views = 4 / 0.44, 3 / 0.168, 30.0  # scales of the Laplace noise
    asked = [
        (
            "48 energy means, one replaced",
            LInf(1.0, of=48, relation=REPLACED),
            *ENERGY,
            energy,
        ),
        (
            "48 energy means, one more or less",
            Counts(48, of=48, whole=False, relation=ADDED),
            *ENERGY,
            energy,
        ),
        ("mobility, 500 pairs", Counts(4, of=500, relation=ADDED), 0.44, 0.0, 2 * mobility**2),
        ("symptoms, 400 counts", Counts(3, of=400, relation=ADDED), 0.168, 0.0, 2 * symptoms**2),
        ("historical page views", L1(views, of=1000, relation=ADDED), 1.0, 0.0, 2 * views**2),
    ]
    shares = []
    for name, one, epsilon, delta, used in asked:
        found = best(one, epsilon=epsilon, delta=delta)
        shares.append((name, found.variance / used, found.floor / used))
    return shares


@house_style()
def picture() -> Figure:
    """Exact over printed epsilon on the left, variance needed over variance used on the right."""
    figure, ((losses, variances),) = page(1, 2, height=3.2, sharey=True)
    gaussian, other = printed(), vectors()
    for place, (_, epsilon, exact, share) in enumerate(gaussian):
        losses.plot(exact / epsilon, place, "o", color=COLOURS["gaussian"])
        variances.plot(share, place, "o", color=COLOURS["gaussian"])
    for place, (_, share, floor) in enumerate(other, start=len(gaussian)):
        variances.plot(share, place, "o", color=COLOURS["k-norm"])
        variances.plot(floor, place, "|", color=GREY, markersize=8)
    names = [name for name, *_ in gaussian] + [name for name, *_ in other]
    losses.set_yticks(range(len(names)), names)
    losses.invert_yaxis()
    losses.set_xlim(0.7, 1.1)
    losses.set_xlabel(r"exact $\epsilon$ / printed $\epsilon$")
    variances.set_xlim(0.0, 1.15)
    variances.set_xlabel("variance needed / used (bar: floor)")
    for axes in (losses, variances):
        axes.axvline(1.0, color=GREY, linewidth=0.8)
        axes.grid(visible=True, axis="x")
    return figure


@house_style()
def write(path: Path) -> None:
    """Write the picture as SVG, with the same bytes on every run."""
    picture().savefig(path, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    write(DOCS / "images" / "real-releases.svg")

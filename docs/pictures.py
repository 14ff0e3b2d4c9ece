"""Pictures of the noise families, docs/images/noise/NAME.svg: density and privacy.

    python docs/pictures.py docs/images/noise

One coordinate of sensitivity 1. Every noise of a picture has the same variance, so that the lower
curve on the right is the more private noise at that epsilon.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq

from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise.exponential_power import Gaussian, Laplace, Subbotin, TruncatedLaplace
from dpnoise.noise.grafted import FlippedHuber, Huber, OffsetSymmetricGaussian
from dpnoise.noise.integers import DiscreteGaussian, DiscreteLaplace, DiscreteStaircase
from dpnoise.noise.stepwise import Staircase
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.style import COLOURS, GREY, NAMES, house_style, legend_below, look, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STD = 2.0  # of every noise
REACH = 7.0  # of the densities
EPSILONS = np.linspace(0.0, 2.5, 51)
LOWEST = 1e-8  # delta


def scaled(make: Callable[[float], Any]) -> Any:  # noqa: ANN401
    """Noise of the standard deviation of the pictures, from a family in one parameter."""
    return make(float(brentq(lambda x: make(x).std() - STD, 0.05, 50.0, xtol=1e-10)))


def continuous() -> dict[str, Any]:
    """Noise of each continuous family."""
    return {
        "gaussian": Gaussian(STD),
        "laplace": Laplace(STD / 2**0.5),
        "flipped-huber": scaled(lambda x: FlippedHuber(x, x)),
        "offset-symmetric-gaussian": scaled(lambda x: OffsetSymmetricGaussian(x, x)),
        "staircase": scaled(lambda x: calibrate("staircase", epsilon=1.0 / x).noise),
        "truncated-laplace": scaled(lambda x: TruncatedLaplace(x, 3.0 * x)),
        "subbotin": scaled(lambda x: Subbotin(1.5, x)),
        "huber": scaled(Huber),
    }


def jumps(noise: Any) -> list[np.ndarray]:  # noqa: ANN401
    """Points just beside the jumps of a density."""
    if isinstance(noise, Staircase):
        at = np.arange(REACH) + noise.gamma
    elif isinstance(noise, TruncatedLaplace):
        at = np.array([noise.bound])
    else:
        return []
    return [sign * at + step for sign in (-1, 1) for step in (-1e-6, 1e-6)]


@house_style()
def family(name: str, noises: dict[str, Any]) -> Figure:
    """Density and privacy profile of one family, beside Gaussian and Laplace noise."""
    figure, ((density, privacy),) = page(1, 2, height=2.5)
    t = np.unique(np.concatenate([np.linspace(-REACH, REACH, 201), *jumps(noises[name])]))
    shown = [one for one in ("gaussian", "laplace", name) if one in noises]
    for one in dict.fromkeys(shown):
        wide = {"linewidth": 2.2} if one == name else {"linewidth": 1.0}
        density.plot(t, noises[one].pdf(t), **look(one), **wide, label=NAMES[one])
        delta = privacy_profile(noises[one], 1.0, EPSILONS)
        privacy.plot(EPSILONS, np.maximum(delta, 1e-300), **look(one), **wide)
    _axes(density, privacy)
    legend_below(figure)
    return figure


def _axes(density: Axes, privacy: Axes) -> None:
    density.set_xlabel("noise, of standard deviation 2")
    density.set_ylabel("density")
    density.set_ylim(0, None)
    privacy.set_xlabel(r"$\epsilon$, for sensitivity 1")
    privacy.set_ylabel(r"$\delta$")
    privacy.set_yscale("log")
    privacy.set_ylim(LOWEST, 1)
    privacy.grid(visible=True)


@house_style()
def discrete() -> Figure:
    """Probabilities and privacy profiles of the three families on the integers."""
    noises = {
        "gaussian": DiscreteGaussian(STD),
        "laplace": DiscreteLaplace(1.3823),  # of standard deviation 1.997
        "staircase": DiscreteStaircase(0.7, 1, 1),
    }
    figure, ((density, privacy),) = page(1, 2, height=2.5)
    k = np.arange(-REACH, REACH + 1)
    for offset, (name, noise) in zip((-0.22, 0.0, 0.22), noises.items(), strict=True):
        density.bar(
            k + offset, noise.pmf(k), 0.2, color=COLOURS[name], label=f"discrete {NAMES[name]}"
        )
        delta = privacy_profile(noise, 1, EPSILONS)
        privacy.plot(EPSILONS, np.maximum(delta, 1e-300), **look(name))
    _axes(density, privacy)
    density.set_ylabel("probability")
    density.set_xlabel("noise")
    legend_below(figure)
    return figure


@house_style()
def joint() -> Figure:
    """Densities of K-norm and Laplace noise for a square, and variances over K."""
    figure, (panels,) = page(1, 3, height=2.5)
    square, diamond = [1, 1, -1, -1, 1], [1, -1, -1, 1, 1]
    tip, side = [2, 0, -2, 0, 2], [0, 2, 0, -2, 0]  # of |x| + |y| = 2
    for axes, name, (x, y) in zip(
        panels, ("k-norm", "laplace"), ((square, diamond), (tip, side)), strict=False
    ):
        axes.fill(square, diamond, color=GREY, alpha=0.3, linewidth=0)
        for r in range(1, 5):  # the density falls by the factor e from line to line
            axes.plot(r * np.array(x), r * np.array(y), color=COLOURS[name], linewidth=2.0 / r)
        axes.set_aspect("equal")
        axes.set_xlim(-8.5, 8.5)
        axes.set_ylim(-8.5, 8.5)
        axes.set_xlabel("noise of the first number")
    panels[0].set_ylabel("of the second")
    K = np.unique(np.geomspace(1, 100, 30).round())
    curves = {
        "k-norm": (K + 1) * (K + 2) / 3,
        "laplace": 2.0 * K**2,
        "gaussian": K * float(gaussian_sigma(1.0, 1e-6)) ** 2,
    }
    for name, variance in curves.items():
        panels[2].plot(K, variance, **look(name), label=NAMES[name])
    panels[2].set_xscale("log")
    panels[2].set_yscale("log")
    panels[2].set_xlabel("K")
    panels[2].set_ylabel("variance per coordinate")
    panels[2].grid(visible=True)
    legend_below(figure)
    return figure


def pictures() -> dict[str, Figure]:
    """Every picture by its name."""
    noises = continuous()
    made = {name: family(name, noises) for name in noises}
    return made | {"discrete": discrete(), "joint": joint()}


def svg(figure: Figure) -> bytes:
    """A figure as SVG, with the same bytes on every run."""
    buffer = BytesIO()
    with house_style():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in pictures().items():
        (folder / f"{name}.svg").write_bytes(svg(figure))

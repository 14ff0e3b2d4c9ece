"""Privacy losses and profiles in one dimension (flipped-huber-2023, Figures 5 to 7).

The centred privacy loss for a shift d is log g(t - d/2) - log g(t + d/2). Figure 5 shows it
for flipped Huber noise with its affine bound (18), Figure 7 for four mechanisms at one scale,
and Figure 6 what the losses amount to: privacy profiles at one variance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from dpnoise._validation import Problems
from dpnoise.noise import FlippedHuber, Gaussian, Laplace, Noise, OffsetSymmetricGaussian
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.grids import describe, require_count, require_grid, symmetric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise._types import Array


def loss_and_bound(
    *, alpha: float, gamma: float, shifts: Sequence[float], margin: float, points: int
) -> pd.DataFrame:
    """Return centred losses of flipped Huber noise and their affine bounds (Figure 5).

    Parameters
    ----------
    alpha, gamma : float
        The noise.
    shifts : sequence of float
        The shifts d > 0, one curve each.
    margin : float
        How far the grid goes beyond the last hinge, abs(t) = alpha + d/2.
    points : int
        Grid points; the hinges, where the slope changes, are added.

    Returns
    -------
    DataFrame
        Columns alpha, gamma, d, t, loss, bound and ridge (1 at t = d/2, where the two touch).

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("losses and bounds")
    problems.number("alpha", alpha, low=0.0)
    problems.number("gamma", gamma, low=0.0, open_low=True)
    problems.number("margin", margin, low=0.0, open_low=True)
    problems.require(len(shifts) > 0, "shifts", "at least one", shifts)
    for place, d in enumerate(shifts):
        problems.number(f"shifts[{place}]", d, low=0.0, open_low=True)
    require_count(problems, "points", points, 2)
    problems.raise_if_any()
    noise = FlippedHuber(alpha, gamma)
    parts = []
    for d in shifts:
        edge = alpha + d / 2 + margin
        t = symmetric(edge, points, [d / 2, abs(alpha - d / 2), alpha + d / 2])
        excess = alpha**2 - max(alpha - d, 0.0) ** 2
        columns = {"alpha": noise.alpha, "gamma": noise.gamma, "d": float(d), "t": t}
        columns["loss"] = _centred_loss(noise, t, d)
        columns["bound"] = (t * d + excess / 2) / gamma**2
        columns["ridge"] = (t == d / 2).astype(int)
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def losses_at_one_scale(
    *, scale: float, shift: float, half_width: float, points: int
) -> pd.DataFrame:
    """Return centred losses of four mechanisms with one scale parameter (Figure 7).

    alpha and theta are not printed. Ours equal the scale s: then the Laplace noise that
    Appendix E-B says is the other half of the offset-symmetric Gaussian's loss, with scale
    s^2 / theta, has scale s as well, and all four are comparable.

    Parameters
    ----------
    scale : float
        sigma, beta, gamma = alpha and rho = theta.
    shift : float
        The shift d > 0.
    half_width : float
        The grid runs from minus to plus this.
    points : int
        Grid points; the hinges of the losses, where they lie inside, are added.

    Returns
    -------
    DataFrame
        Columns mechanism, t, loss and noise.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("losses at one scale")
    for name, value in (("scale", scale), ("shift", shift), ("half_width", half_width)):
        problems.number(name, value, low=0.0, open_low=True)
    require_count(problems, "points", points, 2)
    problems.raise_if_any()
    noises: dict[str, Noise] = {
        "gaussian": Gaussian(scale),
        "laplace": Laplace(scale),
        "offset-symmetric-gaussian": OffsetSymmetricGaussian(scale, scale),
        "flipped-huber": FlippedHuber(scale, scale),
    }
    hinges = [shift / 2, abs(scale - shift / 2), scale + shift / 2]
    t = symmetric(half_width, points, hinges)
    parts = [
        pd.DataFrame({"mechanism": name, "t": t, "loss": _centred_loss(noise, t, shift),
                      "noise": describe(noise)})
        for name, noise in noises.items()
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def profiles_at_one_variance(
    *, variance: float, scale: float, sensitivity: float, epsilons: Mapping[str, float]
) -> pd.DataFrame:
    """Return privacy profiles of three mechanisms with one variance (Figure 6).

    Parameters
    ----------
    variance : float
        Of every mechanism.
    scale : float
        gamma and rho; alpha and theta are solved for. Its square exceeds `variance`.
    sensitivity : float
        Largest difference between neighbouring answers.
    epsilons : mapping
        {low, high, count}: evenly spaced.

    Returns
    -------
    DataFrame
        Columns epsilon, mechanism, delta and noise.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("profiles at one variance")
    ok = problems.number("variance", variance, low=0.0, open_low=True)
    problems.number("scale", scale, low=variance**0.5 if ok else 0.0, open_low=True)
    problems.number("sensitivity", sensitivity, low=0.0, open_low=True)
    require_grid(problems, "epsilons", epsilons, positive=False)
    problems.raise_if_any()
    noises: dict[str, Noise] = {
        "gaussian": Gaussian(variance**0.5),
        "offset-symmetric-gaussian": _at_variance(OffsetSymmetricGaussian, scale, variance),
        "flipped-huber": _at_variance(FlippedHuber, scale, variance),
    }
    grid = np.linspace(epsilons["low"], epsilons["high"], int(epsilons["count"]))
    parts = [
        pd.DataFrame({"epsilon": grid, "mechanism": name,
                      "delta": privacy_profile(noise, sensitivity, grid),
                      "noise": describe(noise)})
        for name, noise in noises.items()
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _at_variance(family: type[Noise], scale: float, variance: float) -> Noise:
    """Return the noise of a two-parameter family with this scale and variance.

    Its variance falls from scale^2 to 0 as the first parameter, in units of the scale, grows;
    the Laplace limit, with variance 2 scale^2 / ratio^2, bounds that of both families above.
    """

    def excess(ratio: float) -> float:
        return family(ratio * scale, scale).var() - variance

    top = 2.0 * scale / variance**0.5
    return family(brentq(excess, 0.0, top, xtol=1e-15, rtol=1e-15) * scale, scale)


def _centred_loss(noise: Noise, t: Array, d: float) -> Array:
    return noise.logpdf(t - d / 2) - noise.logpdf(t + d / 2)

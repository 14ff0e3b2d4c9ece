"""Privacy losses and profiles in one dimension (flipped-huber-2023, Figures 5 to 7).

The centred privacy loss for a shift d is log g(t - d/2) - log g(t + d/2). Figure 5 shows it
for flipped Huber noise with its affine bound (18), Figure 7 for four mechanisms at one scale,
and Figure 6 what the losses amount to: privacy profiles at one variance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import scipy  # its optimize, 0.2 s, loads where it is used

from dpnoise.noise import FlippedHuber, Gaussian, Laplace, Noise, OffsetSymmetricGaussian
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.grids import describe, symmetric, values

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise_papers.flipped_huber_2023.settings import (
        LossAndBound,
        LossesAtOneScale,
        ProfilesAtOneVariance,
    )


def loss_and_bound(settings: LossAndBound) -> pd.DataFrame:
    """Centred losses of flipped Huber noise and their affine bounds (Figure 5).

    Columns alpha, gamma, d, t, loss, bound and ridge (1 at t = d/2, where the two touch).
    """
    alpha, gamma = settings.alpha, settings.gamma
    noise = FlippedHuber(alpha, gamma)
    parts = []
    for d in settings.shifts:
        edge = alpha + d / 2 + settings.margin
        t = symmetric(edge, settings.points, [d / 2, abs(alpha - d / 2), alpha + d / 2])
        excess = alpha**2 - max(alpha - d, 0.0) ** 2
        columns = {"alpha": noise.alpha, "gamma": noise.gamma, "d": d, "t": t}
        columns["loss"] = _centred_loss(noise, t, d)
        columns["bound"] = (t * d + excess / 2) / gamma**2
        columns["ridge"] = (t == d / 2).astype(int)
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def losses_at_one_scale(settings: LossesAtOneScale) -> pd.DataFrame:
    """Centred losses of four mechanisms with one scale parameter (Figure 7).

    alpha and theta are not printed. Ours equal the scale s: then the Laplace noise that
    Appendix E-B says is the other half of the offset-symmetric Gaussian's loss, with scale
    s^2 / theta, has scale s as well, and all four are comparable.

    Columns mechanism, t, loss and noise.
    """
    scale, shift = settings.scale, settings.shift
    noises: dict[str, Noise] = {
        "gaussian": Gaussian(scale),
        "laplace": Laplace(scale),
        "offset-symmetric-gaussian": OffsetSymmetricGaussian(scale, scale),
        "flipped-huber": FlippedHuber(scale, scale),
    }
    hinges = [shift / 2, abs(scale - shift / 2), scale + shift / 2]
    t = symmetric(settings.half_width, settings.points, hinges)
    parts = [
        pd.DataFrame({"mechanism": name, "t": t, "loss": _centred_loss(noise, t, shift),
                      "noise": describe(noise)})
        for name, noise in noises.items()
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def profiles_at_one_variance(settings: ProfilesAtOneVariance) -> pd.DataFrame:
    """Privacy profiles of three mechanisms with one variance (Figure 6).

    Columns epsilon, mechanism, delta and noise.
    """
    variance, scale = settings.variance, settings.scale
    noises: dict[str, Noise] = {
        "gaussian": Gaussian(variance**0.5),
        "offset-symmetric-gaussian": _at_variance(OffsetSymmetricGaussian, scale, variance),
        "flipped-huber": _at_variance(FlippedHuber, scale, variance),
    }
    grid = values(settings.epsilons)
    parts = [
        pd.DataFrame({"epsilon": grid, "mechanism": name,
                      "delta": privacy_profile(noise, settings.sensitivity, grid),
                      "noise": describe(noise)})
        for name, noise in noises.items()
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _at_variance(
    family: type[FlippedHuber | OffsetSymmetricGaussian], scale: float, variance: float
) -> Noise:
    """Noise of a two-parameter family with this scale and variance.

    Its variance falls from scale^2 to 0 as the first parameter, in units of the scale, grows;
    the Laplace limit, with variance 2 scale^2 / ratio^2, bounds that of both families above.
    """

    def excess(ratio: float) -> float:
        return family(ratio * scale, scale).var() - variance

    top = 2.0 * scale / variance**0.5
    return family(scipy.optimize.brentq(excess, 0.0, top, xtol=1e-15, rtol=1e-15) * scale, scale)


def _centred_loss(noise: Noise, t: Array, d: float) -> Array:
    """Privacy loss for a shift d, centred."""
    return noise.logpdf(t - d / 2) - noise.logpdf(t + d / 2)

"""Noise of the package as a measurement of OpenDP: the public `opendp_measurement`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of
from dpnoise._validation import Problems
from dpnoise.noise.integers import IntegerNoise
from dpnoise.privacy.profile import epsilon_at
from dpnoise.privacy.vector import read_shares
from dpnoise.releases.release import release

if TYPE_CHECKING:
    from dpnoise.noise.base import Noise

_ROUNDING = 1e-10  # relative, of epsilon: more than `epsilon_at` may be too small by


def opendp_measurement(noise: Noise | IntegerNoise, *, delta: float = 0.0) -> Any:  # noqa: ANN401
    """The exact release of a number with a noise, as a measurement that OpenDP composes.

    Parameters
    ----------
    noise : Noise or IntegerNoise
        The noise of a number; on the integers, of an integer.
    delta : float
        In [0, 1). With 0 the measurement is accounted for by pure epsilon, else by epsilon at
        this delta.

    Returns
    -------
    opendp.Measurement
        From a float (or an int) under the absolute distance. Its output is that of `release`; its
        privacy map is the exact profile of the noise. OpenDP asks for the features "contrib" and
        "honest-but-curious" before it takes a mechanism that is not its own.

    Raises
    ------
    ValueError
        If an argument is out of range.
    ModuleNotFoundError
        Without OpenDP (the extra `opendp`).

    Notes
    -----
    Proved: what `release` and `epsilon_at` say; the map returns epsilon rounded up. OpenDP composes
    such measurements by adding epsilons and deltas: `Budget` keeps more of the profile.

    References
    ----------
    OpenDP's user-defined measurements: https://docs.opendp.org

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> from dpnoise import FlippedHuber, opendp_measurement
    >>> one = opendp_measurement(FlippedHuber(0.5, 3.0), delta=1e-6)
    >>> epsilon, delta = one.map(1.0)
    >>> round(epsilon, 4), delta
    (1.4479, 1e-06)
    """
    problems = Problems("opendp_measurement")
    read_shares(problems, noise, 1, 1)
    problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
    problems.raise_if_any()
    with imports_of("opendp"):
        import opendp.prelude as dp  # noqa: PLC0415
    kind = int if isinstance(noise, IntegerNoise) else float
    place = dp.atom_domain(T=int) if kind is int else dp.atom_domain(T=float, nan=False)

    def epsilon_of(distance: float) -> float:
        return float(epsilon_at(noise, distance, delta)) * (1.0 + _ROUNDING)

    def pair_of(distance: float) -> tuple[float, float]:
        epsilon = epsilon_of(distance)
        return epsilon, delta if epsilon < math.inf else 1.0

    return dp.m.make_user_measurement(
        input_domain=place,
        input_metric=dp.absolute_distance(T=kind),
        output_measure=dp.fixed_smoothed_max_divergence() if delta > 0.0 else dp.max_divergence(),
        function=lambda value: kind(release(value, noise)),
        privacy_map=pair_of if delta > 0.0 else epsilon_of,
        TO=kind,
    )

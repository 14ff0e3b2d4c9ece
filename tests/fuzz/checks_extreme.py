"""Finite arguments of any size: an answer that is a number, or a ValueError, within 10 s."""

import math
import warnings

import numpy as np

from dpnoise.allocation.allocate import allocate
from dpnoise.calibration.calibrate import calibrate
from dpnoise.calibration.coordinate_noise import coordinate_noise
from dpnoise.noise import FAMILIES, KNorm
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.lattice.bounds import lattice_bounds
from dpnoise.privacy.vector import vector_profile

_SIZES = [5e-324, 1e-308, 1e-300, 1e-200, 1e-155, 1e-100, 1e-50, 1e-30, 1e-16, 1e-12, 1e-9, 1e-7]
_SIZES += [1e-4, 1e-2, 0.5, 1.0 - 2.0**-53, 1.0, 1.0 + 2.0**-52, 2.0, 3.0, 100.0, 1e4, 1e6, 1e9]
_SIZES += [1e12, 1e14, 1e16, 1e30, 1e50, 1e100, 1e155, 1e200, 1e300, 1.7976931348623157e308]
_COUNTS = [1, 2, 3, 5, 100, 10**4, 10**6, 10**8, 10**9, 10**30]
_SEARCHES = ("calibrate", "allocate", "coordinate_noise", "gaussian_sigma")


def _size(draws, *, zero=True):
    """Return a number of any size."""
    if zero and draws.chance(0.08):
        return 0.0
    if draws.chance(0.35):
        return draws.size()
    return draws.near(draws.pick(_SIZES)) if draws.chance(0.8) else draws.between(1e-300, 1e300)


def _noise(draws, report, kinds):
    """Return noise with parameters of any size, or None if it is refused."""
    kind = draws.pick(kinds)
    count = {"Gaussian": 1, "Laplace": 1, "DiscreteGaussian": 1, "Staircase": 3}
    values = [_size(draws, zero=False) for _ in range(count.get(kind.__name__, 2))]
    if kind is KNorm:
        values = [draws.pick([1, 2, math.inf]), draws.pick(_COUNTS[:6]), values[0]]
    if kind.__name__.startswith("Staircase"):
        values[2] = draws.pick([0.5, 1e-300, 1e-16, 1.0 - 2.0**-53])
    return _answer(report, kind, *values)


def _answer(report, function, *args, **options):
    """Return the answer, None if it is a refusal, and require that no part is NaN.

    A warning beside an answer is not counted here, in the other checks it is.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = report.call(function, *args, **options)
    except ValueError:
        return None
    except RuntimeError:
        # A search says that it could not verify what it found.
        report.require(function.__name__ in _SEARCHES, "RuntimeError")
        return None
    parts = (
        found
        if isinstance(found, tuple)
        else vars(found).values()
        if (hasattr(found, "__dict__"))
        else [found]
    )
    numbers = [part for part in parts if isinstance(part, float | int | np.ndarray | np.generic)]
    bad = any(np.isnan(np.asarray(part, dtype=float)).any() for part in numbers)
    report.require(not bad, f"NaN in {found!r}")
    return found


def vectors(draws, report):
    """The profiles of vector queries."""
    noise = _noise(draws, report, list(FAMILIES.values()))
    if noise is None:
        return
    n = draws.pick(_COUNTS)
    report.about(noise, copies=n)
    shift = noise.mean_abs() * _size(draws) if draws.chance(0.6) else _size(draws)
    if not math.isfinite(shift):
        return
    epsilon = _size(draws)
    found = _answer(report, vector_profile, noise, shift, epsilon, copies=n)
    if found is not None:
        ok = 0.0 <= found.lower <= found.upper * (1 + 1e-15) <= 1.0 + 1e-15
        report.require(ok, f"bounds {found.lower!r}, {found.upper!r}")
    if draws.chance(0.2):
        _answer(report, lattice_bounds, [(noise, shift, n)], epsilon, size=2**10)


def budgets(draws, report):
    """Noise for any budget."""
    family = draws.pick(list(FAMILIES))
    n = draws.pick(_COUNTS) if draws.chance(0.4) else 1
    report.about(FAMILIES[family].__name__, copies=n)
    epsilon, sensitivity = _size(draws), _size(draws)
    delta = min(_size(draws), 1.0 - 2.0**-53)
    options = {"epsilon": epsilon, "delta": delta}
    which = draws.rng.random()
    if which < 0.6:
        found = _answer(
            report,
            calibrate,
            family,
            sensitivity=sensitivity,
            dimension=n,
            **options,
        )
        if found is not None:
            report.require(found.delta <= delta, f"delta {found.delta!r}")
            report.require(found.variance > 0.0, f"variance {found.variance!r}")
    elif which < 0.75:
        sigma = _answer(report, gaussian_sigma, epsilon, delta, sensitivity)
        report.require(sigma is None or sigma > 0.0, f"sigma {sigma!r}")
    elif which < 0.85:
        mechanism = draws.pick(["gaussian", "flipped-huber", "gaussian-tight"])
        counts = {"coordinates": draws.pick(_COUNTS[:6]), "passes": draws.pick(_COUNTS)}
        _answer(report, coordinate_noise, mechanism, **counts, **options)
    else:
        lambdas = [_size(draws) for _ in range(draws.pick([1, 2, 5]))]
        noise = draws.pick(["gaussian", "laplace"])
        compositions = draws.pick(_COUNTS)
        more = {"noise": noise, "compositions": compositions, "p": draws.pick([1.0, 2.0, 64.0])}
        _answer(report, allocate, lambdas, **more, **options)


CHECKS = {
    "extreme-vectors": (vectors, 1.0),
    "extreme-budgets": (budgets, 1.0),
}

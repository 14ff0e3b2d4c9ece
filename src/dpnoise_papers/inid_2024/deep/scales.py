"""Clipping thresholds and noise scales of the groups of a gradient's coordinates.

Muthukrishnan & Kalyani (2024), Section VI-C: the gradient of one sample is clipped to norm C_m in
group m of K_m parameters, l2 for Gaussian and l1 for Laplace noise, and every parameter of the
group gets noise of one scale s_m. With q = 2 or 1 the step keeps its budget if and only if

    sum_m (C_m / s_m)^q <= unit^-q,

where `unit` is the scale that a query of sensitivity 1 needs (docs/deep-learning.md, section 1).
The schemes share this account and differ in who gets how much of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.allocation.closed_forms import closed_form_scales
from dpnoise.noise._arrays import floats
from dpnoise_papers.inid_2024.learning_settings import Scheme

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

Noise = Literal["gaussian", "laplace"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
_POWER = {"gaussian": 2.0, "laplace": 1.0}  # q: the norm of clipping, and of the account
_MINIMUM, _MAXIMUM = 1e-50, 1e50
_MAXIMUM_SIZE = 1e15


def group_scales(
    scheme: Scheme,
    noise: Noise,
    clips: ArrayLike,
    sizes: ArrayLike,
    unit: float,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Noise scale of each group of a clipped gradient.

    Parameters
    ----------
    scheme : {"iid", "spr", "optimal", "spr-group", "weighted"}
        "iid": equal scales, for a gradient clipped as a whole to C_0 = ||C||_q, which also covers
        one clipped by group. "spr": Definition 5 by parameter, as the paper counts its
        sensitivity, s_m proportional to C_m / K_m^(1/q). "spr-group": proportional to C_m, as in
        He et al. (2022); with equal thresholds the same as "iid". "optimal": minimum of the
        noise's variance, sum K_m s_m^2. "weighted": minimum of sum w_m s_m^2.
    noise : {"gaussian", "laplace"}
        A scale is the sigma of Gaussian (q = 2), the beta of Laplace noise (q = 1).
    clips : array_like of float, shape (M,)
        C_m in the norm l_q, from 1e-50 to 1e50.
    sizes : array_like of int or float, shape (M,)
        K_m, whole numbers from 1 to 1e15.
    unit : float
        Scale that a query of sensitivity 1 needs, from 1e-50 to 1e50.
    weights : array_like of float, shape (M,), optional
        w_m, from 1e-50 to 1e50; for "weighted" and nothing else.

    Returns
    -------
    numpy.ndarray, shape (M,)
        s_m with sum (C_m / s_m)^q <= unit^-q in exact arithmetic, whatever the rounding; above
        the closed forms by less than 3e-14 of them.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.

    Notes
    -----
    By Lagrange s_m^(2 + q) is proportional to C_m^q / w_m, and w_m = K_m for "optimal": for
    Gaussian noise sigma_m^4 to C_m^2 / K_m, for Laplace noise beta_m^3 to C_m / K_m.

    References
    ----------
    He et al., "Exploring the Limits of Differentially Private Deep Learning with Group-wise
    Clipping" (2022).

    Examples
    --------
    >>> from dpnoise_papers.inid_2024.deep.scales import group_scales
    >>> group_scales("optimal", "gaussian", [0.6, 0.8], [16, 81], 1.0).round(3)
    array([1.2  , 0.924])
    """
    problems = Problems("noise scales by group")
    problems.require(scheme in SCHEMES, "scheme", f"one of {', '.join(SCHEMES)}", scheme)
    _check_noise(problems, noise)
    c = _vector(problems, "clips", clips)
    k = _sizes(problems, sizes)
    problems.number("unit", unit, low=_MINIMUM, high=_MAXIMUM)
    w = None if weights is None else _vector(problems, "weights", weights)
    expected = "one for each group with scheme 'weighted', none with others"
    problems.require((w is None) == (scheme != "weighted"), "weights", expected, weights)
    for name, values in (("sizes", k), ("weights", w)):
        if c.size and values is not None and values.size:
            problems.require(values.size == c.size, name, f"shape ({c.size},)", values.shape)
    problems.raise_if_any()
    q = _POWER[noise]
    if scheme == "spr":
        roots = k ** (1.0 / q)
        return closed_form_scales(c / roots, "spr", q, 2.0, None, unit, roots)
    if scheme in {"optimal", "weighted"}:
        return closed_form_scales(c, "optimal", q, 2.0, k if w is None else w, unit)
    return closed_form_scales(c, "iid" if scheme == "iid" else "spr", q, 2.0, None, unit)


def flat_clips(noise: Noise, groups: int, total: float) -> Array:
    """Equal thresholds whose norm is that of the whole gradient, C_m = C_0 / M^(1/q).

    Parameters
    ----------
    noise : {"gaussian", "laplace"}
        Decides the norm: q = 2 or 1.
    groups : int
        M, from 1 to 1e7.
    total : float
        C_0, from 1e-50 to 1e50.

    Returns
    -------
    numpy.ndarray, shape (M,)
        The thresholds.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise_papers.inid_2024.deep.scales import flat_clips
    >>> flat_clips("gaussian", 4, 1.0)
    array([0.5, 0.5, 0.5, 0.5])
    """
    problems = Problems("equal clipping thresholds")
    _check_noise(problems, noise)
    good = is_integer(groups) and 1 <= int(groups) <= 10**7
    problems.require(good, "groups", "a whole number from 1 to 10000000", groups)
    problems.number("total", total, low=_MINIMUM, high=_MAXIMUM)
    problems.raise_if_any()
    return np.full(int(groups), float(total) / int(groups) ** (1.0 / _POWER[noise]))


def proportional_clips(noise: Noise, sizes: ArrayLike, total: float) -> Array:
    """Thresholds of a gradient whose entries are equal in size, C_m = C_0 (K_m / K)^(1/q).

    Parameters
    ----------
    noise : {"gaussian", "laplace"}
        Decides the norm: q = 2 or 1.
    sizes : array_like of int or float, shape (M,)
        K_m, whole numbers from 1 to 1e15.
    total : float
        C_0, from 1e-50 to 1e50.

    Returns
    -------
    numpy.ndarray, shape (M,)
        The thresholds.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise_papers.inid_2024.deep.scales import proportional_clips
    >>> proportional_clips("gaussian", [9, 16], 1.0)
    array([0.6, 0.8])
    """
    problems = Problems("clipping thresholds by size")
    _check_noise(problems, noise)
    k = _sizes(problems, sizes)
    problems.number("total", total, low=_MINIMUM, high=_MAXIMUM)
    problems.raise_if_any()
    return float(total) * (k / k.sum()) ** (1.0 / _POWER[noise])


def _check_noise(problems: Problems, noise: object) -> None:
    """Record of a problem unless the noise is known."""
    problems.require(noise in tuple(_POWER), "noise", "'gaussian' or 'laplace'", noise)


def _vector(
    problems: Problems,
    name: str,
    value: ArrayLike,
    low: float = _MINIMUM,
    high: float = _MAXIMUM,
) -> Array:
    """Numbers between limits, shape (M,), or an empty array and a problem recorded."""
    before = len(problems.found)
    array = floats(problems, name, value, low=low, high=high)
    if len(problems.found) == before:
        vector = array.ndim == 1 and array.size > 0
        problems.require(vector, name, "shape (M,) with M >= 1", array.shape)
    return array if len(problems.found) == before else np.empty(0)


def _sizes(problems: Problems, value: ArrayLike) -> Array:
    """Numbers of parameters, shape (M,), or an empty array and a problem recorded."""
    sizes = _vector(problems, "sizes", value, 1.0, _MAXIMUM_SIZE)
    parts = sizes[sizes != np.floor(sizes)]
    problems.require(not parts.size, "sizes", "whole numbers", parts[:3].tolist())
    return sizes

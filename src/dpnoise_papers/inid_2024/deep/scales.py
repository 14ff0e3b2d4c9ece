"""Clipping thresholds and noise scales of the groups of a gradient's coordinates.

Muthukrishnan & Kalyani (2024), Section VI-C: the gradient of one sample is clipped to norm C_m in
group m of K_m parameters, l2 for Gaussian and l1 for Laplace noise, and every parameter of the
group gets noise of one scale s_m. With q = 2 or 1 the step keeps its budget if and only if

    sum_m (C_m / s_m)^q <= unit^-q,

where `unit` is the scale that a query of sensitivity 1 needs (docs/inid-2024.md, section 1).
The schemes share this account and differ in who gets how much of it. What settings and
network give is not checked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from dpnoise.allocation.scales import closed_form_scales
from dpnoise_papers.inid_2024.learning_settings import Scheme

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

Noise = Literal["gaussian", "laplace"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
_POWER = {"gaussian": 2.0, "laplace": 1.0}  # q: the norm of clipping, and of the account


def group_scales(
    scheme: Scheme,
    noise: Noise,
    clips: ArrayLike,
    sizes: ArrayLike,
    unit: float,
) -> Array:
    """Noise scale of each group of a clipped gradient.

    Parameters
    ----------
    scheme : {"iid", "spr", "optimal", "spr-group"}
        "iid": equal scales, for a gradient clipped as a whole to C_0 = ||C||_q, which also covers
        one clipped by group. "spr": Definition 5 by parameter, as the paper counts its
        sensitivity, s_m proportional to C_m / K_m^(1/q). "spr-group": proportional to C_m, as in
        He et al. (2022); with equal thresholds the same as "iid". "optimal": minimum of the
        noise's variance, sum K_m s_m^2.
    noise : {"gaussian", "laplace"}
        A scale is the sigma of Gaussian (q = 2), the beta of Laplace noise (q = 1).
    clips : array_like of float, shape (M,)
        C_m in the norm l_q, from 1e-50 to 1e50.
    sizes : array_like of int or float, shape (M,)
        K_m, whole numbers from 1 to 1e15.
    unit : float
        Scale that a query of sensitivity 1 needs, from 1e-50 to 1e50.

    Returns
    -------
    numpy.ndarray, shape (M,)
        s_m with sum (C_m / s_m)^q <= unit^-q in exact arithmetic, whatever the rounding; above
        the closed forms by less than 3e-14 of them.

    Notes
    -----
    By Lagrange s_m^(2 + q) is proportional to C_m^q / K_m for "optimal": for Gaussian noise
    sigma_m^4 to C_m^2 / K_m, for Laplace noise beta_m^3 to C_m / K_m.

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
    c, k = np.asarray(clips, float), np.asarray(sizes, float)
    q = _POWER[noise]
    if scheme == "spr":
        roots = k ** (1.0 / q)
        return closed_form_scales(c / roots, "spr", q, 2.0, None, unit, roots)
    if scheme == "optimal":
        return closed_form_scales(c, "optimal", q, 2.0, k, unit)
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

    Examples
    --------
    >>> from dpnoise_papers.inid_2024.deep.scales import flat_clips
    >>> flat_clips("gaussian", 4, 1.0)
    array([0.5, 0.5, 0.5, 0.5])
    """
    return np.full(groups, total / groups ** (1.0 / _POWER[noise]))

"""The registry of mechanisms: a new one is one more entry."""

from __future__ import annotations

from functools import partial

from dpnoise.mechanisms.blocks import blocks
from dpnoise.mechanisms.independent import (
    FAMILIES,
    calibrated,
    gaussian,
    is_searched,
    laplace,
    staircase,
)
from dpnoise.mechanisms.integers import (
    discrete_gaussian,
    discrete_laplace,
    discrete_laplace_with_delta,
    discrete_staircase,
    has_many_points,
    rounded,
)
from dpnoise.mechanisms.joint import (
    delta_hardly_gains,
    in_ellipsoid,
    in_norm,
    is_unlikely,
    k_norm,
    norm_staircase,
    spends_delta,
    staircase_hardly_gains,
)
from dpnoise.mechanisms.method import Method

_HARDT = "Hardt & Talwar 2010"
_GENG = "Geng, Ding, Guo & Kumar 2020"
_RADIAL = "radial density exp(-(r / s)^p)"

METHODS = (
    Method("K-norm", _HARDT, k_norm),
    Method(
        "staircase in the norm", "Geng & Viswanath 2016", norm_staircase, staircase_hardly_gains
    ),
    Method("blocks", _HARDT, blocks),
    Method("Gaussian", "Balle & Wang 2018", gaussian),
    Method("Laplace", "Dwork, McSherry, Nissim & Smith 2006", laplace),
    Method("staircase per coordinate", "Geng & Viswanath 2016", staircase),
    Method("K-norm, delta used", _HARDT, partial(in_norm, "k-norm"), delta_hardly_gains),
    Method("truncated K-norm", _GENG, partial(in_norm, "truncated-k-norm"), spends_delta),
    Method("generalised gamma", _RADIAL, partial(in_norm, "generalised-gamma"), spends_delta),
    Method("K-norm of an ellipsoid", _HARDT, partial(in_ellipsoid, "k-norm"), is_unlikely),
    Method(
        "generalised gamma of an ellipsoid",
        _RADIAL,
        partial(in_ellipsoid, "generalised-gamma"),
        spends_delta,
    ),
    *(
        Method(name, reference, partial(calibrated, family), partial(is_searched, family))
        for family, (name, reference) in FAMILIES.items()
    ),
)
_CANONNE, _GHOSH = "Canonne, Kamath & Steinke 2020", "Ghosh, Roughgarden & Sundararajan 2009"

# For answers that are integers.
INTEGER_METHODS = (
    Method("discrete Laplace", _GHOSH, discrete_laplace),
    Method("discrete staircase", "Geng & Viswanath 2016", discrete_staircase),
    Method("discrete Gaussian", _CANONNE, discrete_gaussian, has_many_points),
    Method("discrete Laplace, delta used", _GHOSH, discrete_laplace_with_delta, has_many_points),
    *(rounded(method) for method in METHODS),
)

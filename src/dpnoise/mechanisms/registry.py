"""The registry of mechanisms: a new one is one more entry."""

from __future__ import annotations

from functools import partial

from dpnoise.mechanisms.blocks import blocks
from dpnoise.mechanisms.correlated import correlated_gaussian
from dpnoise.mechanisms.independent import (
    FAMILIES,
    calibrated,
    gaussian,
    histogram,
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
    ellipsoid_hardly_gains,
    in_ellipsoid,
    in_norm,
    is_unlikely,
    k_norm,
    norm_staircase,
    staircase_hardly_gains,
    truncation_hardly_gains,
    two_parameters_hardly_gain,
)
from dpnoise.mechanisms.method import Method

_HARDT = "Hardt & Talwar 2010"
_GENG = "Geng, Ding, Guo & Kumar 2020"
_RADIAL = "radial density exp(-(r / s)^p)"

METHODS = (
    Method("K-norm", "k-norm", _HARDT, k_norm),
    Method(
        "staircase in the norm",
        "norm-staircase",
        "Geng & Viswanath 2016",
        norm_staircase,
        staircase_hardly_gains,
    ),
    Method("blocks", "blocks", _HARDT, blocks),
    Method("Gaussian", "gaussian", "Balle & Wang 2018", gaussian),
    Method(
        "correlated Gaussian",
        "correlated-gaussian",
        "Joseph & Yu 2024, Lebeda 2024",
        correlated_gaussian,
    ),
    Method("Laplace", "laplace", "Dwork, McSherry, Nissim & Smith 2006", laplace),
    Method("staircase per coordinate", "staircase", "Geng & Viswanath 2016", staircase),
    Method("K-norm, delta used", "k-norm", _HARDT, partial(in_norm, "k-norm"), delta_hardly_gains),
    Method(
        "truncated K-norm",
        "truncated-k-norm",
        _GENG,
        partial(in_norm, "truncated-k-norm"),
        truncation_hardly_gains,
    ),
    Method(
        "generalised gamma",
        "generalised-gamma",
        _RADIAL,
        partial(in_norm, "generalised-gamma"),
        two_parameters_hardly_gain,
    ),
    Method(
        "K-norm of an ellipsoid", "k-norm", _HARDT, partial(in_ellipsoid, "k-norm"), is_unlikely
    ),
    Method(
        "generalised gamma of an ellipsoid",
        "generalised-gamma",
        _RADIAL,
        partial(in_ellipsoid, "generalised-gamma"),
        ellipsoid_hardly_gains,
    ),
    *(
        Method(name, family, reference, partial(calibrated, family), partial(is_searched, family))
        for family, (name, reference) in FAMILIES.items()
    ),
)

# Only where the family is asked for: this one takes up to a minute.
ASKED_METHODS = (Method("histogram", "histogram", "Gilani et al. 2025", histogram),)

_CANONNE, _GHOSH = "Canonne, Kamath & Steinke 2020", "Ghosh, Roughgarden & Sundararajan 2009"

# For answers that are integers.
INTEGER_METHODS = (
    Method("discrete Laplace", "laplace", _GHOSH, discrete_laplace),
    Method("discrete staircase", "staircase", "Geng & Viswanath 2016", discrete_staircase),
    Method("discrete Gaussian", "gaussian", _CANONNE, discrete_gaussian, has_many_points),
    Method(
        "discrete Laplace, delta used",
        "laplace",
        _GHOSH,
        discrete_laplace_with_delta,
        has_many_points,
    ),
    *(rounded(method) for method in METHODS),
)

# Only where the family is asked for: this one is discrete Laplace noise.
ASKED_INTEGER_METHODS = (
    Method(
        "discrete staircase of width 1",
        "staircase",
        _GHOSH,
        partial(discrete_staircase, narrow=True),
    ),
)

METHOD_FAMILIES = tuple(dict.fromkeys(method.family for method in (*METHODS, *ASKED_METHODS)))

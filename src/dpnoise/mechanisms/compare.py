"""Every mechanism for a sensitivity set, and the best of them: the public `compare` and `best`.

A new mechanism is one more entry of the registry.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dpnoise.mechanisms.blocks import blocks
from dpnoise.mechanisms.methods import (
    FAMILIES,
    calibrated,
    correlated_gaussian,
    delta_hardly_gains,
    discrete_gaussian,
    discrete_laplace,
    discrete_laplace_with_delta,
    discrete_staircase,
    ellipsoid_hardly_gains,
    gaussian,
    has_many_points,
    histogram,
    in_ellipsoid,
    in_norm,
    is_searched,
    is_unlikely,
    k_norm,
    laplace,
    norm_staircase,
    rounded,
    staircase,
    staircase_hardly_gains,
    truncation_hardly_gains,
    two_parameters_hardly_gain,
)
from dpnoise.mechanisms.noise import RoundedNoise
from dpnoise.mechanisms.request import Method, Request, read_request
from dpnoise.mechanisms.table import Comparison, Mechanism

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise.sensitivity.base import Sensitivity

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


_SLOW = "to save time, as it takes long or gains little; exhaustive=True includes it"
_TIE = 1e-4  # relative difference of errors that count as equal


def _compared(request: Request, exhaustive: bool, family: str | None) -> Comparison:
    """Every mechanism that applies, of one family if asked for; RuntimeError if there is none."""
    rows, left_out = [], {}
    methods, more = (
        (INTEGER_METHODS, ASKED_INTEGER_METHODS) if request.integer else (METHODS, ASKED_METHODS)
    )
    for method in methods if family is None else (*methods, *more):
        if family not in (None, method.family):
            continue
        if not exhaustive and family is None and method.slow(request):
            left_out[method.name] = _SLOW
            continue
        try:
            found = method.find(request)
        except (ValueError, RuntimeError, ArithmeticError) as error:
            left_out[method.name] = str(error)
            continue
        if found is None:
            continue
        row = Mechanism(method.name, found.noise, found.delta, method.reference, request)
        if found.delta <= request.delta and math.isfinite(row.variance):
            rows.append(row)
        else:
            left_out[method.name] = f"not certified: delta {found.delta:g}"
    if not rows:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        reasons = reasons or f"{family or 'none'} does not apply to this set and budget"
        message = (
            f"noise for {request.sensitivity!r}: no mechanism reaches epsilon="
            f"{request.epsilon!r}, delta={request.delta!r} ({reasons})"
        )
        raise RuntimeError(message)
    return Comparison(tuple(_ranked(rows)), left_out, request)


def _ranked(rows: list[Mechanism]) -> list[Mechanism]:
    """Rows by their error, those that are within 1e-4 of the first of them by their delta.

    Beside the same delta discrete noise comes before rounded noise.
    """

    def place(row: Mechanism) -> tuple[float, bool]:
        return row.delta, isinstance(row.noise, RoundedNoise)

    groups: list[list[Mechanism]] = []
    for row in sorted(rows, key=lambda row: row.error):
        if groups and row.error <= (1.0 + _TIE) * groups[-1][0].error:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [row for group in groups for row in sorted(group, key=place)]


def compare(
    sensitivity: float | ArrayLike | Sensitivity,
    *,
    epsilon: float,
    delta: float = 0.0,
    error: str = "variance",
    weights: ArrayLike | None = None,
    relation: str | None = None,
    family: str | None = None,
    integer: bool = False,
    exhaustive: bool = True,
) -> Comparison:
    """Table of every mechanism for a sensitivity set, best first.

    Parameters
    ----------
    sensitivity : float, array_like of shape (K,), or Sensitivity
        What one person can change: a number for a query with one value, a vector for the box
        |d_i| <= lambda_i, or a set such as `L2(1.0, of=10)`; at most 1e6 coordinates.
    epsilon : float
        Non-negative, at most 1e4.
    delta : float
        0, or from 1e-300 to below 1; positive if epsilon is 0.
    error : {"variance", "mean-abs", "half-width", "max", "norm"}
        The order of the table: the mean over the coordinates of the variance, of E|X_i| (the
        summed absolute error over K), or of the half-width of the interval that holds 95 % of the
        noise of one coordinate; or the expected largest |X_i|, or the expected norm of X whose
        unit ball is the set. Gaussian and Laplace scales and staircases in the norm are chosen to
        make it small, all other noise is of minimum variance. Among errors within 1e-4 of each
        other the smaller delta comes first.
    weights : array_like of float, shape (K,), optional
        Of the coordinates in all means, from 1e-100 to 1e100; ones by default. Of the |X_i| in
        the largest, relative to the largest weight. None for the norm.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours, for a number or vector, or a set that does not state it: one
        person more or less, or one person replaced by another.
    family : str, optional
        Mechanisms of this family only, as for `best`.
    integer : bool, default False
        Whether the answers are integers, as counts are, and the noise is to be so, too: discrete
        noise of each coordinate, or real noise rounded. Sizes of the set are then whole numbers,
        and only its integer points count.
    exhaustive : bool, default True
        Whether to include mechanisms that take a second or more, or gain next to nothing. Which
        these are depends on the request alone; those left out are named in `left_out`.

    Returns
    -------
    Comparison
        Rows with `name`, `noise`, `variance`, `std`, `mean_abs`, `half_width`, `delta`, `floor`,
        `ratio`, `promise` and `reference`, best first; `repr` is the table as text, `to_frame()`
        as a data frame of pandas, and `plot()` draws it.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.
    RuntimeError
        If no mechanism reaches the budget; the message says why, for each.

    Notes
    -----
    Proved: each row keeps (epsilon, delta) for the set, in the model of real-valued noise, and
    its variance is exact. At delta = 0 a staircase in the norm of the set has the least norm of
    all additive noise, hence the least summed absolute error for an l1 ball and the least largest
    error for equal sensitivities (docs/floor.md); `optimal` says where that is so. Coordinates
    that cannot change are released without noise and count in the means with 0. With `integer` the
    noise is certified for the integer points of the set, or
    before it is rounded, which keeps every guarantee; the variance of rounded joint noise is that
    before rounding and 1/12, off by at most 1/6 (docs/integers.md).

    References
    ----------
    Hardt & Talwar, "On the geometry of differential privacy" (STOC 2010); the others are named in
    the rows.

    Examples
    --------
    >>> from dpnoise import compare
    >>> who = {"relation": "replace-one"}
    >>> table = compare([1.0, 0.5, 0.1], epsilon=1.0, exhaustive=False, **who)
    >>> table[0].error <= table["Laplace"].error
    True
    """
    request = read_request(
        *(sensitivity, epsilon, delta, error, weights),
        relation=relation,
        family=family,
        families=METHOD_FAMILIES,
        integer=integer,
    )
    return _compared(request, exhaustive, family)


def best(
    sensitivity: float | ArrayLike | Sensitivity,
    *,
    epsilon: float,
    delta: float = 0.0,
    error: str = "variance",
    weights: ArrayLike | None = None,
    relation: str | None = None,
    family: str | None = None,
    integer: bool = False,
    exhaustive: bool = False,
) -> Mechanism:
    """Noise of minimum error for a sensitivity set among all mechanisms of the package.

    Parameters
    ----------
    sensitivity : float, array_like of shape (K,), or Sensitivity
        What one person can change: a number for a query with one value, a vector for the box
        |d_i| <= lambda_i, or a set such as `L2(1.0, of=10)`; at most 1e6 coordinates.
    epsilon : float
        Non-negative, at most 1e4.
    delta : float
        0, or from 1e-300 to below 1; positive if epsilon is 0.
    error : {"variance", "mean-abs", "half-width", "max", "norm"}
        What is to be small, as for `compare`.
    weights : array_like of float, shape (K,), optional
        Of the coordinates in all means, from 1e-100 to 1e100; ones by default. None for "norm".
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours, for a number or vector, or a set that does not state it: one
        person more or less, or one person replaced by another.
    family : str, optional
        Mechanisms of one family only, all of them: "k-norm", "norm-staircase", "truncated-k-norm"
        or "generalised-gamma" (joint noise), "blocks" (joint noise by block),
        "correlated-gaussian" (for counts and ellipsoids), or "gaussian", "laplace", "staircase",
        "flipped-huber", "offset-symmetric-gaussian", "truncated-laplace", "subbotin" or "huber"
        (independent coordinates); "histogram" (2 to 200 independent coordinates, with delta) takes
        up to a minute and is found only when it is asked for.
    integer : bool, default False
        Whether the answers are integers, as counts are, and the noise is to be so, too: discrete
        noise of each coordinate, or real noise rounded. Sizes of the set are then whole numbers,
        and only its integer points count.
    exhaustive : bool, default False
        Whether to include mechanisms that take seconds, as `compare` does. Where both were
        measured the variance without them was larger by less than 1 % (docs/best.md).

    Returns
    -------
    Mechanism
        With attributes noise, variance (mean over the coordinates, with the weights), variances
        (of each, shape (K,)), the same of std, mean_abs and half_width, delta (certified), promise
        (what is guaranteed, in one sentence), floor (no additive noise has a smaller error for
        this set), ratio (of the error to the floor), optimal (whether that is 1), reference, name
        and left_out; `noise.rvs(size, random_state)` draws vectors, shape (*size, K).

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.
    RuntimeError
        If no mechanism reaches the budget; the message says why, for each.

    References
    ----------
    Hardt & Talwar, "On the geometry of differential privacy" (STOC 2010); `reference` names that
    of the mechanism found.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnoise import best
    >>> found = best(np.ones(10), epsilon=1.0, relation="add-remove")
    >>> found.name, found.delta, round(found.variance, 9)
    ('K-norm', 0.0, 44.0)
    >>> found.promise.split(", ")[0]
    'one person more or less'
    >>> largest = best(np.ones(10), epsilon=1.0, error="max")
    >>> largest.optimal, round(largest.error, 3), f"{largest.ratio:.3f}"
    (True, 10.0, '1.000')
    >>> found.noise.rvs(random_state=1).shape
    (10,)
    >>> best([1.0, 0.5], epsilon=1.0, family="laplace").name
    'Laplace'
    >>> counts = best([1, 1, 4], epsilon=1.0, relation="add-remove", integer=True)
    >>> counts.noise.rvs(random_state=1).dtype
    dtype('int64')
    """
    request = read_request(
        *(sensitivity, epsilon, delta, error, weights),
        relation=relation,
        family=family,
        families=METHOD_FAMILIES,
        integer=integer,
    )
    table = _compared(request, exhaustive, family)
    return replace(table[0], left_out=table.left_out)

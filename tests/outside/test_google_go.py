"""google/differential-privacy, Go: variances, deltas and quantiles of Gaussian noise.

Their sigma is the upper end of a bisection that stops at a relative width of 1e-3
(gaussianSigmaAccuracy), so that their variances are up to 0.2 % above ours and never below.
"""

import math

import pytest

from dpnoise import Gaussian, gaussian_sigma, privacy_profile
from outside_values import check, rows


def _sensitivity(row):
    return row["linf"] * math.sqrt(row["l0"])


def _sigma(row):
    return float(gaussian_sigma(row["epsilon"], row["delta"], _sensitivity(row)))


def _delta(row):
    return float(privacy_profile(Gaussian(row["sigma"]), _sensitivity(row), row["epsilon"]))


OURS = {
    "variance": lambda row: _sigma(row) ** 2,
    "sigma": _sigma,
    "delta": _delta,
    "inverse": lambda row: _sigma(row | {"delta": _delta(row)}),
    "quantile": lambda row: float(Gaussian(row["sigma"]).ppf(row["delta"])),
}


def test_every_value():
    for row in rows("google_go.csv"):
        ours = OURS[row["quantity"]]
        if row["relation"] == "refused":  # sigma 0, infinities, 5e-324 and delta 1
            with pytest.raises(ValueError, match="expected"):
                ours(row)
        else:
            check(row, ours(row))

"""Entries that have no float become NaN, so that no record makes a fit fail or warn."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from dpnoise.learn.estimators import DPLinearRegression, DPLogisticRegression
from dpnoise.learn.pca import dp_pca
from dpnoise.learn.pipelines import DPPCA
from dpnoise.learn.safeguards import as_target, convert_with_nan
from for_all import for_all

N = 40
X = np.linspace(-1.0, 1.0, N)[:, None] * [1.0, 0.5]
Y = X[:, 0] + 0.1
FITS = {
    "linear": lambda X, y: DPLinearRegression(
        feature_bounds=1.0, target_bound=2.0, epsilon=20.0
    ).fit(X, y),
    "logistic": lambda X, _: DPLogisticRegression(
        feature_bounds=1.0, classes=(0, 1), epsilon=20.0
    ).fit(X, np.arange(N) % 2),
    "DPPCA": lambda X, _: DPPCA(bound=2.0, relation="replace-one").fit(X),
    "dp_pca": lambda X, _: dp_pca(X, 1, epsilon=1.0, delta=1e-6, relation="replace-one"),
}


def with_first(values, entry):
    """The values as objects, the first one replaced."""
    changed = np.array(values, dtype=object)
    changed.flat[0] = entry
    return changed


def as_floats(data):
    return np.asarray(data, dtype=float)


BEYOND = [
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
    np.timedelta64("NaT"),
    10**400,
    -(10**400),
    Fraction(10**400, 3),
    Decimal("sNaN"),
    2.0 + 1.0j,
    np.complex128(1j),
]


@for_all("entry", BEYOND)
@for_all("shape", [np.asarray, pd.DataFrame, np.ndarray.tolist])
def test_entries_without_a_float_are_missing(entry, shape):
    read = convert_with_nan(as_floats, shape(with_first(X, entry)))
    assert np.isnan(read[0, 0])
    assert np.array_equal(read.flat[1:], X.flat[1:])


@for_all("data", [{"a": 1}, [[{"a": 1}, 2.0]], [[[1.0, pd.NA]]], object()])
def test_what_is_no_table_of_numbers_keeps_its_refusal(data):
    with pytest.raises((TypeError, ValueError)):
        convert_with_nan(as_floats, data)


@for_all("fit", FITS)
@for_all(
    "entry", [*BEYOND, None, Decimal("1e400"), 1e-320, 1e-60, 1e308, np.longdouble("1e400"), np.inf]
)
def test_no_entry_makes_a_fit_fail_or_warn(fit, entry):
    """Also where the caller asked NumPy to raise whatever it meets."""
    features, target = with_first(X, entry), with_first(Y, entry)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        FITS[fit](features, Y)
        FITS[fit](X, target)
        FITS[fit](pd.DataFrame(features, columns=["a", "b"]), pd.Series(target))
        FITS[fit](features.tolist(), target.tolist())
        if isinstance(entry, float | np.longdouble):
            FITS[fit](features.astype(np.longdouble), target.astype(np.longdouble))


def test_a_real_number_among_complex_ones_stays_what_it_is():
    """One complex entry makes NumPy and pandas take all for complex."""
    read = convert_with_nan(as_floats, as_target([1.0, 2.0 + 1.0j, 3.0]))
    assert np.array_equal(read, [1.0, np.nan, 3.0], equal_nan=True)
    read = convert_with_nan(as_floats, pd.Series([1.0, 2.0 + 1.0j, 3.0]))
    assert np.array_equal(read, [1.0, np.nan, 3.0], equal_nan=True)


@for_all("fit", FITS)
def test_an_array_of_complex_numbers_and_text_are_refused(fit):
    for features in (X * 1j, with_first(X, "ninety"), with_first(X, "1e999x").tolist()):
        with pytest.raises(ValueError, match=r"[Cc]omplex|ninety|1e999x|numbers"):
            FITS[fit](features, Y)


def test_names_of_columns_survive():
    frame = pd.DataFrame(with_first(X, pd.NA), columns=["a", "b"])
    assert FITS["linear"](frame, Y).feature_names_in_.tolist() == ["a", "b"]
    assert FITS["DPPCA"](frame, Y).feature_names_in_.tolist() == ["a", "b"]


@for_all("name", FITS)
def test_masked_data_are_refused_without_a_value(name):
    hidden = np.ma.array(X, mask=X > 0.9)
    hidden.data[-1] = 987654.0
    with pytest.raises(ValueError, match="a masked array") as refused:
        FITS[name](hidden, Y)
    assert "987654" not in str(refused.value)


def test_a_masked_target_is_refused():
    with pytest.raises(ValueError, match="a masked array"):
        FITS["linear"](X, np.ma.array(Y, mask=Y > 0.9))

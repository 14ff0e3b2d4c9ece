"""Counterexamples in full: each fails as stated, to more digits than a double has."""

import math

import mpmath
import numpy as np
import pytest

from dpnoise.noise import FlippedHuber
from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.flipped_huber_2023.settings import Counterexamples
from dpnoise_papers.flipped_huber_2023.theory.counterexamples import counterexamples
from dpnoise_papers.flipped_huber_2023.theory.density import tail, two_fold_tail


@pytest.fixture(scope="module")
def table():
    return counterexamples(Counterexamples(digits=50))


def side(rows, word):
    (value,) = rows.loc[rows["parameter"].str.startswith(f"{word}:"), "value"]
    return mpmath.mpf(value)


def test_each_contradicts_its_claim(table):
    for name, rows in table.groupby("id"):
        with mpmath.workdps(50):
            left, right = side(rows, "left"), side(rows, "right")
            (claimed,) = rows.loc[rows["parameter"] == "claimed", "value"]
            assert claimed in ("left >= right", "left <= right")
            assert (left < right) if claimed == "left >= right" else (left > right), name


@pytest.mark.parametrize(
    ("name", "level"),
    [("lemma-7", 5.25), ("lemma-7-one-of-two-coordinates", 6.25)],
)
def test_lemma_7_in_one_coordinate_is_a_gaussian_tail_in_closed_form(table, name, level):
    # a = (epsilon + d^2/2 + K/2) / d; beyond alpha the tail is sqrt(2 pi) Q(a) / omega.
    rows = table[table["id"] == name]
    with mpmath.workdps(60):
        q = lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2  # noqa: E731
        half = mpmath.mpf(1) / 2
        omega = 2 * (mpmath.sqrt(2 * mpmath.pi) * q(1) + 2 * mpmath.sinh(half))
        expected = mpmath.sqrt(2 * mpmath.pi) / omega * q(mpmath.mpf(level))
        assert abs(side(rows, "left") / expected - 1) < mpmath.mpf(10) ** -48


def test_lemma_7_in_two_coordinates_agrees_with_an_independent_convolution(table):
    # P(T1 + T2 > a) is the mean of P(T > a - t) over the quantiles of T.
    rows = table[table["id"] == "lemma-7-two-coordinates"]
    noise, level = FlippedHuber(1.0, 1.0), (2 + 0.25 + 1) / 0.5
    t = np.linspace(-12, 18, 300_001)
    value = np.trapezoid(noise.pdf(t) * noise.sf(level - t), t)
    assert float(side(rows, "left")) == pytest.approx(value, rel=1e-7)


def test_the_three_point_distribution_satisfies_the_orlicz_condition(table):
    rows = table[table["id"] == "orlicz-implies-lemma-2"].set_index("parameter")["value"]
    p, a = float(rows["p"]), float(rows["a"])
    s = np.linspace(0, 1, 200_001)[:-1]
    product = (1 - p + p * np.exp(s * a * a / 2)) * np.sqrt(1 - s)
    assert product.max() == 1 == product[0]
    inner = product[s > 0.8].max()
    assert inner == pytest.approx(float(rows["its inner maximum"]), rel=1e-9)
    assert float(rows["its slope at s = 0"]) == pytest.approx(p * a * a / 2 - 0.5, rel=1e-15)
    assert 1 - p + p * math.cosh(4 * a) > math.exp(8)


def test_lemma_7_in_full_is_what_doubles_find(table):
    one, half = np.ones(1), np.full(1, 0.5)
    for k, name in ((1, "lemma-7"), (2, "lemma-7-two-coordinates")):
        level = 2.0 + (k / 4 + k) / 2 * one  # of T'd, at alpha = gamma = Delta = 1, epsilon = 2
        left = (
            tail(level / half, one, one) if k == 1 else two_fold_tail(level, half, half, one, one)
        )
        right = printed.theorem_8(2.0, one, one, k, (k * one, k**0.5 * one, one))[1]
        rows = table[table["id"] == name]
        assert left == pytest.approx(float(side(rows, "left")), rel=1e-10)
        assert right == pytest.approx(float(side(rows, "right")), rel=1e-10)


def test_digits_are_what_is_asked_for():
    short = counterexamples(Counterexamples(digits=8))
    (value,) = short.loc[
        (short["id"] == "esseen-inequality") & short["parameter"].str.startswith("right"), "value"
    ]
    assert value == "0.26696753"

"""Variants of DP-PCA: their scales, greatest losses and what is private."""

import math

import numpy as np
import pytest

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.noise.exponential_power import Laplace
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.profile import privacy_profile
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.inid_2024.tables.pca import (
    VARIANTS,
    printed_sensitivities,
    row_loss,
    rows,
    sparse_delta,
)

BUDGET = {"features": 10, "epsilon": 1.5, "delta": 1e-6}


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("features", [2, 5, 8])
def test_reached_losses_are_at_most_the_bounds(noise, features):
    for scales in ((1.0, 1.0), (1.0, 0.6), (0.5, 2.0)):
        for relation in ("add-remove", "replace-one"):
            reached, most = row_loss(features, scales, noise, relation)
            assert 0.0 < reached <= most * (1 + 1e-12)


def test_sparse_samples_with_one_coordinate_pair_agree_with_the_scalar_profile():
    """Huge off-diagonal noise leaves the diagonal: k coordinates of 1/k, best at k small."""
    k, delta = sparse_delta(4, 0.2, 1e6, epsilon=1.0)
    assert k in (3, 4)
    single = privacy_profile(Laplace(0.2), 1.0, 1.0)
    assert 0.0 < delta < single
    weaker = sparse_delta(4, 0.4, 1e6, epsilon=1.0)[1]
    assert weaker < delta


def of(variant, noise, scheme, **changes):
    (row,) = (
        r for r in rows(variant, **BUDGET | changes) if (r.noise, r.scheme) == (noise, scheme)
    )
    return row


def test_printed_scales_are_those_of_theorems_4_and_5():
    a, b = printed_sensitivities(10)
    assert (a, b) == (55**-0.5, 110**-0.5)
    total, unit = 10 * a + 45 * b, gaussian_sigma(1.5, 1e-6)
    row = of("unclipped", "gaussian", "inid")
    expected = math.sqrt(a * total) * unit, math.sqrt(b * total) * unit
    assert (row.diagonal, row.off_diagonal) == pytest.approx(expected, rel=1e-12)
    row = of("unclipped", "gaussian", "iid")
    assert (row.diagonal, row.off_diagonal) == pytest.approx((unit, unit), rel=1e-12)
    for noise in ("gaussian", "laplace"):
        for scheme in ("iid", "inid"):
            stated, unclipped = (of(variant, noise, scheme) for variant in ("stated", "unclipped"))
            assert stated[3:7] == unclipped[3:7]
            assert (stated.clipped, unclipped.clipped) == (scheme == "inid", False)
    cubes = 10 * a ** (2 / 3) + 45 * b ** (2 / 3)
    row = of("unclipped", "laplace", "inid")
    expected = a ** (1 / 3) * cubes / 1.5, b ** (1 / 3) * cubes / 1.5
    assert (row.diagonal, row.off_diagonal) == pytest.approx(expected, rel=1e-12)
    assert row.delta == 0.0
    row = of("unclipped", "laplace", "iid")
    assert row.diagonal == pytest.approx(total / 1.5, rel=1e-12)
    assert row.deviations == pytest.approx((2**0.5 * total / 1.5,) * 2, rel=1e-12)


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "approximate"])
def test_kept_epsilons_agree_with_the_words(variant):
    for row in rows(variant, **BUDGET):
        kept = row.epsilon_add_remove, row.epsilon_replace_one
        words = row.private_add_remove, row.private_replace_one
        assert kept[0] <= kept[1] * (1 + 1e-9)
        for value, word in zip(kept, words, strict=True):
            assert (word == "yes") == (value <= 1.5 * (1 + 1e-9))


def test_what_is_private():
    words = {
        (row.variant, row.noise, row.scheme): (row.private_add_remove, row.private_replace_one)
        for variant in VARIANTS if variant != "approximate" for row in rows(variant, **BUDGET)
    }  # fmt: skip
    for (variant, noise, scheme), (added, replaced) in words.items():
        assert replaced == "yes" or variant != "replace-one"
        assert replaced != "yes" or variant == "replace-one"
        refuted = variant in {"unclipped", "unclipped-largest"} and (noise, scheme) == (
            "gaussian",
            "inid",
        )
        assert added == ("no" if refuted else "yes")


def test_epsilon_kept_by_the_printed_gaussian_noise_is_that_of_one_axis():
    row = of("unclipped", "gaussian", "inid", features=100, epsilon=1.0)
    assert gaussian_log_delta(1 / row.diagonal, row.epsilon_add_remove) == pytest.approx(
        math.log(1e-6), abs=1e-6
    )
    assert 1.19 < row.epsilon_add_remove < 1.21
    # flat samples alone would be protected
    flat = (0.01 * row.diagonal**-2 + 0.99 * 0.5 * row.off_diagonal**-2) ** 0.5
    assert gaussian_log_delta(flat, 1.0) < math.log(1e-6)


@pytest.mark.parametrize("scheme", ["iid", "inid"])
def test_approximate_noise_keeps_the_box_and_is_the_least_of_its_shape(scheme):
    row, pure = (of(variant, "laplace", scheme) for variant in ("approximate", "unclipped"))
    assert row.delta == 1e-6
    assert row.diagonal / row.off_diagonal == pytest.approx(pure.diagonal / pure.off_diagonal)
    assert row.diagonal < 0.8 * pure.diagonal
    sizes = np.repeat(printed_sensitivities(10), (10, 45)).tolist()
    for factor, private in ((1.0, True), (1 - 1e-5, False)):
        noises = [Laplace(factor * row.diagonal)] * 10 + [Laplace(factor * row.off_diagonal)] * 45
        delta = vector_profile(noises, sizes, 1.5)
        assert (delta.upper if private else -delta.lower) <= (1e-6 if private else -1e-6)
    assert row.private_add_remove in ("no", "open")
    assert row.private_replace_one == "no"


def test_rows_are_in_a_fixed_order():
    names = [(row.noise, row.scheme) for row in rows("unclipped", **BUDGET)]
    assert names == [(n, s) for n in ("gaussian", "laplace") for s in ("iid", "inid")]
    assert len({tuple(row) for row in rows("unclipped", **BUDGET)}) == 4
    assert np.isfinite([row.diagonal for row in rows("unclipped", **BUDGET)]).all()

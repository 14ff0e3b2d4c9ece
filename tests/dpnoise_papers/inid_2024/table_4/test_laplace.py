"""Variants of Laplace noise: closed forms of noise and privacy, what printed numbers exclude."""

import math

import numpy as np
import pytest

from dpnoise_papers.inid_2024.table_4.laplace import (
    COLUMNS,
    VARIANTS,
    _gaussian,
    _scales,
    noise_over_gaussian,
)
from dpnoise_papers.inid_2024.table_4.noise import PRINTED_AS
from table_4_toys import SIZES, variants


@pytest.fixture(scope="module")
def table():
    table = variants()
    assert list(table.columns) == list(COLUMNS)
    assert set(table["epsilon"]) == {8.0}
    assert len(table) == len(PRINTED_AS) * (len(VARIANTS) - 1) + 1
    return table.set_index(["variant", "scheme"])


def test_pure_noise_keeps_what_it_states(table):
    for variant in ("stated", "l2-clipped-box"):
        assert table.loc[variant, "epsilon_pure"].to_numpy() == pytest.approx(8.0, rel=1e-9)
    assert (table["epsilon_lower"] <= table["epsilon_upper"] * (1 + 1e-6)).all()
    assert (table["epsilon_upper"] <= table["epsilon_pure"]).all()
    for variant in ("renyi", "l2-clipped-gaussian-multiplier"):  # keep (8, 1e-5)
        assert table.loc[variant, "epsilon_upper"].to_numpy() == pytest.approx(8.0, rel=0.02)


def test_noise_and_signal_by_closed_forms(table):
    iid = table.xs("iid", level="scheme")
    unit = iid.loc["stated", "unit"]
    assert unit == pytest.approx(1.0 / math.log1p(math.expm1(8.0 / 50.0) / 0.1), rel=1e-9)
    size = math.sqrt(2.0 * SIZES.sum())
    assert iid.loc["stated", "noise_l2"] == pytest.approx(unit * size / 100.0, rel=1e-9)
    assert iid.loc["stated", "signal_flat"] == pytest.approx(SIZES.sum() ** -0.5, rel=1e-12)
    box = iid.loc["l2-clipped-box"]
    assert box["noise_l2"] == pytest.approx(unit * SIZES.sum() * math.sqrt(2.0) / 100.0, rel=1e-9)
    # what is clipped in l1 and what is counted so in l2 have one ratio of noise to a flat gradient
    stated = iid.loc["stated", "noise_over_gaussian"]
    assert box["noise_over_gaussian"] == pytest.approx(stated, rel=1e-9)
    single = iid.loc["by-parameter", "noise_over_gaussian"]
    assert single == pytest.approx(stated / SIZES.sum(), rel=1e-9)


def test_gaussian_noise_is_the_unit_of_comparison(table):
    same = table.loc["l2-clipped-gaussian-variance", "noise_over_gaussian"].to_numpy()
    assert same == pytest.approx(1.0, rel=1e-9)
    more = table.loc["l2-clipped-gaussian-multiplier", "noise_over_gaussian"].to_numpy()
    assert more == pytest.approx(math.sqrt(2.0), rel=1e-9)
    # by group every scheme of the Gaussian account guarantees the same
    bounds = table.loc["l2-clipped-gaussian-multiplier", "epsilon_upper"].to_numpy()
    assert bounds == pytest.approx(bounds[0], rel=1e-8)


def test_what_is_outside_of_the_printed_accuracies_for_every_shape_is_excluded(table):
    least = table["multiplier"] * table["noise_over_gaussian_minimum"] * (1 + 1e-9)
    most = table["multiplier"] * table["noise_over_gaussian_maximum"] * (1 + 1e-9)
    outside = (least > table["multiplier_to"] * (1 + 2e-9)) | (most < table["multiplier_from"])
    assert (table["excluded"] == outside.astype(float)).all()
    iid = table.xs("iid", level="scheme")
    assert set(table["slack"]) == {0.0}  # two Gaussian rows, in order in all columns
    assert set(iid["printed_accuracy"]) == {67.46}  # between 63.26 and 68.55
    assert iid.loc["stated", "excluded"] == 1.0
    same = iid.loc["l2-clipped-gaussian-variance"]
    assert same["multiplier_from"] == same["multiplier"] < same["multiplier_to"]
    assert same["excluded"] == 0.0


@pytest.mark.parametrize("scheme", list(PRINTED_AS))
def test_ends_over_all_shapes_by_gradients_clipped_both_ways(scheme):
    """Random, flat and single-entry gradients lie between; both ends are reached."""
    sizes = SIZES.astype(int)
    gaussian = _gaussian(scheme, SIZES, 1.3)
    laplace = _scales(VARIANTS["stated"], scheme, SIZES, 2.0)
    parts = [sum(sizes)] if scheme == "iid" else sizes.tolist()
    rng = np.random.default_rng(0)
    gradients = [[rng.standard_cauchy(k) * 10.0**e for k in parts] for e in range(-4, 4)]
    gradients += [[np.full(k, 10.0 * (k == most)) for k in parts] for most in parts]
    gradients += [[np.eye(1, k)[0] * 1e-6 for k in parts]]
    ratios = []
    for gradient in gradients:
        left = {}
        for groups, order in ((laplace, 1), (gaussian, 2)):
            clipped = [
                g * min(1.0, clip / np.linalg.norm(g, order)) if g.any() else g
                for g, clip in zip(gradient, groups.clips, strict=True)
            ]
            left[order] = np.linalg.norm(np.concatenate(clipped))
        noise = laplace.noise_l2(2.0) / gaussian.noise_l2(1.0)
        ratios.append(noise * left[2] / left[1])
    found = noise_over_gaussian(laplace, gaussian, "l1")
    assert min(ratios) == pytest.approx(found.minimum, rel=1e-12)
    assert max(ratios) == pytest.approx(found.maximum, rel=1e-12)
    assert found.minimum < found.flat <= found.maximum * (1 + 1e-12)

"""Noise of private training: accounts of many steps, allocation to groups, Table IV's noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, special, stats

from dpnoise.allocation.allocate import allocate
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.sampled.mechanism import SampledGaussian, SampledLaplace
from dpnoise_papers.inid_2024.deep import noise as module
from dpnoise_papers.inid_2024.deep.noise import (
    NOISE_COLUMNS,
    SCHEMES,
    flat_clips,
    group_scales,
    layer_sizes,
    minimum_multiplier,
    noise_unit,
    pld_epsilon,
    rdp_epsilon,
    step_loss,
    table_4,
)
from dpnoise_papers.inid_2024.settings import DeepLearning
from for_all import for_all


@pytest.mark.parametrize(("multiplier", "rate", "delta"), [(1.0, 0.02, 1e-5), (0.7, 0.3, 1e-9)])
def test_epsilon_is_that_of_renyi_divergences_by_quadrature(multiplier, rate, delta):
    x, h = np.linspace(-40.0, 60.0, 20_001, retstep=True)  # exact to rounding for such bells
    near = stats.norm(0.0, multiplier).logpdf(x)
    shifted = (2 * x - 1) / (2 * multiplier**2)
    mixed = np.logaddexp(math.log1p(-rate), math.log(rate) + shifted)

    def converted(order):
        divergence = (special.logsumexp(order * mixed + near) + math.log(h)) / (order - 1)
        return 7 * divergence + math.log1p(-1 / order) - math.log(delta * order) / (order - 1)

    least = min(converted(order) for order in (*np.arange(20, 110) / 10, *range(11, 20)))
    found = rdp_epsilon(multiplier, delta, 7, rate)
    # dp_accounting adds moduli of an alternating series at orders that are not whole
    assert least * (1 - 1e-9) <= found <= least * (1 + 1e-3)


def test_a_sampled_step_is_at_least_as_private_as_both_accounts_say():
    """One step without sampling is the Gaussian mechanism, whose epsilon is known."""
    sigma = float(gaussian_sigma(1.0, 1e-5))
    assert rdp_epsilon(sigma, 1e-5, 1, 1.0) >= 1.0
    assert pld_epsilon(sigma, 1e-5, 1, 1.0) == pytest.approx(1.0, rel=1e-6)
    assert pld_epsilon(sigma, 1e-5, 1, 1.0) >= 1.0 - 1e-9


@pytest.mark.parametrize(("epsilon", "delta"), [(2.0, 1e-6), (8.0, 1e-9)])
def test_the_multiplier_is_on_the_private_side_and_tight(epsilon, delta):
    found = noise_unit("gaussian", epsilon, delta, 100, 0.05)
    assert rdp_epsilon(found, delta, 100, 0.05) <= epsilon
    assert rdp_epsilon(found * (1 - 1e-6), delta, 100, 0.05) > epsilon
    # Renyi divergences are a bound, the losses' distributions nearly exact
    assert 0.7 * epsilon < pld_epsilon(found, delta, 100, 0.05) < epsilon


def test_a_multiplier_is_found_wherever_the_bound_crosses():
    for target in (1e-3, 0.5, 1.0, 1.5, 1e3):
        found = minimum_multiplier(lambda m: 1.0 / m, 1.0 / target, 1e-9)
        assert target <= found <= target * (1 + 1e-8)
    # a bound with a jump is kept too
    found = minimum_multiplier(lambda m: 2.0 if m < 3.0 else 0.9, 1.0, 1e-6)
    assert found >= 3.0
    assert found == pytest.approx(3.0, rel=1e-5)
    # one that rises and falls on its way costs as much as it rises, not the rest of the bracket
    for target in np.geomspace(0.3, 30.0, 40):

        def bound(multiplier, target=target):
            return target / multiplier * (1.0 + 1e-5 * math.sin(1e7 * multiplier))

        found = minimum_multiplier(bound, 1.0, 1e-6)
        assert bound(found) <= 1.0
        assert found <= target * (1.0 + 1e-4)
    with pytest.raises(ValueError, match="no noise multiplier up to 1e"):
        minimum_multiplier(lambda _: math.inf, 1.0, 1e-6)


def test_rounding_never_grants_privacy():
    """dp_accounting returns epsilon = 0 where rounding makes a divergence negative."""
    for multiplier in (1e7, 1e8, 1e9):
        assert rdp_epsilon(multiplier, 1e-12, 1, 0.01) > 0.0


def test_an_account_that_is_contradicted_is_refused(monkeypatch):
    monkeypatch.setattr(module, "pld_epsilon", lambda *_: 2.1)
    with pytest.raises(RuntimeError, match=r"bound epsilon by 2\.0"):
        noise_unit("gaussian", 2.0, 1e-6, 37, 0.05)
    monkeypatch.setattr(module, "pld_epsilon", lambda *_: math.inf)  # says nothing
    assert noise_unit("gaussian", 2.0, 1e-6, 37, 0.05) > 0.5


@pytest.mark.parametrize(("epsilon", "steps", "rate"), [(8.0, 5000, 0.02), (1.0, 1, 0.5)])
def test_a_sampled_step_reaches_its_loss(epsilon, steps, rate):
    """Sup over x of log((1 - q) f(x) + q f(x - 1)) / f(x), for the densities themselves."""
    scale = 1.0 / step_loss(epsilon, steps, rate)
    x = np.linspace(-30.0, 30.0, 60_001) * scale
    near, far = stats.laplace(0.0, scale), stats.laplace(1.0, scale)
    mixed = (1 - rate) * near.pdf(x) + rate * far.pdf(x)
    losses = np.log(mixed / near.pdf(x))
    assert steps * losses.max() == pytest.approx(epsilon, rel=1e-9)
    assert -losses.min() <= losses.max()


def test_without_sampling_a_step_has_its_share():
    assert step_loss(3.0, 10, 1.0) == pytest.approx(0.3, rel=1e-12)
    # beyond the range of exp, where sampling saves log(1/q) of the loss
    for share in (699.0, 701.0):
        assert step_loss(share, 1, 0.5) == pytest.approx(share + math.log(2.0), rel=1e-14)


@pytest.mark.parametrize(("rate", "steps"), [(0.1, 6), (0.5, 2)])
def test_the_librarys_own_account_confirms_both_kinds_of_noise(rate, steps):
    """It is two-sided and of other code: what is handed out keeps its epsilon."""
    unit = noise_unit("gaussian", 2.0, 1e-5, steps, rate)
    low, high = SampledGaussian(unit, rate).epsilon(1e-5, steps=steps)
    assert low <= high <= 2.0
    assert high == pytest.approx(pld_epsilon(unit, 1e-5, steps, rate), rel=1e-3)
    low, high = SampledLaplace(noise_unit("laplace", 2.0, 0.0, steps, rate), rate).epsilon(
        0.0, steps=steps
    )
    assert low <= 2.0 * (1.0 + 1e-11)
    assert high == pytest.approx(2.0, rel=1e-9)


def renyi(order, shifts):
    """Renyi divergence of Laplace noise of scale 1, Mironov (2017), Proposition 6."""
    up = math.log(order / (2 * order - 1)) + (order - 1) * shifts
    down = math.log((order - 1) / (2 * order - 1)) - order * shifts
    return np.logaddexp(up, down) / (order - 1)


@pytest.mark.parametrize("order", [1.5, 2.0, 3.0, 17.0, 256.0])
def test_divergences_of_coordinates_are_below_that_of_one_and_of_gaussian_noise(order):
    """Section 3 of docs/inid-2024.md: convex in the shift, and at most order d^2 / 2."""
    rng = np.random.default_rng(1)
    for size in (2, 5, 100):
        shifts = rng.exponential(size=size) * 10.0 ** rng.uniform(-4, 1)
        together = float(np.sum(renyi(order, shifts)))
        assert together <= renyi(order, shifts.sum()) * (1 + 1e-12)
        assert together <= 0.5 * order * float(shifts @ shifts) * (1 + 1e-9) + 1e-12
    # many small shifts: Gaussian noise with sigma = beta is the limit
    many = 10**4 * float(renyi(order, 0.01 / order))
    assert many == pytest.approx(0.5 / order, rel=1e-2)


POWER = {"gaussian": 2, "laplace": 1}
CLIPS, SIZES = np.array([0.3, 1.7, 0.9]), np.array([4, 1, 25])
CASES = [
    (CLIPS, SIZES, 1.3),
    ([0.7], [1], 3.0),
    ([0.7], [10**15], 3.0),
    ([1.0, 1.0], [1, 10**15], 1e-50),
    ([0.1] * 22, [36864] * 22, 1.1392),
    ([1e-50, 1e50], [432, 7], 1e50),
    (np.linspace(0.01, 1.0, 61), np.arange(1, 62) ** 5, 12.98),
]


@for_all("noise", POWER)
@for_all("scheme", SCHEMES)
@for_all(("clips", "sizes", "unit"), CASES)
def test_the_budget_is_kept_in_exact_arithmetic_and_spent(noise, scheme, clips, sizes, unit):
    scales = group_scales(scheme, noise, clips, sizes, unit)
    q = POWER[noise]
    pairs = zip(clips, scales, strict=True)
    spent = sum((Fraction(float(c)) / Fraction(float(s))) ** q for c, s in pairs)
    spent *= Fraction(unit) ** q
    assert 1 - Fraction(1, 10**13) < spent <= 1


@for_all("noise", POWER)
@for_all("scheme", ["spr", "optimal"])
def test_by_parameter_the_scales_are_the_allocation_of_the_paper(noise, scheme):
    budget = {"epsilon": 1.0, "delta": 1e-5 if noise == "gaussian" else 0.0}
    lambdas = np.repeat(CLIPS / SIZES ** (1.0 / POWER[noise]), SIZES)
    expected = allocate(lambdas, noise=noise, scheme=scheme, **budget)
    unit = float(gaussian_sigma(1.0, 1e-5)) if noise == "gaussian" else 1.0
    found = group_scales(scheme, noise, CLIPS, SIZES, unit)
    assert np.repeat(found, SIZES) == pytest.approx(expected, rel=1e-12)


@for_all("noise", POWER)
def test_by_group_the_optimum_is_the_allocation_with_weights(noise):
    budget = {"epsilon": 1.0, "delta": 1e-5 if noise == "gaussian" else 0.0}
    unit = float(gaussian_sigma(1.0, 1e-5)) if noise == "gaussian" else 1.0
    expected = allocate(CLIPS, noise=noise, weights=SIZES, **budget)
    assert group_scales("optimal", noise, CLIPS, SIZES, unit) == pytest.approx(expected, rel=1e-12)


@for_all("noise", POWER)
def test_no_search_finds_less_variance(noise):
    q, unit = POWER[noise], 1.3

    def variance(logs):  # any shares of the budget, each group spending its own
        shares = np.exp(logs) / np.exp(logs).sum()
        return float(SIZES @ (unit * CLIPS / shares ** (1.0 / q)) ** 2)

    found = optimize.minimize(variance, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    best = group_scales("optimal", noise, CLIPS, SIZES, unit)
    assert float(SIZES @ best**2) == pytest.approx(found.fun, rel=1e-7)
    for scheme in ("iid", "spr", "spr-group"):
        assert float(SIZES @ group_scales(scheme, noise, CLIPS, SIZES, unit) ** 2) > found.fun


def test_closed_forms_of_equal_thresholds():
    clips = flat_clips("gaussian", 3, 2.0)
    sizes = np.array([16.0, 81.0, 256.0])
    iid = group_scales("iid", "gaussian", clips, sizes, 1.5)
    assert iid == pytest.approx(3.0, rel=1e-12)
    assert group_scales("spr-group", "gaussian", clips, sizes, 1.5) == pytest.approx(iid, rel=1e-12)
    optimal = group_scales("optimal", "gaussian", clips, sizes, 1.5)
    # sum C^2/s^2 with s = a K^(-1/4): a^2 = unit^2 C^2 sum sqrt(K)
    expected = 3.0 * np.sqrt((4 + 9 + 16) / 3.0) / sizes**0.25
    assert optimal == pytest.approx(expected, rel=1e-12)
    spr = group_scales("spr", "gaussian", clips, sizes, 1.5)
    assert spr == pytest.approx(3.0 * np.sqrt(353 / 3.0) / sizes**0.5, rel=1e-12)
    # he who counts parameters alike gains nothing over equal noise: K_m s_m^2 sums to the same
    assert sizes @ spr**2 == pytest.approx(sizes @ iid**2, rel=1e-12)


@for_all("noise", POWER)
def test_schemes_coincide_where_they_must(noise):
    for clips, sizes in (([0.7], [9]), ([0.4] * 5, [36] * 5), ([0.4] * 5, [1] * 5)):
        found = [group_scales(scheme, noise, clips, sizes, 2.0) for scheme in SCHEMES]
        for scales in found[1:]:
            assert scales == pytest.approx(found[0], rel=1e-12)
    # a gradient of equal entries: every parameter counts alike, and equal noise is the optimum
    clips = 2.0 * (SIZES / SIZES.sum()) ** (1.0 / POWER[noise])
    for scheme in ("spr", "optimal"):
        found = group_scales(scheme, noise, clips, SIZES, 2.0)
        assert found == pytest.approx(group_scales("iid", noise, clips, SIZES, 2.0), rel=1e-12)


@for_all("noise", POWER)
def test_thresholds_have_the_norm_of_the_whole(noise):
    clips = flat_clips(noise, 61, 0.3)
    assert np.linalg.norm(clips, POWER[noise]) == pytest.approx(0.3, rel=1e-14)
    assert np.ptp(clips) == 0.0


SETTINGS = DeepLearning(
    samples=1000,
    rate=0.1,
    epochs=2,
    layers=[[2, 3], [1, 10]],
    budgets=[
        {"noise": "gaussian", "delta": 1e-5, "epsilon": 2.0},
        {"noise": "laplace", "delta": 0.0, "epsilon": 8.0},
    ],
)


def test_the_table_adds_up():
    table = table_4(SETTINGS)
    assert list(table.columns) == list(NOISE_COLUMNS)
    assert (table["steps"] == 20).all()
    assert (table["batch"] == 100.0).all()
    assert (table["parameters"] == 16).all()
    assert (table["delta_of_samples"] == 1e-6).all()
    laplace = table[(table["noise"] == "laplace") & (table["scheme"] == "iid")].iloc[0]
    beta = 1.0 / math.log1p(math.expm1(0.4) / 0.1)
    assert laplace["noise_l2"] == pytest.approx(beta * math.sqrt(32.0) / 100.0, rel=1e-11)
    assert laplace["gradient_flat"] == 0.25
    for _, rows in table.groupby("noise"):
        noise = rows.set_index("scheme")["noise_l2"]
        assert noise["optimal"] <= noise.min() * (1 + 1e-12)
        assert noise["spr-group"] == pytest.approx(noise["iid"], rel=1e-12)
    # layers of 3 and of 10 parameters at one threshold
    ratio = table.set_index(["noise", "scheme"])["scale_ratio"]
    assert ratio["gaussian", "optimal"] == pytest.approx((10 / 3) ** (1 / 4))
    assert ratio["laplace", "optimal"] == pytest.approx((10 / 3) ** (1 / 3))
    assert ratio["gaussian", "iid"] == ratio["gaussian", "spr-group"] == 1.0


def test_noise_of_spr_by_closed_forms():
    table = table_4(SETTINGS).set_index(["noise", "scheme"])
    sizes = layer_sizes(SETTINGS)
    assert sizes.tolist() == [3.0, 3.0, 10.0]
    # Gaussian: K_m sigma_m^2 is the same for all layers and adds up to unit^2 K, as for i.i.d.
    gaussian = table.loc["gaussian"]["noise_l2"]
    assert gaussian["spr"] == pytest.approx(gaussian["iid"], rel=1e-12)
    # Laplace: beta_m = unit K / (M K_m), so the variance is 2 unit^2 K^2 sum 1/K_m / M^2
    unit = table.loc["laplace"]["multiplier"].iloc[0]
    variance = 2.0 * (unit * 16.0 / 3.0) ** 2 * float(np.sum(1.0 / sizes))
    found = table.loc[("laplace", "spr"), "noise_l2"]
    assert found == pytest.approx(math.sqrt(variance) / 100.0, rel=1e-11)

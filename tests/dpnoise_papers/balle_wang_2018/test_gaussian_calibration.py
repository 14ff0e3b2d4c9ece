import math

import numpy as np
import pytest
from scipy import special

from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.balle_wang_2018.gaussian_calibration import (
    STOPS,
    TOLERANCE,
    _b_minus,
    _b_plus,
    algorithm_1,
    classical_against_analytic,
    published_algorithm,
    published_algorithm_sizes,
)
from dpnoise_papers.balle_wang_2018.settings import (
    Algorithm1,
    Algorithm1Sizes,
    GainByDelta,
    GainByEpsilon,
)
from dpnoise_papers.settings import Grid


def _pairs(*ends):
    """Settings of Algorithm 1 over two logarithmic grids (low, high, count)."""
    epsilons, deltas = (
        Grid(low=low, high=high, count=count, spacing="log") for low, high, count in ends
    )
    return Algorithm1(epsilons=epsilons, deltas=deltas, tolerance=1e-12)


def test_deviations_as_epsilon_vanishes():
    epsilons = Grid(low=1e-12, high=1.0, count=25, spacing="log")
    settings = GainByEpsilon(epsilons=epsilons, deltas=[1e-3, 1e-6], sensitivity=2.0)
    table = classical_against_analytic(settings)
    assert len(table) == 50
    for delta, rows in table.groupby("delta"):
        first = rows.iloc[0]
        limit = 2 / (math.sqrt(2 * math.pi) * delta)  # of the analytic one, for small delta
        assert first["analytic"] == pytest.approx(first["at_zero"], rel=1e-4)
        assert first["at_zero"] == pytest.approx(limit, rel=delta)
        assert first["theorem_2"] == pytest.approx(2 / (2 * delta))
        assert (rows["analytic"].diff().dropna() < 0).all()
        assert np.allclose(rows["classical"] * rows["epsilon"], rows["classical"].iloc[-1])
        assert np.allclose(rows["gain"], (rows["classical"] / rows["analytic"]) ** 2)


def test_the_map_of_algorithm_1_names_what_happens():
    table = published_algorithm(_pairs((1.0, 800.0, 2), (1e-15, 1e-3, 2)))
    assert set(table["stop"]) == {"argument", "delta"}
    outcomes = table.set_index(["epsilon", "delta"])["outcome"]
    assert outcomes[800.0].tolist() == ["none"] * 4
    usual = table[(table["epsilon"] == 1.0) & (table["stop"] == "delta")].set_index("delta")
    assert abs(usual.loc[1e-3, "relative_error"]) < 1e-8
    assert abs(usual.loc[1e-15, "relative_error"]) > 1e-3
    small = usual.loc[1e-15]
    assert (small["log10_ratio"] > 0) == (small["outcome"] == "unsafe")
    assert (small["relative_error"] < 0) == (small["outcome"] == "unsafe")
    none = table[table["outcome"] == "none"]
    assert none[["published", "relative_error", "log10_ratio"]].isna().to_numpy().all()


def test_sizes_count_the_map():
    grid = _pairs((0.1, 800.0, 30), (1e-16, 0.1, 20))
    counted = Algorithm1Sizes(excesses=[1.01, 1000.0], minimum_deltas=[0.0, 1e-10])
    table = published_algorithm(grid)
    sizes = published_algorithm_sizes(grid, counted)
    assert len(sizes) == 8
    ran = table[table["outcome"] != "none"]
    ratio = 10 ** ran["log10_ratio"]
    for row in sizes.itertuples():
        part = (ran["stop"] == row.stop) & (ran["delta"] >= row.least_delta)
        assert row.points == part.sum()
        assert row.above == (part & (ratio > row.excess)).sum()
        assert row.share == pytest.approx(row.above / row.points)
        assert (row.above == 0) == np.isnan(row.greatest_delta)
    # The stop of the authors' script is the worse where delta is near the tolerance.
    worst = ran.groupby("stop")["log10_ratio"].max()
    assert worst["delta"] >= worst["argument"]


def test_the_ends_of_the_settings_have_finite_numbers():
    """The extremes that the settings allow, where products overflow first."""
    for low, size in ((1e-100, 1e6), (1e-300, 1e-6)):
        deltas = Grid(low=low, high=0.5, count=2, spacing="log")
        settings = GainByDelta(epsilons=[1e-100, 1.0], deltas=deltas, sensitivity=size)
        table = classical_against_analytic(settings)
        assert np.isfinite(table.drop(columns="gain")).to_numpy().all()


def loop(epsilon, delta, stop):
    """Return sigma by the same algorithm for one pair, in plain arithmetic."""

    def phi(t):
        return (1 + math.erf(t / math.sqrt(2))) / 2

    def b(x, sign):
        return phi(sign * math.sqrt(epsilon * x)) - math.exp(epsilon) * phi(
            -math.sqrt(epsilon * (x + 2))
        )

    sign = 1 if delta >= b(0, 1) else -1
    low, high = 0.0, 1.0
    while not (b(high, 1) > delta if sign > 0 else b(high, -1) <= delta):
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        value = b(middle, sign)
        near = abs(value - delta) if stop == "delta" else high - low
        if near <= TOLERANCE or middle in {low, high}:
            break
        if value > delta if sign > 0 else value <= delta:
            high = middle
        else:
            low = middle
    half = middle / 2
    return (math.sqrt(1 + half) - sign * math.sqrt(half)) / math.sqrt(2 * epsilon)


@pytest.mark.parametrize("stop", STOPS)
def test_it_is_the_algorithm_pair_by_pair(stop):
    rng = np.random.default_rng(4)
    epsilon, delta = 10 ** rng.uniform(-3, 1, 200), 10 ** rng.uniform(-10, -0.05, 200)
    sigma = algorithm_1(epsilon, delta, stop=stop)
    pairs = zip(epsilon.tolist(), delta.tolist(), strict=True)
    expected = [loop(*pair, stop) for pair in pairs]
    # erf of SciPy and of the C library may differ in the last digit, which delta = 1e-10 feels.
    assert np.allclose(sigma, expected, rtol=1e-6)
    assert sigma.shape == (200,)
    assert isinstance(algorithm_1(1.0, 1e-5), float)


def test_b_is_the_profile_at_its_alpha():
    epsilon, x = np.array([0.05, 1.0, 4.0]), np.array([0.0, 0.3, 2.0])
    for sign, b in ((-1, _b_plus), (1, _b_minus)):
        alpha = np.sqrt(1 + x / 2) + sign * np.sqrt(x / 2)
        delta = np.exp(gaussian_log_delta(np.sqrt(2 * epsilon) / alpha, epsilon))
        assert np.allclose(b(x, epsilon), delta, rtol=1e-12, atol=1e-15)
    middle = 0.5 - np.exp(epsilon) * special.ndtr(-np.sqrt(2 * epsilon))
    assert np.allclose(_b_plus(np.zeros(3), epsilon), middle, rtol=1e-13)


def test_where_delta_is_small_it_can_be_unsafe():
    """At delta below the tolerance the first middle that is close enough may be far off."""
    epsilon, delta = np.geomspace(0.1, 10, 200), 1e-14
    sigma = algorithm_1(epsilon, delta, stop="delta")
    excess = gaussian_log_delta(1 / sigma, epsilon) - math.log(delta)
    assert excess.max() > math.log(50)
    assert excess.min() < -math.log(50)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (710.0, 0.1), (1e5, 1e-5)])
def test_where_it_has_no_answer_it_is_nan(epsilon, delta):
    assert np.isnan(algorithm_1(epsilon, delta))
    assert np.array_equal(np.isnan(algorithm_1([epsilon, 1.0], delta)), [True, False])


def test_a_search_that_never_meets_its_tolerance_ends():
    """At tolerance 0 most pairs have no middle at which B is delta to the last bit."""
    usual = algorithm_1(np.full(50, 3.0), np.geomspace(1e-3, 0.3, 50), tolerance=0.0)
    assert np.isfinite(usual).all()
    sigma = algorithm_1(np.full(50, 30.0), np.geomspace(1e-3, 0.3, 50), tolerance=0.0, stop="delta")
    assert np.isnan(sigma).any()

"""The scalar profile against its definition, equation (13), other libraries and 50 digits."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from dpnoise import epsilon_at, gaussian_sigma, privacy_profile
from dpnoise.noise import (
    DiscreteGaussian,
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
)
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.profile import (
    log_privacy_profile,
    response_delta,
    response_log_delta,
)
from dpnoise_papers.flipped_huber_2023.as_printed import CASES, DECIMALS, profiles, ranges
from exact_noise import exact_noise
from for_all import for_all
from hockey_stick import hockey_stick

FAMILIES = [
    Gaussian(1.3),
    Laplace(0.8),
    FlippedHuber(0.4, 1.1),
    FlippedHuber(3.0, 1.2),
    FlippedHuber(0.0, 2.0),
    FlippedHuber(60.0, 8.0),
    OffsetSymmetricGaussian(2.0, 1.5),
    TruncatedLaplace(1.1, 2.5),
    TruncatedLaplace(50.0, 1.7),
    Huber(0.7, 1.4),
    Huber(6.0),
    Subbotin(1.5, 0.9),
    Subbotin(7.0, 1.2),
    Staircase(0.8, 1.0, 0.3),
    Staircase(0.25, 0.4, 0.7),
]
EVERY = [*FAMILIES, DiscreteGaussian(1.7), DiscreteGaussian(40.0)]


def some_shift(noise):
    """Return a shift that is no round number where the noise has one."""
    return 1.0 if isinstance(noise, DiscreteGaussian) else 1.3


def random_pieces(rng):
    """Yield one noise of each family with quadratic pieces."""
    s, r = 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-3, 2)
    yield Gaussian(s)
    yield Laplace(s)
    yield FlippedHuber(r * s, s)
    yield OffsetSymmetricGaussian(r * s, s)
    yield TruncatedLaplace(s, s * 10 ** rng.uniform(-2, 2))
    yield Huber(10 ** rng.uniform(-2, 1.5), s)


def random_epsilon(rng, noise, shift):
    """Return an epsilon whose crossing t1 is anywhere from the middle to a tail of 1e-300."""
    deep, near = noise.isf(10 ** -rng.uniform(0, 300)), noise.mean_abs() * rng.uniform(-0.5, 0.5)
    t = max(deep if rng.random() < 0.6 else near, -shift / 2)
    inside = t + shift < noise.bound
    epsilon = float(noise.logpdf(t) - noise.logpdf(t + shift)) if inside else -1.0
    if rng.random() < 0.1 or not 0 <= epsilon < 1e30:
        return float(rng.choice([0.0, 10 ** rng.uniform(-9, 2)]))
    return epsilon


def off(log_value, exact):
    """Return the relative error of exp(log_value), below 1e-300 that of the logarithm."""
    if exact == -mp.inf or log_value == -math.inf:
        return 0.0 if log_value == exact else math.inf
    return float(abs(mp.mpf(float(log_value)) - exact) / max(1, -exact / 700))


@for_all("spread", [(-2, 2), (-9, 6)])
def test_quadratic_pieces_hold_to_1e_12(spread):
    """Down to 1e-300 and beyond, for sensitivities from 1e-9 to 1e6 of the noise."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        for noise in random_pieces(rng):
            shift = noise.mean_abs() * 10 ** rng.uniform(*spread)
            epsilon = random_epsilon(rng, noise, shift)
            value = log_privacy_profile(noise, shift, epsilon)
            assert off(value, exact_noise(noise).log_delta(shift, epsilon)) < 1e-12, (noise, shift)


def test_equation_13_and_its_five_cases():
    """Literally, at 300 digits, for every row of Table I."""
    rng = np.random.default_rng(13)
    seen = dict.fromkeys(("i", "ii", "iii", "iv", "v"), 0)
    while min(seen.values()) < 12:
        alpha, d = 10 ** rng.uniform(-1.5, 1, 2)
        gamma = 10 ** rng.uniform(-0.5, 0.7)
        epsilon = rng.uniform(0, 1.5) * (d + 2 * alpha) * d / (2 * gamma**2)
        with mp.workdps(300):
            a, g, shift, e = map(mp.mpf, (alpha, gamma, d, epsilon))
            held = zip(CASES, ranges(shift, a, g, DECIMALS), strict=True)
            case = next(name for name, (low, high) in held if low <= e < high)
            delta = profiles(e, shift, a, g, DECIMALS)[CASES.index(case)]
        seen[case] += 1
        if seen[case] <= 12:
            value = log_privacy_profile(FlippedHuber(alpha, gamma), d, epsilon)
            assert off(value, mp.log(delta)) < 1e-12, (case, alpha, gamma, d, epsilon)


@for_all(
    ("noise", "shift"),
    [
        (FlippedHuber(2.0, 1.0), 1.0),
        (FlippedHuber(30.0, 1.0), 1.0),
        (FlippedHuber(30.0, 1.0), 29.0),
        (FlippedHuber(1e3, 3.0), 0.1),
        (TruncatedLaplace(0.1, 4.0), 0.3),
        (Huber(12.0, 0.1), 0.3),
        (Laplace(0.1), 0.3),
    ],
)
def test_epsilon_on_the_edge_of_constant_loss(noise, shift):
    """Where epsilon meets the loss of many t, delta hangs on the last bit of either."""
    slope = {
        FlippedHuber: lambda: Fraction(noise.alpha) / Fraction(noise.gamma) ** 2,
        Huber: lambda: Fraction(noise.alpha) / Fraction(noise.scale),
    }.get(type(noise), lambda: 1 / Fraction(noise.beta))
    edge = float(slope() * Fraction(shift))
    for epsilon in (edge, np.nextafter(edge, 0), np.nextafter(edge, 99), edge * (1 - 1e-14)):
        value = log_privacy_profile(noise, shift, epsilon)
        assert off(value, exact_noise(noise).log_delta(shift, epsilon)) < 1e-12


def test_delta_is_0_exactly_where_it_is():
    """Pure DP by rational arithmetic: neither 0 in place of 1e-17 nor the reverse."""
    rng = np.random.default_rng(1)
    zeros = 0
    for shift, beta in 10 ** rng.uniform(-3, 3, (200, 2)):
        epsilon = shift / beta
        pure = Fraction(epsilon) * Fraction(beta) >= Fraction(shift)
        assert (privacy_profile(Laplace(beta), shift, epsilon) == 0.0) == pure
        assert (privacy_profile(Huber(0.7, 0.7 * beta), shift, 2 * epsilon)) == 0.0
        zeros += pure
    assert 50 < zeros < 150


def test_subbotin():
    """To 4e-12 (large p: 4e-11) or an epsilon off by p units in its last place."""
    rng = np.random.default_rng(7)
    for _ in range(15):
        noise = Subbotin(1 + 10 ** rng.uniform(-2, 2.9), 10 ** rng.uniform(-1, 1))
        shift = noise.mean_abs() * 10 ** rng.uniform(-5, 2)
        epsilon = random_epsilon(rng, noise, shift)
        (value,), (slope,) = hockey_stick(noise, shift, [epsilon])
        exact = exact_noise(noise).log_delta(shift, epsilon)
        sharp = math.exp(math.log(max(slope, 1e-300)) - value) if value > -690 else 1.0
        blur = noise.p * 2.0**-50 * epsilon * sharp
        assert off(value, exact) < (4e-12 if noise.p < 100 else 4e-11) + blur, (noise, shift)


@for_all("p", [1.0001, 1.02, 1.5, 3.0, 294.0, 1000.0])
def test_subbotin_at_the_edge_of_the_bulk(p):
    """At round numbers and where a shift leaves the bulk p^(1/p): p from just above 1 to 1000."""
    noise, edge = Subbotin(p, 1.0), p ** (1.0 / p)
    cases = [(s * edge, e) for s in (0.5, 0.99, 1.0, 2.0) for e in (0.0, 1.0)]
    cases += [(0.9, 1.0), (0.9, 0.3), (1.0, 20.0), (1e-6, 1e-5), (3.0, 0.1), (30.0, 31.0)]
    for shift, epsilon in cases:
        (value,), (slope,) = hockey_stick(noise, shift, [epsilon])
        if value < -700.0:  # up to p = 1.5 such losses are in a tail without doubles
            assert p < 2.0
            continue
        exact = exact_noise(noise).log_delta(shift, epsilon)
        sharp = slope * math.exp(-max(value, -690.0))
        limit = 2e-12 + p * 2.0**-50 * epsilon * sharp
        assert off(value, exact) < limit, (shift, epsilon)


def test_noise_for_nearly_uniform_subbotin_is_private():
    """epsilon_at stands up to the definition where the loss is far steeper than any tail."""
    noise = Subbotin(1000.0, 1.0)
    delta = np.array([0.15, 0.175, 0.3, 0.44, 0.4465, 0.447])
    epsilon = epsilon_at(noise, 0.9, delta)
    for e, d in zip(epsilon, delta, strict=True):
        if math.isfinite(e) and e < 1e6:
            assert exact_noise(noise).log_delta(0.9, e) <= math.log(d)
            assert exact_noise(noise).log_delta(0.9, e * (1 - 1e-6)) > math.log(d)
    assert np.all(epsilon[:3] > 1e3)


def test_subbotin_scales_beyond_all_reason():
    """No warning, no hang, monotone in both arguments, for every sensitivity that is accepted."""
    epsilon = np.sort(np.concatenate([[0.0, 5e-324], 10.0 ** np.linspace(-300, 100, 60)]))
    for p in (1 + 2.0**-52, 1.0001, 1.7, 5.0, 295.0, 1000.0):
        noise = Subbotin(p, 1.0)
        shifts = noise.mean_abs() * 10.0 ** np.linspace(-99.9, 49.9, 16)
        table = np.array([log_privacy_profile(noise, shift, epsilon) for shift in shifts])
        slack = 1e-10 * np.maximum(1.0, np.abs(np.maximum(table, -1e300)) / 700)
        assert not np.isnan(table).any()
        assert np.all(table[:, 1:] <= table[:, :-1] + slack[:, 1:])
        assert np.all(table[:-1] <= table[1:] + slack[:-1])


@for_all("p", [(1.0, Laplace), (2.0, Gaussian)])
def test_subbotin_with_a_name_of_its_own(p):
    epsilon = np.linspace(0, 3, 50)
    named = log_privacy_profile(p[1](0.7), 1.0, epsilon)
    assert np.array_equal(log_privacy_profile(Subbotin(p[0], 0.7), 1.0, epsilon), named)


def test_staircase_is_the_sum_over_its_steps():
    rng = np.random.default_rng(11)
    for _ in range(25):
        noise = Staircase(10 ** rng.uniform(-0.5, 0.8), 10 ** rng.uniform(-1, 1), rng.random())
        shift = noise.sensitivity * float(rng.choice([rng.uniform(0, 7), rng.integers(1, 5)]))
        epsilon = noise.epsilon * float(rng.choice([0.0, 1.0, 2.0, rng.uniform(0, 7)]))
        value, exact = (
            privacy_profile(noise, shift, epsilon),
            exact_noise(noise).delta(shift, epsilon),
        )
        # Where epsilon is a loss to within rounding, the two differ by that rounding.
        assert abs(value - exact) <= 1e-13 * exact + 1e-30, (noise, shift, epsilon)


def test_staircase_of_many_low_steps():
    """Geometric sums over thousands of steps, against those steps; the limit is Laplace noise."""
    step, gamma, shift = 1e-3, 0.37, 2.0003
    noise = Staircase(step, step, gamma)
    edges = (np.arange(40_000) + gamma) * step
    edges = np.concatenate([-edges[::-1], edges])
    cuts = np.sort(np.concatenate([edges, edges - shift]))
    t, width = 0.5 * (cuts[1:] + cuts[:-1]), np.diff(cuts)
    here, there = (np.floor(np.abs(x) / step - gamma) + 1 for x in (t, t + shift))
    mass = width * np.exp(-step * here)
    for epsilon in (0.0, 0.40005, 1.1, 1.95):
        gain = np.maximum(step * (there - here) - epsilon, 0.0)
        delta = math.fsum(mass * -np.expm1(-gain)) / math.fsum(mass)
        value = privacy_profile(noise, shift, epsilon)
        assert math.isclose(value, delta, rel_tol=1e-10)
        assert math.isclose(value, privacy_profile(Laplace(1.0), shift, epsilon), rel_tol=0.02)


@for_all("noise", FAMILIES)
def test_the_largest_shift_is_the_worst(noise):
    """For the staircase too, whose density is not log-concave."""
    shifts = np.sort(
        np.concatenate([np.linspace(0, 4, 41), np.random.default_rng(2).uniform(0, 4, 20)])
    )
    delta = privacy_profile(noise, shifts[:, None], np.array([0.0, 0.1, 0.5, 0.8, 1.0, 1.7]))
    assert np.all(np.diff(delta, axis=0) >= -1e-13 * delta[1:])
    assert np.all(delta[0] == 0)


@for_all("sigma", [0.2, 0.9, 3.0, 15.9, 16.1])
def test_discrete_gaussian_is_the_sum_over_integers(sigma):
    rng = np.random.default_rng(3)
    noise = DiscreteGaussian(sigma)
    for _ in range(5):
        d = int(rng.choice([1, 2, int(rng.integers(1, 8 * sigma + 3))]))
        epsilon = d / sigma * float(rng.choice([0.0, rng.uniform(0, 1), rng.uniform(0, 30)]))
        value = log_privacy_profile(noise, d, epsilon)
        assert off(value, mp.log(exact_noise(noise).delta(d, epsilon))) < 1e-12


@for_all("sigma", [200.0, 3e4])
@for_all("d", [1.0, 150.0, 2e4, 1e5])
def test_wide_discrete_gaussian(sigma, d):
    """Term by term, over all terms."""
    noise = DiscreteGaussian(sigma)
    for epsilon in d / sigma * np.array([0.0, 0.3, 4.0, 12.0]):
        value, slope = hockey_stick(noise, d, epsilon)
        first = max(math.floor(sigma**2 * epsilon / d - d / 2) - 2, int(-38 * sigma))
        k = np.arange(first, max(first, 0) + int(12 * sigma), dtype=float)
        gain = np.maximum((k + d / 2) * (d / sigma**2) - epsilon, 0.0)
        log_mass = noise.logpmf(k)
        delta = math.fsum(np.exp(log_mass - log_mass.max()) * -np.expm1(-gain))
        log_delta = math.log(delta) + log_mass.max()
        blur = 2.0**-50 * epsilon * slope * math.exp(-value)
        assert abs(value - log_delta) < 1e-11 + blur


def test_gaussian_agrees_with_its_closed_form():
    rng = np.random.default_rng(4)
    for _ in range(50):
        sigma, epsilon = 10 ** rng.uniform(-2, 3), np.append(0.0, 10 ** rng.uniform(-6, 2.5, 100))
        closed = gaussian_log_delta(1.0 / sigma, epsilon)
        value = log_privacy_profile(Gaussian(sigma), 1.0, epsilon)
        assert np.all(np.abs(value - closed) < 2e-12 * np.maximum(1, -closed / 700))
    epsilon, delta = rng.uniform(0, 10, 300), 10 ** -rng.uniform(0, 300, 300)
    for e, d in zip(epsilon, delta, strict=True):
        assert privacy_profile(Gaussian(gaussian_sigma(e, d)), 1.0, e) <= d


def test_other_libraries_agree():
    from dp_accounting.pld import privacy_loss_mechanism as plm

    epsilon = [0.0, 0.1, 0.7, 1.5, 3.0]
    for scale in (0.5, 1.0, 4.0):
        for ours, theirs in (
            (Gaussian(scale), plm.GaussianPrivacyLoss(scale)),
            (Laplace(scale), plm.LaplacePrivacyLoss(scale)),
        ):
            delta = [theirs.get_delta_for_epsilon(e) for e in epsilon]
            assert np.allclose(privacy_profile(ours, 1.0, epsilon), delta, rtol=1e-9, atol=1e-15)


@for_all("noise", EVERY)
def test_profile_falls_and_is_convex_in_exp_epsilon(noise):
    """With e^epsilon P(T > t2) as its slope, at negative epsilon too."""
    x = np.linspace(0.05, 6.0, 4001)
    log_delta, slope = hockey_stick(noise, some_shift(noise), np.log(x))
    delta = np.exp(log_delta)
    fall = -np.diff(delta)
    assert np.all(fall >= 0)
    assert np.all(np.diff(fall) <= 1e-13)
    # A chord is between the slopes at its ends.
    rate, chord = slope / x, fall / np.diff(x)
    assert np.all(chord <= np.maximum(rate[1:], rate[:-1]) + 1e-11)
    assert np.all(chord >= np.minimum(rate[1:], rate[:-1]) - 1e-11)


@for_all("noise", FAMILIES)
def test_units_do_not_matter(noise):
    epsilon = np.linspace(0, 3, 31)
    value = log_privacy_profile(noise, 1.3, epsilon)
    assert np.array_equal(log_privacy_profile(noise.scaled(2.0**40), 1.3 * 2.0**40, epsilon), value)
    assert np.array_equal(
        log_privacy_profile(noise.scaled(2.0**-90), 1.3 * 2.0**-90, epsilon), value
    )


@for_all("noise", EVERY)
@for_all("sensitivity", [1e-6, 1.0, 3.0, 200.0])
def test_epsilon_at_is_the_inverse(noise, sensitivity):
    if isinstance(noise, DiscreteGaussian):
        sensitivity = math.ceil(sensitivity)
    delta = np.array([0.0, 1e-300, 1e-30, 1e-9, 1e-3, 0.2, 0.7, 0.999])
    epsilon = epsilon_at(noise, sensitivity, delta)
    finite = np.isfinite(epsilon)
    assert np.all(privacy_profile(noise, sensitivity, epsilon[finite]) <= delta[finite])
    # Slightly less does not do.
    less = epsilon[finite] * (1 - 1e-9)
    worse = privacy_profile(noise, sensitivity, less) > delta[finite] * (1 - 1e-8)
    assert np.all(worse | (epsilon[finite] == 0))
    # Without an epsilon there is none.
    if not finite.all():
        assert log_privacy_profile(noise, sensitivity, 1e90) > -math.inf
        assert np.all(delta[~finite] < privacy_profile(noise, sensitivity, 300.0) + 5e-324)


@for_all("noise", EVERY)
def test_profile_is_the_inverse_of_epsilon_at(noise):
    epsilon = np.array([0.05, 0.3, 0.5, 0.7])
    log_delta, slope = hockey_stick(noise, some_shift(noise), epsilon)
    back = epsilon_at(noise, some_shift(noise), np.exp(log_delta))
    # It may exceed epsilon by what the margin of the profile is worth.
    inner = slope > 1e-9
    assert np.all(back[inner] >= epsilon[inner] * (1 - 1e-14))
    excess = 6e-11 * np.exp(log_delta[inner]) / slope[inner] + 1e-14
    assert np.all(back[inner] <= epsilon[inner] + excess)


def test_pure_privacy_and_its_absence():
    third = Fraction(1, 3)
    noise = Laplace(float(third))
    epsilon = epsilon_at(noise, 1.0, 0.0)
    assert Fraction(epsilon) >= 1 / Fraction(noise.beta) > Fraction(math.nextafter(epsilon, 0))
    assert epsilon_at(Huber(0.5, 3.0), 2.0, 0.0) == pytest.approx(0.5 * 2 / 3, rel=1e-15)
    assert epsilon_at(Staircase(0.3, 1.0, 0.4), 1.0, 0.0) == 0.3
    assert epsilon_at(Staircase(0.3, 1.0, 0.4), 2.1, 0.0) == pytest.approx(0.9, rel=1e-15)
    for noise in (Gaussian(1.0), FlippedHuber(40.0, 1.0), Subbotin(1.2, 1.0), DiscreteGaussian(2)):
        assert epsilon_at(noise, 1.0, 0.0) == math.inf
    # A Gaussian tail beyond all doubles is a tail.
    assert epsilon_at(FlippedHuber(1e140, 1.0), 1e-200, 0.0) == math.inf
    truncated = TruncatedLaplace(0.5, 6.0)
    leaves = float(truncated.sf(5.0))  # the mass that a shift by 1 takes out of the support
    assert epsilon_at(truncated, 1.0, leaves * 0.999) == math.inf
    assert epsilon_at(truncated, 1.0, leaves * 1.001) <= 2.0
    assert privacy_profile(truncated, 1.0, 50.0) == pytest.approx(leaves, rel=1e-13)
    assert privacy_profile(truncated, 12.0, 50.0) == 1.0
    assert epsilon_at(truncated, 12.0, 0.9) == math.inf
    assert epsilon_at(Subbotin(40.0, 1.0), 1e6, 0.1) == math.inf  # beyond 1e100


def test_shapes():
    noise = FlippedHuber(1.0, 2.0)
    epsilon = np.linspace(0, 1, 12).reshape(3, 4)
    table = privacy_profile(noise, np.array([0.0, 0.5, 1.0])[:, None, None], epsilon)
    assert table.shape == (3, 3, 4)
    assert np.array_equal(table[2], privacy_profile(noise, 1.0, epsilon))
    assert isinstance(privacy_profile(noise, 1.0, 0.5), float)
    assert isinstance(epsilon_at(noise, 1.0, 0.01), float)
    assert privacy_profile(noise, 1.0, np.empty((0, 2))).shape == (0, 2)
    assert epsilon_at(noise, 1.0, []).shape == (0,)
    assert privacy_profile(DiscreteGaussian(2.0), [0, 1], 0.1).tolist() == [
        0.0,
        privacy_profile(DiscreteGaussian(2.0), 1.0, 0.1),
    ]


@for_all("sensitivity", [math.sqrt(3), 0.5, [1.0, 1.5], 1.0 + 2.0**-52, 2**53 + 1])
def test_noise_on_the_integers_needs_an_integer_sensitivity(sensitivity):
    """The next integer below would be less than the query moves."""
    noise = DiscreteGaussian(4.0)
    calls = [(privacy_profile, 0.5), (log_privacy_profile, 0.5), (epsilon_at, 1e-6)]
    for function, last in calls:
        with pytest.raises(ValueError, match="sensitivity: expected integers"):
            function(noise, sensitivity, last)


def exact_leaving(noise, shift):
    """Return P(T > bound - shift) of truncated Laplace noise, at 100 digits more than it loses."""
    with mp.workdps(400):
        beta, bound, t = map(mp.mpf, (noise.beta, noise.bound, noise.bound))
        t -= mp.mpf(shift)
        rest = (mp.exp(-abs(t) / beta) - mp.exp(-bound / beta)) / (-mp.expm1(-bound / beta)) / 2
        return min(1 - rest if t < 0 else rest, mp.mpf(1)) if t > -bound else mp.mpf(1)


def test_no_epsilon_where_more_mass_leaves_than_delta():
    """To the last bit of delta, on both sides of the mass; it is 1/2 for a shift by the bound."""
    rng = np.random.default_rng(15)
    pairs = [(TruncatedLaplace(3.0, 2.0), 2.0), (TruncatedLaplace(3.0, 2.0), 3.0)]
    pairs += [(TruncatedLaplace(1.0, 1.0), s) for s in (0.25, 0.5, 1.0, 1.5, 1e-9, 2.0, 7.0)]
    for beta, reach, share in 10 ** rng.uniform([-3, -6, -12], [3, 2, 0.3], (15, 3)):
        noise = TruncatedLaplace(beta, beta * reach)
        pairs.append((noise, noise.bound * share))
    for noise, shift in pairs:
        mass = exact_leaving(noise, shift)
        near = float(mass)
        for delta in (math.nextafter(near, 0), near, math.nextafter(near, 1), near * (1 + 1e-14)):
            if delta < 1.0:
                epsilon = epsilon_at(noise, shift, delta)
                assert math.isfinite(epsilon) == (mp.mpf(delta) >= mass), (noise, shift, delta)


def test_staircase_a_few_ulp_from_its_steps():
    """Where the shift or epsilon is a multiple of a step but for a few units in the last place."""
    rng = np.random.default_rng(16)
    for _ in range(30):
        step, width = rng.choice([0.5, 1.0, 3.0]), float(rng.choice([0.1, 1.0, 2.5]))
        noise = Staircase(float(step), width, float(rng.choice([0.25, 0.3, 0.5])))
        shift, epsilon = width * float(rng.integers(1, 4)), noise.epsilon * float(rng.integers(4))
        for _ in range(int(rng.integers(5))):
            shift = math.nextafter(shift, math.inf if rng.random() < 0.7 else 0.0)
        if rng.random() < 0.3:
            epsilon = math.nextafter(epsilon, rng.choice([0.0, 9.0]))
        value, exact = (
            privacy_profile(noise, shift, epsilon),
            exact_noise(noise).delta(shift, epsilon),
        )
        # Above its largest loss the oracle is left with its own rounding, 1e-50.
        assert abs(value - exact) <= 1e-12 * exact + 1e-40, (noise, shift, epsilon)
    noise = Staircase(1.0, 1.0, 0.5)
    assert privacy_profile(noise, 1.0 + 2.0**-50, 1.0) == pytest.approx(4.2e-16, rel=0.02)
    assert privacy_profile(noise, 1.0, 1.0) == 0.0


def test_bad_input_names_every_problem():
    with pytest.raises(ValueError, match="privacy profile") as error:
        privacy_profile("plateau", -1.0, [0.5, math.nan, -2.0])
    for word in ("noise", "plateau", "sensitivity", "-1.0", "epsilon", "[nan, -2.0]"):
        assert word in str(error.value)
    with pytest.raises(ValueError, match="epsilon at delta") as error:
        epsilon_at("gaussian", math.nan, 1.0)
    for word in ("noise", "'gaussian'", "sensitivity", "nan", "delta", "1.0"):
        assert word in str(error.value)


@for_all(
    ("noise", "sensitivity", "word"),
    [
        (Gaussian(1.0), 1e60, "sensitivity / E|T|"),
        (Gaussian(1.0), 1e-120, "sensitivity / E|T|"),
        (Laplace(1e-250), 1e-250, "E|T|"),
        (Staircase(1e-20, 1.0, 0.5), 1e18, "step width"),
    ],
)
def test_scales_beyond_doubles_are_refused(noise, sensitivity, word):
    with pytest.raises(ValueError, match="expected") as error:
        privacy_profile(noise, sensitivity, 1.0)
    assert word in str(error.value)


def test_delta_is_at_most_1_after_rounding():
    assert privacy_profile(Staircase(28.864044950898393, 0.75, 0.5), 12.886484154353175, 7.0) == 1.0


def test_extended_precision_beyond_all_doubles_is_refused():
    with pytest.raises(ValueError, match="epsilon: expected finite numbers"):
        privacy_profile(Gaussian(1.0), 1.0, np.longdouble("1e400"))


@for_all("loss", [1e-300, 1e-9, 0.5, 1.0, 7.0, 30.0, 700.0, 5000.0])
@for_all("share", [0.0, 1e-12, 0.3, 0.999999])
def test_randomized_response_to_fifty_digits(loss, share):
    epsilon = loss * share
    with mp.workdps(400):
        exact = mp.expm1(mp.mpf(epsilon) - mp.mpf(loss))
        exact = -exact / (1 + mp.exp(-mp.mpf(loss)))
        found = response_delta(loss, epsilon)
        assert exact <= found <= exact * (1 + mp.mpf(1e-8))
        assert float(mp.log(exact)) <= response_log_delta(loss, epsilon)


def test_ends():
    assert response_delta(1.0, 1.0) == response_delta(0.5, 1.0) == 0.0
    assert response_log_delta(1.0, 1.0) == -math.inf
    assert response_delta(math.inf, 1.0) == 1.0
    # A loss above epsilon by less than any double never counts as none.
    above = Fraction(1) + Fraction(1, 10**400)
    assert 0.0 < response_delta(above, 1.0) < 1e-300
    assert response_delta(Fraction(10) ** 400, 1.0) == 1.0


@for_all("epsilon", [0.0, 0.5, 1.9])
def test_noise_of_that_largest_loss_is_below(epsilon):
    exact = float(privacy_profile(Laplace(0.5), 1.0, epsilon))
    assert exact <= response_delta(2.0, epsilon)

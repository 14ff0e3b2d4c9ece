"""Pairs by noise, sampling and relation, beside quadrature, fine lattices and closed forms."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy import fft, stats

from dpnoise import (
    Budget,
    BudgetExceededError,
    Gaussian,
    Laplace,
    SampledGaussian,
    SampledLaplace,
    epsilon_at,
    noise_multiplier,
    privacy_profile,
    sampled_delta,
    sampled_epsilon,
    vector_profile,
)
from dpnoise.privacy.sampled import composition as composition_module
from dpnoise.privacy.sampled.pairs import (
    ADDED,
    ATTAINED,
    FIXED,
    GAUSSIAN,
    LAPLACE,
    REMOVED,
    REPLACED,
    Kind,
    one_step,
    pair_of,
)
from dpnoise.privacy.sampled.relations import PairComposition
from dpnoise.sensitivity.relation import REPLACE_ONE
from oracles import samples

NOISES = [(SampledGaussian, stats.norm), (SampledLaplace, stats.laplace)]
CASES = [(2.0, 0.01), (0.4, 0.5)]


@pytest.mark.parametrize("noise", [GAUSSIAN, LAPLACE])
@pytest.mark.parametrize("form", [REMOVED, ADDED, REPLACED])
@pytest.mark.parametrize(("size", "rate"), CASES)
def test_one_step_is_the_integral_of_densities(noise, form, size, rate):
    for epsilon in (0.0, 1e-3, 1.0):
        with ctx.workdps(35):
            reference = float(samples.delta(noise, form, 1 / arb(size), rate, epsilon))
        found = one_step(pair_of(Kind(size, rate, noise), form), epsilon).estimate
        assert math.exp(found) == pytest.approx(reference, rel=1e-11, abs=1e-30)


@pytest.mark.parametrize(("kind", "family"), NOISES)
def test_no_set_of_outputs_shows_more_than_a_replaced_record(kind, family):
    rng = np.random.default_rng(30)
    for _ in range(300):
        size, rate = float(rng.uniform(0.3, 5.0)), float(rng.uniform(0.01, 1.0))
        x, z = rng.uniform(-1.0, 1.0, 2)
        ends = np.sort(rng.normal(0.0, 2.0, 6)).reshape(3, 2)
        epsilon = float(rng.uniform(0.0, 1.0))

        def mass(centre, ends=ends, size=size):
            return float(
                np.sum(
                    family.cdf(ends[:, 1] - centre / size) - family.cdf(ends[:, 0] - centre / size)
                )
            )

        first = (1 - rate) * mass(0.0) + rate * mass(x)
        second = (1 - rate) * mass(0.0) + rate * mass(z)
        most = kind(size, rate).delta(epsilon, relation="replace-one").upper
        assert first - math.exp(epsilon) * second <= most + 1e-12


@pytest.mark.parametrize(("kind", "family"), NOISES)
def test_no_set_of_outputs_shows_more_of_a_sample_of_fixed_size(kind, family):
    """Three records of which one or two are in the sample, by all samples."""
    rng = np.random.default_rng(31)
    for _ in range(200):
        values, other = rng.uniform(-1.0, 1.0, 3), float(rng.uniform(-1.0, 1.0))
        taken = int(rng.integers(1, 3))
        samples = [(0,), (1,), (2,)] if taken == 1 else [(0, 1), (0, 2), (1, 2)]
        size, epsilon = float(rng.uniform(0.3, 3.0)), float(rng.uniform(0.0, 1.0))
        ends = np.sort(rng.normal(0.0, 2.0, 4)).reshape(2, 2)

        def mass(data, ends=ends, size=size, samples=samples):
            sums = [sum(data[k] for k in one) / size for one in samples]
            return np.mean(
                [np.sum(family.cdf(ends[:, 1] - s) - family.cdf(ends[:, 0] - s)) for s in sums]
            )

        moved = values.copy()
        moved[0] = other
        most = kind(size, taken / 3, "without replacement").delta(epsilon).upper
        assert mass(values) - math.exp(epsilon) * mass(moved) <= most + 1e-12


@pytest.mark.parametrize("noise", [GAUSSIAN, LAPLACE])
def test_a_sample_of_fixed_size_attains_its_bound(noise):
    kind = SampledGaussian if noise == GAUSSIAN else SampledLaplace
    for epsilon in (0.0, 0.3, 1.0):
        low, high = kind(2.0, 0.25, "without replacement").delta(epsilon)
        with ctx.workdps(25):
            reference = float(samples.delta(noise, ATTAINED, 0.5, 0.25, epsilon))
        assert low <= reference * (1 + 1e-10)
        assert reference <= high * (1 + 1e-10) <= low * (1 + 1e-9)


def lattice_bounds(kind, form, steps, epsilon, width=4e-4):
    """Delta of few steps from losses rounded down and up, convolved on a lattice."""
    size, rate, noise, _ = kind
    y = np.linspace(-45.0, 45.0, 450_001) if noise == LAPLACE else np.linspace(-12.0, 15.0, 135_001)
    m = 1.0 / size
    family = stats.laplace if noise == LAPLACE else stats.norm
    plain = {
        REMOVED: (m, 0.0),
        ADDED: (0.0, m),
        REPLACED: (m, -m),
        ATTAINED: (2 * m, 0.0),
        FIXED: (2 * m, 0.0),
    }[form]

    def cdf(x, at):
        return (1 - rate) * family.cdf(at) + rate * family.cdf(at - x)

    def density(x, at):
        return (1 - rate) * family.pdf(at) + rate * family.pdf(at - x)

    first, second = np.diff(cdf(plain[0], y)), np.diff(cdf(plain[1], y))
    losses = np.log(density(plain[0], y)) - np.log(density(plain[1], y))
    low, high = np.minimum(losses[:-1], losses[1:]), np.maximum(losses[:-1], losses[1:])
    out = []
    for value, rounding in ((low, np.floor), (high, np.ceil)):
        cells = rounding(value / width).astype(int)
        if form == FIXED:  # the symmetric pair: losses above 0, reflected, the rest at 0
            up = np.where(value > 0.0, first, 0.0)
            down = np.where(value > 0.0, second, 0.0)
            back = rounding(-(high if rounding is np.floor else low) / width).astype(int)
            cells = np.concatenate([cells, back, [0]])
            masses = np.concatenate([up, down, [1.0 - up.sum() - down.sum()]])
        else:
            masses = first
        start = int(cells.min())
        total = _convolved(np.bincount(cells - start, weights=masses), steps)
        values = width * (steps * start + np.arange(len(total)))
        above = values > epsilon
        out.append(float(-total[above] @ np.expm1(epsilon - values[above])))
    return out


def _convolved(one, steps):
    """The masses of a sum of steps, by one transform of a length without large prime factors."""
    length = steps * (len(one) - 1) + 1
    size = fft.next_fast_len(length, real=True)
    return fft.irfft(fft.rfft(one, size) ** steps, size)[:length]


@pytest.mark.parametrize("noise", [GAUSSIAN, LAPLACE])
@pytest.mark.parametrize("form", [REMOVED, ADDED, REPLACED, ATTAINED, FIXED])
@pytest.mark.parametrize("steps", [2, 8])
def test_few_steps_lie_between_two_lattices(noise, form, steps):
    size, rate, epsilon = 1.5, 0.3, 0.25
    sampling = FIXED if form in {ATTAINED, FIXED} else "poisson"
    relation = "add-remove" if form in {REMOVED, ADDED} else "replace-one"
    kind = Kind(size, rate, noise, sampling)
    composition = PairComposition({kind: steps}, relation)
    direction = REPLACED if form == FIXED else form
    found = composition.log_delta(epsilon, direction)
    low, high = lattice_bounds(kind, form, steps, epsilon)
    assert math.exp(found.lower) <= high + 1e-12
    assert low - 1e-12 <= math.exp(found.upper)
    assert high - low <= 0.02 * high  # a lattice that says something
    assert found.upper - found.lower <= 1e-6


def test_steps_of_fixed_size_lie_between_what_is_attained_and_what_dominates():
    low, high = SampledGaussian(3.0, 0.05, "without replacement").delta(0.5, steps=200)
    twice = [
        SampledGaussian(1.5, 0.05).delta(0.5, steps=200, direction=d) for d in (REMOVED, ADDED)
    ]
    assert low == pytest.approx(twice[0].lower, rel=1e-6)
    assert max(one.lower for one in twice) < high < 1.0


@pytest.mark.parametrize("kind", [SampledGaussian, SampledLaplace])
@pytest.mark.parametrize("sampling", ["poisson", "without replacement"])
def test_rate_1_is_noise_on_all_data_with_sensitivity_2(kind, sampling):
    plain = Gaussian if kind is SampledGaussian else Laplace
    low, high = kind(3.0, 1.0, sampling).delta(0.2, relation="replace-one")
    exact = float(privacy_profile(plain(3.0), 2.0, 0.2))
    assert low <= exact * (1 + 1e-10)
    assert exact <= high * (1 + 1e-10) <= low * (1 + 1e-9)
    many = kind(6.0, 1.0, sampling).delta(1.0, steps=4, relation="replace-one")
    plain_profile = vector_profile(plain(6.0), 2.0, 1.0, copies=4)
    assert many.lower <= plain_profile.upper * (1 + 1e-10)
    assert plain_profile.lower <= many.upper * (1 + 1e-10)
    assert many.upper <= many.lower * (1 + 1e-5)


def test_rate_1_of_gaussian_noise_has_its_epsilon():
    low, high = SampledGaussian(6.0, 1.0).epsilon(1e-6, steps=9, relation="replace-one")
    assert low <= float(epsilon_at(Gaussian(6.0), 6.0, 1e-6)) <= high * (1 + 1e-9)


@pytest.mark.parametrize("kind", [SampledGaussian, SampledLaplace])
def test_delta_rises_with_steps_and_rate_and_falls_with_noise(kind):
    def at(size=1.5, rate=0.05, steps=100, relation="replace-one"):
        return kind(size, rate).delta(0.8, steps=steps, relation=relation)

    low, high = at()
    assert high < at(steps=101).lower
    assert high < at(rate=0.0501).lower
    assert at(size=1.501).upper < low
    assert at(relation="add-remove").upper < low


@pytest.mark.parametrize("kind", [SampledGaussian, SampledLaplace])
def test_a_replaced_record_is_at_most_one_removed_and_one_added(kind):
    """Group privacy: delta at 2 epsilon is at most (1 + e^epsilon) delta at epsilon."""
    step, epsilon = kind(1.5, 0.05), 0.6
    one = step.delta(epsilon, steps=50).upper
    assert (
        step.delta(2 * epsilon, steps=50, relation="replace-one").lower
        <= (1 + math.exp(epsilon)) * one
    )


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_epsilon_of_laplace_noise_without_delta_is_its_largest_loss(relation):
    q, m = 0.3, 0.5
    top, low = 1 - q + q * math.exp(m), 1 - q + q * math.exp(-m)
    most = math.log(top) if relation == "add-remove" else math.log(top / low)
    found = SampledLaplace(2.0, q).epsilon(0.0, steps=3, relation=relation)
    assert found.lower <= 3 * most * (1 + 1e-13)
    assert 3 * most * (1 - 1e-13) <= found.upper <= found.lower * (1 + 1e-9)
    assert (
        SampledLaplace(2.0, q).delta(3 * most * (1 + 1e-9), steps=3, relation=relation).upper == 0
    )
    assert SampledLaplace(2.0, q).delta(3 * most * 0.99, steps=3, relation=relation).lower > 0


def test_delta_and_epsilon_are_inverse():
    for step in (SampledGaussian(1.1, 0.03), SampledLaplace(0.8, 0.1)):
        low, high = step.epsilon(1e-6, steps=40, relation="replace-one")
        assert step.delta(low, steps=40, relation="replace-one").upper >= 1e-6
        assert step.delta(high, steps=40, relation="replace-one").lower <= 1e-6
        assert high <= low * (1 + 1e-6)


def test_mixtures_of_steps_may_be_split():
    kinds = [SampledGaussian(1.5, 0.05), SampledLaplace(2.0, 0.1)]
    first = sampled_delta(kinds, 1.0, steps=[100, 30], relation="replace-one")
    parts = [kinds[1], kinds[0], kinds[0]]
    second = sampled_delta(parts, 1.0, steps=[30, 60, 40], relation="replace-one")
    assert first.lower <= second.upper
    assert second.lower <= first.upper
    assert first.upper <= first.lower * (1 + 1e-6)


@pytest.mark.parametrize("sampling", ["poisson", "without replacement"])
def test_multipliers_for_a_replaced_record_keep_the_budget(sampling):
    found = noise_multiplier(4.0, 1e-5, 0.02, 300, relation="replace-one", sampling=sampling)
    step = SampledGaussian(found, 0.02, sampling)
    assert step.delta(4.0, steps=300, relation="replace-one").upper <= 1e-5 * (1 + 1e-9)
    assert found > noise_multiplier(4.0, 1e-5, 0.02, 300)
    if sampling == "poisson":
        less = SampledGaussian(found * (1 - 3e-6), 0.02)
        assert less.delta(4.0, steps=300, relation="replace-one").lower > 1e-5


@pytest.mark.parametrize(
    ("kind", "size", "rate", "steps", "delta"),
    [
        (SampledGaussian, 1e4, 1e-9, 10**9, 1e-12),
        (SampledGaussian, 1e-2, 0.5, 1, 1e-300),
        (SampledLaplace, 1e-3, 1e-9, 1, 1e-300),
        (SampledLaplace, 1e6, 1.0, 10**9, 1e-10),
        (SampledLaplace, 1.0, 0.5, 1, 1.0),
    ],
)
def test_extremes_have_bounds_in_order(kind, size, rate, steps, delta):
    for relation in ("add-remove", "replace-one"):
        low, high = kind(size, rate).epsilon(delta, steps=steps, relation=relation)
        assert 0.0 <= low <= high


def test_a_budget_counts_by_its_relation():
    for step in (SampledGaussian(2.0, 0.05), SampledLaplace(1.0, 0.1)):
        bounds = step.epsilon(1e-5, steps=20, relation="replace-one")
        budget = Budget(50.0, 1e-5, relation="replace-one")
        budget.spend(step, times=20)
        assert bounds.lower <= budget.epsilon_of() == pytest.approx(bounds.upper, rel=1e-6)
        again = Budget.from_json(budget.to_json())
        assert again.relation == "replace-one"
        assert again._ledger == budget._ledger
        with pytest.raises(ValueError, match="relation"):
            budget.spend(step, relation="add-remove")
        free = Budget(50.0, 1e-5)
        free.spend(step, relation="replace-one")
        assert free.relation == "replace-one"
    budget.spend(Laplace(4.0), 1.0)
    assert bounds.lower < budget.epsilon_of() <= bounds.upper + 0.25 + 1e-9


def test_a_budget_counts_samples_of_fixed_size_for_a_replaced_record_only():
    step = SampledGaussian(4.0, 0.05, "without replacement")
    budget = Budget(50.0, 1e-5)
    budget.spend(step, times=20)
    assert budget.relation == "replace-one"
    assert budget.epsilon_of() == pytest.approx(step.epsilon(1e-5, steps=20).upper, rel=1e-6)
    assert Budget.from_json(budget.to_json())._ledger == budget._ledger
    with pytest.raises(ValueError, match="relation"):
        Budget(50.0, 1e-5, relation="add-remove").spend(step)
    with pytest.raises(BudgetExceededError):
        Budget(0.1, 1e-5).spend(step, times=200)


def test_laplace_noise_on_samples_needs_no_delta():
    budget = Budget(1.0, relation="add-remove")
    budget.spend(SampledLaplace(1.0, 0.1), times=3)
    assert budget.epsilon_of() == pytest.approx(3 * math.log(0.9 + 0.1 * math.e), rel=1e-9)


def test_bad_input_is_refused_with_every_problem():
    with pytest.raises(
        ValueError, match=r"scale: .*got 0: epsilon is infinite; rate: .*got 2; sampling: "
    ):
        SampledLaplace(0, 2, "x")
    step = SampledGaussian(1.0, 0.1)
    with pytest.raises(ValueError, match=r"direction: expected None where one record is replaced"):
        step.delta(1.0, direction="removed", relation="replace-one")
    with pytest.raises(ValueError, match=r"steps: .*; relation: expected .*got 'replaced'"):
        step.delta(1.0, steps=0, relation="replaced")
    fixed = SampledGaussian(1.0, 0.1, "without replacement")
    with pytest.raises(ValueError, match=r"relation: expected 'replace-one' where samples have"):
        fixed.epsilon(1e-5, relation="add-remove")
    with pytest.raises(ValueError, match=r"relation: .*'replace-one'"):
        sampled_epsilon([step, fixed], 1e-5, relation="add-remove")
    with pytest.raises(ValueError, match=r"sampling: expected 'poisson' or"):
        noise_multiplier(1.0, 1e-5, 0.1, 1, sampling="fixed")


KINDS = [
    Kind(1.5, 0.3),
    Kind(2.0, 1e-3, LAPLACE),
    Kind(0.4, 1.0, LAPLACE),
    Kind(3.0, 0.1, GAUSSIAN, FIXED),
]


@pytest.mark.parametrize("kind", KINDS)
def test_moments_in_closed_form_are_no_smaller(kind):
    poisson = kind.sampling != FIXED
    for direction in (REMOVED, ADDED, REPLACED) if poisson else (REPLACED, ATTAINED):
        relation = "add-remove" if direction in {REMOVED, ADDED} else "replace-one"
        composition = PairComposition({kind: 7}, relation)
        exact = composition._transform(direction, -math.inf, 1.0).log_real(
            composition_module.tilts()
        )
        some = np.isfinite(exact)
        assert some.sum() > 20
        assert np.all(exact[some] <= composition._moments(direction)[some] * (1 + 1e-9) + 1e-9)


@pytest.mark.parametrize("kind", [Kind(1.5, 0.05), Kind(0.5, 0.05, LAPLACE)])
def test_with_no_evaluations_left_bounds_are_wide_and_hold(kind, monkeypatch):
    exact = PairComposition({kind: 50}, "replace-one").epsilon(math.log(1e-6), REPLACED)
    monkeypatch.setattr(composition_module, "MOST_WORK", -1.0)
    monkeypatch.setattr(composition_module, "_MOST_SEARCH", -1.0)
    wide = PairComposition({kind: 50}, "replace-one").epsilon(math.log(1e-6), REPLACED)
    assert 0.0 <= wide[0] <= exact[0] <= exact[1] < wide[1] < 50.0
    found = PairComposition({kind: 50}, "replace-one").log_delta(exact[0], REPLACED)
    assert found.lower < math.log(1e-6) < found.upper <= 0.0


def test_ends_are_close_where_evaluations_are_nearly_spent():
    """Rare losses of much noise: ends that miss say by how much, so that few of them are tried."""
    step = SampledLaplace(1000.0, 0.1)
    low, high = step.epsilon(1e-9, steps=1000, direction="added")
    assert 0.0 < high - low <= 1e-7 * high
    below, above = (step.delta(end, steps=1000, direction="added") for end in (low, high))
    assert below.lower >= 1e-9 * (1.0 - 1e-6)
    assert above.upper <= 1e-9 * (1.0 + 1e-6)


def test_what_rounding_hides_is_tried_once(monkeypatch):
    tries = []

    def refuse(transform, *_, **__):
        tries.append(transform)
        message = "hidden"
        raise ValueError(message)

    monkeypatch.setattr(composition_module, "Inversion", refuse)
    composition = PairComposition({Kind(1.0, 0.1, LAPLACE): 10}, REPLACE_ONE)
    first = composition.log_delta(0.5, REPLACED)
    assert len(tries) == 1
    assert composition.log_delta(0.5, REPLACED) == first
    assert composition.log_delta(0.25, REPLACED).upper >= first.upper > first.lower
    assert len(tries) == 1


@pytest.mark.parametrize("relation", ["add-remove", "replace-one", "without replacement"])
def test_ends_next_to_a_largest_loss_below_all_others_are_numbers(relation):
    """One step whose largest loss, rate times 1 or 2 of 1 / scale, is 1e-13, delta far below it."""
    fixed = relation == "without replacement"
    step = SampledLaplace(1e4, 1e-9, relation if fixed else "poisson")
    low, high = step.epsilon(1e-300, relation=None if fixed else relation)
    largest = step.epsilon(0.0, relation=None if fixed else relation).upper
    assert largest == pytest.approx(1e-13 if relation == "add-remove" else 2e-13, rel=1e-3)
    assert 0.99 * largest <= low <= high <= 1.01 * largest

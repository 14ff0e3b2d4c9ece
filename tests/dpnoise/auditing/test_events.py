"""Events on the lattice of outputs, and wrong samplers that an audit must find."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpnoise import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Gaussian,
    Laplace,
    Staircase,
    audit_noise,
    audit_sampler,
    release,
)
from dpnoise.auditing.events import BitEvent, SeenEvent, exponents, lattice_candidates


def on_a_grid(x, step=2.0**-20):
    return np.round(np.asarray(x) / step) * step


def around(centre, draw, finish=on_a_grid):
    """A sampler of finish(centre + noise)."""
    return lambda size, rng: finish(centre + draw(size, rng))


def test_exponents_and_lowest_bits_of_doubles():
    x = np.array([1.0, 0.75, 3.0, -6.0, 0.0, 5e-324, 2.0**-52 + 1.0, 1.7976931348623157e308])
    e, lowest = exponents(x)
    assert e.tolist() == [1, 0, 2, 3, -1100, -1073, 1, 1024]
    assert lowest.tolist() == [0, -2, 0, 1, 2000, -1074, -52, 971]


def test_the_frequencies_by_which_events_are_chosen_are_those_of_the_events():
    rng = np.random.default_rng(1)
    runs = tuple(
        np.column_stack([on_a_grid(rng.normal(size=500), 0.25), rng.laplace(size=500) + k])
        for k in range(2)
    )
    runs[0][:7, 0] = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e300]
    kinds = set()
    for some in lattice_candidates(runs):
        for place, event in enumerate(some.events):
            kinds.add(type(event))
            if isinstance(event, SeenEvent):  # the output itself does not count
                continue
            counts = event.counts(runs, runs)
            assert counts == (some.hits[0][place], some.hits[1][place])
            other = replace(event, swapped=True)
            assert other.counts(runs, runs) == counts[::-1]
            assert event.words(()) == other.words(())
    assert kinds == {BitEvent, SeenEvent}


def test_a_value_counts_as_seen_on_its_own_input_if_it_was_seen_twice():
    first, second = np.array([[1.0], [1.0], [2.0], [3.0]]), np.array([[1.0], [3.0], [5.0], [2.0]])
    seen = [some for some in lattice_candidates((first, second)) if some.events]
    own = next(some for some in seen if isinstance(some.events[0], SeenEvent))
    assert own.events[0].source == "first"
    assert [hits.tolist() for hits in own.hits] == [[2, 2], [3, 1]]
    runs = first, second  # an output of its own counts where it judges
    assert [event.counts(runs, runs) for event in own.events] == [(4, 3), (0, 1)]


NAIVE = {
    "numpy's generator": lambda size, rng: rng.laplace(0.0, 1.0, size),
    "the inverse of the distribution function": lambda size, rng: (
        (sign := rng.choice([-1.0, 1.0], size)) * -np.log(1.0 - rng.random(size)) + 0.0 * sign
    ),
    "rvs": lambda size, rng: Laplace(1.0).rvs(size, rng),
    "a difference": lambda size, rng: rng.exponential(size=size) - rng.exponential(size=size),
}


@pytest.mark.parametrize("draw", NAIVE.values(), ids=NAIVE)
@pytest.mark.parametrize("pair", [(0.0, 1.0), (0.1, 1.1), (1.0, 0.0)])
def test_noise_added_to_doubles_is_found_by_low_order_bits(draw, pair):
    """Mironov (CCS 2012): no finite epsilon holds."""
    first, second = (around(centre, draw, finish=lambda x: x) for centre in pair)
    found = audit_sampler(first, second, epsilon=1.0, size=20_000)
    assert found.contradicted
    assert found.epsilon > 3.0
    assert "multiple of 2^" in found.reason


def test_the_event_of_mironov_has_the_probability_that_was_measured():
    rng, size = np.random.default_rng(3), 200_000
    x = rng.laplace(0.0, 1.0, (size, 1))
    event = BitEvent(0, -2, -53, below=True, multiple=False, swapped=False)
    p, q = event.counts((x, rng.laplace(0.0, 1.0, (size, 1)) + 1.0), (x, x))
    assert p / size == pytest.approx(0.186, abs=0.006)
    assert q == 0


def coordinates_of_one_seed(centre):
    """Two numbers with the same draw of noise, each of scale 2."""

    def draw(size, rng):
        z = rng.laplace(0.0, 2.0, size)
        return on_a_grid(np.column_stack([z, z + centre]))

    return draw


def runs_of_one_seed(centre):
    """A generator that is seeded anew in each run of 10."""

    def draw(size, _):
        some = np.random.default_rng(7).laplace(0.0, 1.0, 10)
        return on_a_grid(centre + np.resize(some, size))

    return draw


LAPLACE = NAIVE["numpy's generator"]
WRONG = {
    "scale 20 % too small": [around(k, lambda n, g: g.laplace(0.0, 0.8, n)) for k in (0, 1)],
    "tail cut at 6": [around(k, lambda n, g: LAPLACE(n, g).clip(-6.0, 6.0)) for k in (0, 1)],
    "tail resampled at 6": [
        around(k, lambda n, g: (x := LAPLACE(2 * n + 99, g))[np.abs(x) < 6.0][:n]) for k in (0, 1)
    ],
    "lattice of 1/8": [around(k, lambda n, g: on_a_grid(LAPLACE(n, g), 0.125)) for k in (0, 0.3)],
    "lattice of 2^-24": [
        around(k, lambda n, g: on_a_grid(LAPLACE(n, g), 2.0**-24), lambda x: x)
        for k in (0, 1 + 2.0**-25)
    ],
    "lattice of 0.01": [
        around(k, lambda n, g: on_a_grid(LAPLACE(n, g), 0.01), lambda x: x) for k in (0.1, 0.7051)
    ],
    "one draw for two numbers": [coordinates_of_one_seed(k) for k in (0.0, 1.0)],
    "one seed for all runs": [runs_of_one_seed(k) for k in (0.0, 1.0)],
    "one output in 200 without noise": [
        around(k, lambda n, g: LAPLACE(n, g) * (g.random(n) > 0.005)) for k in (0, 1)
    ],
}


@pytest.mark.parametrize("pair", WRONG.values(), ids=WRONG)
def test_wrong_samplers_are_found(pair):
    found = audit_sampler(*pair, epsilon=1.0, delta=1e-4, size=100_000)
    assert found.contradicted, found


@pytest.mark.parametrize("kind", ["scale", "tail", "lattice", "seed"])
def test_wrong_samplers_of_known_noise_are_found(kind):
    noise = Gaussian(4.0)
    wrong = {
        "scale": lambda n, g: 0.8 * noise.rvs(n, g),
        "tail": lambda n, g: noise.rvs(n, g).clip(-14.0, 14.0),
        "lattice": lambda n, g: on_a_grid(noise.rvs(n, g), 4.0),
        "seed": lambda n, _: np.resize(noise.rvs(10, 5), n),
    }
    assert audit_noise(noise, 1.0, sampler=wrong[kind], size=100_000).contradicted


RIGHT = [
    Laplace(1.0),
    Gaussian(4.3),
    Staircase(1.0, 1.0, 0.4),
    DiscreteLaplace(1.0),
    DiscreteStaircase(1.0, 1, 1),
]


@pytest.mark.parametrize(
    ("noise", "pair"),
    [
        *((noise, pair) for noise in RIGHT[:3] for pair in ((0.0, 1.0), (-0.7, 0.3))),
        *((noise, (3, 4)) for noise in RIGHT[3:]),
    ],
    ids=repr,
)
def test_releases_of_this_package_are_not_accused(noise, pair):
    delta = 1e-6 if isinstance(noise, Gaussian) else 0.0
    first, second = (
        lambda size, _, centre=centre: np.asarray(release([centre] * size, noise))
        for centre in pair
    )
    found = audit_sampler(first, second, epsilon=1.0, delta=delta, size=60_000, confidence=0.9999)
    assert not found.contradicted, found.reason


@pytest.mark.parametrize("noise", [DiscreteGaussian(3.0), *RIGHT[3:]], ids=repr)
def test_noise_on_the_integers_is_not_accused(noise):
    first, second = (
        lambda size, rng, centre=centre: centre + noise.rvs(size, rng) for centre in (0, 1)
    )
    found = audit_sampler(first, second, epsilon=2.0, delta=1e-3, size=60_000, confidence=0.9999)
    assert not found.contradicted, found.reason

"""Private principal components, and the sensitivities of second-moment matrices.

The noise-free limit, the noise that is added, bad input; sensitivities never exceeded, reached, and
spent well.
"""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from dpnoise.learn.pca import (
    ALLOCATIONS,
    NEIGHBOURING,
    NOISES,
    clip_rows,
    dominant,
    dp_pca,
    maximum_loss,
    second_moment_scales,
    symmetric,
)
from dpnoise.learn.safeguards import SeededNoiseWarning
from dpnoise.noise import Gaussian, Laplace
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.vector import vector_profile
from for_all import for_all

pytestmark = pytest.mark.filterwarnings("ignore::dpnoise.learn.safeguards.SeededNoiseWarning")
rng = np.random.default_rng(8)
X = (
    rng.normal(size=(400, 6))
    @ np.diag([0.5, 0.3, 0.2, 0.1, 0.05, 0.01])
    @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
)
BUDGET = {"epsilon": 1.0, "delta": 1e-6, "relation": "replace-one"}
WHO = {"relation": "replace-one"}


def test_without_noise_it_is_the_singular_value_decomposition_of_clipped_samples():
    short = np.array([x / max(1.0, np.linalg.norm(x)) for x in X])
    assert np.linalg.norm(X, axis=1).max() > 1.1  # some are clipped
    _, values, vectors = np.linalg.svd(short)
    for rank in (1, 3, 6):
        found = dp_pca(X, rank, epsilon=math.inf, **WHO)
        assert found.components.shape == (6, rank)
        assert found.eigenvalues == pytest.approx(values[:rank] ** 2, rel=1e-10)
        overlap = np.abs(np.sum(found.components * vectors[:rank].T, axis=0))
        assert overlap == pytest.approx(np.ones(rank), abs=1e-10)
        assert found.matrix == pytest.approx(short.T @ short, rel=1e-10)
        assert found.diagonal_scale == found.off_diagonal_scale == 0.0


def test_rows_are_clipped_to_norm_1_at_any_magnitude():
    rows = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [-1e308, 1e308], [1e-320, 0.0], [1.0, 0]])
    clipped = clip_rows(rows)
    expected = [[0.6, 0.8], [0.3, 0.4], [0, 0], [-(0.5**0.5), 0.5**0.5], [1e-320, 0], [1, 0]]
    assert clipped == pytest.approx(np.array(expected), rel=1e-15, abs=0)
    long = clip_rows(np.random.default_rng(0).normal(size=(1000, 50)))
    assert np.linalg.norm(long, axis=1).max() <= 1 + 1e-14


@for_all("noise", NOISES)
@for_all("allocation", ALLOCATIONS)
@for_all("relation", NEIGHBOURING)
def test_the_released_matrix_has_symmetric_noise_of_the_promised_law(noise, allocation, relation):
    """Kolmogorov-Smirnov on 2000 diagonal and 30000 other entries; false-alarm rate 1e-4 each."""
    settings = {"noise": noise, "allocation": allocation, "epsilon": 1.0, "delta": 1e-6}
    needed = second_moment_scales(50, neighbouring=relation, **settings)
    settings |= {"max_samples": 3, "relation": relation}
    wide = np.zeros((3, 50))
    stream = np.random.default_rng(3)
    releases = [dp_pca(wide, 1, random_state=stream, **settings) for _ in range(40)]
    family = Gaussian if noise == "gaussian" else Laplace
    for release in releases[:3]:
        assert np.array_equal(release.matrix, release.matrix.T)
        scales = release.diagonal_scale, release.off_diagonal_scale
        assert np.all(np.greater(scales, needed))
        assert scales == pytest.approx(needed, rel=1e-12)
    diagonal = np.concatenate([np.diag(release.matrix) for release in releases])
    above = np.concatenate([r.matrix[np.triu_indices(50, 1)] for r in releases])[:30000]
    for sample, scale in ((diagonal, needed[0]), (above, needed[1])):
        assert stats.kstest(sample, family(scale).cdf).pvalue > 1e-4
        for factor in (0.7, 1.4):  # of the magnitudes, where a wrong scale shows
            half = family(factor * scale)
            wrong = stats.kstest(np.abs(sample), lambda t, half=half: 2 * half.cdf(t) - 1)
            assert wrong.pvalue < 1e-4


def test_components_are_those_of_the_released_matrix():
    found = dp_pca(X, 3, random_state=4, **BUDGET)
    assert found.components.T @ found.components == pytest.approx(np.eye(3), abs=1e-12)
    assert found.matrix @ found.components == pytest.approx(
        found.components * found.eigenvalues, abs=1e-10
    )
    assert np.all(np.diff(found.eigenvalues) < 0)
    assert found.eigenvalues == pytest.approx(np.linalg.eigvalsh(found.matrix)[:-4:-1])
    places = np.argmax(np.abs(found.components), axis=0)
    assert np.all(found.components[places, np.arange(3)] > 0)


def test_random_state_decides():
    first = dp_pca(X, 2, random_state=7, **BUDGET)
    again = dp_pca(X, 2, random_state=np.random.default_rng(7), **BUDGET)
    assert np.array_equal(first.matrix, again.matrix)
    assert np.array_equal(first.components, again.components)
    fresh = [dp_pca(X, 2, **BUDGET).matrix[0, 0] for _ in range(3)]
    assert len(set(fresh)) == 3


@for_all("relation", NEIGHBOURING)
def test_scales_grow_with_the_public_number_of_samples_for_rounding(relation):
    settings = BUDGET | {"random_state": 0, "relation": relation}
    many = dp_pca(np.zeros((10, 1)), 1, max_samples=1_000_000, **settings)
    few = dp_pca(np.zeros((10, 1)), 1, max_samples=10, **settings)
    assert 1e-4 < many.diagonal_scale / few.diagonal_scale - 1 < 1e-3
    if relation == "replace-one":
        own = dp_pca(np.zeros((10, 1)), 1, **settings)  # N is public
        assert own.diagonal_scale == few.diagonal_scale


def test_samples_that_are_not_finite_contribute_nothing():
    bad = X.copy()
    bad[3, 1], bad[5, 4] = np.nan, np.inf
    rest = np.delete(X, [3, 5], axis=0)
    found, peer = (dp_pca(data, 2, epsilon=math.inf, **WHO) for data in (bad, rest))
    assert found.matrix == pytest.approx(peer.matrix, rel=1e-12)


def test_a_seed_warns():
    with pytest.warns(SeededNoiseWarning, match="dp_pca: noise from a given random_state"):
        dp_pca(X, 2, random_state=3, **BUDGET)


@for_all("exponent", [0.0, 0.5, 3.0])
def test_a_tolerance_of_the_eigenvalues_leaves_the_eigenvectors(exponent):
    values = np.arange(1.0, 51.0) ** exponent  # at 0 all are equal
    rotation = np.linalg.qr(np.random.default_rng(4).standard_normal((50, 50)))[0]
    matrix = symmetric(rotation * values @ rotation.T)
    rough, basis = dominant(matrix, 5, 1e-9)
    scale = np.linalg.norm(matrix)
    assert np.allclose(rough, values[:-6:-1], rtol=0.0, atol=1e-8 * scale)
    assert np.allclose(basis.T @ basis, np.eye(5), rtol=0.0, atol=1e-13)
    assert np.linalg.norm(matrix @ basis - basis * values[:-6:-1]) < 1e-13 * scale


def test_everything_wrong_is_named_at_once():
    with pytest.raises(ValueError, match="dp_pca: ") as error:
        dp_pca(
            X, 7, max_samples=2.5, epsilon=-1.0, delta=0.0, noise="gaussian", allocation="spr",
            relation="swap", random_state=-1,
        )  # fmt: skip
    text = str(error.value)
    for part in (
        "max_samples: expected a whole number", "rank: expected a whole number in [1, 6], got 7",
        "epsilon: ", "delta: ", "allocation: ", "relation: ", "random_state: ",
    ):  # fmt: skip
        assert part in text


@for_all(
    ("change", "name"),
    [
        ({"X": [1.0, 2.0]}, "X"),
        ({"X": np.zeros((0, 3))}, "X"),
        ({"X": [["a", "b"]]}, "X"),
        ({"rank": 0}, "rank"),
        ({"rank": True}, "rank"),
        ({"rank": 1.5}, "rank"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -0.1, "noise": "laplace"}, "delta"),
        ({"noise": "uniform"}, "noise"),
        ({"relation": "add-remove"}, "max_samples"),
        ({"relation": None}, "relation"),
        ({"max_samples": 0}, "max_samples"),
        ({"max_samples": True}, "max_samples"),
        ({"max_samples": 10**400}, "max_samples"),
        ({"max_samples": 399}, "X"),
    ],
)
def test_bad_input_is_refused(change, name):
    request = {"X": X, "rank": 1} | BUDGET | change
    with pytest.raises(ValueError, match=rf"\b{name}: expected"):
        dp_pca(request.pop("X"), request.pop("rank"), **request)


SCALES = [(1.0, 1.0), (1.0, math.sqrt(0.5)), (2.0, 0.3), (0.3, 2.0)]
relations = for_all("neighbouring", NEIGHBOURING)
noises = for_all("noise", NOISES)


def difference(flat, features, neighbouring):
    """Second moments of neighbours from unconstrained numbers, samples pulled into the ball."""
    rows = flat.reshape(-1, features)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    moments = rows[:, :, None] * rows[:, None, :]
    return moments[0] if neighbouring == "add-remove" else moments[0] - moments[1]


def loss(D, diagonal, off_diagonal, noise):
    scaled = np.concatenate([np.diag(D) / diagonal, D[np.triu_indices(len(D), 1)] / off_diagonal])
    return np.linalg.norm(scaled, 2 if noise == "gaussian" else 1)


def greatest_found(features, scales, noise, neighbouring, seed):
    """The largest loss that 4 local searches from random neighbours reach."""
    rng = np.random.default_rng(seed)
    samples = 1 if neighbouring == "add-remove" else 2

    def goal(flat):
        return -loss(difference(flat, features, neighbouring), *scales, noise)

    starts = rng.normal(size=(4, samples * features)) * rng.choice([0.1, 1.0, 3.0], size=(4, 1))
    found = (optimize.minimize(goal, start, method="Nelder-Mead").fun for start in starts)
    return -min(found)


@noises
@relations
@for_all("scales", SCALES)
@for_all("features", [1, 2, 3])
def test_no_search_finds_more_than_the_greatest_loss(features, scales, noise, neighbouring):
    most = maximum_loss(features, *scales, noise=noise, neighbouring=neighbouring)
    found = greatest_found(features, scales, noise, neighbouring, features)
    assert found <= most * (1 + 1e-12)
    exact = noise == "gaussian" or neighbouring == "add-remove"
    assert found >= most * (1 - 1e-4 if exact else 0.7)


@noises
@relations
@for_all("scales", SCALES)
@for_all("features", [2, 7, 40])
def test_random_and_special_neighbours_stay_below(features, scales, noise, neighbouring):
    rng = np.random.default_rng(features)
    most = maximum_loss(features, *scales, noise=noise, neighbouring=neighbouring)
    first, second = np.eye(features)[:2]
    flat = np.full(features, features**-0.5)
    signed = flat * (-1.0) ** np.arange(features)
    special = [first, second, flat, signed, (first + second) / 2**0.5, (first - second) / 2**0.5]
    pairs = [np.concatenate([x, y]) for x in special for y in special]
    pairs += list(rng.normal(size=(100, 2 * features)) * rng.choice([0.0, 1.0], (100, 1)))
    pairs += list(rng.standard_cauchy(size=(100, 2 * features)) ** 3)
    losses = [loss(difference(p, features, neighbouring), *scales, noise) for p in pairs]
    assert max(losses) <= most * (1 + 1e-12)
    if noise == "gaussian" or neighbouring == "add-remove":
        assert max(losses) >= most * (1 - 1e-12)  # one of the special pairs reaches it


@for_all("features", [4, 100])
def test_the_bound_for_replaced_samples_and_laplace_is_tight_to_a_few_per_cent(features):
    """All |D_ij| = sqrt 2 / M: x and y constant on either half, at 45 degrees."""
    angles = math.pi / 8, 5 * math.pi / 8
    p, q = (np.repeat([f(a) for a in angles], features // 2) for f in (np.cos, np.sin))
    p, q = p / np.linalg.norm(p), q / np.linalg.norm(q)
    D = difference(np.concatenate([(p + q), (p - q)]) / 2**0.5, features, "replace-one")
    assert np.abs(D) == pytest.approx(np.full((features, features), 2**0.5 / features))
    for scales, slack in (((1.0, 1.0), 0.06 if features == 4 else 0.005), ((1.0, 0.5), 1e-12)):
        most = maximum_loss(features, *scales, noise="laplace", neighbouring="replace-one")
        assert most * (1 - slack) <= loss(D, *scales, "laplace") <= most * (1 + 1e-12)


@noises
@relations
@for_all("allocation", ALLOCATIONS)
@for_all("features", [1, 2, 5, 100])
def test_scales_spend_the_budget_and_no_more(features, allocation, noise, neighbouring):
    epsilon, delta = 0.7, 1e-7
    scales = second_moment_scales(
        features, noise=noise, allocation=allocation, neighbouring=neighbouring,
        epsilon=epsilon, delta=delta,
    )  # fmt: skip
    spent = maximum_loss(features, *scales, noise=noise, neighbouring=neighbouring)
    if noise == "gaussian":
        assert math.log(delta) - 1e-9 < gaussian_log_delta(spent, epsilon) <= math.log(delta)
    else:
        assert epsilon * (1 - 1e-12) < spent <= epsilon
    if allocation == "iid":
        assert scales[0] == pytest.approx(scales[1], rel=1e-13)


@noises
@relations
@for_all("features", [2, 5, 100])
def test_no_other_ratio_of_scales_has_a_smaller_squared_error(features, noise, neighbouring):
    def error(ratio):
        """M s^2 + M (M - 1) t^2 of scales 1 and `ratio`, enlarged to a loss of 1."""
        most = maximum_loss(features, 1.0, ratio, noise=noise, neighbouring=neighbouring)
        return most**2 * features * (1 + (features - 1) * ratio**2)

    s, t = second_moment_scales(
        features, noise=noise, allocation="optimal", neighbouring=neighbouring,
        epsilon=1.0, delta=1e-6,
    )  # fmt: skip
    others = [error(ratio) for ratio in np.geomspace(0.3, 3.0, 400)]
    # of two features, replaced, the bound by twice the loss of adding can be the smaller one
    slack = 1e-12 if features > 2 or noise == "gaussian" else 0.05
    assert error(t / s) <= min(others) * (1 + slack)
    assert error(t / s) < error(1.0)


@noises
@relations
@for_all("allocation", ALLOCATIONS)
def test_the_exact_profile_at_single_neighbours_is_within_the_budget(
    allocation, noise, neighbouring
):
    """An account that knows nothing of second moments, over random and extreme neighbours."""
    features, epsilon = 4, 1.3
    delta = 1e-4 if noise == "gaussian" else 0.0
    scales = second_moment_scales(
        features, noise=noise, allocation=allocation, neighbouring=neighbouring,
        epsilon=epsilon, delta=delta,
    )  # fmt: skip
    family = Gaussian if noise == "gaussian" else Laplace
    above = np.triu_indices(features, 1)
    noises = [family(scales[0])] * features + [family(scales[1])] * len(above[0])
    rng = np.random.default_rng(5)
    pairs = [*rng.normal(size=(6, 2 * features)), np.eye(features)[:2].ravel()]
    pairs.append(np.repeat([0.5, -0.5, 0.5], [4, 2, 2]))
    deltas = []
    for pair in pairs:
        D = np.abs(difference(pair, features, neighbouring))
        sizes = np.concatenate([np.diag(D), D[above]])
        kept = sizes > 1e-9
        some = [n for n, k in zip(noises, kept, strict=True) if k]
        at = [epsilon * (1 + 1e-12), 0.98 * epsilon]
        profile = vector_profile(some, sizes[kept].tolist(), at)
        deltas.append([profile.upper[0], profile.lower[1]])
    within, beyond = np.max(deltas, axis=0)
    assert within <= delta * (1 + 1e-6) + 1e-12  # the bound's own rounding
    if noise == "gaussian" or neighbouring == "add-remove":
        assert beyond > delta + 1e-9  # no less noise would do

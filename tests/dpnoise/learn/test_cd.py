"""Private coordinate descent against a plain version of the paper's algorithm, and privacy."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit

from dpnoise.learn.cd import descend
from dpnoise.learn.optimum import residual
from dpnoise.learn.problem import make_problem
from dpnoise.noise import FlippedHuber, Gaussian, Laplace

rng = np.random.default_rng(12)
X = rng.normal(size=(90, 3)) * [0.5, 1.0, 2.0] + [0.5, 0.0, 0.0]
REAL = X @ [1.0, -0.5, 0.02] + 0.3 + rng.normal(size=90)
SIGNS = np.where(np.median(REAL) < REAL, 1.0, -1.0)
TARGETS = {"squared": REAL, "logistic": SIGNS}
losses = pytest.mark.parametrize("loss", TARGETS)
penalties = pytest.mark.parametrize("penalty", ["none", "l1", "l2"])
intercepts = pytest.mark.parametrize("intercept", [False, True])


def problem_of(loss, penalty="none", *, intercept=False):
    return make_problem(
        X, TARGETS[loss], loss=loss, penalty=penalty, strength=0.05, intercept=intercept
    )


def plain(X, y, loss, penalty, strength, *, free, step, clip, noise, orders):
    """Algorithm 3 of flipped-huber-2023, line by line, in double precision."""
    N, K = X.shape
    M = np.mean(X**2, axis=0) * (1.0 if loss == "squared" else 0.25)
    C = clip * np.sqrt(M / np.sum(M))
    w = np.zeros(K)
    for unit, order in zip(noise, orders, strict=True):
        for t, i in zip(unit, order, strict=True):
            if loss == "squared":
                gradients = (X @ w - y) * X[:, i]
            else:
                gradients = -y * X[:, i] * expit(-y * (X @ w))
            mean = np.clip(gradients, -C[i], C[i]).sum() / N + t * 2 * C[i] / N
            tau = step / M[i]
            value = w[i] - tau * mean
            if penalty == "l1" and i != free:
                value = np.sign(value) * max(abs(value) - tau * strength, 0)
            if penalty == "l2" and i != free:
                value /= 1 + tau * strength
            w[i] = value
    return w


@losses
@penalties
@intercepts
@pytest.mark.parametrize("order", ["cyclic", "random"])
def test_sweep_is_the_papers_algorithm(loss, penalty, intercept, order):
    """With noise, from clipping nearly everything to clipping nothing."""
    problem = problem_of(loss, penalty, intercept=intercept)
    draws = np.random.default_rng(3)
    K = problem.coordinates
    noise = draws.normal(size=(2, 6, K)) * 2
    cyclic = np.broadcast_to(np.arange(K), noise.shape)
    orders = cyclic if order == "cyclic" else draws.integers(K, size=noise.shape)
    steps, clips = [0.3, 1.0], [0.05, 0.8, 1e4]
    quiet = noise * 1e-4  # of the noise at clip 1e4 little else would remain
    features = np.column_stack([X, np.ones(90)]) if intercept else X
    for unit in (noise, quiet):
        got = descend(problem, steps=steps, clips=clips, noise=unit, orders=orders)
        assert got.shape == (2, 3, 2, K)
        for (s, step), (c, clip), r in product(enumerate(steps), enumerate(clips), range(2)):
            expected = plain(
                features,
                TARGETS[loss],
                loss,
                penalty,
                0.05,
                free=3,
                step=step,
                clip=clip,
                noise=unit[r],
                orders=orders[r],
            )
            scale = 1.0 + np.abs(expected).max()
            assert got[s, c, r] == pytest.approx(expected, rel=0, abs=2e-5 * scale)


@losses
@penalties
@intercepts
def test_without_noise_and_clipping_it_finds_the_optimum(loss, penalty, intercept):
    problem = problem_of(loss, penalty, intercept=intercept)
    zeros = np.zeros((1, 400, problem.coordinates))
    last = descend(problem, steps=[1.0], clips=[1e5], noise=zeros)[0, 0, 0]
    assert residual(problem, last) < 2e-5


@losses
def test_results_do_not_depend_on_company_or_threads(loss):
    problem = problem_of(loss, "l1", intercept=True)
    noise = np.random.default_rng(1).normal(size=(4, 5, 4))
    steps, clips = [0.1, 1.0, 2.0], [0.3, 3.0]
    together = descend(problem, steps=steps, clips=clips, noise=noise)
    threaded = descend(problem, steps=steps, clips=clips, noise=noise, threads=3)
    assert together.tobytes() == threaded.tobytes()
    for (s, step), (c, clip), r in product(enumerate(steps), enumerate(clips), range(4)):
        alone = descend(problem, steps=[step], clips=[clip], noise=noise[r : r + 1])
        assert together[s, c, r].tobytes() == alone.tobytes()
    wanted = np.array([[True, False], [False, False], [True, True]])
    part = descend(problem, steps=steps, clips=clips, noise=noise, wanted=wanted)
    assert part[wanted].tobytes() == together[wanted].tobytes()
    assert np.isnan(part[~wanted]).all()


@losses
def test_the_path_of_a_run_holds_the_ends_of_shorter_runs(loss):
    problem = problem_of(loss, "l2")
    noise = np.random.default_rng(5).normal(size=(2, 6, 3))
    given = {"steps": [0.5, 1.0], "clips": [0.3, 3.0]}
    path = descend(problem, noise=noise, ends=[1, 2, 4, 6], **given)
    assert path.shape == (2, 2, 2, 4, 3)
    for place, end in enumerate([1, 2, 4, 6]):
        alone = descend(problem, noise=noise[:, :end], **given)
        assert path[..., place, :].tobytes() == alone.tobytes()


samples = st.lists(
    st.tuples(st.floats(-1e4, 1e4, width=32), st.floats(-1e4, 1e4, width=32)),
    min_size=2,
    max_size=40,
)


@losses
@settings(max_examples=150)
@given(rows=samples, clip=st.floats(1e-2, 1e3), data=st.data())
def test_replacing_one_sample_moves_an_update_by_its_sensitivity_at_most(loss, rows, clip, data):
    """The constants M_i stay as they are: the account takes them as public."""
    features, target = np.array(rows, dtype=float).T
    features[0] = features[1] + 1.0  # not constant
    if loss == "logistic":
        target = np.where(target > 0, 1.0, -1.0)
        target[:2] = 1.0, -1.0
    problem = make_problem(features[:, None], target, loss=loss)
    place = data.draw(st.integers(2, len(rows) - 1)) if len(rows) > 2 else 0
    other = data.draw(st.floats(-1e4, 1e4, width=32))
    label = -target[place] if loss == "logistic" else data.draw(st.floats(-1e4, 1e4, width=32))
    columns, changed = problem.columns.copy(), target.copy()
    columns[0].reshape(-1)[place] = other * (label if loss == "logistic" else 1.0)
    changed[place] = label
    neighbour = replace(problem, columns=columns, target=changed)
    zeros = np.zeros((1, 1, 1))
    # one step of length 1 / M from 0, so that -M w is the mean of the clipped gradients
    pair = [descend(p, steps=[1.0], clips=[clip], noise=zeros) for p in (problem, neighbour)]
    means = [-problem.smoothness[0] * p.item() for p in pair]
    change = abs(means[0] - means[1])
    assert change <= problem.sensitivities(clip)[0] * (1 + 1e-6)
    assert all(abs(mean) <= problem.clip_levels(clip)[0] * (1 + 1e-6) for mean in means)


@pytest.mark.parametrize("lanes", [1, 4, 8, 16, 32, 64])
def test_rounding_of_long_sums_cannot_break_the_sensitivity(lanes):
    """Data made against sums in single precision, vectorised over so many lanes.

    A first half fills each partial sum up to a power of two, just above with one first sample
    and just below with another; a second half then rounds up or away on one side only.
    """
    size = 2**18
    rows = size // lanes
    top = 2 ** int(np.log2(0.6 * rows))
    grain = top * 2.0**-23
    lane = np.zeros(rows)
    lane[1 : top + 1] = 1.0
    lane[top + 1 :] = np.where(np.arange(rows - top - 1) % 2, -0.49, 0.51) * grain
    features = np.repeat(lane, lanes)
    features[0] = 1.0
    problem = make_problem(features[:, None], np.full(size, -1.0), loss="squared")
    columns = problem.columns.copy()
    columns[0, 0, 0] = -1.0
    zeros = np.zeros((1, 1, 1))
    pair = [
        descend(p, steps=[1.0], clips=[1.0], noise=zeros).item()
        for p in (problem, replace(problem, columns=columns))
    ]
    change = abs(pair[0] - pair[1]) * problem.smoothness[0]
    assert change <= 2.0 / size * (1 + 1e-5)


@pytest.mark.parametrize("noise", [Gaussian(3.0), Laplace(2.0), FlippedHuber(1.5, 1.0)])
def test_noise_is_scaled_by_the_sensitivity(noise):
    """Where the gradient is 0 an update is step / M times lambda times the unit noise.

    Kolmogorov-Smirnov over 3 coordinates; false-alarm rate 1e-4 each, the seed is fixed.
    """
    problem = make_problem(X, np.zeros(90), loss="squared")
    draws = noise.rvs((4000, 1, 3), 77)
    for i in range(3):
        only = np.zeros_like(draws)
        only[:, :, i] = draws[:, :, i]
        update = descend(problem, steps=[0.7], clips=[2.5], noise=only)[0, 0, :, i]
        distribution = noise.scaled(0.7 / problem.smoothness[i] * problem.sensitivities(2.5)[i])
        assert stats.kstest(update, distribution.cdf).pvalue > 1e-4
        wider = distribution.scaled(1.25)
        assert stats.kstest(update, wider.cdf).pvalue < 1e-4


@losses
def test_a_diverging_run_shows_as_such(loss):
    """Weights beyond single precision must not come back as ordinary numbers."""
    problem = problem_of(loss)
    noise = np.full((1, 3, 3), 1e30)
    result = descend(problem, steps=[1.0, 1e300], clips=[1e14], noise=noise)
    assert not np.isfinite(result[1]).all()
    assert np.abs(result[0, np.isfinite(result[0])]).max(initial=1e38) >= 1e38


GOOD = {"steps": [1.0], "clips": [1.0], "noise": np.zeros((2, 3, 3))}
BAD = [
    ({"steps": [], "clips": [0.0]}, ["steps:", r"clips: .*\[0.0\]"]),
    ({"steps": [[1.0]], "clips": [np.inf], "threads": 0}, ["steps:", "clips:", "threads:"]),
    ({"noise": np.zeros(3), "threads": 0}, [r"noise: expected shape .* got \(3,\)", "threads"]),
    ({"noise": np.zeros((2, 3, 4)), "steps": [-1.0]}, ["noise: .*, 3", "steps:"]),
    ({"noise": np.zeros((0, 3, 3))}, ["noise:"]),
    ({"noise": np.full((2, 3, 3), np.nan), "clips": [np.nan]}, ["noise: .*NaN", "clips:"]),
    ({"orders": np.full((2, 3, 3), 3), "steps": [np.nan]}, ["orders: .*0 to 2", "steps:"]),
    ({"ends": [2, 2]}, ["ends: .*1 to 3"]),
    ({"ends": [0, 1]}, ["ends:"]),
    ({"ends": [1, 4]}, ["ends:"]),
    ({"ends": []}, ["ends:"]),
    ({"wanted": [[True, False]], "threads": 0}, ["wanted: .*bool of shape", "threads:"]),
    ({"wanted": [[1]]}, ["wanted:"]),
    ({"orders": np.full((2, 3, 2), -1)}, [r"orders: expected shape \(2, 3, 3\)", "0 to 2"]),
]


@pytest.mark.parametrize(("change", "parts"), BAD)
def test_bad_settings_are_refused_with_every_problem_named(change, parts):
    for part in parts:
        with pytest.raises(ValueError, match=f"^coordinate descent: .*{part}"):
            descend(problem_of("squared"), **(GOOD | change))

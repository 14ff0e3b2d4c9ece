"""Runs of Table III: paired noise, numbered streams, lower bounds, races against full runs."""

import numpy as np
import pytest

from dpnoise.learn.cd import descend
from dpnoise.learn.problem import make_problem
from dpnoise.noise import FlippedHuber
from dpnoise_papers.flipped_huber_2023.table_3 import runs as module
from dpnoise_papers.flipped_huber_2023.table_3.runs import (
    EXACT,
    Contest,
    Runs,
    nmse_bound,
    run_for_best,
)
from dpnoise_papers.flipped_huber_2023.table_3.trials import account, make_split
from table_3_toys import dataset, full_run, settings, split_of

LOSSES = pytest.mark.parametrize("loss", ["squared", "logistic"])
TWO = {"low": 0.1, "high": 1.0, "count": 2, "spacing": "log"}
STEPS, CLIPS = np.geomspace(0.01, 10.0, 7), np.geomspace(1e-4, 1e8, 25)
KEYS = [("gaussian", EXACT), ("gaussian", 3), ("gaussian-tight", EXACT)]
CONTESTS = [*(Contest(key, (2, 5)) for key in KEYS), Contest(KEYS[0], (2,))]
TRIALS = range(1, 5)


def runs_of(loss="squared", trials=range(3), first=0, **changes):
    chosen = settings(passes=[5], clips=TWO, **changes)
    asked = {(mechanism, EXACT): chosen.passes for mechanism in chosen.curves}
    runs = Runs(dataset(loss), chosen, asked, trials=max(trials) + 1, first=first)
    return full_run(runs, trials)


def seen_by_descend(monkeypatch, **changes):
    """Return what is handed to the algorithm, call by call: one for each noise and trial."""
    calls = []

    def spy(problem, **arguments):
        calls.append(arguments)
        return np.zeros((2, 2, len(arguments["noise"]), problem.coordinates))

    monkeypatch.setattr(module, "descend", spy)
    runs_of(**changes)
    return calls


@LOSSES
def test_flipped_huber_noise_with_alpha_zero_gives_the_very_numbers_of_gaussian_noise(loss):
    unit = account(split_of(loss), "flipped-huber", settings(), 5).unit
    assert isinstance(unit, FlippedHuber)
    assert unit.alpha == 0.0
    nmse = runs_of(loss).nmse
    assert np.array_equal(nmse["flipped-huber", EXACT], nmse["gaussian", EXACT])
    assert not np.array_equal(nmse["gaussian-tight", EXACT], nmse["gaussian", EXACT])


def test_every_mechanism_maps_the_same_uniforms(monkeypatch):
    # at this budget the search of the paper ends at alpha > 0, so three distributions differ
    small = {"epsilon": 0.1, "delta": 1e-9, "xi_grid": 200}
    calls = seen_by_descend(monkeypatch, trials=[0], **small)
    chosen = settings(**small)
    units = [account(make_split(dataset(), chosen, 0), m, chosen, 5).unit for m in chosen.curves]
    assert units[1].alpha > 0
    assert len(calls) == 3
    uniforms = [u.cdf(call["noise"]) for u, call in zip(units, calls, strict=True)]
    assert uniforms[0].shape == (1, 5, 3)
    assert np.allclose(uniforms[1], uniforms[0], rtol=1e-9, atol=0.0)
    assert np.allclose(uniforms[2], uniforms[0], rtol=1e-9, atol=0.0)


@LOSSES
def test_a_trial_does_not_depend_on_which_others_run(loss):
    # a distribution with alpha > 0, whose quantile function is solved for and not a formula
    chosen = {"epsilon": 0.1, "delta": 1e-9, "xi_grid": 200}
    together = runs_of(loss, range(4), **chosen)
    alone = runs_of(loss, [2], **chosen)
    turned = runs_of(loss, [3, 2, 1, 0], **chosen)
    later = runs_of(loss, [0], first=2, **chosen)
    for key, nmse in together.nmse.items():
        assert nmse.shape == (1, 2, 2, 4)
        assert np.array_equal(alone.nmse[key][..., 2], nmse[..., 2])
        assert np.isinf(alone.nmse[key][..., :2]).all()
        assert np.array_equal(turned.nmse[key], nmse)
        assert np.array_equal(later.nmse[key][..., 0], nmse[..., 2])
        assert np.array_equal(turned.test_error[key[0]], together.test_error[key[0]])
    nmse = together.nmse["gaussian", EXACT]
    assert len(np.unique(nmse)) == nmse.size


def test_trials_of_one_run_of_the_protocol_share_a_partition():
    known = settings(setting={"split": "fixed"})
    asked = {("gaussian", EXACT): known.passes}
    runs = Runs(dataset(), known, asked, trials=6, first=9, together=3)
    parts = [runs.trial(place).split for place in range(6)]
    targets = [part.test_target for part in parts]
    assert all(np.array_equal(target, targets[0]) for target in targets[:3])
    assert all(np.array_equal(target, targets[3]) for target in targets[3:])
    assert not np.array_equal(targets[0], targets[3])
    # those of one run alone have a partition of their own
    table = Runs(dataset(), known, asked, trials=6)
    whole = [table.trial(place).split.test_target for place in range(6)]
    assert all(np.array_equal(target, whole[0]) for target in whole)
    assert not any(np.array_equal(target, whole[0]) for target in targets)
    assert not np.array_equal(*(runs._draw(runs.trial(place), 2) for place in (0, 1)))


def test_each_trial_has_its_own_split_or_all_share_one():
    own, shared = (runs_of(setting={"split": split}).nmse for split in ("per-trial", "fixed"))
    key = "gaussian", EXACT
    assert np.array_equal(own[key][..., 0], shared[key][..., 0])
    assert not np.array_equal(own[key][..., 1], shared[key][..., 1])


def test_the_best_has_the_smallest_mean_over_the_trials_and_passes_asked_for():
    runs, key = raced(), KEYS[0]
    values = np.random.default_rng(0).exponential(size=runs.nmse[key].shape)
    runs.nmse[key] = values
    for passes in ([2, 5], [5]):
        for trials in (slice(3), slice(2), slice(1, 3)):
            mean = {
                place: values[place][trials].mean()
                for place in np.ndindex(2, 2, 3)
                if runs.passes[place[0]] in passes
            }
            assert runs.best(key, passes, trials) == min(mean, key=mean.get)
    assert len({runs.best(key, [2, 5], slice(t, t + 1)) for t in range(3)}) > 1


def problem_of(loss, penalty, rng, strength=0.1):
    X = rng.normal(size=(300, 3)) * [1.0, 30.0, 0.2]
    X[0] *= 20.0  # one record far from the others
    y = X @ [1.0, -0.02, 2.0] + rng.normal(size=300)
    y = np.sign(y) if loss == "logistic" else y
    return make_problem(X, y, loss=loss, penalty=penalty, strength=strength)


def bound_and_nmse(problem, noise, target):
    shared = {"steps": STEPS, "clips": CLIPS}
    with np.errstate(all="ignore"):
        weights = descend(problem, noise=noise[None], **shared)[:, :, 0]
        nmse = np.sum((weights - target) ** 2, axis=-1) / np.sum(target**2)
    return nmse_bound(problem, target, noise=noise, **shared), nmse


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("penalty", ["none", "l1", "l2"])
@pytest.mark.parametrize("strength", [0.1, 10.0])
@pytest.mark.parametrize("passes", [1, 4, 30])
@pytest.mark.parametrize("scale", [0.0, 1.0, 40.0])
def test_no_descent_errs_less_than_its_bound(loss, penalty, strength, passes, scale):
    rng = np.random.default_rng(passes)
    problem = problem_of(loss, penalty, rng, strength)
    noise = scale * rng.normal(size=(passes, 3))
    for target in (np.array([1.0, -0.02, 2.0]), np.array([0.0, 0.0, 1e-3])):
        bound, nmse = bound_and_nmse(problem, noise, target)
        assert np.all(bound >= 0.0)
        assert not np.any(nmse < bound)


@pytest.mark.parametrize("penalty", ["none", "l2"])
def test_tiny_and_huge_clipping_levels_are_bounded_closely(penalty):
    rng = np.random.default_rng(1)
    problem = problem_of("logistic", penalty, rng)
    bound, nmse = bound_and_nmse(problem, 40.0 * rng.normal(size=(5, 3)), np.ones(3))
    assert np.allclose(bound[0, 0], nmse[0, 0], rtol=0.01)
    assert nmse[0, 0] == pytest.approx(1.0, abs=0.01)
    assert np.allclose(bound[:, -1], nmse[:, -1], rtol=0.01)
    assert np.all(nmse[:, -1] > 1e6)


def test_numbers_that_overflow_bound_nothing_or_everything():
    rng = np.random.default_rng(2)
    problem = problem_of("squared", "l1", rng)
    extreme = np.array([1e-300, 1.0, 1e300])
    noise = 1e10 * rng.normal(size=(3, 3))
    found = nmse_bound(problem, np.ones(3), steps=extreme, clips=extreme, noise=noise)
    assert not np.isnan(found).any()
    assert np.all(found >= 0.0)


def raced(loss="squared", seed=1, keep=None, **changes):
    chosen = settings(seed=seed, passes=[2, 5], **changes)
    runs = Runs(dataset(loss), chosen, dict.fromkeys(KEYS, chosen.passes), trials=5)
    if keep:
        full_run(runs, [0])
        runs.thin([0], CONTESTS, keep)
    return runs


def numbers(runs):
    """Return place and errors of the best, by contest."""
    found = {}
    for contest in CONTESTS:
        place = runs.best(contest.key, contest.passes, slice(1, 5))
        errors = runs.nmse[contest.key], runs.test_error[contest.key[0]]
        found[contest] = place, *(one[place][1:].tolist() for one in errors)
    return found


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("keep", [None, 3.0])
def test_the_best_and_its_numbers_are_those_of_a_full_run(loss, seed, keep):
    full = raced(loss, seed, keep)
    full_run(full, TRIALS, whole=not keep)
    for threads in (1, 2, 9):
        runs = raced(loss, seed, keep)
        run_for_best(runs, TRIALS, CONTESTS, threads, whole=not keep)
        assert numbers(runs) == numbers(full)


@pytest.mark.parametrize("seed", range(4))
def test_a_likely_winner_saves_runs_and_never_changes_the_best(seed):
    full = raced(seed=seed)
    run_for_best(full, TRIALS, CONTESTS)
    counts = []
    for sign in (1.0, -1.0):  # the right one, and the most wrong one
        runs = raced(seed=seed)
        for key in KEYS:
            runs.scores[key] = sign * np.nan_to_num(full.nmse[key].mean(axis=-1), posinf=1e300)
        run_for_best(runs, TRIALS, CONTESTS)
        assert numbers(runs) == numbers(full)
        counts.append(sum(np.isfinite(runs.nmse[key]).sum() for key in KEYS))
    assert counts[0] <= counts[1]


def test_test_errors_are_measured_for_the_best_alone():
    runs = raced()
    run_for_best(runs, TRIALS, CONTESTS[:1])
    place = runs.best(KEYS[0], (2, 5), TRIALS)
    tested = np.isfinite(runs.test_error[KEYS[0][0]])
    assert np.argwhere(tested).tolist() == [[*place, trial] for trial in TRIALS]


def test_what_has_lost_is_not_run_again_and_some_of_it_never():
    runs = raced()
    run_for_best(runs, TRIALS, CONTESTS)
    run = [np.isfinite(runs.nmse[KEYS[2]][..., trial]).sum() for trial in range(5)]
    assert run[0] == 0
    last, later, early, most = sorted(run[1:])
    assert 1 <= last <= later <= early < 12
    assert most < 12


def test_a_pilot_keeps_what_a_full_run_keeps_and_runs_less():
    full = raced()
    full_run(full, TRIALS)
    counts = []
    for keep in (1.0, 1.5, 3.0, np.inf):
        runs = raced()
        run_for_best(runs, TRIALS, CONTESTS, keep=keep)
        for one in (runs, full):
            one.thin(TRIALS, CONTESTS, keep)
        for key in KEYS:
            assert np.array_equal(runs.kept[key], full.kept[key])
            errors = full.nmse[key][..., TRIALS]
            halves, best = np.sort(errors, axis=-1)[..., :2].mean(axis=-1), errors.mean(axis=-1)
            near = halves <= keep * best.min()
            if key == KEYS[0]:  # of which one contest has a single number of passes
                near[0] |= halves[0] <= keep * best[0].min()
            assert np.array_equal(full.kept[key], near)
        counts.append(np.isfinite(runs.nmse[KEYS[2]]).sum())
    assert counts[0] < counts[1] < counts[2] < counts[3] == 4 * 12


def test_what_other_runs_found_is_presumed_on_the_same_grid_only():
    full = raced()
    full_run(full, TRIALS)
    full.thin(TRIALS, CONTESTS, 2.0)
    few = settings(seed=1, passes=[5])
    runs = Runs(dataset(), few, {KEYS[0]: few.passes}, trials=1)
    runs.presume(full)
    assert np.array_equal(runs.scores[KEYS[0]], full.scores[KEYS[0]][[full.passes.index(5)]])
    other = settings(
        seed=1, passes=[5], clips={"low": 1.0, "high": 2.0, "count": 2, "spacing": "log"}
    )
    apart = Runs(dataset(), other, {KEYS[0]: other.passes}, trials=1)
    before = apart.scores[KEYS[0]].copy()
    apart.presume(full)
    assert np.array_equal(apart.scores[KEYS[0]], before)


def test_diverged_configurations_lose_and_all_diverged_is_no_error():
    wide = {"steps": {"low": 1.0, "high": 10.0, "count": 2, "spacing": "log"}}
    full, runs = raced(**wide), raced(**wide)
    for one in (full, runs):
        one.nmse[KEYS[0]][1] = np.inf
    full_run(full, TRIALS)
    run_for_best(runs, TRIALS, CONTESTS)
    assert numbers(runs) == numbers(full)
    none = raced()
    none.run_trial = lambda *_: None
    run_for_best(none, TRIALS, CONTESTS)
    assert np.isinf(none.nmse[KEYS[0]]).all()

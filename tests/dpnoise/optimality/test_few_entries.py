"""Floors for differences of few entries, without convexity: volumes, programs, what is refused."""

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpnoise import AtMost, Counts, LInf
from dpnoise.optimality.certificates import Projection, Subsets
from dpnoise.optimality.closed_forms import best_step, radial_certificate
from dpnoise.optimality.error_floor import OwnCoordinates
from dpnoise.optimality.few_entries import (
    OneSidedStep,
    SummedDifferences,
    WholeStep,
    counted,
    few_entries,
    log_volume,
    one_sided,
)
from dpnoise.optimality.floor import candidates, floor
from dpnoise.optimality.rearrangement import Rearrangement
from dpnoise.optimality.scalar_floor import StaircaseMeanAbs, StaircaseVariance, WholeStaircase
from for_all import thinned
from oracles.grids import least_error


def counts(m, K, relation, **options):
    return Counts(m, of=K, relation=relation, **options)


SETS = [
    AtMost(1, of=3),
    AtMost(2, of=4),
    counts(1, 3, "add-remove"),
    counts(2, 4, "add-remove"),
    counts(3, 3, "add-remove"),
    counts(1, 4, "replace-one"),
    counts(2, 4, "replace-one"),
    counts(2, 3, "replace-one"),
    counts(1, 4, "replace-one", exactly=True),
    counts(2, 4, "replace-one", exactly=True),
]


def points(true):
    """All whole differences of a set with changes up to its size, other than 0."""
    n = int(true.size)
    every = np.array(list(itertools.product(range(-n, n + 1), repeat=true.of)), dtype=float)
    return every[true.holds(every) & np.any(every != 0.0, axis=1)]


@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_volumes_of_sums_are_those_of_their_cells(ball):
    """Sums of g whole differences, seen in k coordinates: each without a 0 is a cell of side 1."""
    true = ball.differences
    steps = {tuple(d) for d in points(true)} | {(0.0,) * true.of}
    sums = {(0.0,) * true.of}
    for g in (1, 2, 3):
        sums = {tuple(np.add(x, d)) for x in sums for d in steps}
        for k in range(1, true.of + 1):
            seen = {x[:k] for x in sums if all(x[:k])}
            found = log_volume(replace(true, size=1.0), k, g)
            if true.full:
                assert found == -math.inf
            else:
                assert math.exp(found) == pytest.approx(len(seen), abs=1e-6)


@pytest.mark.parametrize("ball", SETS, ids=repr)
@pytest.mark.parametrize("size", [1, 2])
def test_whole_differences_are_counted(ball, size):
    true = replace(ball.differences, size=float(size), whole=True)
    every = points(true)
    unit = size if true.full else 1
    for k in [true.of] if true.full else range(1, true.of + 1):
        seen = np.unique(every[:, :k], axis=0) / unit
        seen = seen[np.any(seen != 0.0, axis=1)]
        sizes = {"variance": seen**2, "mean-abs": np.abs(seen)}
        for error, value in sizes.items():
            assert counted(true, k, error) == (len(seen), np.sum(value))
        assert counted(true, k, "max") == (len(seen), np.sum(np.max(np.abs(seen), axis=1)))


def shifts_of(ball, h):
    """Grid points less than h from a difference, one of d and -d; the differences if whole."""
    true = ball.differences
    n = round(true.size / h)
    grid = np.array(list(itertools.product(range(-n, n + 1), repeat=2)), dtype=float) * h
    keep = true.holds(grid) & np.any(grid != 0.0, axis=1)
    return [tuple(np.rint(d / h).astype(int)) for d in grid[keep] if tuple(d) > (0.0, 0.0)]


def least_in_the_plane(ball, budget, error, h=0.5, radius=4.0):
    """The least error of noise on a grid in the plane; uniform in cells for changes of any size.

    For these a shift by d moves each place within its cell by a grid point less than h from d; of
    differences of few entries these are differences, too, as h divides the largest change.
    """
    n = round(radius / h)
    points = list(itertools.product(range(-n, n + 1), repeat=2))
    x = h * np.array(points, dtype=float)
    cell = 0.0 if ball.is_whole else h
    if error == "variance":
        cost = np.mean(x**2, axis=1) + cell**2 / 12.0
    else:
        cost = np.mean(np.where(np.abs(x) < h / 2, cell / 4.0, np.abs(x)), axis=1)
    half = shifts_of(ball, h)
    return least_error(points, [*half, *((-a, -b) for a, b in half)], cost, budget)


PLANE = [
    (AtMost(1, of=2), 0.12),
    (counts(1, 2, "add-remove"), 0.9),
    (counts(1, 2, "add-remove", whole=False), 0.12),
    (counts(2, 2, "add-remove"), 0.3),
    (counts(2, 2, "add-remove", whole=False), 0.12),
    (counts(1, 2, "replace-one"), 0.3),
    (counts(2, 2, "replace-one"), 0.2),
    (counts(1, 2, "replace-one", exactly=True), 0.3),
]


@pytest.mark.parametrize(
    ("epsilon", "delta", "error"),
    thinned([(3.0, 5e-3, "mean-abs"), (1.5, 0.05, "variance"), (5.0, 1e-3, "variance")], 3),
)
@pytest.mark.parametrize(("ball", "share"), PLANE, ids=repr)
def test_no_noise_on_a_grid_is_below_the_floor(ball, share, epsilon, delta, error):
    """Of real noise on the multiples of 1/2, atoms for whole differences."""
    least = least_in_the_plane(ball, (epsilon, delta), error)
    mean = {"error": error, "weights": [0.5, 0.5]}
    value = floor(ball, epsilon=epsilon, delta=delta, **mean).value
    assert value <= least * (1.0 + 1e-7)
    assert value >= share * least


def test_the_numbers_of_the_page(monkeypatch):
    """For differences and, as all floors once were, for all points of the convex set."""
    page = " ".join((Path(__file__).parents[3] / "docs" / "floor.md").read_text("utf-8").split())
    true, hull = (
        "it is {} at epsilon = 0.01, {} at epsilon = 1 and {} at epsilon = 9",
        "{}, {} and {}",
    )
    pattern = (true + ", where the floor of the convex set is " + hull).replace("{}", "([0-9.e]+?)")
    printed = [float(x) for x in re.search(pattern + r"\.\s", page).groups()]
    found = [floor(AtMost(3, of=12), epsilon=epsilon).value for epsilon in (0.01, 1.0, 9.0)]
    monkeypatch.setattr(AtMost, "differences", None)
    found += [floor(AtMost(3, of=12), epsilon=epsilon).value for epsilon in (0.01, 1.0, 9.0)]
    assert found == pytest.approx(printed, rel=6e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.0), (4.0, 0.0), (1.0, 1e-6), (9.0, 1e-3)])
@pytest.mark.parametrize("error", ["variance", "mean-abs", "max", "norm"])
def test_every_certificate_is_below_noise_by_coordinate_and_in_the_norm(error, epsilon, delta):
    """Laplace noise of scale moved / epsilon, and K-norm noise, which hides the convex set."""
    for ball in (*SETS[:-2], counts(5, 9, "replace-one", whole=False), AtMost(4, of=9)):
        true, K = ball.differences, ball.dimension
        beta = true.moved * true.size / epsilon
        harmonic = float(np.sum(1.0 / np.arange(1.0, K + 1.0)))
        laplace = {"variance": 2.0 * beta**2, "mean-abs": beta, "max": beta * harmonic}
        norms = (K + 1) * (K + 2) / epsilon**2 * ball.mean_square[0], (K + 1) / epsilon
        most = laplace.get(error, math.inf)
        if error == "variance":
            most = min(most, norms[0])
        elif error == "norm":
            most = K / epsilon
        elif error == "mean-abs":
            most = min(most, norms[1] * ball.mean_abs[0])
        total = 1.0 / K if error in {"variance", "mean-abs"} else 1.0
        w = np.full(K, total)
        tried = few_entries(true, error, epsilon, delta)
        assert tried or delta > 0.0
        for found in tried:
            assert found.bound(ball, epsilon, delta, w) <= most
            assert found.bound(ball, epsilon, delta, w * np.linspace(1.0, 2.0, K)) <= 2.0 * most
            assert found.method


def test_certificates_of_the_convex_set_prove_nothing_for_the_differences():
    """The earlier floor, which was one for the convex set."""
    for ball in (counts(2, 4, "add-remove", whole=False), AtMost(2, of=4)):
        w = np.full(4, 0.25)
        earlier = Rearrangement(4, 1.0, radial_certificate(4, 8.0))
        assert earlier.bound(ball, 8.0, 0.0, w) == 0.0
        for value, certificate in candidates(ball, 8.0, 0.0, w):
            assert value < 1.0, certificate.method


def test_what_does_not_fit_proves_nothing():
    one = counts(2, 4, "add-remove", whole=False)
    whole, exact = counts(2, 4, "add-remove"), counts(2, 4, "replace-one", exactly=True)
    w = np.full(4, 0.25)
    part = radial_certificate(4, 1.0)
    good = SummedDifferences("variance", 4, 3, 1.0, part)
    assert good.bound(one, 0.5, 0.0, w) > good.bound(whole, 0.5, 0.0, w) > 0.0
    assert good.bound(exact, 0.5, 0.0, w) == good.bound(LInf(1.0, 4), 0.5, 0.0, w) == 0.0
    for wrong in (
        replace(good, size=5),
        replace(good, size=0),
        replace(good, steps=1),
        replace(good, steps=0),
        replace(good, kept=0.0),
        replace(good, kept=1.5),
        replace(good, part=None),
        replace(good, error="norm", size=2),
        replace(good, error="mean-abs"),
    ):
        assert wrong.bound(one, 0.5, 0.0, w) == 0.0
    assert good.bound(one, 0.5, 1e-3, w) == 0.0  # no delta is spared for shifts
    step = OneSidedStep(2, 0.03)
    assert step.bound(one, 12.0, 0.0, w) > 0.0
    assert replace(step, size=3).bound(one, 12.0, 0.0, w) == 0.0
    assert replace(step, share=0.5).bound(one, 12.0, 0.0, w) == 0.0
    assert step.bound(exact, 12.0, 0.0, w) == 0.0
    jump = WholeStep("variance", 4)
    assert jump.bound(whole, 9.0, 0.0, w) > 0.0 < jump.bound(exact, 9.0, 0.0, w)
    assert jump.bound(one, 9.0, 0.0, w) == 0.0
    assert replace(jump, size=5).bound(whole, 9.0, 0.0, w) == 0.0
    assert replace(jump, size=2).bound(exact, 9.0, 0.0, w) == 0.0
    cube = Subsets(LInf(1.0, 2), best_step(LInf(1.0, 2), 12.0, 0.0))
    assert cube.bound(one, 12.0, 0.0, w) == 0.0  # its entries have one sign
    assert cube.bound(replace(AtMost(2, of=4)), 12.0, 0.0, w) > 0.0
    own = OwnCoordinates("variance", WholeStaircase(2))
    assert own.bound(whole, 1.0, 0.0, w) == own.bound(one, 1.0, 0.0, w) == 0.0
    twice = counts(2, 4, "add-remove", each=2)
    one_of_them = WholeStaircase(2).bound(1.0, 0.0)
    assert own.bound(twice, 1.0, 0.0, w) == pytest.approx(one_of_them, rel=1e-9)
    each = OwnCoordinates("mean-abs", StaircaseMeanAbs())
    assert each.bound(whole, 1.0, 0.0, w) == 0.0 < each.bound(one, 1.0, 0.0, w)
    each = OwnCoordinates("mean-abs", WholeStaircase(2, 1))
    assert each.bound(whole, 1.0, 0.0, w) == each.bound(exact, 1.0, 0.0, w) == 0.0
    solid = Projection(np.ones(4), StaircaseVariance())
    assert solid.bound(whole, 1.0, 0.0, w) == 0.0 < solid.bound(one, 1.0, 0.0, w)


@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("s", [0.05, 0.2, 0.4])
def test_steps_of_one_sign_lead_from_a_ball_to_points_a_difference_away(K, s):
    """Share and mean square of the y for which y - x is in [0, 1]^K for all |x| <= s."""
    share, square = one_sided(K).within(np.array(s))
    y = np.random.default_rng(5).uniform(0.0, 1.0, (200_000, K))
    kept = y[np.all((y >= s) & (y <= 1.0 - s), axis=1)]
    error = 5.0 / math.sqrt(len(kept))
    assert float(share) == pytest.approx(len(kept) / len(y), rel=error)
    assert float(square) == pytest.approx(np.mean(np.sum(kept**2, axis=1)), rel=error)


@pytest.mark.parametrize(
    "ball",
    [*(ball for ball in SETS[:-2] if ball.is_whole), counts(1, 3, "add-remove", each=5)],
    ids=repr,
)
@pytest.mark.parametrize("epsilon", [0.5, 6.0])
def test_floors_of_norms_are_below_noise_by_coordinate(ball, epsilon):
    """The norm and the largest entry of discrete Laplace noise, of samples."""
    true, rng = ball.differences, np.random.default_rng(6)
    a = math.exp(-epsilon / (true.moved * true.size))
    x = rng.geometric(1.0 - a, (40_000, true.of)) - rng.geometric(1.0 - a, (40_000, true.of))
    sizes = {"norm": ball.norm(x), "max": np.max(np.abs(x), axis=1)}
    for error, size in sizes.items():
        spread = 5.0 * float(np.std(size)) / 200.0
        value = floor(ball, epsilon=epsilon, error=error).value
        assert value <= float(np.mean(size)) + spread
        if true.moved == true.size == 1 and error == "norm":
            assert value == pytest.approx(float(np.mean(size)), abs=spread)

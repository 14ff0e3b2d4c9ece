"""`best` for random sets: certified, above the floor, never beaten, by samples private."""

from dataclasses import replace

import numpy as np

from dpnoise.mechanisms.compare import best, compare
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, L2, Box, LInf
from dpnoise.sensitivity.counts import Counts
from dpnoise.sensitivity.product import Product
from sampled_delta import SHIFTS, loss, sampled_delta

_DIMENSIONS = [1, 1, 2, 2, 3, 5, 8, 12, 20, 50]
_TIE = 1.0 + 1.01e-4  # errors closer than that count as equal
_ERRORS = 6.0  # standard errors of a sample
_DRAWS = 2000


def _box(draws, K):
    """Return a box: equal, of few different sides, or spread over orders of magnitude."""
    kind = draws.pick(["equal", "few", "spread", "power"])
    if kind == "equal":
        return LInf(draws.size(), of=K)
    if kind == "few":
        sides = draws.rng.choice([0.01, 1.0, 1.0, 10.0], size=K)
    elif kind == "spread":
        sides = 10.0 ** draws.rng.uniform(-3.0, 1.0, size=K)
    else:
        sides = (1.0 + np.arange(K)) ** -draws.pick([0.5, 1.0, 2.0])
    if K > 1 and draws.chance(0.2):
        sides[int(draws.rng.integers(K))] = 0.0
    return Box(tuple(sides.tolist()))


def a_set(draws, *, product=True):
    """Return a random sensitivity set."""
    K = draws.pick(_DIMENSIONS)
    kind = draws.pick(["box", "box", "l1", "l2", "at-most", "counts", *["product"] * product])
    if kind == "l1":
        return L1(draws.size(), of=K)
    if kind == "l2":
        return L2(draws.size(), of=K)
    if kind == "counts":
        m, relation = int(draws.rng.integers(1, K + 1)), draws.pick(["add-remove", "replace-one"])
        return Counts(m, of=K, each=draws.size(), whole=False, relation=relation)
    if kind == "at-most":
        return AtMost(int(draws.rng.integers(1, K + 1)), of=K, each=draws.size())
    if kind == "product":
        first, second = a_set(draws, product=False), a_set(draws, product=False)
        relation = first.relation or second.relation
        if isinstance(second, Counts):
            second = replace(second, relation=relation)
        return Product(first, second, relation=relation)
    return _box(draws, K)


def a_budget(draws):
    """Return epsilon and delta."""
    epsilon = (
        draws.pick([0.1, 0.3, 1.0, 3.0, 10.0]) if draws.chance(0.5) else draws.between(0.03, 20)
    )
    delta = 0.0 if draws.chance(0.3) else draws.between(1e-10, 0.1)
    return epsilon, delta


def differences(draws, ball):
    """Return true differences: extreme, with random signs, and at random.

    Those of the convex set that people cannot make are left out: noise by coordinate need not hide
    them.
    """
    signs = 2.0 * draws.rng.integers(0, 2, ball.dimension) - 1.0
    corner = ball.extreme_point
    flipped = corner * signs  # outside of counts, where signs matter
    inner = ball.sample(random_state=draws.rng)
    few = np.zeros(ball.dimension)
    for first, factor in ball.factors():
        true = factor.differences
        if true is None:
            few[first : first + factor.dimension] = corner[first : first + factor.dimension]
        else:
            at = draws.rng.choice(true.of, true.up, replace=False)
            few[first + at] = draws.rng.uniform(0.0, true.size, true.up)
    # Within rounding of the boundary, on the inner side.
    points = [
        corner * (1.0 - 1e-12),
        flipped / max(1.0, float(ball.norm(flipped))) * (1.0 - 1e-12),
        inner / float(ball.norm(inner)) * (1.0 - 1e-12),
        few * (1.0 - 1e-12),
    ]
    return [d for d in points if _is_true(ball, d)]


def _is_true(ball, d):
    """Return whether neighbouring data sets can differ by d."""
    return all(
        factor.convex or factor.differences.holds(d[first : first + factor.dimension])
        for first, factor in ball.factors()
    )


def private_by_samples(draws, report, row):
    """Require that samples do not contradict a row's delta at its epsilon."""
    noise, epsilon = row.noise, row.request.epsilon
    for d in differences(draws, row.request.sensitivity):
        if row.delta == 0.0:
            x = np.concatenate([noise.rvs(_DRAWS, draws.rng) + t * d for t in SHIFTS])
            most = float(np.max(loss(noise, x, d)))
            ok = most <= epsilon * (1.0 + 1e-9) + 1e-9
            report.require(ok, f"{row.name}: loss {most!r} at {d.tolist()}")
            continue
        estimate, error, unseen = sampled_delta(noise, d, epsilon, draws.rng, draws=_DRAWS)
        low = estimate - _ERRORS * error - unseen
        ok = low <= row.delta * (1.0 + 1e-9)
        report.require(ok, f"{row.name}: delta above {low!r} by samples at {d.tolist()}")


def check_best(draws, report):
    """What `best` finds quickly."""
    ball, (epsilon, delta) = a_set(draws), a_budget(draws)
    table = report.call(compare, ball, epsilon=epsilon, delta=delta, exhaustive=False)
    row = report.call(best, ball, epsilon=epsilon, delta=delta)
    report.about(row.name, copies=ball.dimension)
    report.require(row.delta <= delta, f"delta {row.delta!r}")
    report.require(row.floor <= row.variance * (1.0 + 1e-9), f"below the floor {row.floor!r}")
    for other in table:
        better = f"{other.name} has {other.variance!r}, {row.name} {row.variance!r}"
        report.require(row.variance <= other.variance * _TIE, better)
        report.require(other.delta <= delta, f"delta of {other.name} is {other.delta!r}")
    private_by_samples(draws, report, row)
    private_by_samples(draws, report, draws.pick(table.rows))


def check_exhaustive(draws, report):
    """The exhaustive search: never worse than the quick one, each row by samples private."""
    ball, (epsilon, delta) = a_set(draws, product=False), a_budget(draws)
    quick = best(ball, epsilon=epsilon, delta=delta)
    table = report.call(compare, ball, epsilon=epsilon, delta=delta)
    report.about(table[0].name, copies=ball.dimension)
    ok = table[0].variance <= quick.variance * _TIE
    report.require(ok, f"worse than {quick.variance!r}, {quick.name}, found quickly")
    report.require(table.floor <= table[0].variance * (1.0 + 1e-9), "below the floor")
    for row in table:
        report.require(row.delta <= delta, f"delta of {row.name} is {row.delta!r}")
        private_by_samples(draws, report, row)


CHECKS = {"best-quick": (check_best, 2.0), "best-exhaustive": (check_exhaustive, 1.0)}

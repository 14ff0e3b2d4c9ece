"""An attack on floors and on `best`: noise that hides the true differences of a set, and no more.

Each rival is noise by coordinate whose privacy is proved here by sums over the coordinates that
differ, or by the account of the package, for the true differences alone. None may be below the
floor, and none better than what `best` finds.
"""

import itertools
import math

import numpy as np

from dpnoise.calibration.calibrate import calibrate
from dpnoise.mechanisms.compare import best, compare
from dpnoise.noise import Laplace, Staircase, staircase_gamma
from dpnoise.optimality.closed_forms import smallest_moment
from dpnoise.privacy.vector import vector_profile
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, L2, Box, LInf
from dpnoise.sensitivity.counts import Counts
from dpnoise.sensitivity.differences import Differences
from dpnoise.sensitivity.ellipsoid import Ellipsoid
from dpnoise.sensitivity.product import Product
from fuzz.runner import written

ROUND = 1e-9  # relative, of what is computed in doubles
_TIE = 1e-4  # errors closer than that count as equal in a table
_SAMPLED = 0.01  # relative, of errors that are estimated from draws
_LITTLE = 0.01  # what `best` may lose, where it does not look at everything
_REAL = ["gaussian", "laplace", "flipped-huber", "offset-symmetric-gaussian", "staircase"]
_REAL += ["truncated-laplace", "huber"]
_WHOLE = ["discrete-laplace", "discrete-gaussian", "discrete-staircase"]
_MOST_POINTS = 2500  # of a distribution on the integers


def a_set(draws, *, product=True):
    """Return a random set of any family, of up to 50 coordinates."""
    relation = draws.pick(["add-remove", "replace-one"])
    if product and draws.chance(0.1):
        return Product(_a_factor(draws, relation), _a_factor(draws, relation))
    return _a_factor(draws, relation)


def _a_factor(draws, relation):
    """Return a random set that is no product."""
    K = draws.pick([1, 2, 3, 5, 8, 12, 20, 50])
    m = draws.pick([1, 1, min(2, K), min(3, K), max(1, K // 2), K])
    kind = draws.pick(["counts"] * 6 + ["at-most"] * 2 + ["convex"] * 2)
    if kind == "at-most":
        return AtMost(m, of=K, each=draws.pick([1, 3, 0.5]), relation=relation)
    if kind == "convex":
        sides = tuple(draws.rng.uniform(0.2, 2.0, K).tolist())
        balls = [LInf(1.0, K), L1(1.0, K), L2(1.0, K), Box(sides), Ellipsoid(sides)]
        return draws.pick(balls).stating(relation)
    if relation == "replace-one" and m < K and draws.chance(0.15):
        return Counts(m, of=K, exactly=True, relation=relation)
    whole = draws.chance(0.7)
    each = draws.pick([1, 1, 1, 2, 5]) if whole else draws.pick([1.0, 0.3])
    return Counts(m, of=K, each=each, whole=whole, relation=relation)


def a_budget(draws):
    """Return epsilon and delta, from 0.01 to 30 and 0 or from 1e-12 to 1e-2."""
    epsilon = draws.pick([0.1, 1.0, 2.0, 3.0, 5.0, 9.0, 17.0])
    if draws.chance(0.5):
        epsilon = draws.between(0.01, 30.0)
    return epsilon, 0.0 if draws.chance(0.5) else draws.between(1e-12, 1e-2)


def staircase_on(size, epsilon, w):
    """Masses of the lattice staircase with w equal points, at places half a unit apart or not."""
    steps = math.ceil(45.0 / epsilon) + 1
    half = (w - 1) / 2
    places = half + np.arange(1, steps * size + 1)
    falls = np.exp(-epsilon * (1 + np.arange(steps * size) // size))
    x = np.concatenate([-places[::-1], np.arange(w) - half, places])
    masses = np.concatenate([falls[::-1], np.ones(w), falls])
    return x, masses / masses.sum()


def spent(masses, epsilon, sizes):
    """Delta of independent noise of these masses for shifts by whole numbers, by plain sums."""
    parts = []
    for k in sizes:
        wide = np.concatenate([np.zeros(k), masses, np.zeros(k)])
        parts.append((wide, np.roll(wide, k)))
    first, second = parts[0]
    for p, q in parts[1:]:
        first, second = np.multiply.outer(first, p), np.multiply.outer(second, q)
    return float(np.sum(np.maximum(first - math.exp(min(epsilon, 700.0)) * second, 0.0)))


def is_private(masses, epsilon, delta, moved, size):
    """Whether noise on a lattice hides all whole differences with so many entries."""
    every = itertools.combinations_with_replacement(range(1, size + 1), moved)
    return all(spent(masses, epsilon, sizes) <= delta - 1e-15 for sizes in every)


def pure_rivals(true, epsilon):
    """Yield names, E T^2 and E|T| of noise without delta, at the sum of the losses of entries."""
    share, size = epsilon / true.moved, true.size
    beta = Laplace(size / share)
    yield "Laplace", beta.var(), beta.mean_abs()
    for gamma in (float(staircase_gamma(share)), smallest_moment(1, share, 1)[2]):
        noise = Staircase(share, size, min(max(gamma, 1e-12), 1.0 - 1e-12))
        yield "staircase", noise.var(), noise.mean_abs()
    if (true.whole or true.full) and share * 400.0 > size:
        n, unit = (1, size) if true.full else (int(size), 1.0)
        for w in range(1, 2 * n + 1):
            x, masses = staircase_on(n, share, w)
            square, mean = np.sum(masses * x * x), np.sum(masses * np.abs(x))
            yield f"lattice staircase of {w}", unit**2 * square, unit * mean


def truncated(draws, true, epsilon, delta):
    """Yield discrete Laplace noise cut off where its tail is worth the delta, m = 1 or 2."""
    n = 1 if true.full else int(true.size)
    unit = true.size if true.full else 1.0
    share = epsilon / true.moved
    if true.moved > 2 or n > 2 or not (true.whole or true.full) or share > 8.0:
        return
    scale = n / share
    last = math.ceil(scale * math.log(4.0 / delta) * draws.pick([1.0, 0.8, 0.6])) + n
    if last > _MOST_POINTS // true.moved**2:
        return
    x = np.arange(-last, last + 1)
    for factor in (1.0, 0.98, 0.9, 0.7):
        masses = np.exp(-np.abs(x) / (factor * scale))
        masses /= masses.sum()
        if is_private(masses, epsilon, delta, true.moved, n):
            square, mean = np.sum(masses * x * x), np.sum(masses * np.abs(x))
            yield "truncated discrete Laplace", unit**2 * square, unit * mean


def rivals(draws, true, epsilon, delta):
    """Yield names, E T^2 and E|T| of noise by coordinate, private for the true differences."""
    yield from pure_rivals(true, epsilon)
    if delta == 0.0:
        return
    yield from truncated(draws, true, epsilon, delta)
    few = {"epsilon": epsilon, "delta": delta, "dimension": true.moved}
    families = [draws.pick(_REAL)] + [draws.pick(_WHOLE)] * (true.whole and not true.full)
    for family in families:
        try:
            found = calibrate(family, sensitivity=true.size, **few)
            upper = vector_profile(found.noise, true.size, epsilon, copies=true.moved).upper
        except (ValueError, RuntimeError):
            continue
        if upper <= delta:
            yield family, found.noise.var(), found.noise.mean_abs()


def true_of(ball):
    """Return the differences of few entries of a set, those of a box as such; None of others."""
    if ball.differences is not None:
        return ball.differences
    if ball.ball_radius(math.inf):
        K, side = ball.dimension, float(ball.box[0])
        return Differences(K, K, K, K, side)
    return None


def _asked(report, function, *args, **options):
    """Return an answer; all mechanisms together may take longer than one call of a check."""
    if not options["exhaustive"]:
        return report.call(function, *args, **options)
    report.last = written(function, args, options)
    return function(*args, **options)


def attack(draws, report, ball, budget, *, exhaustive=False, error=None):
    """Require that no rival is below a floor or better than what is found, in a random error."""
    epsilon, delta = budget
    true = true_of(ball)
    errors = ["variance"] * 3 + ["mean-abs"] * 2 + ["max", "norm"] * (not ball.flat)
    error = error or draws.pick(errors)
    options = {"epsilon": epsilon, "delta": delta, "error": error}
    table = _asked(report, compare, ball, exhaustive=exhaustive, **options)
    floor = table.floor
    slack = 1.0 + (_SAMPLED if error in {"max", "norm"} else ROUND)
    for row in table:
        report.require(floor <= row.error * slack, f"{row.name}: below the floor {floor!r}")
    if true is None or error in {"max", "norm"}:
        return
    found = _asked(report, best, ball, exhaustive=exhaustive, **options).error
    most = table[0].error * (1.0 + _TIE if exhaustive else 1.0 + _LITTLE)
    report.require(found <= most, "best finds more than the first of its table")
    least = min(row.error for row in table)
    for name, square, mean in rivals(draws, true, epsilon, delta):
        value = square if error == "variance" else mean
        below = f"{name} has {error} {value!r}, below the floor {floor!r}"
        report.require(floor <= value * (1.0 + ROUND), below)
        offered = name in {"Laplace", "staircase", *_REAL, *_WHOLE} or name.endswith(" of 1")
        if offered:
            most = (1.0 + ROUND) * value if exhaustive else (1.0 + _LITTLE) * value
            text = f"{name} has {error} {value!r}, best finds {found!r}"
            report.require((least if exhaustive else found) <= most, text)


def check_attack(draws, report):
    """Random sets and budgets."""
    attack(draws, report, a_set(draws), a_budget(draws))


def check_attack_of_all(draws, report):
    """The same against all that is known."""
    ball = a_set(draws, product=False)
    attack(draws, report, ball, a_budget(draws), exhaustive=True)


CHECKS = {"attack": (check_attack, 1.0), "attack-all": (check_attack_of_all, 0.5)}

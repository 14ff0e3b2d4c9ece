"""Independent checker of certificates: this file, the standard library and rational arithmetic.

    python checker.py certificate.json ...

Exit code 0: verified, or its upper bound alone. 1: refused, as damaged, newer, or not proved. 2: no
such file. 3: not covered by this checker, or by a Python before 3.8. It shares nothing with the
package dpnoise, whose docs/certificates.md has the mathematics; `dpnoise checker` prints this file.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, Tuple

BITS, MOST, LONGEST, LARGEST, ZERO = 256, 10**4, 2000, 2**26, Fraction(0)
AXES = 64  # of an ellipsoid with any axes, for which this takes some seconds
SMALLEST = Fraction(1e-100)
PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
HALF_PI = PI / 2, PI / 2 + Fraction(1, 10**80)
ERRORS = ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
KINDS = """gaussian: sigma; laplace: beta; discrete-laplace: beta; staircase: sensitivity
    epsilon gamma; discrete-staircase: sensitivity epsilon r; truncated-laplace: beta bound;
    norm-staircase: ball epsilon gamma; box: lambdas; radial: ball bound power scale; l1:
    radius of; l2: radius of; linf: radius of; ellipsoid: axes; at-most: each m of;
    add-remove-counts: each m of whole; replace-one-counts: each m of whole; exact-counts:
    each m of whole; product: blocks; independent: scales unit; delta: lower upper; spheroid:
    across along of; correlated-gaussian: sigma ball; tilted-ellipsoid: axes; blocks: blocks
    dimension; block: coordinates noise; workload: W cells; summed: W noise; sparse: columns
    entries shape starts; certificate: certified_by delta digest dimension
    epsilon format format_version noise package_version relation
    sensitivity"""  # what is understood; of noise first its scale
FIELDS = {kind.strip(): keys.split() for kind, keys in (x.split(":") for x in KINDS.split(";"))}
TYPES = {"axes": list, "blocks": list, "lambdas": list, "scales": list, "of": int, "m": int}
TYPES.update({"certified_by": list, "each": str, "package_version": str, "radius": str})
TYPES.update({"columns": list, "entries": list, "shape": list, "starts": list})
TYPES.update({"coordinates": list, "dimension": int, "whole": bool, "r": int})
CHECKER, COMPOSED, MOST_TIMES = "independent checker", "composition", 10**6
COUNTS = "add-remove-counts", "replace-one-counts", "exact-counts"  # the first for add/remove
ROUND = "l2", "ellipsoid"
ACCOUNTS = """scalar profile, vector profile, basic composition, dominating Laplace noise,
    largest loss, greatest loss, layers of the norm, integer points, concentrated privacy"""
Found = Tuple["Interval", bool]


class Interval:
    """The numbers lo <= x <= hi; ends of more than 256 binary digits are rounded outward."""

    def __init__(self, lo: Fraction | int, hi: Fraction | int | None = None) -> None:
        self.lo, self.hi = rounded(lo, 0), rounded(lo if hi is None else hi, 1)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.lo - other.hi, self.hi - other.lo)

    def __mul__(self, other: Interval) -> Interval:
        x, y = (other, self) if other.lo.numerator < 0 else (self, other)
        if y.lo.numerator < 0:
            ends = [u * v for u in (x.lo, x.hi) for v in (y.lo, y.hi)]
            return Interval(min(ends), max(ends))
        lo, hi = (y.hi if x.lo.numerator < 0 else y.lo), (y.lo if x.hi.numerator < 0 else y.hi)
        return Interval(x.lo * lo, x.hi * hi)

    def __truediv__(self, other: Interval) -> Interval:  # by positive numbers
        if other.lo <= 0:
            raise NotImplementedError("numbers that need more digits than are kept")
        return self * Interval(1 / other.hi, 1 / other.lo)


def rounded(x: Fraction | int, up: int) -> Fraction:
    """A number of 256 binary digits, not below (up = 1) or not above (up = 0) `x`."""
    n, d = x.as_integer_ratio()
    if n.bit_length() <= BITS >= d.bit_length():
        return x if type(x) is Fraction else Fraction(x)
    shift = BITS - n.bit_length() + d.bit_length()
    q = (n << max(shift, 0)) // (d << max(-shift, 0)) + up
    return Fraction(q << max(-shift, 0), 1 << max(shift, 0))


def root(x: Interval) -> Interval:
    """The square roots, by integer roots of x 4^s; exact where they are rational."""

    def end(n: int, d: int, up: int) -> Fraction:
        s = BITS + max(0, d.bit_length() - n.bit_length())
        q = math.isqrt((n << 2 * s) // d)
        return Fraction(q + up * (q * q * d != n << 2 * s), 1 << s)

    return Interval(end(*x.lo.as_integer_ratio(), 0), end(*x.hi.as_integer_ratio(), 1))


def exp(x: Fraction) -> Interval:
    """The exponential: the series at x / 2^k, whose rest is below 2 |term|, squared k times."""
    if x < -(10**5):
        return Interval(0, exp(Fraction(-(10**5))).hi)
    if x > 10**5:
        raise NotImplementedError("exponentials beyond e^100000")
    k = math.ceil(abs(x)).bit_length() + 8
    r, total, term = Interval(x / 2**k), Interval(0), Interval(1)
    # ends: the rest of the series is added
    for n in range(1, BITS // 8):  # |r| <= 2^-8
        total, term = total + term, term * r / Interval(n)
    value = total + Interval(-2, 2) * Interval(max(abs(term.lo), abs(term.hi)))
    for _ in range(k):
        value = value * value
    return value


def mills(x: Fraction) -> Interval:
    """Tail over density of the normal distribution, x >= 0: a continued fraction, or a series."""
    if x >= 4:
        n = 64 + math.ceil(BITS**2 / (16 * x * x))
        tail = Interval(0, n / x)
        for k in range(n - 1, -1, -1):
            tail = Interval(max(k, 1)) / (Interval(x) + tail)
        return tail
    total, term, square, n = Interval(0), Interval(x), Interval(x * x), 0
    # ends: each term is below half the one before
    while n < 40 or term.hi > Fraction(1, 1 << BITS):  # from n = 16 on each term is below half
        total, n = total + term, n + 1
        term = term * square / Interval(2 * n + 1)
    return root(Interval(*HALF_PI)) * exp(x * x / 2) - total - Interval(0, 2 * term.hi)


def gaussian(square: Interval, epsilon: Fraction) -> Interval:
    """Delta by the squared mu, with which it rises, from m(a - h) and m(a + h)."""
    ends = []
    for mu in (root(square).lo, root(square).hi):
        a, h = epsilon / mu, mu / 2
        phi = exp(-((a - h) ** 2) / 2) / root(Interval(*HALF_PI) * Interval(4))
        near, far = mills(abs(a - h)), mills(a + h)
        ends.append(phi * (near - far) if a >= h else Interval(1) - phi * (near + far))
    return Interval(ends[0].lo, ends[1].hi)


def truncated(d: Fraction, bound: Fraction, epsilon: Fraction) -> Interval:
    """P(T > min(t, bound - d)) - e^epsilon P(T > t + d), the loss being above epsilon from t on."""

    def tail(x: Fraction) -> Interval:
        if abs(x) >= bound:
            return Interval(x < 0)
        if x < 0:
            return Interval(1) - tail(-x)
        inside = exp(-x) * (Interval(1) - exp(x - bound)) / Interval(2)
        return inside / (Interval(1) - exp(-bound))

    t = (epsilon - d) / 2 if epsilon < d else bound  # infinite losses only
    return tail(min(t, bound - d)) - exp(epsilon) * tail(t + d)


def staircase(d: Fraction, e: Fraction, gamma: Fraction, epsilon: Fraction) -> Interval:
    """(1 - exp(epsilon - e)) P(loss = e), for a shift of at most one step and epsilon < e."""
    b, one = exp(-e), Interval(1)
    near = Interval(min(d, 2 * gamma)) * (one - b) + Interval(d) * b
    return near / (Interval(2 * gamma) + b * Interval(2 - 2 * gamma)) * (one - exp(epsilon - e))


def of_loss(loss: Fraction, epsilon: Fraction, *, laplace: bool, exact: bool = False) -> Found:
    """Delta of Laplace noise, or of randomized response, with a largest loss: an upper bound."""
    if loss == 0:
        raise ValueError("noise: expected a privacy loss above 0")
    if loss <= epsilon:
        return Interval(0), True
    found = Interval(1) - exp((epsilon - loss) / (2 if laplace else 1))
    found = found if laplace else found / (Interval(1) + exp(-loss))
    return Interval(found.lo if exact else 0, found.hi), exact


def number(text: Any) -> Fraction:
    """A number as text in lowest terms, not negative."""
    good = isinstance(text, str) and text and set(text) <= set("0123456789/")
    if not good or len(text) > LONGEST or str(Fraction(text)) != text:
        raise ValueError(f"number: expected a fraction in lowest terms, got {str(text)[:40]!r}")
    return Fraction(text)


def signed(text: Any) -> Fraction:
    """A double as text in lowest terms, of any sign."""
    found = number(text[text.startswith("-") :])
    if float(found) != found or (text[0] == "-" and found == 0):
        raise ValueError(f"number: expected a double, got {text[:40]!r}")
    return -found if text[0] == "-" else found


def doubles(data: Any) -> None:
    """An error unless all numbers of noise or a set are doubles of sizes that the package takes."""
    for part in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        doubles(part)
    if isinstance(data, str) and data[:1].isdigit():
        found = number(data)
        if found != 0 and not SMALLEST <= found <= 1 / SMALLEST:
            raise NotImplementedError("parameters below 1e-100 or above 1e100")
        if float(found) != found:
            raise ValueError(f"number: expected a double, got {data[:40]!r}")


def step(noise: Any, K: int = 0) -> Fraction:
    """The epsilon of a staircase, also in a norm of K coordinates, that the package takes."""
    found = number(noise["epsilon"])
    if found > 700 or (K > 0 and found * 2**21 < 2 * K + 170):
        raise NotImplementedError("staircases of too many steps, or too steep ones")
    return found


def kind_of(data: Any, kind: str = "") -> str:
    """The kind of an object, which has the keys of that kind and no others."""
    own, kind = [] if kind else ["kind"], kind or data["kind"]
    if kind not in FIELDS:
        raise NotImplementedError(kind)
    good = set(data) == {*own, *FIELDS[kind]} and 0 < number(data.get("gamma", "1/2")) < 1
    if not good or not all(type(v) is TYPES.get(k, type(v)) for k, v in data.items()):
        raise ValueError(f"{kind}: expected {FIELDS[kind]}, got {str(data)[:80]}")
    return kind


def limited(K: int) -> int:
    """A number of coordinates that is not too large."""
    if K > MOST:
        raise NotImplementedError(f"more than {MOST} coordinates")
    return K


def factors(data: Any) -> list[tuple[list[Fraction], int, str]]:
    """A set as a product of {|d_i| <= s_i, sum |d_i| / s_i <= m}, of ellipsoids and of counts."""
    kind = kind_of(data)
    if kind in ("spheroid", "tilted-ellipsoid", "workload"):
        raise NotImplementedError(f"sets of kind {kind}")
    if kind == "product":
        found: Any = []
        K = 0
        for block in data["blocks"]:
            more = factors(block)
            found += more
            K = limited(K + sum(len(sides) for sides, _, _ in more))
        return found
    of_all = "each" if "m" in data else "radius"
    value = data[{"box": "lambdas", "ellipsoid": "axes"}.get(kind, of_all)]
    one_by_one = isinstance(value, list)
    K = limited(len(value) if one_by_one else data["of"])
    sides = [number(x) for x in value] if one_by_one else [number(value)] * K
    m = data["m"] if "m" in data else 1 if kind == "l1" else len(sides)
    if not 1 <= m <= len(sides) - (kind == "exact-counts") or max(sides) == 0:
        raise ValueError(f"sensitivity: expected a set that is more than 0, got {kind}")
    return [(sides, m, kind)]


def patterns(m: int, K: int, kind: str) -> list[tuple[int, int]]:
    """How many entries of an extreme point are 1 and -1, for the counts of a kind."""
    if kind == "exact-counts":
        return [(min(m, K - m),) * 2]
    up = [m] if kind == "add-remove-counts" or 2 * m <= K else range(K - m, m + 1)
    return [(n, 0 if kind == "add-remove-counts" else min(m, K - n)) for n in up]


def moved(factor: Any) -> int:
    """How many coordinates of a factor a difference changes at once, at most."""
    sides, m, kind = factor
    if kind.endswith("counts"):
        return max(map(sum, patterns(m, len(sides), kind)))
    return m if kind == "at-most" else sum(side > 0 for side in sides)


def largest_sum(ball: Any, weights: list[Fraction], power: int) -> Interval:
    """The largest sum of (w_i |d_i|)^power, power 1 or 2."""
    total, rest = Interval(0), iter(weights)
    for sides, m, kind in ball:
        is_round, counts = kind in ROUND, kind.endswith("counts")
        values = sorted((side * next(rest)) ** (2 if is_round else power) for side in sides)
        moved = max(map(sum, patterns(m, len(sides), kind))) if counts else m
        largest = values[-1:] if is_round and power == 2 else values[-moved:]
        part = sum(map(Interval, largest), Interval(0))
        total += root(part) if is_round and power == 1 else part
    return total


def inverse(values: list[Fraction], ball: Any) -> list[Fraction]:
    """One over each value, 0 for coordinates that cannot change."""
    changes = [side for sides, _, _ in ball for side in sides]
    if len(values) != len(changes) or any(v == 0 < x for v, x in zip(values, changes)):
        raise ValueError("noise: expected some for each coordinate that can change")
    return [1 / value if value else ZERO for value in values]


def size(ball: Any, unit: Any) -> Fraction:
    """The largest norm of a difference where `unit` is the unit ball: 1 of the set itself."""
    parts, found = [ball] if len(unit) == 1 else [[factor] for factor in ball], ZERO
    if [len(x[0]) for x in unit] != [sum(len(x[0]) for x in part) for part in parts]:
        raise NotImplementedError("noise in the norm of a product with other blocks")
    for (sides, m, kind), part in zip(unit, parts):
        weights, changes = inverse(sides, part), [x for some, _, _ in part for x in some]
        total = largest_sum(part, weights, 2 if kind in ROUND else 1)
        wide = max(w * x for w, x in zip(weights, changes))
        most = max(wide, root(total).hi if kind in ROUND else total.hi / m)
        if kind.endswith("counts"):
            most = of_counts(m, kind, part, wide, total.hi)
        found = max(found, most)
    return found


def of_counts(m: int, kind: str, part: Any, wide: Fraction, total: Fraction) -> Fraction:
    """The largest f(d+) + f(d-) (add/remove) or max(f(d+), f(d-)), f(y) = max(max y, sum y / m).

    At extreme points of counts; of other sets from above, by the largest |d_i| and sum of |d_i|.
    """
    added = kind == "add-remove-counts"
    if kind == "exact-counts":
        raise ValueError("noise: expected a norm of a set with a volume, got exact-counts")
    if len(part) > 1 or not part[0][2].endswith("counts"):
        both = max(wide, total / m)
        return min(2 * both, total) if added else both
    own = [
        [max(Fraction(1), Fraction(n, m)) if n else ZERO for n in pair]
        for pair in patterns(part[0][1], len(part[0][0]), part[0][2])
    ]
    return wide * max(sum(pair) if added else max(pair) for pair in own)


def cells(sensitivity: Any) -> tuple[Any, Any]:
    """Of a workload the set of its cells and its matrix; of another set itself and None."""
    if kind_of(sensitivity) != "workload":
        return sensitivity, None
    matrix, inner = sensitivity["W"], sensitivity["cells"]
    if kind_of(matrix) != "sparse":
        raise ValueError("workload: expected a sparse matrix")
    (K, n), starts, columns = matrix["shape"], matrix["starts"], matrix["columns"]
    whole = all(type(x) is int and x >= 0 for x in [K, n, *starts, *columns])
    good = whole and kind_of(inner) in COUNTS and inner["of"] == n and K > 0
    good = good and len(starts) == K + 1 and starts == sorted(starts) and starts[0] == 0
    good = good and starts[-1] == len(columns) == len(matrix["entries"]) and max(columns) < n
    if not good or ZERO in map(signed, matrix["entries"]):
        raise ValueError("workload: expected a sparse matrix by rows, and counts as its cells")
    return inner, matrix


def in_ellipsoid(unit: Any, part: Any) -> Fraction:
    """The largest squared norm of e_i, e_i - e_j or both, u with e = u A: A has zeros below."""
    rows = [[signed(x) for x in row] for row in unit["axes"]]
    (sides, m, kind), K = part[0], len(rows)
    if len(part) > 1 or m > 1 or kind not in COUNTS or K > AXES:
        raise NotImplementedError(f"ellipsoids with any axes beyond one of {AXES} counts")
    if len(sides) != K or any(len(row) != K for row in rows):
        raise ValueError("noise: expected as many axes as coordinates")
    if any(row[k] <= 0 or any(row[:k]) for k, row in enumerate(rows)):
        raise NotImplementedError("axes that are no triangular matrix")
    axes, found = [[*map(Interval, row)] for row in rows], []
    # ends: one solution for each of at most 64 columns
    for i in range(K):
        u = [Interval(0)] * i
        for j in range(i, K):
            known = (u[k] * axes[k][j] for k in range(i, j))
            u.append((Interval(i == j) - sum(known, Interval(0))) / axes[j][j])
        found.append(u)
    pairs = [] if kind == COUNTS[0] else [(u, v) for k, u in enumerate(found) for v in found[:k]]
    moves = [[x - y for x, y in zip(u, v)] for u, v in pairs]
    moves += found if kind != COUNTS[2] else []
    squares = [sum((x * x for x in u), Interval(0)).hi for u in moves]
    return sides[0] ** 2 * max(squares)


def in_spheroid(unit: Any, part: Any) -> tuple[Fraction, bool]:
    """The largest squared norm in a spheroid, v |d|^2 + w (sum of d_i)^2, and if it is attained.

    At extreme points of counts; of other sets from above, by the largest l2 and l1 norm.
    """
    if kind_of(unit) == "tilted-ellipsoid":
        return in_ellipsoid(unit, part), False
    if kind_of(unit) != "spheroid":
        raise NotImplementedError("noise in the norm of an ellipsoid with any axes")
    along, across, K = number(unit["along"]), number(unit["across"]), unit["of"]
    flat = all(kind == "exact-counts" for _, _, kind in part)
    if sum(len(sides) for sides, _, _ in part) != K or across == 0 or not (along or flat):
        raise ValueError("noise: expected some in every direction of the set")
    v = 1 / across**2
    w = ZERO if flat else (1 / along**2 - v) / K
    (sides, m, kind), alone = part[0], len(part) == 1
    if alone and kind.endswith("counts"):
        found = patterns(m, K, kind)
        if kind != "exact-counts":  # and those with fewer counts that rise or fall
            found += [(j, 0) for j in range(1, m)]
        if kind == "replace-one-counts":
            found += [(m, j) for j in range(min(m, K - m) + 1)]
        return sides[0] ** 2 * max(v * (a + b) + w * (a - b) ** 2 for a, b in found), True
    one = [Fraction(1)] * K
    total = largest_sum(part, one, 1).hi if w > 0 else ZERO
    return v * largest_sum(part, one, 2).hi + max(w, ZERO) * total**2, False


def correlated(noise: Any, ball: Any) -> Found:  # noqa: C901
    """The squared mu of Gaussian noise in a spheroid, or in those of factors beside other noise."""
    if noise["kind"] == "correlated-gaussian":
        square, exact = in_spheroid(noise["ball"], ball)
        return Interval(square / number(noise["sigma"]) ** 2), exact
    spans: Any = []
    for sides, _, _ in ball:
        first = spans[-1][1] if spans else 0
        spans.append((first, first + len(sides)))
    K, rest, total, exact, left = spans[-1][1], [], Interval(0), True, list(ball)
    for block in noise["blocks"]:
        kind_of(block, "block")
        at, inner = block["coordinates"], block["noise"]
        if kind_of(inner) == "independent":
            rest.append(block)
            continue
        if kind_of(inner) != "correlated-gaussian" or (at[0], at[-1] + 1) not in spans:
            raise NotImplementedError("blocks of joint noise that are no Gaussian one of a factor")
        k = spans.index((at[0], at[-1] + 1))
        if at != [*range(*spans[k])] or not any(left[k][0]):
            raise ValueError("blocks: expected each coordinate in one of them")
        square, attained = in_spheroid(inner["ball"], [ball[k]])
        total += Interval(square / number(inner["sigma"]) ** 2)
        exact, left[k] = exact and attained, ([ZERO] * len(at), *ball[k][1:])
    if noise["dimension"] != K:
        raise ValueError(f"blocks: expected some, for {K} coordinates")
    if rest:
        pairs = by_coordinate({**noise, "blocks": rest}, K)
        if any(kind_of(one) != "gaussian" for one, _ in pairs):
            raise NotImplementedError("blocks of other noise beside correlated noise")
        twice = [left[k] is not ball[k] for k, (a, b) in enumerate(spans) for _ in range(a, b)]
        if any(scale and known for (_, scale), known in zip(pairs, twice)):
            raise ValueError("blocks: expected each coordinate in one of them")
        own = [scale * number(one["sigma"]) for one, scale in pairs]
        total += largest_sum(left, inverse(own, left), 2)
    elif any(side for sides, _, _ in left for side in sides):
        raise ValueError("noise: expected some for each coordinate that can change")
    return total, exact


def by_coordinate(noise: Any, K: int) -> list[tuple[Any, Fraction]]:
    """The noise of one number at each of K coordinates, and its scale: 0 for no noise."""
    if isinstance(noise, list) or kind_of(noise) not in ("independent", "blocks"):
        return [(one, Fraction(1)) for one in (noise if isinstance(noise, list) else [noise] * K)]
    if noise["kind"] == "independent":
        return [(noise["unit"], number(x)) for x in noise["scales"]]
    found: Any = {}
    for block in noise["blocks"]:
        kind_of(block, "block")
        if kind_of(block["noise"]) != "independent":
            raise NotImplementedError("blocks of joint noise")
        at, part = block["coordinates"], by_coordinate(block["noise"], 0)
        good = all(type(k) is int and 0 <= k < K and k not in found for k in at)
        if not good or not len(at) == len(set(at)) == len(part):
            raise ValueError(f"blocks: expected each coordinate below {K} in one of them")
        found.update(zip(at, part))
    if not found or noise["dimension"] != K:
        raise ValueError(f"blocks: expected some, for {K} coordinates")
    return [found.get(k, (found[min(found)][0], ZERO)) for k in range(K)]


def enclosure(noise: Any, sensitivity: Any, epsilon: Fraction, times: int = 1) -> Found:  # noqa: C901, PLR0911, PLR0912
    """Bounds on delta, and whether the lower one is proved; NotImplementedError for other noise."""
    if isinstance(noise, dict) and noise["kind"] == "summed":
        kind_of(noise)
        inner, matrix = cells(sensitivity)
        if matrix is None or noise["W"] != matrix:
            raise ValueError("noise: expected that of the cells, for the questions of the set")
        return enclosure(noise["noise"], inner, epsilon, times)[0], False
    ball = factors(sensitivity)
    sides = [side for some, _, _ in ball for side in some]
    if epsilon > 10**4:
        raise NotImplementedError("epsilon above 1e4")
    kind = "list" if isinstance(noise, list) else kind_of(noise)
    inner = [kind_of(block["noise"]) for block in noise["blocks"]] if kind == "blocks" else [kind]
    if "correlated-gaussian" in inner:
        square, exact = correlated(noise, ball)
        return gaussian(square * Interval(times), epsilon), exact
    if kind in ("radial", "norm-staircase"):
        unit = noise["ball"]
        if kind_of(unit) == "at-most" and unit["m"] in (1, unit["of"]):
            raise ValueError("noise: an l1 or l-infinity ball is written as such")
        oval = kind_of(unit) == "spheroid"
        norm = root(Interval(in_spheroid(unit, ball)[0])).hi if oval else size(ball, factors(unit))
        if kind == "norm-staircase":
            loss = step(noise, len(sides)) * math.ceil(norm)
            return of_loss(loss * times, epsilon, laplace=False)
        if (noise["power"], noise["bound"]) == ("1", "infinity"):
            return of_loss(norm / number(noise["scale"]) * times, epsilon, laplace=True)
        raise NotImplementedError("radial noise other than K-norm noise")
    pairs = by_coordinate(noise, len(sides))
    units, scales = [one for one, _ in pairs], [scale for _, scale in pairs]
    kinds = {kind_of(one) for one in units}
    alike = units.count(units[0]) == len(units) or sum(side > 0 for side in sides) == 1
    kind, alone = min(kinds), alike and times == sum(map(moved, ball)) == 1
    if len(kinds) > 1 or kind not in list(FIELDS)[: 5 + alone]:  # truncated only if alone
        raise NotImplementedError(f"coordinates with noise of kind {kinds}")
    if kind.startswith("discrete") and ({*scales} != {1} or any(x % 1 for x in sides)):
        raise ValueError("sensitivity: expected integers, and no scales, for noise on the integers")
    if len(pairs) != len(sides):
        raise ValueError("noise: expected as many scales as coordinates")
    for one in units if kind == "discrete-staircase" else []:
        if type(one["sensitivity"]) is not int or not 0 < one["r"] <= one["sensitivity"]:
            raise ValueError("discrete-staircase: expected whole numbers, r up to the sensitivity")
    own = [one[FIELDS[kind][0]] for one in units]
    own = [Fraction(x) if kind == "discrete-staircase" else number(x) for x in own]
    weights = inverse([x * y for x, y in zip(scales, own)], ball)
    if kind == "gaussian":
        return gaussian(largest_sum(ball, weights, 2) * Interval(times), epsilon), True
    changes = [w * x for w, x in zip(weights, sides)]
    change = max(changes)
    one = units[changes.index(change)]
    if kind == "truncated-laplace":
        return truncated(change, number(one["bound"]) / number(one["beta"]), epsilon), True
    if kind.endswith("laplace"):
        plain, loss = kind == "laplace", change if alone else largest_sum(ball, weights, 1).hi
        return of_loss(loss * times, epsilon, laplace=plain, exact=plain and alone)
    steps, loss = iter([step(x) * math.ceil(d) for d, x in zip(changes, units)]), ZERO
    for factor in ball:
        loss += sum(sorted(islice(steps, len(factor[0])))[-moved(factor) :], ZERO)
    if not alone or change > 1 or loss <= epsilon or kind != "staircase":
        return of_loss(loss * times, epsilon, laplace=False)
    return staircase(change, loss, number(one["gamma"]), epsilon), True


def provenance(version: str, names: Any, noise: str, times: int) -> None:
    """An error unless these are a version, and an account of such noise, alone or beside this."""
    text = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+!-"
    if not 0 < len(version) <= 40 or not set(version) <= set(text):
        raise ValueError(f"package_version: expected such as '0.1.0', got {version[:40]!r}")
    known = "Gaussian profile" if "gaussian" in noise else " ".join(ACCOUNTS.split())
    known = known if times == 1 else COMPOSED  # squares of mu add up, and so do largest losses
    if names[:1] not in [[x] for x in known.split(", ")] or names[1:] not in ([], [CHECKER]):
        raise ValueError(f"certified_by: expected one of {known}; and {CHECKER}, or no more")


def check(data: bytes) -> str:
    """What is verified, in words; an error if nothing is."""
    if len(data) > LARGEST:
        raise ValueError(f"size: expected at most {LARGEST} bytes, got {len(data)}")
    content = json.loads(data, parse_constant=number)
    if json.dumps(content, indent=1).encode() != data:
        raise ValueError("content: expected JSON as dpnoise writes it, each key once")
    if (content["format"], repr(content["format_version"])) != ("dpnoise certificate", "1"):
        raise ValueError("format: expected a dpnoise certificate of version 1")
    kind_of({key: value for key, value in content.items() if key != "times"}, "certificate")
    times = content.get("times", 1)
    if type(times) is not int or not 1 + ("times" in content) <= times <= MOST_TIMES:
        raise ValueError(f"times: expected 2 to {MOST_TIMES}, got {str(times)[:40]}")
    kind_of(content["delta"], "delta")
    rest = {key: value for key, value in content.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
    if content["digest"] != "sha256:" + hashlib.sha256(text).hexdigest():
        raise ValueError("digest: expected that of the content, which was changed")
    doubles([content["noise"], content["sensitivity"]])
    lower, upper = (number(content["delta"][end]) for end in ("lower", "upper"))
    epsilon, relation = number(content["epsilon"]), content["relation"]
    found, exact = enclosure(content["noise"], content["sensitivity"], epsilon, times)
    provenance(content["package_version"], content["certified_by"], str(content["noise"]), times)
    inner, matrix = cells(content["sensitivity"])
    ball = factors(inner)
    other = {"add-remove": {*COUNTS[1:]}, "replace-one": {COUNTS[0]}}
    K = matrix["shape"][0] if matrix else sum(len(sides) for sides, _, _ in ball)
    good = repr(content["dimension"]) == repr(K)
    good = good and relation in other and not {kind for _, _, kind in ball} & other[relation]
    if not good or not lower <= upper <= 1 or epsilon != float(epsilon):
        raise ValueError("expected another relation or dimension, lower <= upper <= 1, doubles")
    if found.hi <= upper and lower <= (found.lo if exact else found.hi):
        shown = float(upper)
        shown = shown if shown >= upper else shown * (1 + 2**-52) + 5e-324  # the next doubles
        what, note = "verified", ""
        if lower > 0 and not exact:
            what, note = "upper bound verified", "; delta.lower is not proved here"
        note = f", {times} releases{note}" if times > 1 else note
        return f"{what}: delta <= {shown!r} at epsilon = {float(epsilon)!r}, {relation}{note}"
    message = f"delta: not proved; found [{float(found.lo):.17g}, {float(found.hi):.17g}]"
    raise (ValueError if found.lo > upper or lower > found.hi else NotImplementedError)(message)


def main(paths: list[str]) -> int:
    """One line for each file; the largest exit code."""
    if not paths or {"-h", "--help"} & {*paths}:
        (sys.stdout if paths else sys.stderr).write(f"{__doc__}")
        return 0 if paths else 2
    if sys.version_info < (3, 8):  # noqa: UP036 - newer than what this file may be run with
        sys.stdout.write("not covered by this checker: a Python before 3.8\n")
        return 3
    codes = [0]
    for path in paths:
        try:
            code, message = 0, check(Path(path).read_bytes())
        except OSError as error:
            code, message = 2, f"not read: {error}"
        except NotImplementedError as error:
            code, message = 3, f"not covered by this checker: {error}"
        except ERRORS as error:
            code, message = 1, f"refused: {error!r}"
        codes.append(code)
        sys.stdout.write(f"{path}: {message}\n")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

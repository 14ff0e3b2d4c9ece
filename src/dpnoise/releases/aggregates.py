"""Private counts, histograms, sums, means and quantiles.

For a sum, each value is clamped to the bounds and rounded to a multiple of a record unit, which
depends on the bounds alone. Multiples are integers: their sum has no rounding, whatever the order,
and changes by exactly the differences of the rounded bounds.

A quantile is drawn exactly by the exponential mechanism on public points (McSherry & Talwar,
"Mechanism design via differential privacy", FOCS 2007). A point y misses the rank q n by
d(y) = max(#{x < y} - q n, q n - #{x <= y}, 0), which one record changes by at most 1; probabilities
are proportional to exp(-epsilon d / 2). Points of equal d form a group; groups are drawn by
comparison of a uniform number with sums of balls.

**Records of people** become numbers by a rule that looks at each record alone. An error, a warning
or a change of how others are read that one record causes is a release without noise. So nothing is
refused for the value of a record: a number beyond all doubles is infinite and is clamped like any
other, and what is no number is NaN, for which each helper has one public rule. Only what is public
is refused: the container, its number of axes and the type of a whole array.

**Categories that are not known beforehand**: only large noisy counts are named. Each category of
the data gets its number of persons plus independent noise X on the integers, and is named if that
is at least a threshold t. A person is in at most m categories. Those that are in the data of others
too are hidden by the noise. A category that nobody else has holds a count of 1 and is named with p
= P(1 + X >= t), so that one of m of them is named with at most 1 - (1 - p)^m, which t makes at most
the delta kept for it, delta_2.

**Proof.** Let P and P' be the outputs without and with the person, f <= delta_2 the chance that a
category of the person's own is named, and Q the output with the person but without these
categories. Noise is independent, so that P' = (1 - f) Q + f R, where R names one. The noise hides
the change of at most m counts: H(P, Q) and H(Q, P) <= delta_1, where H(P, Q) is the largest P(A) -
e^epsilon Q(A). Hence H(P', P) <= f + (1 - f) delta_1. In the other direction P(A) - e^epsilon
(1 - f) Q(A) = (1 - f) (P(A) - e^epsilon Q(A)) + f P(A) <= (1 - f) delta_1 + f. Both are at most
delta_1 + delta_2. Where a person is replaced, categories of either person's own are named with at
most delta_2, all other counts change by at most 1 in at most 2 m categories, and with f and f' for
the two P(A) - e^epsilon P'(A) <= max(f, f') + delta_1 by the same steps. (Korolova, Kenthapadi,
Mishra & Ntoulas, "Releasing search queries and clicks privately", WWW 2009.)

A category is named as it is written in the data. So two records are in one category if type and
text are the same, and of lists only text, numbers, bools, bytes and dates count. An integer of more
digits than Python writes is in none.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._frames import key_of, kind_of, misfits, number_of, records_of
from dpnoise._results import labelled_cells, shortened
from dpnoise._validation import Problems, floats, is_integer
from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise.exact import as_double_above
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.releases.released import Entry, Released, ReleaseRequest
from dpnoise.releases.sums import integer_draws, noisy, read_grid
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.contributions import is_missing, power_below, read_bounds
from dpnoise.sensitivity.relation import REPLACE_ONE, number_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.exact import Entropy
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.releases.groups import Grouping

_MOST = 2**62  # integers that int64 adds without overflow
_TIE = 1.0 + 1e-9  # of variances: the simpler noise comes first
_FINENESS = 2.0**-30  # of the record unit, over the distance of the bounds
_PRECISION = 2.0**-52  # over the larger bound
_FAMILIES = ("gaussian", "truncated-laplace", "flipped-huber")
_POINTS = 2**14
_GUARD, _REFINEMENTS = 64, 10


def integer_noise(sensitivity: int, epsilon: float, delta: float, dimension: int = 1) -> Any:  # noqa: ANN401
    """Noise on the integers of minimum variance, for `dimension` counts that change together."""
    asked = [("discrete-laplace", 0.0), ("discrete-staircase", 0.0), ("discrete-gaussian", delta)]
    return _smallest(asked, epsilon, sensitivity, dimension)


def _smallest(
    asked: list[tuple[str, float]], epsilon: float, sensitivity: float, dimension: int
) -> Any:  # noqa: ANN401
    """The calibrated noise of minimum variance among families, each with a delta of its own."""
    about: Any = {"epsilon": epsilon, "sensitivity": sensitivity, "dimension": dimension}
    found, reasons = [], []
    for family, delta in asked:
        try:
            found.append(calibrate(family, delta=delta, **about))
        except (ValueError, RuntimeError, ArithmeticError) as error:
            reasons.append(f"{family}: {error}")
    if not found:
        message = f"release: no noise found ({'; '.join(reasons)})"
        raise RuntimeError(message)
    enough = min(one.variance for one in found) * _TIE
    return next(one.noise for one in found if one.variance <= enough)


def count(
    records: ArrayLike | None, contribution: int, grouping: Grouping, request: ReleaseRequest
) -> Released:
    """The private number of records."""
    problems = Problems("release.count")
    request.check(problems)
    grouping.refuse(problems)
    good = is_integer(contribution) and contribution >= 1
    problems.require(good, "contribution", "a whole number of at least 1", contribution)
    if is_integer(records):
        number = min(max(int(records), 0), _MOST)
    else:
        number = count_true(problems, "records", records)
    problems.raise_if_any()
    noise = integer_noise(contribution, request.epsilon, request.delta)
    entry = Entry(noise, contribution, relation=request.relation)
    request.charge(entry)
    value = noisy(number, noise, None, request.entropy)
    sentence = request.promise(f"in one count, by at most {contribution}")
    return _answer(value, noise, entry, sentence, **request.said)


def histogram(
    values: ArrayLike,
    edges: ArrayLike | None,
    categories: Any,  # noqa: ANN401  (labels)
    grouping: Grouping,
    request: ReleaseRequest,
) -> Released:
    """The private numbers of records in cells; each person has one record."""
    problems = Problems("release.histogram")
    request.check(problems)
    grouping.refuse(
        problems, "none beside edges or categories (release.count(by=, groups=) takes persons)"
    )
    labels = cells = None
    counts: Any = np.zeros(0, dtype=np.int64)
    one = (edges is None) != (categories is None)
    expected = "one of them (or none with delta above 0, to name large counts only)"
    problems.require(one, "edges, categories", expected, (edges, shortened(categories)))
    if edges is not None:
        cells = floats(problems, "edges", edges)
        rising = cells.ndim == 1 and cells.size > 1 and bool(np.all(cells[1:] > cells[:-1]))
        known = bool(np.isfinite(cells).all())  # else it is recorded
        problems.require(rising or not known, "edges", "at least two rising numbers", edges)
        numbers = read_numbers(problems, "values", values)
        if not problems.found:
            counts = np.histogram(numbers[np.isfinite(numbers)], cells)[0]
    elif categories is not None:
        labels = read_labels(problems, "categories", categories, values)
        records = read_records(problems, "values", values)
        counts = _by_label(labels, records)
    problems.raise_if_any()
    # A record that is replaced leaves one cell and enters another.
    moved = 2 if request.relation == REPLACE_ONE and counts.size > 1 else 1
    noise = integer_noise(1, request.epsilon, request.delta, moved)
    parts: Any = ([noise] * moved, [1] * moved) if moved > 1 else (noise, 1)
    entry = Entry(*parts, relation=request.relation)
    request.charge(entry)
    value = noisy(counts, noise, None, request.entropy)
    promise = request.promise(AtMost(moved, counts.size).words)
    if labels is None:
        value = labelled_cells(values, value, edges=cells)
        return _answer(value, noise, entry, promise, edges=cells, **request.said)
    value = labelled_cells(values, value, categories=labels)
    return _answer(value, noise, entry, promise, categories=tuple(labels), **request.said)


def read_labels(problems: Problems, name: str, labels: Any, values: Any) -> list[Any]:  # noqa: ANN401
    """Public labels that are of the kind of a column; empty where they are refused.

    Only types are compared, which are public: whether any record has a label is not.
    """
    with suppress(TypeError):  # of what is no iterable, or cannot be a label
        listed = list(labels)
        if 0 < len(listed) == len(set(listed)):
            misfit = misfits(listed, values)
            if misfit:
                problems.add(f"{name}: expected labels that are {misfit}")
            return listed
    twice = f"at least one label, each once{_repeated(labels)}"
    problems.require(False, name, twice, shortened(labels))
    return []


def _repeated(labels: Any) -> str:  # noqa: ANN401
    """Which labels are there twice, in words."""
    with suppress(TypeError):
        listed = labels if isinstance(labels, str) else list(labels)
        twice = [one for one, n in Counter(listed).items() if n > 1]
        if twice:
            return f" ({', '.join(map(repr, twice[:3]))} more often)"
    return ""


def _by_label(labels: list[Any], records: list[Any]) -> Any:  # noqa: ANN401  (counts)
    """How many records have each label.

    Records are compared one by one: as an array of one type, a single text among them would turn
    all numbers into texts, and one record would change all counts.
    """
    place = {key_of(label): k for k, label in enumerate(labels)}
    counts = np.zeros(len(labels), dtype=np.int64)
    for record in records:
        with suppress(Exception):  # a record that cannot be a label is in no cell
            if (k := place.get(record)) is not None:
                counts[k] += 1
    return counts


def _answer(value: Any, noise: Any, entry: Entry, promise: str, **cells: Any) -> Released:  # noqa: ANN401
    """The answer with noise on the integers."""
    value = int(value) if np.ndim(value) == 0 else value
    return Released(value, noise, entry, promise, **cells)


def total(
    values: ArrayLike,
    bounds: tuple[float, float],
    grouping: Grouping,
    request: ReleaseRequest,
    *,
    mean: bool,
) -> Released:
    """The private sum, or mean."""
    problems = Problems("release.mean" if mean else "release.sum")
    request.check(problems)
    grouping.refuse(problems)
    low, high = read_bounds(problems, bounds)
    numbers = read_numbers(problems, "values", values)
    if mean and not problems.found:
        expected = f"{REPLACE_ONE!r} (else the number of values is private: release sum and count)"
        public = request.relation == REPLACE_ONE
        problems.require(public, "relation", expected, request.relation)
        problems.require(numbers.size > 0 or not public, "values", "at least one", values)
    problems.raise_if_any()
    unit = max(power_below(high - low) * _FINENESS, power_below(max(-low, high)) * _PRECISION)
    ends = [int(np.rint(end / unit)) for end in (low, high)]
    steps = np.rint(clamped(numbers, low, high) / unit)
    exact = Fraction(_exact_sum(steps)) * Fraction(unit)
    change = ends[1] - ends[0] if request.relation == REPLACE_ONE else max(map(abs, ends))
    size = Fraction(change) * Fraction(unit)
    if mean:
        exact, size = exact / numbers.size, size / numbers.size
    return _released(exact, as_double_above(size), request, "mean" if mean else "sum")


def _exact_sum(steps: Array) -> int:
    """The sum of integers up to 2^54 that are held as doubles, without rounding."""
    upper = np.floor(steps / 2.0**27)
    lower = steps - upper * 2.0**27
    return int(upper.astype(np.int64).sum()) * 2**27 + int(lower.astype(np.int64).sum())


def _released(exact: Fraction, sensitivity: float, request: ReleaseRequest, noun: str) -> Released:
    """An exact rational number with continuous noise."""
    from dpnoise.releases.continuous import Uniform, multiple  # noqa: PLC0415 - brings flint

    delta, entropy = request.delta, request.entropy
    asked = [("staircase", 0.0), *((family, delta) for family in _FAMILIES if delta > 0.0)]
    noise = _smallest(asked, request.epsilon, sensitivity, 1)
    problems = Problems("release")
    step = float(read_grid(problems, np.array([noise.mean_abs()]), None)[0])
    problems.raise_if_any()
    entry = Entry(noise, sensitivity, relation=request.relation)
    request.charge(entry)
    number = multiple(
        exact,
        Fraction(step),
        noise,
        scale=Fraction(1),
        sign=1 - 2 * int(entropy.integers(0, 2)),
        uniform=Uniform(int(entropy.words(1)[0]), entropy),
    )
    value = float(number * Fraction(step))
    promise = request.promise(f"in one {noun}, by at most {number_words(sensitivity)}")
    return Released(value, noise, entry, promise, step, **request.said)


def quantile(
    values: ArrayLike, q: float, bounds: tuple[float, float], request: ReleaseRequest
) -> Released:
    """The private quantile at q."""
    problems = Problems("release.quantile")
    request.check(problems)
    problems.number("q", q, low=0.0, high=1.0)
    low, high = read_bounds(problems, bounds)
    numbers = read_numbers(problems, "values", values)
    problems.raise_if_any()
    points = np.unique(np.linspace(low, high, _POINTS + 1))
    data = np.sort(clamped(numbers, low, high))
    before, upto = (np.searchsorted(data, points, side=side) for side in ("left", "right"))
    target, epsilon = Fraction(float(q)) * numbers.size, float(request.epsilon)
    # Both rise: a group are points in a row.
    first = np.flatnonzero(np.diff(before + upto, prepend=-1))
    sizes = np.diff(first, append=points.size).tolist()
    pairs = zip(before[first].tolist(), upto[first].tolist(), strict=True)
    misses = [max(a - target, target - b, Fraction(0)) for a, b in pairs]
    falls = [miss * Fraction(epsilon) / 2 for miss in misses]
    entry = Entry(epsilon=epsilon, relation=request.relation)
    request.charge(entry)
    group = _drawn(falls, sizes, request.entropy)
    value = float(points[first[group] + request.entropy.integers(0, sizes[group])])
    sentence = request.promise("in one record")
    return Released(value, None, entry, sentence, **request.said)


def _drawn(falls: list[Fraction], sizes: list[int], entropy: Entropy) -> int:
    """The number of a group, with probabilities proportional to its size times exp(-fall)."""
    from flint import arb, ctx  # noqa: PLC0415

    from dpnoise.releases.continuous import Uniform, ball  # noqa: PLC0415 - brings flint

    uniform = Uniform(int(entropy.words(1)[0]), entropy)
    smallest = min(falls)
    # ends: raises
    for _ in range(_REFINEMENTS):
        with ctx.workprec(uniform.bits + _GUARD):
            sums: list[Any] = [arb(0)]
            for fall, size in zip(falls, sizes, strict=True):
                sums.append(sums[-1] + size * (-ball(fall - smallest)).exp())
            last = -uniform.bits - 1
            place = sums[-1] * arb((2 * uniform.word + 1, last), (1, last))
            low, high = 0, len(sizes)
            # ends: halves an interval of integers
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if place < sums[middle] else (middle, high)
            if (low == 0 or place > sums[low]) and (high == len(sizes) or place < sums[high]):
                return low
        uniform.refine()
    raise RuntimeError(f"release.quantile: a draw is not decided by {uniform.bits} bits")


_EXPECTED = "one record of each person, in a list or in an array with one axis"


def read_records(problems: Problems, name: str, values: Any) -> list[Any]:  # noqa: ANN401
    """The records, of an array as Python's own objects; none where the container is refused."""
    found = _column(problems, name, values)
    if isinstance(found, list):
        return found
    listed = records_of(values)
    return list(records_of(found) or []) if listed is None else listed


def read_numbers(problems: Problems, name: str, values: Any) -> Array:  # noqa: ANN401
    """Doubles, one for each record: infinite beyond all doubles, NaN for what is no number."""
    found = _column(problems, name, values)
    if not isinstance(found, list):
        known = getattr(values, "dtype", found.dtype)
        numeric = found.dtype.kind in "biufO" and kind_of(values) in ("numbers", None)
        if not problems.require(numeric, f"type of {name}", "that of numbers, or objects", known):
            return np.zeros(0)
    with np.errstate(all="ignore"):
        if isinstance(found, list) or found.dtype.kind == "O":
            return np.fromiter(map(number_of, found), dtype=float, count=len(found))
        return found.astype(float)


def count_true(problems: Problems, name: str, records: Any) -> int:  # noqa: ANN401
    """How many records are True, or 1 in a list or an array of objects."""
    found = _column(problems, name, records)
    if not isinstance(found, list):
        flags = found.dtype.kind in "bO"
        problems.require(flags, f"type of {name}", "that of bools, or objects", found.dtype)
        if found.dtype.kind != "O":
            return int(np.count_nonzero(found))
    return sum(number_of(record) == 1.0 for record in found)


def _column(problems: Problems, name: str, values: Any) -> Any:  # noqa: ANN401
    """A list of records, or an array with one axis; an empty list where it is refused.

    A list stays one: NumPy would look into arrays among the records, and below their masks.
    """
    if isinstance(values, np.ma.MaskedArray):
        problems.unmasked(name, values)
        return []
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray):
        return list(values)
    known = getattr(values, "dtype", None)
    try:
        # What pandas makes of a nullable column depends on whether an entry is missing.
        found = np.asarray(values, dtype=None if isinstance(known, np.dtype | None) else object)
    except Exception:  # noqa: BLE001  (of whatever container; the message might show a record)
        found = np.asarray(None)
    if found.ndim == 1:
        return found
    got = f"{found.ndim} axes" if found.ndim else type(values).__name__
    problems.add(f"{name}: expected {_EXPECTED}, got {got}")
    return []


def clamped(numbers: Array, low: float, high: float) -> Array:
    """Numbers within public bounds; what is no number counts as the lower one."""
    with np.errstate(all="ignore"):
        return np.clip(np.where(np.isnan(numbers), low, numbers), low, high)


_NAMED = (str, bytes, bool, int, float, dt.date, dt.datetime)
_MOST_OWN = 10_000  # categories of one person
_ROUNDING = 1e-9  # relative, of a tail
_STEPS = 1000


def chance_of_naming(noise: IntegerNoise, threshold: int, m: int) -> Fraction:
    """An upper bound on the chance that one of m categories of a person's own is named."""
    tail = Fraction(float(noise.sf(threshold - 2.0)) * (1.0 + _ROUNDING))
    return 1 - (1 - min(tail, Fraction(1))) ** m


def threshold_of(noise: IntegerNoise, delta: float, m: int) -> int:
    """The least threshold at which that chance is at most delta."""
    each = -math.expm1(math.log1p(-delta) / m)
    found = max(int(noise.isf(each)) + 2, 1)
    # ends: raises
    for _ in range(_STEPS):
        if chance_of_naming(noise, found, m) <= Fraction(delta):
            break
        found += 1
    else:
        raise RuntimeError(f"release.histogram: no threshold found for {noise!r}, delta={delta!r}")
    # ends: counts down to 1
    while found > 1 and chance_of_naming(noise, found - 1, m) <= Fraction(delta):
        found -= 1
    return found


def _noise_and_rest(epsilon: float, delta: float, moved: int) -> tuple[IntegerNoise, float]:
    """Noise of least variance for counts that change together, and the delta left for naming."""
    found: list[tuple[float, IntegerNoise, float]] = []
    # About the least variance of Gaussian noise: where it is larger, no calibration is tried.
    gaussian = moved * float(gaussian_sigma(epsilon, 0.5 * delta)) ** 2
    for spent in (0.0, 0.5 * delta):
        if any(one[0] <= gaussian for one in found):
            break
        try:
            noise = integer_noise(1, epsilon, spent, moved)
        except RuntimeError:  # without epsilon there is no noise without delta
            continue
        found.append((noise.var(), noise, delta - spent))
    if not found:
        message = f"release: no noise found for epsilon={epsilon!r}, delta={delta!r}"
        raise RuntimeError(message)
    _, noise, rest = min(found, key=lambda one: one[0])
    return noise, rest


def unknown_histogram(values: Any, person: Any, at_most: Any, request: ReleaseRequest) -> Released:  # noqa: ANN401
    """The noisy numbers of persons of the categories that are above the threshold."""
    problems = Problems("release.histogram")
    request.check(problems)
    records = read_records(problems, "values", values)
    people = None if person is None else read_records(problems, "person", person)
    if people is not None and len(people) != len(records):
        problems.add("person: expected as many as values, got another number")
    top = 1 if people is None else _MOST_OWN
    good = is_integer(at_most) and 1 <= at_most <= top
    expected = f"a whole number from 1 to {top}" + " without person=" * (people is None)
    problems.require(good, "at_most", expected, at_most)
    problems.raise_if_any()
    m = int(at_most)
    moved = 2 * m if request.relation == REPLACE_ONE else m
    noise, rest = _noise_and_rest(request.epsilon, request.delta, moved)
    threshold = threshold_of(noise, rest, m)
    entry = Entry([noise] * moved, [1] * moved, relation=request.relation, failure=rest)
    rows = zip(range(len(records)) if people is None else people, records, strict=True)
    counts, shown = _counted(rows, m)
    request.charge(entry)
    drawn = integer_draws(noise, len(counts), request.entropy)
    exact = np.array(list(counts.values()), dtype=np.int64)
    noisy = dict(zip(counts, (exact + drawn).tolist(), strict=True))
    named = _sorted({key: shown[key] for key, count in noisy.items() if count >= threshold})
    labels = [shown[key] for key in named]
    numbers = np.array([noisy[key] for key in named], dtype=np.int64)
    sentence = request.promise(
        f"in at most {moved} {'count' if moved == 1 else 'counts'}, each by at most 1, "
        f"named from {threshold} on"
    )
    value = labelled_cells(values, numbers, categories=labels)
    more: Any = {"categories": tuple(labels), "threshold": threshold, **request.said}
    return Released(value, noise, entry, sentence, **more)


def _key(record: Any) -> tuple[str, str] | None:  # noqa: ANN401
    """What tells a category from all others: its type and text; None for what is no category."""
    if type(record) not in _NAMED and not isinstance(record, dt.datetime):
        return None
    with suppress(Exception):  # an integer of too many digits, or a time in a zone of the user
        return None if is_missing(record) else (type(record).__name__, repr(record))
    return None


def _counted(rows: Iterable[tuple[Any, Any]], m: int) -> tuple[dict[Any, int], dict[Any, Any]]:
    """How many persons have each category among their first m, and how each is written."""
    own: dict[Any, set[Any]] = {}
    counts: dict[Any, int] = {}
    shown: dict[Any, Any] = {}
    for person, record in rows:
        one = record.item() if isinstance(record, np.generic) else record
        key = _key(one)
        if key is None or is_missing(person):
            continue
        try:
            kept = own.setdefault(person, set())
        except Exception:  # noqa: BLE001, S112  (of what is no person)
            continue
        if key not in kept and len(kept) < m:
            kept.add(key)
            counts[key] = counts.get(key, 0) + 1
            shown.setdefault(key, one)
    return counts, shown


def _sorted(named: dict[Any, Any]) -> list[Any]:
    """The named categories in an order that depends on them alone."""
    try:
        return sorted(named, key=lambda key: (key[0], named[key]))
    except TypeError:  # of times with and without a zone
        return sorted(named)

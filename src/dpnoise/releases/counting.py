"""Private counts: of records, and of records by cell."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._shown import labelled_cells
from dpnoise._validation import Problems, is_integer
from dpnoise.calibration.calibrate import calibrate
from dpnoise.releases.answers import Entry, Released, Request
from dpnoise.releases.sums import noisy
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.relation import REPLACE_ONE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


MOST = 2**62  # integers that int64 adds without overflow
_TIE = 1.0 + 1e-9  # of variances: the simpler noise comes first


def integer_noise(sensitivity: int, epsilon: float, delta: float, dimension: int = 1) -> Any:  # noqa: ANN401
    """Noise on the integers of minimum variance, for `dimension` counts that change together."""
    asked = [("discrete-laplace", 0.0), ("discrete-staircase", 0.0), ("discrete-gaussian", delta)]
    return smallest(asked, epsilon, sensitivity, dimension)


def smallest(
    asked: list[tuple[str, float]], epsilon: float, sensitivity: float, dimension: int
) -> Any:  # noqa: ANN401
    """The calibrated noise of minimum variance among families, each with a delta of its own."""
    found, reasons = [], []
    for family, delta in asked:
        try:
            found.append(
                calibrate(
                    family,
                    epsilon=epsilon,
                    delta=delta,
                    sensitivity=sensitivity,
                    dimension=dimension,
                )
            )
        except (ValueError, RuntimeError, ArithmeticError) as error:
            reasons.append(f"{family}: {error}")
    if not found:
        message = f"release: no noise found ({'; '.join(reasons)})"
        raise RuntimeError(message)
    enough = min(one.variance for one in found) * _TIE
    return next(one.noise for one in found if one.variance <= enough)


def count(
    records: ArrayLike,
    contribution: int,
    request: Request,
) -> Released:
    """The private number of records."""
    problems = Problems("release.count")
    request.check(problems)
    good = is_integer(contribution) and contribution >= 1
    problems.require(good, "contribution", "a whole number of at least 1", contribution)
    number = 0
    if not problems.unmasked("records", records):
        pass
    elif is_integer(records):
        number = int(records)
        if not 0 <= number <= MOST:
            problems.add("records: expected a number from 0 to 2^62, got another")
    else:
        mask = np.asarray(records)
        flags = mask.dtype == bool and mask.ndim <= 1
        what = f"{mask.dtype}, shape {mask.shape}"
        problems.require(flags, "records", "a number, or an array of bools with one axis", what)
        number = int(np.count_nonzero(mask)) if flags else 0
    problems.raise_if_any()
    noise = integer_noise(contribution, request.epsilon, request.delta)
    entry = Entry(noise, contribution, relation=request.relation)
    request.charge(entry)
    value = noisy(number, noise, None, request.entropy)
    return _answer(value, noise, entry, request.promise(AtMost(1, 1, contribution).words))


def histogram(
    values: ArrayLike,
    edges: ArrayLike | None,
    categories: Any,  # noqa: ANN401  (labels)
    request: Request,
) -> Released:
    """The private numbers of records in cells; each person has one record."""
    problems = Problems("release.histogram")
    request.check(problems)
    problems.unmasked("values", values)
    problems.unmasked("edges", edges)
    one = (edges is None) != (categories is None)
    problems.require(one, "edges, categories", "one of them", (edges, categories))
    problems.raise_if_any()
    labels = cells = None
    if edges is not None:
        cells = np.asarray(edges, dtype=float)
        rising = cells.ndim == 1 and cells.size > 1 and bool(np.all(np.diff(cells) > 0.0))
        rising = rising and bool(np.all(np.isfinite(cells)))
        problems.require(rising, "edges", "at least two finite rising numbers", edges)
        numbers = _numbers(problems, values)
        problems.raise_if_any()
        counts = np.histogram(numbers, cells)[0]
    else:
        labels = list(categories)
        single = 0 < len(labels) == len(set(labels))
        problems.require(single, "categories", "at least one label, each once", categories)
        problems.raise_if_any()
        axes = getattr(values, "ndim", 1)  # of a list, its records
        problems.require(axes == 1, "values", "one axis", axes)
        problems.raise_if_any()
        counts = _by_label(labels, values)
    # A record that is replaced leaves one cell and enters another.
    moved = 2 if request.relation == REPLACE_ONE and counts.size > 1 else 1
    noise = integer_noise(1, request.epsilon, request.delta, moved)
    parts: Any = ([noise] * moved, [1] * moved) if moved > 1 else (noise, 1)
    entry = Entry(*parts, relation=request.relation)
    request.charge(entry)
    value = noisy(counts, noise, None, request.entropy)
    promise = request.promise(AtMost(moved, counts.size).words)
    if labels is None:
        return _answer(
            labelled_cells(values, value, edges=cells), noise, entry, promise, edges=cells
        )
    value = labelled_cells(values, value, categories=labels)
    return _answer(value, noise, entry, promise, categories=tuple(labels))


def _numbers(problems: Problems, values: ArrayLike) -> Any:  # noqa: ANN401  (an array)
    """One number for each person, which may be missing."""
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):  # whose message would show a record
        problems.add("values: expected numbers, got other things")
        return np.zeros(0)
    problems.require(numbers.ndim == 1, "values", "one axis", numbers.shape)
    return numbers


def _by_label(labels: list[Any], values: Any) -> Any:  # noqa: ANN401  (counts)
    """How many records have each label.

    Records are compared one by one: as an array of one type, a single text among them would turn
    all numbers into texts, and one record would change all counts.
    """
    place = {label: k for k, label in enumerate(labels)}
    counts = np.zeros(len(labels), dtype=np.int64)
    for record in values.tolist() if isinstance(values, np.ndarray) else values:
        with suppress(TypeError):  # a record that cannot be a label is in no cell
            if (k := place.get(record)) is not None:
                counts[k] += 1
    return counts


def _answer(value: Any, noise: Any, entry: Entry, promise: str, **cells: Any) -> Released:  # noqa: ANN401
    """The answer with the interval of noise on the integers."""
    value = int(value) if np.ndim(value) == 0 else value
    half = int(noise.isf(0.025))
    return Released(value, noise, (value - half, value + half), entry, promise, **cells)

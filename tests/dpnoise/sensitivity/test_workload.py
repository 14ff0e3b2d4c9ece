"""Workloads: the listed differences against those of people who are added, moved and counted."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dpnoise import (
    Counts,
    FlippedHuber,
    Laplace,
    Staircase,
    Workload,
    best,
    compare,
    vector_profile,
)
from dpnoise.privacy.accounts import bounds
from dpnoise.privacy.odometer.accounts import ExactAccount
from dpnoise.privacy.odometer.releases import independent_ledger
from dpnoise.privacy.vector import known_profile
from dpnoise.sensitivity import workload as module
from for_all import for_all
from refusals import names_every_problem

ADDED, MOVED = {"relation": "add-remove"}, {"relation": "replace-one"}
RNG = np.random.default_rng(3)
RANDOM = RNG.integers(-2, 3, (5, 4)) + 5.0 * np.eye(5, 4)
CASES = [
    Workload.prefix_sums(5, **ADDED),
    Workload.ranges(4, **MOVED),
    Workload.marginals((2, 3), 1, **ADDED),
    Workload(RANDOM, at_most=2, **ADDED),
    Workload(RANDOM, at_most=2, **MOVED),
    Workload(RANDOM, exactly=True, **MOVED),
    Workload(sparse.csr_array(RANDOM / 3.0), **ADDED),
]
every = for_all("given", CASES)


def people(given):
    """All tables of cells that one person may add, as rows."""
    n, m = given.W.shape[1], given.at_most
    sizes = [m] if given.exactly else range(m + 1)
    places = [p for size in sizes for p in itertools.combinations(range(n), size)]
    return np.array([np.isin(np.arange(n), p).astype(float) for p in places])


def answers(given):
    """Every difference between the answers on neighbouring data sets, as rows, by enumeration."""
    each = people(given)
    if given.relation == "add-remove":
        cells = each
    else:
        cells = np.array([a - b for a in each for b in each])
    return cells @ given.W.toarray().T


@every
def test_sizes_are_those_of_all_pairs_of_neighbours(given):
    """Box, l1 and l2 norm, entries that move, and power sums, rounded up by little."""
    d = answers(given)
    close = {"rtol": 1e-11, "atol": 0.0}
    assert np.allclose(given.box, np.max(np.abs(d), axis=0), **close)
    assert given.box.max() >= np.abs(d).max()
    for power, size in ((1, given.l1), (2, given.l2**2)):
        most = np.max(np.sum(np.abs(d) ** power, axis=1))
        assert most <= size * (1 + 1e-16) <= most * (1 + 1e-11) * (1 + 1e-16)
        w = RNG.uniform(0.1, 2.0, given.dimension)
        weighted = np.max(np.sum((w * np.abs(d)) ** power, axis=1))
        found = float(given.largest_power_sum([module.Fraction(x) for x in w.tolist()], power))
        assert weighted * (1 - 1e-15) <= found <= weighted * (1 + 1e-11)
    assert given.differences.moved == np.max(np.count_nonzero(d, axis=1))


@every
def test_support_norm_and_list_agree_with_the_enumeration(given):
    """The support function is the largest a'd; every difference has norm at most 1 or 0."""
    d = answers(given)
    a = RNG.standard_normal((20, given.dimension))
    assert np.allclose(given.support(a), np.max(np.abs(a @ d.T), axis=1), rtol=1e-12)
    assert np.max(given.norm(d[:40])) <= 1.0 + 1e-9
    listed = given.vertices()
    assert np.all(given.differences.holds(listed))
    assert np.all(given.differences.holds(-listed))
    assert not given.differences.holds(0.5 * listed[0])
    assert not given.convex
    same = np.max(np.abs(a @ listed.T), axis=1)
    assert np.allclose(given.support(a), same, rtol=1e-12)


def test_what_cancels_in_a_difference_is_not_lost():
    """Of a + b - c - d in doubles little is left where all are nearly equal, in fractions all."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        W = rng.uniform(1.0, 2.0, (2, 1)) + rng.integers(0, 4, (2, 5)) * [[2.0**-52], [2.0**-40]]
        given = Workload(W, at_most=2, exactly=True, **MOVED)
        each = people(given).astype(int)
        cells = np.unique([a - b for a in each for b in each], axis=0)
        d = cells @ np.vectorize(Fraction)(W.T)  # exact
        assert np.all(np.max(np.abs(d), axis=0) <= given.box)
        assert np.count_nonzero(d, axis=1).max() <= given.differences.moved
        weights = [Fraction(1), Fraction(1, 2**12)]
        for power in (1, 2):
            most = np.max(np.sum((np.abs(d) * weights) ** power, axis=1))
            assert most <= given.largest_power_sum(weights, power)
        assert np.max(np.sum(d * d, axis=1)) <= Fraction(given.l2) ** 2
        a = rng.standard_normal(2)
        assert np.max(d @ np.vectorize(Fraction)(a)) <= Fraction(float(given.support(a)))


def test_constructors_ask_what_they_say():
    """Cumulative sums, sums of slices and tables of a data frame, all by another way."""
    x = RNG.integers(0, 50, 24)
    assert np.array_equal(Workload.prefix_sums(24, **ADDED).W @ x, np.cumsum(x))
    ranges = [x[i : j + 1].sum() for i in range(24) for j in range(i, 24)]
    assert np.array_equal(Workload.ranges(24, **ADDED).W @ x, ranges)
    table = x.reshape(2, 3, 4)
    tables = [table.sum(axis=2), table.sum(axis=1), table.sum(axis=0), table.sum()]
    found = Workload.marginals((2, 3, 4), (2, 0), **ADDED).W @ x
    assert np.array_equal(found, np.concatenate([part.ravel() for part in tables]))
    columns = {
        name: pd.Categorical.from_codes(RNG.integers(0, k, 60), list(range(k)))
        for name, k in (("a", 2), ("b", 3), ("c", 4))
    }
    frame = pd.DataFrame(columns)
    cells = frame.groupby(["a", "b", "c"], observed=False).size()
    asked = Workload.of(frame, by=["a", "b", "c"], ways=2, **ADDED)
    pairs = [
        pd.crosstab(frame[p], frame[q], dropna=False).to_numpy().ravel()
        for p, q in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    assert np.array_equal(asked.W @ cells.to_numpy(), np.concatenate(pairs))


def test_one_question_for_each_cell_is_the_set_of_counts():
    """W = I: sizes of `Counts`, and the same promise of Gaussian noise."""
    given, counts = Workload(np.eye(6), at_most=2, **MOVED), Counts(2, of=6, **MOVED)
    assert given.l1 == pytest.approx(counts.l1)
    assert given.l2 == pytest.approx(counts.l2)
    budget = {"epsilon": 1.0, "delta": 1e-6, "family": "gaussian", "integer": False}
    assert best(given, **budget).variance == pytest.approx(best(counts, **budget).variance)
    assert given.stating("replace-one") is given
    with pytest.raises(ValueError, match="relation"):
        given.stating("add-remove")


test_bad_input_is_named = names_every_problem(
    [
        (lambda: Workload(np.zeros((2, 2)), **ADDED), ["questions", "cells", "zeros alone"]),
        (lambda: Workload([[np.nan, 1.0]], **ADDED), ["finite"]),
        (lambda: Workload(sparse.csr_array([[np.nan, 1.0]]), **ADDED), ["finite"]),
        (lambda: Workload([1.0, 2.0], **ADDED), ["shape of W"]),
        (lambda: Workload([[1, 1], [0, 0]], **ADDED), ["questions", "[1]"]),
        (lambda: Workload([[1, 0], [1, 0]], **ADDED), ["cells (columns)", "[1]"]),
        (lambda: Workload(np.eye(3), at_most=4, **ADDED), ["at_most"]),
        (lambda: Workload(np.eye(3), exactly=True, **ADDED), ["replace-one"]),
        (lambda: Workload([[2, 2, 2]], exactly=True, **MOVED), ["one person changes an answer"]),
        (lambda: Workload.prefix_sums(5000, **ADDED), ["4096"]),
        (lambda: Workload.prefix_sums(200, **MOVED), ["listed"]),
        (lambda: Workload.marginals((2, -1), 5, **ADDED), ["shape", "ways"]),
        (
            lambda: Workload.of(pd.DataFrame({"a": [1]}), by=["a", "b"], **ADDED),
            ["categories", "'b'"],
        ),
        (lambda: Workload.of([1], by=["a"], **ADDED), ["data frame"]),
        (lambda: Workload.prefix_sums(4, **ADDED).sample(3), ["volume"]),
    ]
)


def test_more_memory_than_there_is_is_refused_before_it_is_taken(monkeypatch):
    """With 1 MiB left the ranges of 256 cells are refused, and those of 8 are not."""
    pages = {"SC_AVPHYS_PAGES": 2**8, "SC_PAGE_SIZE": 2**12}
    monkeypatch.setattr(module.os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(module.os, "sysconf_names", pages)
    with pytest.raises(ValueError, match="GiB"):
        Workload.ranges(256, **ADDED)
    assert Workload.ranges(8, **ADDED).dimension == 36


def test_noise_by_coordinate_hides_the_worst_column():
    """Of Laplace and Gaussian noise the certified loss and mu are those of the largest column."""
    given = Workload.prefix_sums(6, **ADDED)
    table = compare(given, epsilon=1.0, delta=1e-5, exhaustive=False)
    laplace = table["Laplace"].noise
    losses = np.sum(np.abs(answers(given)) / laplace.scales, axis=1)
    assert np.max(losses) == pytest.approx(1.0)
    assert np.max(losses) <= 1.0
    assert math.isclose(
        float(np.min(table["Gaussian"].noise.scales)), float(np.max(table["Gaussian"].noise.scales))
    )


@for_all("noise", [Laplace(1.0), Staircase(0.7, 3.0, 0.4), FlippedHuber(0.5, 2.0)])
@for_all("given", [Workload([[1, 0], [0, 100]], **ADDED), *CASES[3:6:2]])
@for_all("uneven", [True, False])
def test_a_budget_is_charged_for_the_worst_column(noise, given, uneven):
    """Whichever coordinates it moves: their largest changes differ, and so may the scales."""
    scales = np.geomspace(1.0, 9.0, given.dimension) if uneven else np.ones(given.dimension)
    charged = independent_ledger(noise, scales, given)
    total = ExactAccount(1.0, 1e-6).delta_of(charged, 1.0)
    for d in np.unique(np.abs(answers(given)), axis=0):
        loss = sum(float(noise.largest_loss(x)) for x in (d / scales)[d > 0].tolist())
        assert charged.pure >= loss * (1.0 - 1e-12)
        shares = [(noise, x, 1) for x in (d / scales)[d > 0].tolist()]
        assert not shares or total >= known_profile(shares, 1.0).lower
    if isinstance(noise, Laplace):  # it says so where that is too much
        alone = given.largest_power_sum([1 / Fraction(x) for x in scales.tolist()], 1)
        assert bool(charged.counted_as) == (charged.pure > alone * (1 + Fraction(2) ** -40))


def test_lower_bounds_are_those_of_a_difference():
    """The largest changes of both answers do not come together, which a lower bound may not use."""
    given = Workload([[1.0, 0.1], [0.1, 1.0]], **ADDED)
    found = bounds(Laplace(0.5), given, 1.0)
    true = vector_profile([Laplace(0.5)] * 2, [1.0, 0.1], 1.0)
    assert 0.0 < found.lower <= true.upper
    assert true.lower <= found.upper


def test_a_matrix_that_is_changed_later_changes_nothing():
    """Sparse arrays are copied, and kept as they were."""
    W = sparse.csr_array(np.tri(4))
    given = Workload(W, **ADDED)
    W.data[:] = 7.0
    assert given == Workload.prefix_sums(4, **ADDED)
    twice = sparse.csr_array((np.ones(2), ([0, 0], [0, 0])), shape=(1, 1))
    assert Workload(twice, **ADDED).l1 == 2.0

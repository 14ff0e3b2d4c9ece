"""Random streams belong to their scope, and to nothing else."""

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from dpnoise_papers.seeds import generator

COUNT = 20_000


def draw(*scope, seed=2023, count=8):
    return generator(seed, *scope).random(count)


def test_one_scope_is_one_stream_whatever_was_drawn_in_between():
    first = draw("table-3", "noise", 5, 0)
    np.random.default_rng(0).random(100)
    draw("table-3", "noise", 5, 1, count=1000)
    assert np.array_equal(draw("table-3", "noise", 5, 0), first)
    # a longer draw continues the stream instead of changing it
    assert np.array_equal(draw("table-3", "noise", 5, 0, count=100)[:8], first)


def test_another_process_draws_the_same_whatever_its_hash_seed():
    code = "from dpnoise_papers.seeds import generator as g\n"
    code += "print(g(2023, 'a', 1, 0.5).integers(2**62))"
    drawn = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert drawn == {str(generator(2023, "a", 1, 0.5).integers(2**62))}


@pytest.mark.parametrize(
    "scopes",
    [
        [(1,), (1.0,), ("1",), (True,), ("1.0",)],
        [("a", "b"), ("ab",), ("b", "a"), ("a\x1fb",), ("a\x1fstr:b",), ("a", "b", ""), ("a, b",)],
        [(), ("",), (0,), (0, 0), (0.0,), (-0.0,)],
        [("noise", 1, 23), ("noise", 12, 3), ("noise", 123)],
    ],
)
def test_scopes_that_differ_are_different_streams(scopes):
    drawn = [draw(*scope) for scope in scopes]
    assert all(not np.array_equal(a, b) for a, b in combinations(drawn, 2))


def test_seeds_that_differ_are_different_streams():
    # the second pair would coincide if the seed were pasted onto the scope without a mark
    assert not np.array_equal(draw("a", seed=1), draw("a", seed=2))
    assert not np.array_equal(draw(1, seed=1), draw(seed=11))
    assert np.array_equal(draw("a", seed=7), draw("a", seed=np.int64(7)))


def test_neighbouring_streams_are_uniform_and_uncorrelated():
    """False-alarm rate 1e-4 in all: 10 uniformity tests and 45 correlations, each at 1e-4/55."""
    streams = np.array([draw("table-3", "noise", 5, trial, count=COUNT) for trial in range(10)])
    level = 1e-4 / 55
    assert all(stats.kstest(stream, "uniform").pvalue > level for stream in streams)
    correlations = np.corrcoef(streams)[np.triu_indices(10, 1)]
    # sqrt(n) times a correlation of independent uniforms is standard normal for n this large
    assert np.abs(correlations).max() * np.sqrt(COUNT) < stats.norm.isf(level / 2)


@pytest.mark.parametrize("seed", [-1, True, 1.0, "1", None, float("nan"), np.float64(3)])
def test_a_seed_that_is_no_whole_number_is_refused(seed):
    with pytest.raises(ValueError, match="seed: expected a non-negative integer, got"):
        generator(seed, "a")

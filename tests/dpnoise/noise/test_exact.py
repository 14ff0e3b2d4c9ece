"""Random events with exactly the probabilities asked for."""

from fractions import Fraction

import mpmath as mp
import numpy as np

from dpnoise.noise.exact import _decided, bernoulli_exp, geometric


def test_close_calls_are_decided_exactly():
    """Words on either side of exp(-x), to 64 bits and beyond."""
    for x in (Fraction(1, 3), Fraction(7), Fraction(10**6 + 1, 10**6)):
        with mp.workdps(120):
            exact = mp.exp(-mp.mpf(x.numerator) / x.denominator) * 2**64
        word, rest = int(exact), exact - int(exact)
        rng = np.random.default_rng(0)
        assert _decided(rng, word - 1, x)
        assert not _decided(rng, word + 1, x)
        decided = sum(_decided(rng, word, x) for _ in range(400))
        assert abs(decided - 400 * rest) < 5 * 10
    assert _decided(np.random.default_rng(0), 5, Fraction(0))


def test_certain_and_impossible_events():
    rng = np.random.default_rng(1)
    assert bernoulli_exp(rng, np.zeros(1000), lambda _: Fraction(0)).all()
    assert not bernoulli_exp(rng, np.full(1000, 800.0), lambda _: Fraction(800)).any()
    assert geometric(rng, Fraction(700), 1000).sum() == 0

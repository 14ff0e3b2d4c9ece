"""What the tests of certificates share."""

import pytest

from dpnoise.certificates import checker


@pytest.fixture
def once(monkeypatch):
    """The profile of Gaussian noise is computed once for one question, of whoever asks."""
    known, compute = {}, checker.gaussian

    def gaussian(square, epsilon):
        asked = square.lo, square.hi, epsilon
        if asked not in known:
            known[asked] = compute(square, epsilon)
        return known[asked]

    monkeypatch.setattr(checker, "gaussian", gaussian)

"""Transforms on stretches of outputs, beside quadrature of densities."""

import math

import numpy as np
import pytest
from flint import acb, arb, ctx

from dpnoise.privacy.sampled import stretches
from dpnoise.privacy.sampled.pairs import (
    ADDED,
    FIXED,
    GAUSSIAN,
    LAPLACE,
    REMOVED,
    REPLACED,
    Kind,
    pair_of,
)
from dpnoise.privacy.sampled.relations import loss_of
from oracles import samples

CASES = [(20.0, 0.01), (1.0, 0.9)]
PAIRS = [(LAPLACE, REMOVED), (LAPLACE, ADDED), (GAUSSIAN, REPLACED), (LAPLACE, REPLACED)]


@pytest.mark.parametrize(("noise", "form"), [*PAIRS, (GAUSSIAN, FIXED), (LAPLACE, FIXED)])
@pytest.mark.parametrize(("size", "rate"), CASES)
def test_the_transform_is_the_integral(noise, form, size, rate):
    fixed = form == FIXED
    kind = Kind(size, rate, noise, FIXED if fixed else "poisson")
    pair = pair_of(kind, REPLACED if fixed else form)
    own = loss_of(pair, -math.inf, 1.0)
    for c, u in ((1.0, 20.0), (-0.5, 2.0)):
        with ctx.workdps(25):
            reference = complex(samples.transform(noise, form, pair.shift, rate, acb(c, u)))
        line = own.line(c)
        atoms, rest, error = line.values(np.array([u]))
        norm = math.exp(line.log_norm)
        allowed = (error[0] + 2.0 * line.norm_error) * norm
        assert abs((atoms[0] + rest[0]) * norm - reference) <= allowed + 1e-14 * norm
        assert allowed <= 1e-10 * norm


@pytest.mark.parametrize(
    ("noise", "form", "c"),
    [
        (LAPLACE, REMOVED, 300.0),
        (LAPLACE, ADDED, 1000.0),
        (LAPLACE, REPLACED, 1000.0),
        (GAUSSIAN, FIXED, 300.0),
    ],
)
def test_outputs_that_do_not_count_at_a_large_tilt_are_in_the_error(monkeypatch, noise, form, c):
    fixed = form == FIXED
    kind = Kind(5.0, 0.01, noise, FIXED if fixed else "poisson")
    pair = pair_of(kind, REPLACED if fixed else form)
    if noise == LAPLACE:
        with ctx.workdps(40):
            ball = samples.transform(noise, form, pair.shift, kind.rate, arb(c))
            reference = float(ball.real.log())
    else:  # beyond the reach of the integral: by all outputs
        with monkeypatch.context() as patch:
            patch.setattr(stretches, "_NEAR", math.inf)
            (reference,), _ = loss_of(pair, -math.inf, 1.0).log_real(np.array([c]))
    for rarer in (60.0, 3.0):
        monkeypatch.setattr(stretches, "_RARER", rarer)
        (found,), (error,) = loss_of(pair, -math.inf, 1.0).log_real(np.array([c]))
        assert abs(found - reference) <= error + 1e-14 * abs(reference)
        assert error <= (1e-8 if rarer == 60.0 else 1.0)


@pytest.mark.parametrize("noise", [GAUSSIAN, LAPLACE])
@pytest.mark.parametrize("form", [REPLACED, FIXED])
@pytest.mark.parametrize(("size", "rate"), CASES)
def test_no_value_is_above_its_envelope(noise, form, size, rate):
    kind = Kind(size, rate, noise, FIXED if form == FIXED else "poisson")
    line = loss_of(pair_of(kind, REPLACED), -math.inf, 1.0).line(2.0)
    u = np.geomspace(1e-2, 300.0, 40)
    size_of = np.abs(line.values(u)[1])
    later = np.maximum.accumulate(size_of[::-1])[::-1]
    bound = line.envelope(u, 1.0)
    assert np.all(later <= bound + 1e-12)
    assert np.all(np.diff(bound) <= 0.0)


def test_the_profile_of_the_continuous_part_is_the_integral():
    pair = pair_of(Kind(2.0, 0.3, LAPLACE), REMOVED)
    loss, q, m = loss_of(pair, -math.inf, 1.0), 0.3, 0.5
    found, error, slope = loss.continuous_delta(np.array([-0.05, 0.0, 0.1, 1.0]))

    def term(y, x):
        one, two = samples.densities(LAPLACE, REMOVED, m, q, y, at=0.5 * m)
        return (one - math.exp(x) * two) / 2

    for k, x in enumerate((-0.05, 0.0, 0.1, 1.0)):
        inner = (math.exp(x) - 1) / q + 1
        low = min(max((math.log(inner) + m) / 2, 0.0), m)
        reference = float(acb.integral(lambda y, _, x=x: term(y, x), low, m).real)
        assert abs(found[k] - reference) <= error[k] + 1e-14
        assert error[k] <= 1e-12
    assert np.all(np.diff(found) <= 0.0)
    assert np.all(slope >= 0.0)

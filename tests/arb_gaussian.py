"""A certificate for Gaussian noise in ball arithmetic: every rounding error is enclosed."""

from flint import arb, ctx

_LEAST, _GREATEST = 128, 2**15  # bits
EXCESS = 1e-12


def _delta(mu, epsilon):
    """Return a ball that holds Q(a - h) - e^epsilon Q(a + h), a = epsilon/mu, h = mu/2."""
    a, h, root = epsilon / mu, mu / 2, arb(2).sqrt()
    return (((a - h) / root).erfc() - epsilon.exp() * ((a + h) / root).erfc()) / 2


def is_private(epsilon, delta, sigma, sensitivity=1.0, *, widen=0.0):
    """Return whether sigma / (1 + widen) is (epsilon, delta)-DP: a proof, in both directions.

    The arguments are doubles and are taken as exact.
    """
    before, bits = ctx.prec, _LEAST
    try:
        while bits <= _GREATEST:
            ctx.prec = bits
            mu = arb(float(sensitivity)) / arb(float(sigma)) * (1 + arb(widen))
            ball = _delta(mu, arb(float(epsilon)))
            if ball <= arb(float(delta)):
                return True
            if ball > arb(float(delta)):
                return False
            bits *= 2
    finally:
        ctx.prec = before
    message = f"undecided at {_GREATEST} bits: epsilon={epsilon!r}, delta={delta!r}"
    raise ArithmeticError(message)


def certify(epsilon, delta, sigma, sensitivity=1.0):
    """Assert that sigma is private and less than 1e-12 above the least that is."""
    case = (float(epsilon), float(delta), float(sigma))
    assert is_private(epsilon, delta, sigma, sensitivity), case
    assert not is_private(epsilon, delta, sigma, sensitivity, widen=EXCESS), case

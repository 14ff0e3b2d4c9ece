"""Mass of the slides' Huber density against quadrature."""

import math

import pytest
from scipy import integrate, special

from dpnoise.noise import Huber
from dpnoise_papers.flipped_huber_slides.settings import HuberMass
from dpnoise_papers.flipped_huber_slides.tables.huber_mass import huber_mass


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5])
def test_mass_of_the_huber_density(alpha):
    table = huber_mass(HuberMass(alphas=(alpha,))).set_index("reading")
    phi = math.exp(-(alpha**2) / 2) / math.sqrt(2 * math.pi)
    tau = 1 / (1 + alpha / (2 * (phi - alpha * special.ndtr(-alpha))))

    def printed(t):
        if t <= alpha:
            return (1 - tau) * math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
        return (1 - tau) * math.exp(-alpha * (t - alpha / 2))

    mass = 2 * sum(integrate.quad(printed, *ends)[0] for ends in ((0, alpha), (alpha, math.inf)))
    assert table.loc["printed", "mass"] == pytest.approx(mass, rel=1e-9)
    assert table.loc["corrected", "mass"] == pytest.approx(1.0, rel=1e-12)
    assert table.loc["corrected", "jump"] == pytest.approx(0.0, abs=1e-12)
    # corrected, it is the package's Huber noise
    noise = Huber(alpha)
    assert noise.pdf(0.0) == pytest.approx((1 - tau) / math.sqrt(2 * math.pi), rel=1e-9)

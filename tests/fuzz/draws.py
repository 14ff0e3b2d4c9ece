"""Parameters: round numbers, exact coincidences, their neighbours, and numbers of any size."""

import math
from fractions import Fraction

from dpnoise.noise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
)
from fuzz.coordinates import Pieces, Steps, coordinate

ROUND = [0.01, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 8.0, 10.0, 16.0, 100.0]
SMALL = ROUND[2:14]
POWERS = [1.0, 1.0 + 2.0**-52, 1.01, 1.1, 1.5, 2.0 - 2.0**-52, 2.0, 2.0 + 2.0**-51]
POWERS += [2.5, 3.0, 4.0, 10.0, 50.0, 294.0, 300.0, 500.0, 1000.0]
FAMILIES = [
    Gaussian,
    Laplace,
    FlippedHuber,
    OffsetSymmetricGaussian,
    TruncatedLaplace,
    Huber,
    Subbotin,
    Staircase,
]
COPIES = [2, 2, 2, 3, 3, 4, 5, 6, 8, 10, 20, 50, 100]


class Draws:
    """Random parameters from one generator.

    Parameters
    ----------
    rng : numpy.random.Generator
        The source of all randomness.
    """

    def __init__(self, rng):
        self.rng = rng

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def between(self, low, high):
        """Return a number whose logarithm is uniform."""
        return float(math.exp(self.rng.uniform(math.log(low), math.log(high))))

    def near(self, value, share=0.15):
        """Return a value, at times one a few units in the last place away."""
        value = float(value)
        if not self.chance(share) or value == 0.0:
            return value
        for _ in range(int(self.rng.integers(1, 5))):
            value = math.nextafter(value, self.pick([0.0, math.inf]))
        return value

    def size(self, low=1e-2, high=1e2):
        """Return a positive number, round more often than not."""
        return self.near(self.pick(SMALL)) if self.chance(0.65) else self.between(low, high)

    def multiple(self, unit):
        """Return a small multiple of a length, or a length of its own."""
        if self.chance(0.4):
            return self.near(unit * self.pick([0.25, 0.5, 1.0, 1.0, 1.5, 2.0, 2.0, 3.0, 5.0]), 0.3)
        return self.size()

    def noise(self, family, shift=1.0, *, several=False):
        """Return noise of a family, often one whose lengths coincide with the shift."""
        if family is Staircase:
            return self._staircase(shift, several=several)
        length, scale = self.multiple(shift), self.size(0.1)
        centre = 0.0 if self.chance(0.1) else length
        p = self.pick(POWERS) if self.chance(0.7) else 1.0 + self.between(1e-3, 20.0)
        parameters = {
            Gaussian: (scale,),
            Laplace: (length,),
            FlippedHuber: (centre, scale),
            OffsetSymmetricGaussian: (centre, scale),
            TruncatedLaplace: (scale, length),
            Huber: (self.near(length / scale), scale),
            Subbotin: (p, length),
        }
        return family(*parameters[family])

    def _staircase(self, shift, *, several):
        width = self.multiple(shift)
        if several and width < shift:
            width = shift
        gamma = self.pick([0.25, 0.5, 0.75, 0.1, 0.9]) if self.chance(0.5) else self.rng.random()
        epsilon = self.pick(SMALL) if self.chance(0.6) else self.between(0.05, 10.0)
        return Staircase(self.near(epsilon), width, min(max(self.near(gamma), 1e-6), 1.0 - 1e-9))

    def atoms(self, noise, shift):
        """Return values of the loss at the ends of its stretches, and a unit of them."""
        part = coordinate(noise, shift)
        if isinstance(part, Steps):
            return [k * noise.epsilon for k in range(-3, 4)]
        if not isinstance(part, Pieces):
            return [0.0]
        values = [float(v) for v in part.heights if abs(v) < 1e6]
        return [*values, self.flat(noise, shift)]

    def flat(self, noise, shift):
        """Return the value that the loss keeps along a stretch if it does, rounded once; or 0."""
        rates = {
            Laplace: lambda: 1 / Fraction(noise.beta),
            TruncatedLaplace: lambda: 1 / Fraction(noise.beta),
            Huber: lambda: Fraction(noise.alpha) / Fraction(noise.scale),
            FlippedHuber: lambda: Fraction(noise.alpha) / Fraction(noise.gamma) ** 2,
            Staircase: lambda: Fraction(noise.epsilon) / Fraction(shift),
        }
        if type(noise) not in rates or (isinstance(noise, FlippedHuber) and noise.alpha < shift):
            return 0.0
        return float(rates[type(noise)]() * Fraction(shift))

    def epsilon(self, shares, *, most=60.0):
        """Return an epsilon for (noise, shift, copies), often a sum of special losses."""
        mode = self.rng.random()
        if mode < 0.12:
            return 0.0
        if mode < 0.35:
            return self.near(self.pick(ROUND[:15]))
        if mode < 0.75:
            total = Fraction(0)
            for noise, shift, copies in shares:
                values = self.atoms(noise, shift)
                if self.chance(0.5):
                    # Where so many copies gain the value of a stretch, and the others lose it.
                    gained = copies - 2 * int(self.rng.integers(0, copies // 2 + 1))
                    total += Fraction(self.flat(noise, shift)) * gained
                elif self.chance(0.5):
                    total += Fraction(self.pick(values)) * int(self.rng.integers(0, copies + 1))
                else:
                    total += sum(Fraction(self.pick(values)) for _ in range(min(copies, 4)))
            return min(self.near(abs(float(total)), 0.3), most)
        return self.between(1e-3, 20.0)

    def moderate(self, noise, shift, low=1e-3, high=20.0):
        """Return whether the shift is neither tiny nor huge beside the noise."""
        return low <= shift / noise.mean_abs() <= high

    def pair(self, family, *, several=False):
        """Return noise and a sensitivity of its size."""
        while True:
            shift = 1.0 if self.chance(0.4) else self.size(0.05, 20.0)
            noise = self.noise(family, shift, several=several)
            wide = several and isinstance(noise, Staircase) and noise.sensitivity < shift
            if self.moderate(noise, shift) and not wide:
                return noise, shift

    def delta(self):
        """Return a positive delta."""
        if self.chance(0.5):
            return 10.0 ** -int(self.rng.integers(1, 13))
        return (
            self.near(self.pick([0.05, 0.1, 0.25, 0.5]))
            if self.chance(0.3)
            else self.between(1e-12, 0.5)
        )

"""Mass under the density that the slides print for Huber's distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
from scipy import special

if TYPE_CHECKING:
    from dpnoise_papers.flipped_huber_slides.settings import HuberMass


def huber_mass(settings: HuberMass) -> pd.DataFrame:
    """Mass under Huber's density as printed and with continuous tails.

    The slides give (1 - tau) phi(t) up to alpha and (1 - tau) exp(-alpha (|t| - alpha / 2))
    beyond. Continuity at alpha needs the factor 1 / sqrt(2 pi) of phi in the tail too.

    Per alpha and reading ("printed", "corrected"): columns alpha, reading, mass and jump (of the
    density at alpha, relative to its value below).
    """
    rows = []
    for alpha in settings.alphas:
        phi = math.exp(-alpha * alpha / 2.0) / math.sqrt(2.0 * math.pi)
        tau = 1.0 / (1.0 + alpha / (2.0 * (phi - alpha * special.ndtr(-alpha))))
        centre = 1.0 - 2.0 * special.ndtr(-alpha)
        for variant, factor in (("printed", 1.0), ("corrected", 1.0 / math.sqrt(2.0 * math.pi))):
            edge = factor * math.exp(-alpha * alpha / 2.0)
            mass = (1.0 - tau) * (centre + 2.0 * edge / alpha)
            rows.append((alpha, variant, mass, edge / phi - 1.0))
    return pd.DataFrame(rows, columns=["alpha", "reading", "mass", "jump"])

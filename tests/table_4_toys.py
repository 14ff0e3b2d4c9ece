"""Small tables of Table IV, which several test modules read: each is made once."""

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dpnoise_papers.claims.published import read_claims
from dpnoise_papers.inid_2024.learning_settings import DeepLearning
from dpnoise_papers.inid_2024.table_4 import noise
from dpnoise_papers.inid_2024.table_4.noise import table_4, table_4_laplace

CLAIMS = Path(__file__).parents[1] / "published" / "inid-2024.csv"
SIZES = np.array([30.0, 30.0, 1000.0])
_SETTINGS = DeepLearning(
    samples=1000,
    rate=0.1,
    epochs=500,  # per step most variants lose little, which is accounted fast
    layers=[[2, 30], [1, 1000]],
    budgets=[
        {"noise": "gaussian", "delta": 1e-5, "epsilon": 5.0},
        {"noise": "gaussian", "delta": 1e-5, "epsilon": 8.0},
        {"noise": "laplace", "delta": 0.0, "epsilon": 8.0},
        {"noise": "laplace", "delta": 0.0, "epsilon": 3.0},  # no Gaussian row beside it
    ],
)


@cache
def cells():
    """Noise of every cell."""
    return table_4(_SETTINGS, claims=read_claims(CLAIMS))


@cache
def variants(*names):
    """Some variants of Laplace noise, or all of them without what they guarantee."""
    with pytest.MonkeyPatch.context() as patch:
        if names:
            patch.setattr(noise, "VARIANTS", {name: noise.VARIANTS[name] for name in names})
        else:  # which takes long
            patch.setattr(noise._Account, "epsilons", lambda *_: (math.nan,) * 4)
        return table_4_laplace(_SETTINGS, claims=read_claims(CLAIMS))

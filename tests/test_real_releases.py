"""The page on releases that were made: its data and its picture (its examples run elsewhere)."""

import csv
import math
import runpy

import numpy as np
import pytest

from document_pages import ROOT, coordinates
from dpnoise import Gaussian, privacy_profile

DOCS = ROOT / "docs"
MADE = runpy.run_path(str(DOCS / "releases" / "picture.py"))


def rows():
    with (DOCS / "releases" / "printed.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_release_is_told_of_with_its_numbers():
    text = (DOCS / "real-releases.md").read_text(encoding="utf-8")
    for row in rows():
        assert row["release"] in text
        assert row["epsilon"] in row["said"]


def test_the_exact_epsilon_is_exact_and_never_above_the_bound_by_rho():
    for row, (name, printed, exact, share) in zip(rows(), MADE["printed"](), strict=True):
        delta, rho = float(row["delta"]), float(row["rho"])
        sigma = 1.0 / math.sqrt(2.0 * rho)
        assert name == row["release"]
        assert privacy_profile(Gaussian(sigma), 1.0, exact) == pytest.approx(delta, rel=1e-6)
        assert exact < rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))
        assert (share <= 1.0) == (exact <= printed)
        assert privacy_profile(Gaussian(sigma * math.sqrt(share)), 1.0, printed) <= delta


def test_no_least_noise_is_below_its_floor():
    for _, share, floor in MADE["vectors"]():
        assert floor <= share <= 1.0 + 1e-9


def test_the_picture_is_not_stale(tmp_path):
    made = tmp_path / "made.svg"
    MADE["write"](made)
    kept = coordinates(DOCS / "images" / "real-releases.svg")
    assert kept.shape == coordinates(made).shape
    assert np.allclose(kept, coordinates(made), atol=0.01)

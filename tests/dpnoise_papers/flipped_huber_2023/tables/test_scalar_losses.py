"""Figures 5 to 7 of flipped-huber-2023 as tables: losses, bounds and profiles."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from dpnoise.noise import FlippedHuber, Gaussian, OffsetSymmetricGaussian
from dpnoise_papers.flipped_huber_2023.settings import (
    LossAndBound,
    LossesAtOneScale,
    ProfilesAtOneVariance,
)
from dpnoise_papers.flipped_huber_2023.tables.scalar_losses import (
    loss_and_bound,
    losses_at_one_scale,
    profiles_at_one_variance,
)

FIGURE_5 = {"alpha": 2.0, "gamma": 1.3, "shifts": (1.0, 3.0, 5.0), "margin": 1.0, "points": 101}
FIGURE_6 = {
    "variance": 16.0, "scale": 7.0, "sensitivity": 1.0,
    "epsilons": {"low": 0.0, "high": 1.0, "count": 11, "spacing": "linear"},
}  # fmt: skip
FIGURE_7 = {"scale": 0.6, "shift": 1.0, "half_width": 2.5, "points": 101}


def rho(t, alpha):
    return np.where(abs(t) <= alpha, alpha * abs(t), (t**2 + alpha**2) / 2)


def test_losses_follow_equation_7_and_stay_below_their_bounds():
    table = loss_and_bound(LossAndBound(**FIGURE_5))
    assert tuple(sorted(table["d"].unique())) == FIGURE_5["shifts"]
    for d, rows in table.groupby("d"):
        t = rows["t"].to_numpy()
        expected = (rho(t + d / 2, 2.0) - rho(t - d / 2, 2.0)) / 1.3**2
        assert rows["loss"].to_numpy() == pytest.approx(expected, abs=1e-12)
        assert np.all(np.diff(rows["loss"]) > -1e-12)
        assert np.all(rows["loss"] <= rows["bound"] + 1e-12)
        slope = np.diff(rows["bound"]) / np.diff(t)
        assert slope == pytest.approx(np.full(len(slope), d / 1.3**2), rel=1e-9)


def test_loss_and_bound_touch_at_the_ridge_which_the_paper_prints():
    table = loss_and_bound(LossAndBound(**FIGURE_5))
    ridges = table[table["ridge"] == 1].set_index("d")
    assert list(ridges["t"]) == [0.5, 1.5, 2.5]
    assert ridges["loss"].to_numpy() == pytest.approx(ridges["bound"].to_numpy(), rel=1e-12)
    for d, height in ridges["loss"].items():
        printed = (4 + d**2 - max(2 - d, 0) ** 2) / (2 * 1.3**2)
        assert height == pytest.approx(printed, rel=1e-12)


def test_losses_at_one_scale_are_those_of_appendix_e():
    table = losses_at_one_scale(LossesAtOneScale(**FIGURE_7))
    losses = table.pivot_table(index="t", columns="mechanism", values="loss")
    t, s = losses.index.to_numpy(), 0.6
    assert losses["gaussian"].to_numpy() == pytest.approx(t / s**2, abs=1e-12)
    clipped = np.sign(t) * np.minimum(abs(t), 0.5)
    assert losses["laplace"].to_numpy() == pytest.approx(2 * clipped / s, abs=1e-12)
    total = losses["gaussian"] + losses["laplace"]
    assert losses["offset-symmetric-gaussian"].to_numpy() == pytest.approx(total, abs=1e-12)
    tails = abs(t) >= s + 0.5
    gaussian = losses["gaussian"][tails].to_numpy()
    assert losses["flipped-huber"][tails].to_numpy() == pytest.approx(gaussian, abs=1e-12)
    assert tails.any()


def test_profiles_belong_to_noise_of_the_wanted_variance():
    table = profiles_at_one_variance(ProfilesAtOneVariance(**FIGURE_6))
    assert list(table["mechanism"].unique()) == [
        "gaussian", "offset-symmetric-gaussian", "flipped-huber",
    ]  # fmt: skip
    families = {"gaussian": Gaussian, "flipped-huber": FlippedHuber,
                "offset-symmetric-gaussian": OffsetSymmetricGaussian}  # fmt: skip
    for name, rows in table.groupby("mechanism"):
        told = dict(part.split("=") for part in rows["noise"].iloc[0].split(", "))
        noise = families[name](**{key: float(value) for key, value in told.items()})
        assert noise.var() == pytest.approx(16.0, rel=1e-4)  # the text has six digits
        if name != "gaussian":
            assert 7.0 in (float(value) for value in told.values())
        row = rows.iloc[3]

        def gap(t, noise=noise, epsilon=row["epsilon"]):
            return max(noise.pdf(t) - math.exp(epsilon) * noise.pdf(t + 1.0), 0.0)

        delta = quad(gap, -70, 70, points=[-1, -0.5, 0], limit=500, epsabs=1e-12)[0]
        assert row["delta"] == pytest.approx(delta, rel=1e-4)


def test_the_order_of_the_profiles_turns_with_epsilon():
    deltas = profiles_at_one_variance(ProfilesAtOneVariance(**FIGURE_6)).pivot_table(
        index="epsilon", columns="mechanism", values="delta"
    )
    assert np.all(np.diff(deltas.to_numpy(), axis=0) < 0)
    assert deltas.loc[0.0].idxmin() == "gaussian"
    assert deltas.iloc[-1].idxmin() == "flipped-huber"

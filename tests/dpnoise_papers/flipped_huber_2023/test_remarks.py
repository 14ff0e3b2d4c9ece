"""Sentences of the paper that a few numbers decide."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import special

from dpnoise import calibrate
from dpnoise.noise import FlippedHuber, Gaussian, Laplace, Staircase, TruncatedLaplace
from dpnoise.optimality.bounds import minimum_cost
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.flipped_huber_2023 import remarks
from dpnoise_papers.flipped_huber_2023.remarks import (
    compare_dimensions,
    identification,
    limit,
    loss_tail,
    remark_1,
)
from dpnoise_papers.flipped_huber_2023.settings import Limit, Remark


def test_the_tail_of_the_loss():
    for sigma, epsilon in ((1.0, 0.5), (10.0, 0.3), (2.0, 3.0)):
        expected = special.ndtr(1 / (2 * sigma) - epsilon * sigma)
        assert loss_tail(Gaussian(sigma), epsilon) == pytest.approx(expected, rel=1e-9)
    # the loss of Laplace noise is 1 / beta on the whole upper half
    assert loss_tail(Laplace(2.0), 0.5) == pytest.approx(0.5, rel=1e-6)
    assert loss_tail(Laplace(2.0), 0.51) < 1e-30  # never; the bracket errs upwards
    noise = FlippedHuber(3.0, 2.0)
    draws = noise.rvs(400_000, random_state=np.random.default_rng(1))
    share = np.mean(noise.logpdf(draws) - noise.logpdf(draws + 1.0) >= 1.0)
    assert loss_tail(noise, 1.0) == pytest.approx(share, abs=5 * math.sqrt(share / 400_000))


def test_remark_1():
    table = remark_1(Remark(epsilons=(0.3,), delta=1e-6)).set_index(["mechanism", "epsilon"])
    sigma = math.sqrt(table.loc[("gaussian", 0.3), "sufficient"])
    assert special.ndtr(1 / (2 * sigma) - 0.3 * sigma) == pytest.approx(1e-6, rel=1e-9)
    assert privacy_profile(Gaussian(sigma), 1.0, 0.3) < 1e-6
    assert (table["ratio"] >= 1.0).all()
    assert np.all(table.loc["flipped-huber", "sufficient"] < table.loc["gaussian", "sufficient"])
    told = table.loc[("flipped-huber", 0.3), "noise"]
    alpha, gamma = (float(part.split("=")[1]) for part in told.split(", "))
    assert loss_tail(FlippedHuber(alpha, gamma * (1 + 1e-5)), 0.3) <= 1e-6


def test_truncated_laplace_gives_itself_away_with_probability_delta():
    for delta in (1e-6, 0.01):
        table = identification(Remark(epsilons=(0.1, 1.0, 3.0), delta=delta))
        # the mass within 1 of the end of a density (1 - delta') e^(-|t| / beta) on [-bound, bound]
        assert table["over_delta"].to_numpy() == pytest.approx(1.0, rel=1e-6)
        assert (table["probability"] > 0).all()
    # a support so short that the least noise gives itself away less often
    short = identification(Remark(epsilons=(3.0,), delta=0.2))
    assert 0.1 < short["over_delta"].iloc[0] < 1


def test_wider_noise_gives_itself_away_less_often(monkeypatch):
    """A calibration that is not the least one is seen."""

    class Wider:
        noise = TruncatedLaplace(1.0, 14.5)

    monkeypatch.setattr(remarks, "calibrate", lambda *_args, **_budget: Wider)
    table = identification(Remark(epsilons=(1.0,), delta=1e-6))
    assert table["over_delta"].iloc[0] < 0.9


def panel(dimension, gaussian, least, sufficient):
    parts = [
        pd.DataFrame(
            {"mechanism": mechanism, "method": method, "epsilon": [1.0, 0.3], "variance": v}
        )
        for mechanism, method, v in (
            ("gaussian", "exact", gaussian),
            ("flipped-huber", "exact", least),
            ("flipped-huber", "sufficient", sufficient),
            ("laplace", "pure", [1.0, 2.0]),
            ("offset-symmetric-gaussian", "exact", [2 * v for v in least]),
            ("offset-symmetric-gaussian", "box", [4 * v for v in least]),
        )
    ]
    return pd.concat(parts).assign(dimension=dimension, delta=1e-8)


LOWER = panel(3, [100.0, 1000.0], [10.0, 10.0], [11.0, 15.0])
HIGHER = panel(5, [100.0, 1000.0], [20.0, 50.0], [24.0, 60.0])


def test_gains_and_gaps_by_epsilon():
    table = compare_dimensions(LOWER, HIGHER)
    assert table["epsilon"].tolist() == [0.3, 1.0]
    assert table["gain_lost_db"].to_numpy() == pytest.approx(10 * np.log10([5, 2]))
    assert table["gap_grown"].tolist() == [5, 3]
    assert table["excess_to"].to_numpy() == pytest.approx([0.2, 0.2])
    assert table["excess_from"].to_numpy() == pytest.approx([0.5, 0.1])
    assert table["excess"].to_numpy() == pytest.approx([0.5, 0.2])
    assert table["over_gaussian"].to_numpy() == pytest.approx([0.05, 0.2])
    assert table["over_osgt"].to_numpy() == pytest.approx([0.5, 0.5])
    assert set(table["search"]) == {"unrestricted"}


def test_a_box_without_private_noise_is_left_out():
    def boxed(table, least):
        names = {"exact": "box", "sufficient": "sufficient-box"}
        part = table[table["mechanism"] == "flipped-huber"].replace({"method": names})
        small = part["epsilon"] == 0.3
        return pd.concat([table, part.assign(variance=part["variance"].mask(small, least) * 2)])

    table = compare_dimensions(boxed(LOWER, 7.0), boxed(HIGHER, np.nan))
    assert table["search"].tolist() == ["unrestricted", "unrestricted", "box"]
    assert table["epsilon"].tolist() == [0.3, 1.0, 1.0]
    assert table["gap_grown"].tolist()[:2] == [5, 3]
    assert table["searched_excess"].tolist() == table["excess"].tolist()
    ends = table[["searched_excess_least", "searched_excess_greatest"]]
    assert ends.iloc[0].tolist() == [0.0, table["excess"].iloc[0]]  # of the box with K = 3 alone
    ends = ends.iloc[1:]
    assert (ends == [table["excess"].iloc[1:].min(), table["excess"].iloc[1:].max()]).all(axis=None)
    assert table["over_osgt"].tolist() == [0.5, 0.5, 0.5]


SETTINGS = {
    "costs": ("variance", "mean-abs"), "epsilons": (1.0, 0.3), "deltas": (1e-2, 0.0), "gap": 0.005,
    "mechanisms": ("gaussian", "subbotin", "laplace", "offset-symmetric-gaussian", "flipped-huber",
                   "truncated-laplace", "staircase"),
}  # fmt: skip


@pytest.fixture(scope="module")
def table():
    return limit(Limit(**SETTINGS))


def pick(table, **values):
    for name, value in values.items():
        table = table[table[name] == value]
    return table


def test_values_are_those_of_calibration_and_bounds_those_of_the_programs(table):
    (row,) = pick(
        table, cost="mean-abs", delta=1e-2, epsilon=1.0, mechanism="flipped-huber"
    ).itertuples()
    assert row.value == calibrate("flipped-huber", epsilon=1.0, delta=1e-2).noise.mean_abs()
    bounds = minimum_cost(1.0, 1e-2, cost="mean-abs", gap=0.005)
    assert (row.lower, row.upper, row.cells) == (bounds.lower, bounds.upper, bounds.cells)
    assert "alpha=" in row.noise


def test_bounds_for_one_delta_serve_smaller_ones(monkeypatch):
    asked = []

    def counted(epsilon, delta, **options):
        asked.append(delta)
        return minimum_cost(epsilon, delta, **options)

    monkeypatch.setattr("dpnoise_papers.flipped_huber_2023.remarks.minimum_cost", counted)
    deltas = (0.0, 1e-12, 1e-3, 0.2)
    table = limit(Limit(**SETTINGS | {"deltas": deltas, "epsilons": (1.0,)}))
    assert asked == [0.2, 1e-3, 1e-12] * 2  # the last is close to the staircase, as is delta = 0
    for cost in SETTINGS["costs"]:
        rows = pick(table, cost=cost, mechanism="laplace").sort_values("delta")
        assert rows["lower"].is_monotonic_decreasing
        assert rows["upper"].is_monotonic_decreasing
        assert (rows["upper"] <= 1.005 * rows["lower"]).all()
        alone = [minimum_cost(1.0, delta, cost=cost, gap=0.005) for delta in deltas]
        assert (rows["lower"] <= [one.upper for one in alone]).all()
        assert (rows["upper"] >= [one.lower for one in alone]).all()


def test_nothing_beats_the_limit(table):
    known = table[table["value"].notna()]
    assert np.allclose(known["over_limit"], known["value"] / known["lower"], rtol=1e-14)
    assert np.allclose(known["over_limit_least"], known["value"] / known["upper"], rtol=1e-14)
    assert (known["over_limit"] > 1.0).all()


@pytest.mark.parametrize("cost", ["variance", "mean-abs"])
def test_staircase_is_the_limit_of_pure_privacy(table, cost):
    rows = pick(table, cost=cost, delta=0.0, mechanism="staircase")
    assert (rows["over_limit"] < 1.005).all()
    power = {"variance": Staircase.var, "mean-abs": Staircase.mean_abs}[cost]
    gammas = np.linspace(0.05, 0.95, 91)
    least = min(power(Staircase(1.0, 1.0, gamma)) for gamma in gammas)
    assert rows["value"].iloc[1] <= least


def test_families_that_cannot_say_why(table):
    refused = pick(table, delta=0.0, mechanism="gaussian")
    assert refused["value"].isna().all()
    assert refused["over_limit"].isna().all()
    assert refused["status"].str.contains("delta: expected more than 0 for gaussian").all()
    assert (refused["noise"] == "").all()
    assert (pick(table, mechanism="laplace")["status"] == "ok").all()


def test_infimum_that_is_not_attained_is_said_to_be_one():
    (row,) = limit(
        Limit(costs=("variance",), epsilons=(3.0,), deltas=(0.0,), mechanisms=("huber",), gap=0.1)
    ).itertuples()
    assert row.status == "infimum"
    assert math.isclose(row.value, 2 / 9, rel_tol=1e-6)  # Laplace noise

"""Sentences of the paper that a few numbers decide."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import special

from dpnoise.noise import FlippedHuber, Gaussian, Laplace, TruncatedLaplace
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.flipped_huber_2023.settings import Remark
from dpnoise_papers.flipped_huber_2023.tables import remarks
from dpnoise_papers.flipped_huber_2023.tables.remarks import (
    compare_dimensions,
    identification,
    loss_tail,
    remark_1,
)


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
    table = remark_1(Remark(epsilons=(0.3, 2.0), delta=1e-6)).set_index(["mechanism", "epsilon"])
    for epsilon in (0.3, 2.0):
        sigma = math.sqrt(table.loc[("gaussian", epsilon), "sufficient"])
        tail = special.ndtr(1 / (2 * sigma) - epsilon * sigma)
        assert tail == pytest.approx(1e-6, rel=1e-9)
        assert privacy_profile(Gaussian(sigma), 1.0, epsilon) < 1e-6
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
    assert table["gain_from_db"].to_numpy() == pytest.approx([20, 10])
    assert table["gain_to_db"].to_numpy() == pytest.approx(10 * np.log10([20, 5]))
    assert table["gain_lost_db"].to_numpy() == pytest.approx(10 * np.log10([5, 2]))
    assert table["gap_from"].tolist() == [5, 1]
    assert table["gap_to"].tolist() == [10, 4]
    assert table["gap_grown"].tolist() == [5, 3]
    assert table["excess_to"].to_numpy() == pytest.approx([0.2, 0.2])
    assert table["excess_from"].to_numpy() == pytest.approx([0.5, 0.1])
    assert table["excess"].to_numpy() == pytest.approx([0.5, 0.2])
    assert table["over_gaussian"].to_numpy() == pytest.approx([0.05, 0.2])
    assert table["over_osgt"].to_numpy() == pytest.approx([0.5, 0.5])
    assert set(table["search"]) == {"unrestricted"}
    assert set(table["dimension_from"]) == {3}
    assert set(table["dimension_to"]) == {5}


def test_a_box_without_private_noise_is_left_out():
    def boxed(table, least):
        names = {"exact": "box", "sufficient": "sufficient-box"}
        part = table[table["mechanism"] == "flipped-huber"].replace({"method": names})
        small = part["epsilon"] == 0.3
        return pd.concat([table, part.assign(variance=part["variance"].mask(small, least) * 2)])

    table = compare_dimensions(boxed(LOWER, 7.0), boxed(HIGHER, np.nan))
    assert table["search"].tolist() == ["unrestricted", "unrestricted", "box"]
    assert table["epsilon"].tolist() == [0.3, 1.0, 1.0]
    assert table["gap_to"].tolist() == [10, 4, 8]
    assert table["searched_excess"].tolist() == table["excess"].tolist()
    ends = table[["searched_excess_least", "searched_excess_greatest"]]
    assert ends.iloc[0].tolist() == [0.0, table["excess"].iloc[0]]  # of the box with K = 3 alone
    ends = ends.iloc[1:]
    assert (ends == [table["excess"].iloc[1:].min(), table["excess"].iloc[1:].max()]).all(axis=None)
    assert table["over_osgt"].tolist() == [0.5, 0.5, 0.5]


def test_tables_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="the same delta and epsilon"):
        compare_dimensions(LOWER, HIGHER[HIGHER["epsilon"] == 1])
    with pytest.raises(ValueError, match=r"lower: expected one dimension, got \[3, 5\]"):
        compare_dimensions(pd.concat([LOWER, HIGHER]), HIGHER)

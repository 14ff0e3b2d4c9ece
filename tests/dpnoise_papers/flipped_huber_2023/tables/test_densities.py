"""Figures 1 and 2 of flipped-huber-2023 as tables: densities and Fisher information."""

import numpy as np
import pytest
from scipy.integrate import quad, trapezoid

from dpnoise_papers.flipped_huber_2023.settings import Densities, FisherInformation
from dpnoise_papers.flipped_huber_2023.tables.densities import densities, fisher_information
from dpnoise_papers.settings import Grid

PARAMETERS = ((0.0, 1.0), (1.0, 1.0), (2.0, 0.7))


def ratios(low, high, count):
    return FisherInformation(ratios=Grid(low=low, high=high, count=count, spacing="log"))


def test_densities_integrate_to_one_and_follow_equation_8():
    table = densities(Densities(parameters=PARAMETERS, half_width=8.0, points=2001))
    for (alpha, gamma), rows in table.groupby(["alpha", "gamma"]):
        t = rows["t"].to_numpy()
        assert np.all(np.diff(t) > 0)
        assert trapezoid(rows["density"], t) == pytest.approx(1, abs=1e-4)
        rho = np.where(abs(t) <= alpha, alpha * abs(t), (t**2 + alpha**2) / 2)
        shape = rows["density"] / rows["density"].max()
        assert shape.to_numpy() == pytest.approx(np.exp((rho.min() - rho) / gamma**2), rel=1e-11)


def test_the_transitions_are_marked_on_the_grid():
    # 0.3 is no grid point, 5 lies outside, alpha = 0 has no transition.
    parameters = ((0.0, 1.0), (0.3, 1.0), (5.0, 1.0), (2.0, 1.0))
    table = densities(Densities(parameters=parameters, half_width=4.0, points=5))
    marks = table[table["transition"] == 1]
    assert marks[["alpha", "t"]].to_numpy().tolist() == [[0.3, -0.3], [0.3, 0.3], [2, -2], [2, 2]]
    assert list(table.groupby("alpha").size()) == [5, 7, 5, 5]


def test_nfi_rises_from_the_gaussian_1_to_the_laplace_2():
    table = fisher_information(ratios(1e-3, 1e3, 200))
    rows = table[table["mechanism"] == "flipped-huber"]
    nfi = rows["nfi"].to_numpy()
    assert rows["ratio"].iloc[0] == 0
    assert nfi[0] == pytest.approx(1, abs=1e-14)
    assert nfi[-1] == pytest.approx(2, abs=1e-12)
    assert np.all(np.diff(nfi) > -1e-13)
    assert np.all((nfi > 1 - 1e-14) & (nfi < 2 + 1e-14))
    assert np.all(rows["variance_over_gamma2"] <= 1 + 1e-15)
    assert np.all(rows["fisher_information_times_gamma2"] >= 1 - 1e-15)
    references = table.set_index("mechanism")["nfi"]
    assert references["gaussian"] == pytest.approx(1, abs=1e-15)
    assert references["laplace"] == pytest.approx(2, abs=1e-15)


def test_moments_agree_with_quadrature():
    table = fisher_information(ratios(0.1, 5.0, 5))
    for row in table[table["mechanism"] == "flipped-huber"].itertuples():

        def weight(t, a=row.ratio):
            return np.exp(-(a * t if t <= a else (t * t + a * a) / 2))

        def integral(function, a=row.ratio):
            return quad(function, 0, a)[0] + quad(function, a, a + 40)[0]

        mass = integral(weight)
        variance = integral(lambda t, w=weight: t * t * w(t)) / mass
        information = integral(lambda t, w=weight, a=row.ratio: max(t, a) ** 2 * w(t)) / mass
        assert row.variance_over_gamma2 == pytest.approx(variance, rel=1e-9)
        assert row.fisher_information_times_gamma2 == pytest.approx(information, rel=1e-9)

"""Entries of the registry with joint noise."""

import numpy as np
import pytest

from dpnoise import L1, AtMost, LInf
from dpnoise.joint.calibrate import best_gamma
from dpnoise.joint.noise import staircase_layer_moment
from dpnoise.mechanisms.methods import (
    delta_hardly_gains,
    hardly_gains,
    in_ellipsoid,
    in_norm,
    is_unlikely,
    k_norm,
)
from dpnoise.mechanisms.request import read_request


@pytest.mark.parametrize("K", [5, 7, 10, 20, 50, 100, 300, 1000])
def test_where_the_staircase_is_left_out_it_gains_less_than_1e_4(K):
    epsilon = 0.999 * min((K + 1.0) / 6.0, 1.2 * np.sqrt(K))
    assert hardly_gains(K, epsilon)
    assert not hardly_gains(K, 1.1 * epsilon)
    k_norm = (K + 1.0) * (K + 2.0) / epsilon**2
    assert staircase_layer_moment(K, epsilon, best_gamma(K, epsilon), 2) > (1.0 - 1e-4) * k_norm


@pytest.mark.parametrize("K", [2, 5, 20, 80])
@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_where_the_ellipsoid_is_left_out_it_loses(K, epsilon):
    request = read_request(LInf(1.0, of=K), epsilon, 1e-6, "variance", None)
    if is_unlikely(request):
        found = in_ellipsoid("k-norm", request)
        assert request.mean(found.noise.var()) > (K + 1) * (K + 2) / (3 * epsilon**2)


@pytest.mark.parametrize("ball", [1.0, LInf(1.0, of=9), AtMost(3, of=7), L1(1.0, of=5)])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 3e-6, 2e-5, 1e-4, 1e-2])
def test_where_delta_is_not_used_it_gains_less_than_1e_4(ball, delta):
    request = read_request(ball, 1.0, delta, "variance", None)
    gain = 1.0 - np.sum(in_norm("k-norm", request).noise.var()) / np.sum(
        k_norm(request).noise.var()
    )
    assert gain < 1e-4 or not delta_hardly_gains(request)
    assert delta_hardly_gains(request) == (delta < 1e-5 * (2.5 if ball != AtMost(3, of=7) else 1.0))

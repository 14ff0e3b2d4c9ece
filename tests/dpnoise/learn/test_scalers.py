"""Scalers between public bounds: closed forms, account, nothing that depends on one value."""

import math
import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpnoise import vector_profile
from dpnoise.learn import PrivateScaler, PublicScaler
from dpnoise.noise import Gaussian

pytestmark = pytest.mark.filterwarnings("ignore::dpnoise.learn.seeding.SeededNoiseWarning")

rng = np.random.default_rng([2026, 12])
X = rng.uniform([0.0, -3.0], [100.0, 1.0], size=(400, 2))
BOUNDS = {"low": [0.0, -5.0], "high": [120.0, 5.0]}
WIDE = {"low": -100.0, "high": 100.0}
TELLS = "asks for a refusal that depends on values in the data, which would not be private"


@parametrize_with_checks(
    [PublicScaler(**WIDE), PrivateScaler(**WIDE), PrivateScaler(epsilon=math.inf, **WIDE)],
    expected_failed_checks=lambda _: {"check_estimators_nan_inf": TELLS},
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_public_bounds_are_mapped_to_minus_one_and_one_and_values_beyond_clipped():
    scaler = PublicScaler(**BOUNDS).fit(X)
    assert scaler.transform([[0.0, -5.0], [120.0, 5.0], [60.0, 0.0]]).tolist() == [
        [-1.0, -1.0], [1.0, 1.0], [0.0, 0.0],
    ]  # fmt: skip
    beyond = scaler.transform([[-1e300, math.inf], [1e300, -math.inf]])
    assert beyond.tolist() == [[-1.0, 1.0], [1.0, -1.0]]
    assert np.isnan(scaler.transform([[math.nan, 0.0]])[0, 0])


def test_the_public_scaler_learns_nothing():
    found = [PublicScaler(**BOUNDS).fit(data) for data in (X, 1e9 * X[:1], X * math.nan)]
    assert len({tuple(vars(one)) for one in found}) == 1
    assert len({one.transform(X).tobytes() for one in found}) == 1


def test_without_noise_the_private_scaler_standardises():
    scaler = PrivateScaler(epsilon=math.inf, **BOUNDS).fit(X)
    assert scaler.mean_ == pytest.approx(X.mean(axis=0))
    assert scaler.scale_ == pytest.approx(X.std(axis=0))
    assert scaler.noise_scales_ is None
    assert scaler.transform(X).mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("delta", [None, 1e-7, 0.0])
def test_the_account_of_the_released_moments_keeps_the_budget(delta):
    scaler = PrivateScaler(epsilon=0.5, delta=delta, **BOUNDS).fit(X)
    sensitivities = np.repeat([2.0 / 400, 1.0 / 400], 2)
    scales = scaler.noise_scales_
    if delta == 0.0:
        assert np.sum(sensitivities / scales) <= 0.5
        return
    noise = [Gaussian(float(scale)) for scale in scales]
    kept = vector_profile(noise, sensitivities, 0.5).upper
    assert 0.99 * (delta or 400**-2) < kept <= (delta or 400**-2)


def test_what_replacing_a_record_moves_is_within_the_sensitivities():
    """Seen through the moments without noise, for the most extreme records."""

    def moments(data):
        unit = np.clip((data - [60.0, 0.0]) / [60.0, 5.0], -1.0, 1.0)
        scaler = PrivateScaler(epsilon=math.inf, **BOUNDS).fit(data)
        centre = (scaler.mean_ - [60.0, 0.0]) / [60.0, 5.0]
        assert centre == pytest.approx(unit.mean(axis=0))
        return np.concatenate([centre, (scaler.scale_ / [60.0, 5.0]) ** 2 + centre**2])

    for first, second in (([0.0, -9.0], [1e9, 9.0]), ([60.0, 0.0], [0.0, 5.0])):
        one, other = X.copy(), X.copy()
        one[0], other[0] = first, second
        moved = np.abs(moments(one) - moments(other)) * 400
        assert np.all(moved <= np.repeat([2.0, 1.0], 2) + 1e-9)


def test_noise_depends_on_settings_and_the_number_of_records_alone():
    odd = X.copy()
    odd[0] = [math.nan, math.inf]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [PrivateScaler(**BOUNDS).fit(data) for data in (X, odd, np.zeros_like(X))]
    assert len({one.noise_scales_.tobytes() for one in found}) == 1
    assert all(np.all((one.scale_ > 0.0) & np.isfinite(one.mean_)) for one in found)
    assert np.nanmax(np.abs(found[2].transform(1e9 * X))) <= 5.0


def test_many_records_give_nearly_the_moments():
    data = np.tile(X, (200, 1))
    scaler = PrivateScaler(epsilon=1.0, random_state=1, **BOUNDS).fit(data)
    assert scaler.mean_ == pytest.approx(X.mean(axis=0), abs=0.1)
    assert scaler.scale_ == pytest.approx(X.std(axis=0), rel=0.02)


@pytest.mark.parametrize("kind", [PublicScaler, PrivateScaler])
def test_bounds_are_needed_and_everything_wrong_is_named(kind):
    with pytest.raises(ValueError, match=r"low: expected .*; high: expected .*, got None"):
        kind(low="x").fit(X)
    with pytest.raises(ValueError, match="low < high in every feature"):
        kind(low=[0.0, 1.0], high=1.0).fit(X)


def test_every_setting_of_the_private_scaler_is_checked():
    with pytest.raises(ValueError, match="PrivateScaler: ") as caught:
        PrivateScaler(low=0.0, high=1.0, epsilon=0.0, delta=1.0, limit=0.0).fit(X[:1])
    for name in ("epsilon", "delta", "limit", "X"):
        assert f"{name}: expected" in str(caught.value)


@pytest.mark.parametrize(("delta", "said"), [(0.0, "0"), (1e-6, "1e-06")])
def test_what_is_guaranteed_is_stated(delta, said):
    X = np.linspace(0.0, 1.0, 100)[:, None]
    scaler = PrivateScaler(low=0.0, high=1.0, epsilon=0.5, delta=delta).fit(X)
    sentence = "one person replaced by another, in one record: epsilon = 0.5, delta = "
    assert scaler.promise_ == sentence + said
    assert PrivateScaler(low=0.0, high=1.0, epsilon=np.inf).fit(X).promise_ is None

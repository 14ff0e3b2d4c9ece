"""One account: whatever the package returns is charged, certified, verified, audited and released.

All pairs of mechanism and set, every family of `calibrate`, the helpers of `release` and all
estimators. The set of refusals is empty.
"""

import math
from functools import cache

import numpy as np
import pytest

import dpnoise
from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Budget,
    Counts,
    DiscreteGaussian,
    DiscreteLaplace,
    Ellipsoid,
    Gaussian,
    Laplace,
    LInf,
    Product,
    audit_noise,
    best,
    calibrate_joint,
    certify,
    compare,
    coordinate_noise,
    release,
    verify,
)
from dpnoise.joint.calibrate import JOINT_FAMILIES
from dpnoise.learn import (
    DPPCA,
    DPLinearRegression,
    DPLogisticRegression,
    PrivateScaler,
)
from dpnoise.mechanisms.integers import IntegerVector
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES
from dpnoise.sensitivity.spheroid import Spheroid
from for_all import thinned

R = "add-remove"
SIDES = (1.0, 0.5, 0.25, 0.8, 0.3)
BUDGETS = ((1.0, 0.0), (1.0, 1e-6))


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    """Audits here look for refusals: their claim is read at 36 values of epsilon, not at 88."""
    monkeypatch.setattr("dpnoise.auditing.audit._POINTS", 24)
    monkeypatch.setattr("dpnoise.auditing.audit._COARSE", 12)


def sets():
    for K in (1, 5):
        yield from (L1(1.0, of=K, relation=R), L2(1.0, of=K, relation=R))
        yield from (LInf(1.0, of=K, relation=R), Ellipsoid(SIDES[:K], relation=R))
    for K in (1, 2, 5):
        yield from (Box(SIDES[:K], relation=R), AtMost(min(2, K), of=K, relation=R))
        yield Product(L2(1.0, of=K), LInf(0.5, of=1), relation=R)
        yield Counts(min(2, K), of=K, relation=R)
        yield Counts(min(2, K), of=K, relation="replace-one")
    yield Counts(2, of=5, exactly=True, relation="replace-one")
    yield Counts(5, of=5, relation=R)
    yield Product(Counts(3, of=3, relation=R), L2(1.0, of=2, relation=R))
    tilted = Ellipsoid([[1.0, 1.0], [0.0, 2.0]], relation=R)
    yield from (tilted, Product(tilted, LInf(0.5, of=1, relation=R)))
    yield Spheroid(1.5, 1.0, of=3, relation=R)


@cache
def rows(ball, budget, exhaustive):
    return tuple(compare(ball, epsilon=budget[0], delta=budget[1], exhaustive=exhaustive))


def check_charged(found, epsilon, delta, relation=None):
    """It fits its own budget, costs something, and a second one costs more."""
    own = Budget(epsilon, delta, relation=relation)
    own.spend(found)
    two = Budget(2.0 * epsilon, 2.0 * delta, relation=relation)
    two.spend(found, times=2)
    assert own.entries[0].one == two.entries[0].one
    assert two.entries[0].one.shares or two.entries[0].one.failure > 0


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("ball", thinned(sets()), ids=repr)
def test_every_mechanism_for_every_set(ball, budget):
    for row in rows(ball, budget, exhaustive=False):
        check_charged(row, *budget)
        if budget[1] == 0.0:
            own = Budget(*budget)
            own.spend(row)
            with pytest.raises(ValueError, match="together with what was spent before"):
                own.spend(row)
        if budget[1] == 0.0 and ball.dimension < 5:
            assert verify(certify(row)).upper == 0
            assert not audit_noise(row, size=200, seed=3).contradicted
        assert np.shape(release(np.zeros(ball.dimension), row.noise)) == (ball.dimension,)


@pytest.mark.slow
@pytest.mark.parametrize("ball", [AtMost(2, of=3, relation=R)])
def test_every_row_of_the_whole_table(ball):
    found = rows(ball, BUDGETS[1], exhaustive=True)
    assert len(found) >= 14
    for row in found:
        check_charged(row, *BUDGETS[1])


@cache
def integer_rows(ball, budget):
    return tuple(compare(ball, epsilon=budget[0], delta=budget[1], integer=True, exhaustive=False))


def whole_sets():
    yield from (L1(1.0, of=3, relation=R), L1(3.0, of=3, relation=R), L2(2.0, of=2, relation=R))
    yield from (LInf(2.0, of=1, relation=R), Box([3.0, 1.0], relation=R))
    yield AtMost(2, of=4, relation=R)
    yield Product(AtMost(2, of=3), L1(2.0, of=2), relation=R)
    yield from (Counts(2, of=3, relation=R), Counts(2, of=3, relation="replace-one"))
    yield Counts(1, of=2, exactly=True, relation="replace-one")


# Every set without delta, with it, or both.
WHOLE = [
    (ball, budget)
    for budget, left_out in zip(BUDGETS, ((2, 3, 8), (0, 4, 7)), strict=True)
    for k, ball in enumerate(whole_sets())
    if k not in left_out
]


@pytest.mark.parametrize(("ball", "budget"), thinned(WHOLE), ids=repr)
def test_every_mechanism_for_integers(ball, budget):
    for row in integer_rows(ball, budget):
        check_charged(row, *budget)
        if budget[1] == 0.0:
            assert verify(certify(row)).upper == 0
            assert not audit_noise(row, size=200, seed=3).contradicted
        elif not isinstance(ball, Box) and "rounded" not in row.name:  # lists: below; real: above
            assert not audit_charge_is_too_small(row, ball)


def audit_charge_is_too_small(row, ball):
    """Whether the certificate of some epsilon exceeds the delta charged there."""
    budget = Budget(50.0, 1e-3)
    budget.spend(row)
    charged = budget.epsilon_of()
    return charged > 0.0 and certify(row.noise, ball, charged).lower > 1e-3


def test_integer_noise_for_a_set_is_charged_by_its_worst_integer_point():
    """Of 'at most 3 of 12' three ones; several maximal points count by their largest loss."""
    set_, numbers = Budget(9.0, 1e-6, relation=R), Budget(9.0, 1e-6, relation=R)
    set_.spend(DiscreteGaussian(4.0), AtMost(3, of=12, relation=R), times=2)
    numbers.spend([DiscreteGaussian(4.0)] * 3, [1.0] * 3, times=2)
    assert set_.epsilon_of() == numbers.epsilon_of()
    for noise in (DiscreteLaplace(4.0), [DiscreteLaplace(4.0)] * 5):
        pure = Budget(1.0)
        pure.spend(noise, L1(4.0, of=5, relation=R))
        assert pure.epsilon_of() == 1.0
    two = [DiscreteLaplace(2.0)] * 3 + [DiscreteLaplace(4.0)] * 2
    product = Budget(9.0)
    product.spend(two, Product(AtMost(2, of=3), L1(4.0, of=2), relation=R))
    assert product.epsilon_of() == 2.0


def listed_vectors():
    """Noise for sets with several maximal integer points, or different in one part of a set."""
    gaussian, laplace = DiscreteGaussian(4.0), DiscreteLaplace(4.0)
    for ball in (L1(3.0, of=2, relation=R), Product(L1(2.0, of=2), L2(1.0), relation=R)):
        for first in (gaussian, laplace):
            yield ball, [first] + [gaussian] * (ball.dimension - 1)


@pytest.mark.parametrize(("ball", "noises"), list(listed_vectors()), ids=repr)
def test_integer_vectors_are_charged_by_no_less_than_their_certificate(ball, noises):
    """As a list, as one vector and, where all are the same, as noise of one number."""
    vector = IntegerVector(tuple(noises))
    found = []
    for noise in (vector, noises, *noises[:1] * (len(set(noises)) == 1)):
        budget = Budget(60.0, 1e-3)
        budget.spend(noise, ball)
        found.append(budget.entries[0].one)
    assert all(one == found[0] for one in found)
    if len(set(noises)) > 1:  # the box around the set
        sizes = ball.box.tolist()
        for noise in set(noises):
            at = [size for one, size in zip(noises, sizes, strict=True) if one == noise]
            assert all(found[0].shares[noise, size] == at.count(size) for size in at)
        return
    charged = budget.epsilon_of()
    assert charged > 0.0
    assert certify(vector, ball, charged).lower <= 1e-3


def test_lists_of_continuous_noise_are_charged_for_a_set():
    """Gaussian and Laplace noise by the largest norm in their scales; others for the box."""
    ball = L2(2.0, of=2, relation=R)
    gaussian, other = Budget(50.0, 1e-6), Budget(50.0, 1e-6, relation=R)
    gaussian.spend([Gaussian(1.0), Gaussian(3.0)], ball)
    other.spend(Gaussian(1.0), 2.0)
    assert gaussian.epsilon_of() == other.epsilon_of()
    laplace = Budget(50.0)
    laplace.spend([Laplace(1.0), Laplace(3.0)], L1(2.0, of=2, relation=R))
    assert laplace.epsilon_of() == 2.0
    mixed, box = Budget(50.0, 1e-6), Budget(50.0, 1e-6, relation=R)
    mixed.spend([Gaussian(1.0), Laplace(3.0)], ball)
    box.spend([Gaussian(1.0), Laplace(3.0)], [2.0, 2.0])
    assert mixed.epsilon_of() == box.epsilon_of()
    assert mixed.entries[0].what.endswith("(counted as noise for the box around the set)")
    with pytest.raises(ValueError, match=r"expected sequences of equal length, got \(3, 2\)"):
        mixed.spend([Gaussian(1.0)] * 3, ball)


LAPLACE_NOTE = "(counted as Laplace noise of one number)"
NOTES = [
    (AtMost(2, of=4, relation=R), "k-norm", LAPLACE_NOTE),
    (LInf(1.0, of=4, relation=R), "k-norm", ""),
    (
        AtMost(2, of=4, relation=R),
        "norm-staircase",
        "(counted as randomized response with the largest loss)",
    ),
    (
        LInf(1.0, of=4, relation=R),
        "truncated-k-norm",
        "(counted as randomized response with the certified epsilon and delta)",
    ),
]


@pytest.mark.parametrize(("ball", "family", "note"), NOTES)
def test_the_ledger_says_what_stands_for_a_release_that_may_cost_less(ball, family, note):
    found = best(ball, epsilon=1.0, delta=1e-4, family=family)
    budget = Budget(2.0, 1e-3)
    budget.spend(found)
    what = budget.entries[0].what
    assert what.endswith(note)
    assert ("counted as" in what) == bool(note)
    assert Budget.from_json(budget.to_json()).entries[0].what == what
    if note == LAPLACE_NOTE and found.noise.power == 1.0:  # which is what it counts as
        laplace = Budget(2.0, 1e-3, relation=R)
        laplace.spend(Laplace(found.noise.scale), 1.0)
        assert budget.epsilon_of() == pytest.approx(laplace.epsilon_of(), rel=1e-9)


LARGER = [
    (AtMost(3, of=12, relation=R), (1.0, 0.0)),
    (Counts(3, of=12, relation=R), (1.0, 0.0)),
    (L2(1.0, of=20, relation=R), (1.0, 0.0)),
    (Box([1.0, 0.5] * 4, relation=R), (1.0, 0.0)),
    (L2(1.0, of=5, relation=R), BUDGETS[1]),  # tables that were made above
    (AtMost(2, of=5, relation=R), BUDGETS[1]),
    (Counts(2, of=5, relation="replace-one"), BUDGETS[1]),
    (Box(SIDES[:2], relation=R), BUDGETS[1]),
    (LInf(1.0, of=1, relation=R), (1.0, 1e-3)),
]


@pytest.mark.parametrize(("ball", "budget"), thinned(LARGER), ids=repr)
def test_rows_are_certified_verified_and_audited_with_delta_and_in_more_numbers(ball, budget):
    """The whole table in quick: no refusal, and what is certified is what the row states."""
    epsilon, delta = budget
    for row in rows(ball, budget, exhaustive=False):
        certificate = certify(row)
        assert certificate.upper <= delta
        assert certificate.relation == ball.relation
        assert verify(certificate).upper <= certificate.upper
        assert not audit_noise(row, size=200, seed=3, epsilon=epsilon, delta=delta).contradicted


def test_what_is_charged_is_never_less_than_the_certified_profile():
    """The epsilon charged for one release is one at which the certificate's delta is kept."""
    for ball in (AtMost(2, of=5, relation=R), L2(1.0, of=5, relation=R)):
        for row in rows(ball, BUDGETS[0], exhaustive=False):
            budget = Budget(50.0, 1e-3)
            budget.spend(row)
            charged = budget.epsilon_of()
            if charged == 0.0:
                continue
            lower = certify(row.noise, ball, charged).lower
            assert lower <= 1e-3


@pytest.mark.parametrize("family", [*FAMILIES, *INTEGER_FAMILIES])
@pytest.mark.parametrize("dimension", thinned([3, 1]))
def test_every_family_of_calibrate(family, dimension):
    if family == "subbotin" and dimension > 1:
        return
    found = dpnoise.calibrate(family, epsilon=1.0, delta=1e-6, dimension=dimension)
    check_charged(found, 1.0, 1e-6, R)


@pytest.mark.parametrize("family", JOINT_FAMILIES)
def test_every_family_of_calibrate_joint(family):
    found = calibrate_joint(family, L2(1.0, of=3, relation=R), epsilon=1.0, delta=1e-6)
    check_charged(found, 1.0, 1e-6)


@pytest.mark.parametrize("mechanism", ["gaussian", "flipped-huber", "gaussian-tight"])
def test_coordinate_noise(mechanism):
    found = coordinate_noise(mechanism, epsilon=1.0, delta=1e-6, coordinates=4, passes=5)
    check_charged(found, 1.0, 1e-6, "replace-one")
    budget = Budget(8.0, 1e-6, relation=R)
    for part in (found.unit, found.scaled(2.0), [found.unit] * 2):
        with pytest.raises(ValueError, match=r"as it is one of 20 releases.*alone"):
            budget.spend(part, 1.0 if not isinstance(part, list) else [1.0, 1.0])


def test_the_helpers_of_release():
    asked = {"epsilon": 0.5, "relation": "replace-one"}
    found = [
        release.count([True, False], **asked),
        release.histogram([0.5, 1.5], edges=[0, 1, 2], **asked),
        release.sum([0.5, 1.5], bounds=(0.0, 2.0), **asked),
        release.mean([0.5, 1.5], bounds=(0.0, 2.0), **asked),
        release.quantile([0.5, 1.5], 0.5, bounds=(0.0, 2.0), **asked),
    ]
    for one in found:
        check_charged(one, 0.5, 0.0)


def estimators():
    X = np.linspace(-1.0, 1.0, 400)[:, None] * [0.8, 0.1]
    y = 0.5 * X[:, 0]
    rest = {"epsilon": 1.0, "delta": 1e-6}
    yield DPLinearRegression(feature_bounds=1.0, target_bound=1.0, **rest), (X, y)
    flipped = {"mechanism": "flipped-huber", "xi_grid": 20}
    model = DPLinearRegression(feature_bounds=1.0, target_bound=1.0, **flipped, **rest)
    yield pytest.param(model, (X, y), marks=pytest.mark.slow)
    yield DPLogisticRegression(classes=(0, 1), feature_bounds=1.0, **rest), (X, y > 0)
    yield PrivateScaler(low=-1.0, high=1.0, **rest), (X,)
    yield PrivateScaler(low=-1.0, high=1.0, epsilon=1.0, delta=0.0), (X,)
    for relation in ("add-remove", "replace-one"):
        most = {"relation": relation, "max_samples": 400}
        yield DPPCA(1, **rest, **most), (X,)
        yield DPPCA(1, epsilon=1.0, delta=0.0, noise="laplace", **most), (X,)


@pytest.mark.parametrize(("model", "data"), list(estimators()))
def test_every_estimator(model, data):
    delta = 0.0 if model.delta == 0.0 else 1e-6
    with pytest.raises(ValueError, match="expected a fitted estimator"):
        Budget(1.0, 1e-6).spend(model)
    model.fit(*data)
    check_charged(model, 1.0, delta)
    assert model.spending().relation in model.promise_ or model.spending().relation == (
        R if "more or less" in model.promise_ else "replace-one"
    )
    budget = Budget(1.0, delta, relation=model.spending().relation)
    model.set_params(budget=budget).fit(*data)
    assert 0.7 < budget.epsilon_of() <= 1.0  # less by the profile than by concentrated bounds
    state = np.random.default_rng(7)
    told = r"together with what was spent before, got .*; nothing was spent"
    refused = pytest.raises(ValueError, match=told)
    with pytest.warns(UserWarning, match="given random_state"), refused:
        model.set_params(random_state=state).fit(*data)
    assert len(budget.entries) == 1


@pytest.mark.filterwarnings("ignore::dpnoise.learn.safeguards.SmallBudgetWarning")
def test_clones_and_searches_charge_one_budget_and_warn():
    """Five folds and the refit, each of epsilon 0.1 by pure epsilons."""
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score

    from dpnoise.learn import RepeatedFitsWarning

    X = np.linspace(-1.0, 1.0, 200)[:, None]
    budget = Budget(8.0, 1e-3, relation="replace-one")
    model = DPLinearRegression(
        feature_bounds=1.0, target_bound=1.0, epsilon=0.1, delta=1e-6, budget=budget
    )
    assert clone(model).budget is budget
    with pytest.warns(RepeatedFitsWarning, match="each fit spends its epsilon again"):
        cross_val_score(model, X, X[:, 0], cv=3)
    assert len(budget.entries) == 3
    with pytest.warns(RepeatedFitsWarning, match="choose on public data"):
        GridSearchCV(model, {"passes": [5, 10]}, cv=2).fit(X, X[:, 0])
    assert len(budget.entries) == 3 + 2 * 2 + 1
    model.fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"budget.spend\(model\)"):
        budget.spend(model.noise_.unit, 1.0)
    with pytest.raises(ValueError, match=r"budget: expected a dpnoise\.Budget"):
        model.set_params(budget=1.0).fit(X, X[:, 0])


def test_noise_of_one_number_for_a_set_is_charged_by_its_worst_difference():
    """12.0 is what a box of twelve counts needs; three changes need a quarter of it."""
    for kind in (DiscreteLaplace, Laplace):
        budget = Budget(1.0)
        budget.spend(kind(3.0), AtMost(3, of=12, relation=R))
        assert budget.epsilon_of() == 1.0
    laplace, product = Budget(9.0, 1e-6, relation=R), Budget(9.0, 1e-6, relation=R)
    laplace.spend(Laplace(3.0), Product(AtMost(3, of=12), L1(1.0, of=4)), times=2)
    product.spend([Laplace(3.0)] * 4, [1.0] * 4, times=2)
    assert laplace.epsilon_of() == product.epsilon_of()
    assert math.isclose(best(1.0, epsilon=1.0, relation=R).epsilon, 1.0)

"""Numbers, vectors and sets as sensitivity sets, and replace-one against add/remove.

The sets hold the differences, and no smaller multiple does.
"""

import numpy as np
import pytest

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Counts,
    Ellipsoid,
    LInf,
    Product,
    add_remove,
    as_sensitivity,
    best,
    replace_one,
)

SETS = [
    Box([1.0, 2.0, 0.0]),
    L1(2.0, of=3),
    L1(2.0),
    L2(1.0, of=4),
    L2(3.0),
    Ellipsoid([1.0, 2.0, 0.5]),
    LInf(1.0, of=3),
    AtMost(2, of=6, each=0.5),
    AtMost(4, of=6),
    Product(L2(1.0, of=2), AtMost(1, of=3)),
]


def test_numbers_vectors_and_sets():
    assert as_sensitivity(2) == LInf(2.0, 1)
    assert as_sensitivity(np.float32(0.5), 3) == LInf(0.5, 3)
    assert as_sensitivity(np.array(2.0), np.int64(2)) == LInf(2.0, 2)
    assert as_sensitivity([1, 0.5], 2) == Box((1.0, 0.5))
    assert as_sensitivity(np.array([1, 2])) == Box([1.0, 2.0])
    given = L2(1.0, of=3)
    assert as_sensitivity(given, 3) is given


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.0, 0), ["sensitivity", "got 0.0", "dimension", "got 0"]),
        (([1.0, 2.0], 3), ["dimension", "2", "got 3"]),
        ((L2(1.0, of=2), 1), ["dimension", "2", "got 1"]),
        (([],), ["shape of lambdas"]),
        (([[1.0], [1.0, 2.0]],), ["lambdas"]),
    ],
)
def test_bad_input_names_every_problem(arguments, words):
    with pytest.raises(ValueError, match="expected") as error:
        as_sensitivity(*arguments)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize("given", SETS, ids=str)
def test_replacements_of_nonnegative_contributions_are_inside(given):
    """Contributions are uniform points and extreme points of the set, without signs."""
    rng = np.random.default_rng(1)
    wide = replace_one(given, contributions="nonnegative")
    v = np.abs(given.sample(400, random_state=2))
    corner = np.abs(given.extreme_point)
    if not isinstance(given, Product | Box | Ellipsoid):
        v = np.concatenate([v, [rng.permutation(corner) for _ in range(50)], 0 * v[:1]])
    differences = (v[:, None] - v[None]).reshape(-1, given.dimension)
    assert np.max(wide.norm(differences)) <= 1.0 + 1e-15
    # Adding is replacing a person who contributes nothing.
    back = add_remove(wide, contributions="nonnegative")
    assert np.max(back.norm(v)) <= 1.0 + 1e-15


@pytest.mark.parametrize(("m", "K"), [(1, 2), (1, 5), (2, 6), (4, 6), (3, 3)])
def test_two_people_in_few_numbers_differ_in_twice_as_many(m, K):
    """Else noise by coordinate is made for too few: its loss was 2 at epsilon = 1 for m = 1."""
    wide = replace_one(AtMost(m, of=K, each=0.5))
    one, other = np.zeros(K), np.zeros(K)
    one[:m], other[-m:] = 0.5, -0.5
    for change in (one - other, one + other, 2.0 * one):
        assert wide.differences is None or wide.differences.holds(change)
        assert wide.norm(change) <= 1.0
    noise = best(wide, epsilon=1.0, integer=False).noise
    x = np.random.default_rng(1).uniform(-3.0, 3.0, (20_000, K))
    for change in (one - other, one + other):
        loss = np.abs(noise.logpdf(x) - noise.logpdf(x - change))
        assert np.max(loss) <= 1.0 + 1e-9


@pytest.mark.parametrize("contributions", ["symmetric", "nonnegative"])
@pytest.mark.parametrize("given", SETS, ids=str)
def test_each_function_states_its_relation_and_refuses_a_set_that_states_it_already(
    given, contributions
):
    added, replaced = given.stating("add-remove"), given.stating("replace-one")
    assert replace_one(added, contributions=contributions).relation == "replace-one"
    assert add_remove(replaced, contributions=contributions).relation == "add-remove"
    with pytest.raises(ValueError, match="expected a set for 'add-remove'"):
        replace_one(replaced, contributions=contributions)
    with pytest.raises(ValueError, match="expected a set for 'replace-one'"):
        add_remove(added, contributions=contributions)


@pytest.mark.parametrize(("m", "K"), [(1, 1), (1, 4), (3, 5), (4, 4)])
def test_counts_say_themselves_what_is_contributed(m, K):
    added = Counts(m, of=K, each=0.5, whole=False, relation="add-remove")
    replaced = Counts(m, of=K, each=0.5, whole=False, relation="replace-one")
    for contributions in ("symmetric", "nonnegative"):
        assert replace_one(added, contributions=contributions) == replaced
        assert add_remove(replaced, contributions=contributions) == added
        two = Product(added, L2(1.0, of=2, relation="add-remove"))
        assert replace_one(two, contributions=contributions).blocks[0] == replaced
    with pytest.raises(ValueError, match="expected a set for 'add-remove'"):
        replace_one(replaced)
    # Smaller than what is made of other sets for counts.
    wide = replace_one(AtMost(m, of=K, each=0.5), contributions="nonnegative")
    assert np.max(wide.norm(replaced.sample(200, random_state=1))) <= 1.0
    if m < K:
        exact = Counts(m, of=K, each=0.5, whole=False, exactly=True, relation="replace-one")
        assert add_remove(exact) == added


def test_counts_move_twice_as_many_and_no_further():
    given = replace_one(AtMost(3, of=12), contributions="nonnegative")
    assert given == AtMost(6, of=12, relation="replace-one")
    more = replace_one(AtMost(8, of=12), contributions="nonnegative")
    assert more == AtMost(12, of=12, relation="replace-one")
    moved = np.array([1.0] * 3 + [-1.0] * 3 + [0.0] * 6)  # from three counts to three others
    assert given.norm(moved) == 1.0
    # One person's shares of all bins, and another's: all bins may change.
    bins = replace_one(L1(1.0, of=4), contributions="nonnegative")
    assert bins == L1(2.0, of=4, relation="replace-one")


@pytest.mark.parametrize("convert", [replace_one, add_remove])
def test_bad_conversions_name_every_problem(convert):
    with pytest.raises(ValueError, match="expected") as error:
        convert(3.0, contributions="positive")
    words = ["sensitivity", "3.0", "contributions", "'positive'", "'nonnegative'"]
    assert all(word in str(error.value) for word in words)

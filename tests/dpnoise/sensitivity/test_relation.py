"""The relation of a set: kept by what is made of it, never mixed, and said in one sentence."""

import pickle

import numpy as np
import pytest

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Ellipsoid,
    LInf,
    Product,
    as_sensitivity,
    enclosing_ellipsoid,
)
from for_all import for_all

BOTH = ["add-remove", "replace-one"]
PARTS = [
    (L1, (2.0, 3)),
    (L2, (1.0, 4)),
    (LInf, (1.0,)),
    (AtMost, (2, 6, 0.5)),
    (Box, ([1.0, 0.0, 2.0],)),
    (Ellipsoid, ([1.0, 2.0],)),
    (Product, (L2(1.0, 2), AtMost(1, 3))),
]


@for_all("relation", BOTH)
@for_all(("kind", "values"), PARTS)
def test_a_relation_is_part_of_the_set_and_of_all_that_is_made_of_it(kind, values, relation):
    plain, stated = kind(*values), kind(*values, relation=relation)
    assert (plain.relation, stated.relation) == (None, relation)
    assert stated != plain
    assert stated == plain.stating(relation)
    assert hash(stated) == hash(plain.stating(relation))
    assert stated.body == plain.body
    assert stated.body.relation is None
    other = next(name for name in BOTH if name != relation)
    assert stated != kind(*values, relation=other)
    names = {"L1": L1, "L2": L2, "LInf": LInf, "AtMost": AtMost, "Box": Box, "Product": Product}
    names["Ellipsoid"] = Ellipsoid
    for one in (plain, stated):
        assert eval(repr(one), names) == one  # noqa: S307  (of our own sets)
        assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301
    assert "relation" not in repr(plain)
    for made in (stated.scaled(2.0), enclosing_ellipsoid(stated), Product(stated, stated)):
        assert made.relation == relation
    assert [block.relation for block in Product(stated, stated).blocks] == [relation] * 2
    assert as_sensitivity(stated) == as_sensitivity(plain, relation=relation) == stated
    x = np.ones(plain.dimension)
    assert stated.support(x) == plain.support(x)


@for_all("relation", ["add/remove", "", 1, ["add-remove"], True, "Add-Remove"])
@for_all(("kind", "values"), PARTS)
def test_an_unknown_relation_is_refused(kind, values, relation):
    expected = r"relation: expected 'add-remove' \(one person more or less\) or 'replace-one'"
    with pytest.raises(ValueError, match=expected):
        kind(*values, relation=relation)
    with pytest.raises(ValueError, match=expected):
        kind(*values).stating(relation)


@for_all(
    "mixed",
    [
        lambda: Product(L1(1.0, relation="add-remove"), L2(1.0, relation="replace-one")),
        lambda: Product(L1(1.0, relation="add-remove"), relation="replace-one"),
        lambda: L1(1.0, relation="add-remove").stating("replace-one"),
        lambda: as_sensitivity(L1(1.0, relation="add-remove"), relation="replace-one"),
    ],
)
def test_mixed_relations_are_refused_with_what_joins_them(mixed):
    with pytest.raises(ValueError, match=r"replace_one\(set\).*at most twice.*add_remove\(set\)"):
        mixed()


def test_a_product_states_a_relation_for_all_blocks_or_for_none():
    added = L1(1.0, relation="add-remove")
    with pytest.raises(ValueError, match=r"none for blocks \[1\] beside 'add-remove'"):
        Product(added, L2(1.0))
    assert Product(added, L2(1.0), relation="add-remove").blocks[1].relation == "add-remove"
    assert Product(L1(1.0), L2(1.0)).relation is None


@for_all(
    ("given", "words"),
    [
        (AtMost(3, of=12), "in at most 3 of 12 counts, each by at most 1"),
        (AtMost(1, of=1, each=0.5), "in one sum, by at most 0.5"),
        (L1(2.0, of=3), "in 3 numbers, the sum of all changes at most 2"),
        (L2(1e-7, of=3), "in 3 numbers, the Euclidean norm of the change at most 1e-07"),
        (LInf(1.0, of=2), "in 2 numbers, each by at most 1"),
        (LInf(4.0), "in one number, by at most 4"),
        (Box([1, 0.5]), "in 2 numbers, each by at most its own sensitivity (1 and 0.5)"),
        (Box([1.0]), "in one number, by at most 1"),
        (
            Box(np.arange(1.0, 9.0)),
            "in 8 numbers, each by at most its own sensitivity (from 1 to 8)",
        ),
        (Ellipsoid([1, 2, 3]), "in 3 numbers, within the ellipsoid with axes 1, 2 and 3"),
        (
            Product(AtMost(1, of=3), LInf(2.0)),
            (
                "at once (in at most 1 of 3 counts, each by at most 1) "
                "and (in one number, by at most 2)"
            ),
        ),
    ],
)
def test_every_set_says_what_one_person_changes(given, words):
    who = {"add-remove": "one person more or less", "replace-one": "one person replaced by another"}
    for relation, start in who.items():
        sentence = given.stating(relation).promise(1.0, 1e-6)
        assert sentence == f"{start}, {words}: epsilon = 1, delta = 1e-06"
    unstated = (
        f"relation between neighbouring data sets not stated, {words}: epsilon = 0.5, delta = 0"
    )
    assert given.promise(0.5, 0.0) == unstated

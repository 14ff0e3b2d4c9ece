"""Printed numbers for figures and pages."""

from claim_toys import NUMBER, ORDERING, replace, two
from dpnoise_papers.claims.judge import judge, printed_numbers, printed_texts
from dpnoise_papers.claims.model import Claim, Condition, Printed


def test_printed_numbers_are_handed_to_the_figure():
    claims = [NUMBER, ORDERING, replace(NUMBER, id="bound", relation="<")]
    verdicts = judge(claims, {NUMBER.result: two(0.0391, 1)})
    (row,) = printed_numbers(claims, verdicts).to_dict("records")
    assert row == {
        "mechanism": "a",
        "column": "x",
        "printed": 0.0391,
        "half_unit": 5e-5,
        "verdict": "reproduced",
    }


def claim(item, select, printed, **changes):
    fields = dict.fromkeys(Claim.__dataclass_fields__, "") | {
        "id": "x", "item": item, "kind": "printed", "quantity": "number",
        "select": Condition.parse(select), "printed": Printed.parse(printed),
    }  # fmt: skip
    return Claim(**fields | changes)


def test_printed_texts_are_the_single_numbers_of_one_item():
    claims = [
        claim("table-2", "mechanism=staircase;epsilon=0.5", "3.9962"),
        claim("table-2", "mechanism=staircase;epsilon=2", "1.0", relation="<"),
        claim("table-2", "mechanism=staircase;epsilon=3", "1.0", kind="variant"),
        claim("table-2", "mechanism=staircase", "7"),
        claim("table-3", "mechanism=staircase;epsilon=2", "0.3"),
    ]
    assert printed_texts(claims, "table-2", ["mechanism", "epsilon"]) == {
        ("staircase", 0.5): "3.9962"
    }

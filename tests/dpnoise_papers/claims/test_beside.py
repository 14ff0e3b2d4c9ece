"""Printed numbers for figures."""

from claim_toys import NUMBER, ORDERING, replace, two
from dpnoise_papers.claims.beside import printed_numbers
from dpnoise_papers.claims.judge import judge


def test_printed_numbers_are_handed_to_the_figure():
    claims = [NUMBER, ORDERING, replace(NUMBER, id="elsewhere", item="table-2")]
    verdicts = judge(claims, {NUMBER.result: two(0.0391, 1)})
    (row,) = printed_numbers(claims, verdicts, paper="paper", item="table-1").to_dict("records")
    assert row == {
        "mechanism": "a",
        "column": "x",
        "printed": 0.0391,
        "half_unit": 5e-5,
        "verdict": "reproduced",
    }

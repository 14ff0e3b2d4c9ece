"""Claims about a table of two rows, for the tests of verdicts."""

import dataclasses

import pandas as pd

from dpnoise_papers.claims.judge import COMPATIBLE, DEPENDS, EQUAL, judge
from dpnoise_papers.claims.model import Cause, Claim, Condition, Printed

NUMBER = Claim(
    id="number",
    paper="paper",
    item="table-1",
    place="Table I",
    quote="as it is printed",
    kind="printed",
    form="number",
    quantity="number",
    statement="a number",
    printed=Printed.parse("0.0391"),
    result="paper/table-1.csv",
    select=(Condition("mechanism", "=", "a"),),
    column="x",
    against=(),
    against_column="x",
    pair=(),
    relation="",
    reduce="one",
    resolution=1e-6,
    ordering="",
    correction="misprint",
    corrected=None,
    corrected_statement="",
    corrected_select=(),
    corrected_column="x",
    cause=("because",),
)
CAUSE = Cause(
    "because", "paper", "A reason.", "It is {paper/table-1.csv: mechanism=b -> x, .2f}.", {}
)
ORDERING = dataclasses.replace(
    NUMBER,
    id="ordering",
    form="ordering",
    quantity="ordering",
    printed=None,
    against=(Condition("mechanism", "=", "b"),),
    relation="<",
)


def replace(claim, **changes):
    if isinstance(changes.get("printed"), str):
        changes["printed"] = Printed.parse(changes["printed"])
    return dataclasses.replace(claim, **changes)


def two(a, b, *se):
    table = pd.DataFrame({"mechanism": ["a", "b"], "x": [a, b]})
    return table.assign(x_se=se) if se else table


def verdict(claim, table, *others):
    """Row of a verdict; the reason is 'undecided' for all that is open, and `open` is its own."""
    found = judge([claim, *others], {claim.result: table}).iloc[0]
    is_open = found["verdict"] in (COMPATIBLE, DEPENDS) and found["reason"] != EQUAL
    said = {"open": found["reason"] if is_open else ""}
    return pd.Series(dict(found) | said | ({"reason": "undecided"} if is_open else {}))

"""Negative controls: verdicts that can change do, and a claim that cannot fail is found."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from claim_toys import NUMBER, ORDERING, replace, two
from dpnoise_papers.claims.model import Condition, Printed
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.verify.controls import REASONS, Outcome, constant, controls, reasons_in

ROOT = Path(__file__).parents[3]
ALL = {"select": (), "reduce": "all"}


def found(claim, table):
    return controls([claim], {claim.result: table}, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("claim", "table"),
    [
        (NUMBER, two(0.0391, 1)),
        (NUMBER, two(0.5, 1)),
        (NUMBER, two(0.0391, 1, 1e-5, 1e-5)),
        (NUMBER, two(0.05, 1, 1.0, 1.0)),  # undecided
        (replace(NUMBER, printed="14.243", corrected=Printed.parse("14.432")), two(14.4321, 1)),
        (ORDERING, two(0.5, 0.6)),
        (ORDERING, two(0.6, 0.5)),
        (ORDERING, two(0.5, 0.5)),
        (ORDERING, two(0.5, 0.6).assign(data_note="other")),
        (replace(ORDERING, quantity="ratio", printed="1.4", relation=">="), two(3.0, 2.0)),
        (replace(ORDERING, quantity="difference", printed="1.0", relation="<="), two(3.0, 2.5)),
        (replace(NUMBER, printed="0", relation="<=", **ALL), pd.DataFrame({"x": [0.0, -1, -2]})),
        (replace(NUMBER, printed="0", relation=">", **ALL), pd.DataFrame({"x": [1.0, -1, 2]})),
        (
            replace(NUMBER, printed="0", relation=">", select=(), reduce="max"),
            pd.DataFrame({"x": [1.0, -1, 2]}),
        ),
        (replace(NUMBER, printed="0.05"), two(0.04, 1).assign(x_least=0.03, x_greatest=2.0)),
    ],
)
def test_every_change_of_a_sound_claim_changes_its_verdict(claim, table):
    some = found(claim, table)
    assert some
    assert [one for one in some if not one.works] == []


def test_every_cell_of_a_claim_on_all_rows_is_read():
    claim = replace(NUMBER, printed="0", relation="<", **ALL)
    some = found(claim, pd.DataFrame({"x": [-1.0, -2, -3]}))
    assert {"line 2, x", "line 3, x", "line 4, x"} <= {one.change for one in some}


def test_a_claim_that_cannot_fail_is_found():
    # The largest of two rows is compared with itself: whatever stands in the cells, it holds.
    claim = replace(
        ORDERING, against=(Condition("mechanism", "=", "a"),), relation="<=", reduce="all"
    )
    some = found(claim, two(0.5, 0.6))
    wrong = constant(some, {})
    assert any("line 2, x leaves it 'reproduced'" in line for line in wrong)
    assert constant(some, {"ordering": "compared with itself"}) == []
    outcome = Outcome(some, wrong, ["other"])
    assert outcome.lines()[0] == "without a verdict, so without a control: other"
    assert outcome.lines()[1].startswith("CANNOT CHANGE: ordering")


def test_a_reason_without_need_is_wrong():
    some = found(NUMBER, two(0.0391, 1))
    assert constant(some, {"number": "why"}) == [
        f"number: {REASONS} explains a verdict that does change"
    ]
    assert constant(some, {"elsewhere": "why"}) == []  # without a verdict in this run


CORRECTED = replace(
    NUMBER,
    printed="0",
    relation=">",
    correction="slip",
    corrected_statement="of b",
    corrected_select=(Condition("mechanism", "=", "b"),),
)


def test_a_corrected_claim_is_changed_as_printed_and_as_corrected():
    some = found(CORRECTED, two(-1.0, 2.0))
    assert [one for one in some if not one.works] == []
    after = {one.change: (one.before, one.after) for one in some}
    assert after["as printed, all of x to where it holds"] == ("differs", "reproduced")
    assert after["as corrected, line 3, x"] == ("reproduced", "differs")


def test_a_correction_that_cannot_fail_is_found():
    # As corrected, b is compared with itself.
    claim = replace(
        ORDERING,
        relation="<=",
        correction="slip",
        corrected_statement="b is at most b",
        corrected_select=(Condition("mechanism", "=", "b"),),
    )
    wrong = constant(found(claim, two(0.6, 0.5)), {})
    assert any("as corrected, line 3, x leaves it 'reproduced'" in line for line in wrong)


def test_what_is_not_run_has_no_control():
    assert controls([NUMBER], {}, np.random.default_rng(1)) == []
    assert found(NUMBER, two(0.1, 0.2).assign(mechanism="z")) == []


def test_reasons_are_of_claims():
    known = {claim.id for claim in read_published(ROOT / "published").claims}
    assert set(reasons_in(ROOT / "published")) <= known

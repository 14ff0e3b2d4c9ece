"""What the papers print, as data, and whether it holds.

`read_claims` reads `published/claims.csv`, `read_tables` the results, `judge` compares
them by one rule, `markdown` writes the outcome for people.
"""

from dpnoise.claims.judge import LEGEND, VERDICT_COLUMNS, judge
from dpnoise.claims.model import COLUMNS, Claim, Condition, Printed, read_claims
from dpnoise.claims.quantity import NotRunError, Quantity, quantity, read_tables
from dpnoise.claims.report import markdown, printed_numbers

__all__ = [
    "COLUMNS",
    "LEGEND",
    "VERDICT_COLUMNS",
    "Claim",
    "Condition",
    "NotRunError",
    "Printed",
    "Quantity",
    "judge",
    "markdown",
    "printed_numbers",
    "quantity",
    "read_claims",
    "read_tables",
]

"""What the papers print, as data, and whether it holds.

`read_published` reads the folder `published/`, `read_tables` the results, `judge`
compares them by one rule, `markdown` writes the outcome for people, causes first.
"""

from dpnoise.claims.judge import LEGEND, VERDICT_COLUMNS, judge
from dpnoise.claims.model import Cause, Claim, Condition, Printed
from dpnoise.claims.published import (
    COLUMNS,
    KINDS,
    Published,
    read_causes,
    read_claims,
    read_published,
)
from dpnoise.claims.quantity import NotRunError, Quantity, quantity, read_tables
from dpnoise.claims.references import Reference, loose_numbers, named_tables, references, render
from dpnoise.claims.report import headline, markdown, printed_numbers

__all__ = [
    "COLUMNS",
    "KINDS",
    "LEGEND",
    "VERDICT_COLUMNS",
    "Cause",
    "Claim",
    "Condition",
    "NotRunError",
    "Printed",
    "Published",
    "Quantity",
    "Reference",
    "headline",
    "judge",
    "loose_numbers",
    "markdown",
    "named_tables",
    "printed_numbers",
    "quantity",
    "read_causes",
    "read_claims",
    "read_published",
    "read_tables",
    "references",
    "render",
]

"""What the papers print, as data, and whether it holds.

`read_published` reads the folder `published/`, `read_tables` the results, `judge`
compares them by one rule, `markdown` writes the outcome for people, causes first.
"""

from dpnoise_papers.claims.judge import LEGEND, VERDICT_COLUMNS, judge
from dpnoise_papers.claims.model import Cause, Claim, Condition, Printed
from dpnoise_papers.claims.published import (
    COLUMNS,
    KINDS,
    Published,
    read_causes,
    read_claims,
    read_published,
)
from dpnoise_papers.claims.quantity import NotRunError, Quantity, quantity, read_tables
from dpnoise_papers.claims.references import (
    Reference,
    loose_numbers,
    named_tables,
    references,
    render,
)
from dpnoise_papers.claims.report import headline, markdown, printed_numbers

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

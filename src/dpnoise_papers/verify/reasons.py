"""Why a deterministic claim has no independent path."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpnoise_papers.claims.model import Claim

_REASONS = {
    "theory.csv": "a statement at random parameters, checked in the table by quadrature or search",
    "orders.csv": "the largest ratio over random parameters of two bounds and a stated order",
    "dp-pca-attack.csv": "counts of a seeded attack",
    "descent-orders-spread.csv": "medians of seeded training runs over orders of columns",
    "table-3-replicates.csv": "quantiles of seeded training runs",
    "heat-map-data.csv": "counts of the public road graph",
    "limit.csv": "bounds of a linear program, with a certificate of its own",
    "dp-pca-sensitivities.csv": "a maximum over unit vectors, proved in docs",
    "spr-or-optimal.csv": "seeded training runs",
    "table-4-laplace.csv": "a comparison with printed accuracies",
    "algorithm-1.csv": "an iteration count of the printed algorithm in doubles",
}
_OTHER = "no path was written"


def why_not(claim: Claim) -> str:
    """Reason in words, with the table."""
    name = claim.result.rpartition("/")[2]
    return f"{claim.result}, {claim.column}: {_REASONS.get(name, _OTHER)}"

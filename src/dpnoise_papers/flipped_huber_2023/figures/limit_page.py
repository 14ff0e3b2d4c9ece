"""The limit of additive noise in words: where each mechanism is within 1 % of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

COSTS = {"variance": "variance", "mean-abs": "mean absolute error"}
_ENDS = ["mechanism", "epsilon_from", "epsilon_to"]
_OPENING = (
    "One dimension, sensitivity 1, replace-one neighbours. The bounds, and how far each mechanism "
    "is from them, are in `limit.csv`."
)


def limit_page(table: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Markdown page with one sentence per cost and delta.

    The sentences speak of the table's epsilons and of what is certain: a mechanism counts if its
    cost is at most 1 % above the *lower* bound on the limit.

    Parameters
    ----------
    table, runs : DataFrame
        As `limit` and `within` of `dpnoise_papers.flipped_huber_2023.tables.limit` return them.
    """
    lines = ["# Within 1 % of the least that any additive noise needs", "", _OPENING]
    for cost, title in COSTS.items():
        here = table[table["cost"] == cost]
        if here.empty:
            continue
        gap = float((here["upper"] / here["lower"] - 1.0).max())
        lines += ["", f"## {title.capitalize()} (the limit is known to {gap:.1%})", ""]
        for delta in sorted(set(here["delta"])):
            part = runs[(runs["cost"] == cost) & (runs["delta"] == delta)]
            found = [_run(*ends) for ends in part[_ENDS].itertuples(index=False)]
            lines.append(f"- delta = {delta:g}: {'; '.join(found) or 'none of them'}.")
    return "\n".join(lines) + "\n"


def _run(mechanism: str, low: float, high: float) -> str:
    """One run of epsilons as words."""
    where = f"from {low:g} to {high:g}" if high > low else f"at {low:g}"
    return f"{mechanism.replace('-', ' ')} for epsilon {where}"

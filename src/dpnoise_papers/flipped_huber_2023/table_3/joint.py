"""Columns of Table III of flipped-huber-2023 as a whole, reading by reading.

Each number of the table lies inside of what seeds do or near it, but a column has eight of them.
The joint test asks whether the eight are one more replication of a reading. Readings are those of
all data sets together. The Gaussian columns choose among them: a reading that contradicts one of
these is not the authors', and the flipped Huber columns are judged by the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpnoise_papers.claims.joint import joint_test
from dpnoise_papers.flipped_huber_2023.table_3.replicates import METRICS, ROWS, printed_values
from dpnoise_papers.flipped_huber_2023.table_3.settings import common_variants

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.flipped_huber_2023.table_3.settings import Table3

LEVEL = 0.01  # of the test by which the Gaussian columns contradict a reading
COLUMNS = [
    "reading", "mechanism", "metric", "datasets", "replications", "below", "p_value",
    "p_value_least", "p_value_greatest", "distance", "contradicted", "agrees", "left_open",
]  # fmt: skip


def joint(
    settings: Table3, runs: Mapping[str, pd.DataFrame], *, claims: Sequence[Claim]
) -> pd.DataFrame:
    """Return the joint test of each column of Table III under each common reading.

    One row per reading, mechanism and metric, columns `COLUMNS`: the number of data sets that are
    printed and were run, the fewest replications of one, how many printed numbers are below our
    median, and the two-sided p-value. `distance` is the mean of abs(log(our median / printed)) over
    both Gaussian columns, by which the readings are sorted. `contradicted` says whether a Gaussian
    column has a p-value below 1 %, `agrees` whether none of the four has, `left_open` whether the
    paper allows the reading (it states the account of flipped Huber noise). `p_value_least` and
    `p_value_greatest` are the ends of the p-value over the readings that are left open and that no
    Gaussian column contradicts (of a Gaussian column the other one), or all if there are none.

    Parameters
    ----------
    runs : mapping of str to DataFrame
        By data set, as `dpnoise_papers.flipped_huber_2023.table_3.replicates.replications` returns
        it; a data set that could not be had has no rows and is left out.
    """
    values = printed_values(claims).set_index(["dataset", "mechanism", "metric"])["value"]
    paper: dict[Any, float] = values.to_dict()
    had = [name for name, table in runs.items() if len(table) and (name, ROWS[0], "nmse") in paper]
    rows: list[dict[str, Any]] = []
    for name, on_each in common_variants(settings).items() if had else ():
        parts = {one: runs[one][runs[one]["reading"] == on_each[one]] for one in had}
        own = {(m, metric): _column(parts, paper, m, metric) for m in ROWS for metric in METRICS}
        control = [own[ROWS[0], metric] for metric in METRICS]
        shared = {
            "reading": name,
            "distance": np.mean([one["distance"] for one in control]),
            "contradicted": int(min(one["p_value"] for one in control) < LEVEL),
            "agrees": int(min(one["p_value"] for one in own.values()) >= LEVEL),
            "left_open": int(
                name not in settings.variants or settings.variants[name].flipped_huber == ROWS[1]
            ),
        }
        rows += [{"mechanism": m, "metric": metric, **found, **shared}
                 for (m, metric), found in own.items()]  # fmt: skip
    table = pd.DataFrame(rows, columns=COLUMNS)
    wide = table.pivot_table(index="reading", columns=["mechanism", "metric"], values="p_value")
    for (mechanism, metric), same in table.groupby(["mechanism", "metric"]):
        controls = [(ROWS[0], one) for one in METRICS if (mechanism, metric) != (ROWS[0], one)]
        agree = (wide[controls] >= LEVEL).all(axis=1)[same["reading"]].to_numpy()
        left_open = (same["left_open"] == 1).to_numpy()
        used = same["p_value"][left_open & agree if (left_open & agree).any() else left_open]
        table.loc[same.index, "p_value_least"] = used.min()
        table.loc[same.index, "p_value_greatest"] = used.max()
    return table.sort_values(["distance", "reading"], kind="stable", ignore_index=True)


def _column(
    parts: Mapping[str, pd.DataFrame],
    paper: Mapping[Any, float],
    mechanism: str,
    metric: str,
) -> dict[str, Any]:
    """Joint test of one column under one reading, and how far its medians are from it."""
    blocks = []
    for name, part in parts.items():
        ours = part[part["mechanism"] == mechanism][metric].to_numpy(dtype=float)
        blocks.append((ours, paper[name, mechanism, metric]))
    ratios = np.array([np.median(ours) / printed for ours, printed in blocks])
    return {
        "datasets": len(blocks),
        "replications": min(len(ours) for ours, _ in blocks),
        "below": int((ratios > 1.0).sum()),
        "p_value": joint_test(blocks).p_value,
        "distance": float(np.abs(np.log(ratios)).mean()),
    }

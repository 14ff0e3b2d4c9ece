"""Table III of inid-2024 by data model, and its columns as draws of one data set.

The text names the fully random model of Soltanolkotabi & Candes (Ann. Statist. 2012), uniform
points on the unit spheres of uniformly random subspaces, with rank 10. How many subspaces of which
dimension there are it does not print; equal ones that add up to the rank are 1 of dimension 10, 2
of 5, 5 of 2 and 10 of 1. The product of two Gaussian matrices stands beside them.

Nor does it say whether one data set serves all 1000 trials. If it does, a printed row is one draw:
its errors at all epsilons move together with the data. So data sets are drawn anew here, each with
some trials of the noise, and the joint test asks whether a printed row is one more of them. A mean
of few trials scatters more than one of 1000, so that the test contradicts too rarely, never too
often. The row of i.i.d. Gaussian noise is the control: it is free of how entries are clipped, and a
model that contradicts it is not the paper's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise_papers.claims.joint import joint_test
from dpnoise_papers.claims.judge import printed_texts
from dpnoise_papers.inid_2024.tables.pca import draw_samples, errors_of, rows, unit_noise
from dpnoise_papers.progress import counted
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.inid_2024.learning_settings import Pca, PcaModels
    from dpnoise_papers.inid_2024.tables.pca import Row

LEVEL = 0.01  # of the test by which i.i.d. noise contradicts a model
COLUMNS = [
    "model", "subspaces", "dimension", "reading", "noise", "scheme", "epsilon", "draws", "sre",
    "sre_se", "sre_scatter", "printed", "percentile", "p_value", "p_value_least",
    "p_value_greatest", "contradicted",
]  # fmt: skip
CONTROL = ("unclipped", "iid")
_SHOWN = (CONTROL, ("stated", "inid"), ("add-remove", "inid"))
_NOISE = "gaussian"


def dp_pca_models(settings: Pca, models: PcaModels, *, claims: Sequence[Claim]) -> pd.DataFrame:
    """Return errors of Gaussian noise by data model, and joint tests of the printed rows.

    One row per model, variant, scheme and epsilon, columns `COLUMNS`, the cited model first. `sre`
    is the mean over draws of the data, `sre_scatter` the standard deviation that the data alone
    cause, relative to it, `percentile` the share of draws at most as large as the printed error.
    `p_value` is that of the whole printed row, one for all its epsilons; its ends are over the
    models that the row of i.i.d. noise does not contradict at 1 %, or over all if it contradicts
    each.
    """
    printed = printed_texts(claims, "table-3", ["noise", "scheme", "epsilon"])
    mechanisms = [
        row
        for variant in dict.fromkeys(name for name, _ in _SHOWN)
        for epsilon in settings.epsilons
        for row in rows(variant, features=settings.features, epsilon=epsilon, delta=settings.delta)
        if row.noise == _NOISE and (variant, row.scheme) in _SHOWN
    ]
    table: list[dict[str, Any]] = []
    for count in (*models.subspaces, 0):
        trials = _errors(settings, models, count, mechanisms)
        errors, scatter = trials.mean(axis=1), _scatter(trials)
        model = {
            "model": "union-of-subspaces" if count else "product", "subspaces": max(1, count),
            "dimension": settings.rank // max(1, count),
        }  # fmt: skip
        for variant, scheme in _SHOWN:
            places = [k for k, row in enumerate(mechanisms)
                      if (row.variant, row.scheme) == (variant, scheme)]  # fmt: skip
            own = errors[:, places]
            texts = [printed.get((_NOISE, scheme, mechanisms[k].epsilon), "nan") for k in places]
            paper = np.array(texts, dtype=float)
            known = np.isfinite(paper)
            p_value = joint_test([(own[:, known], paper[known])]).p_value if known.any() else np.nan
            for place, ours, value in zip(places, own.T, paper, strict=True):
                table.append({
                    **model, "reading": variant,
                    "noise": _NOISE, "scheme": scheme, "epsilon": mechanisms[place].epsilon,
                    "draws": len(ours), "sre": ours.mean(),
                    "sre_se": ours.std(ddof=1) / np.sqrt(len(ours)),
                    "sre_scatter": scatter[place] / ours.mean(), "printed": value,
                    "percentile": np.mean(ours <= value) if np.isfinite(value) else np.nan,
                    "p_value": p_value,
                })  # fmt: skip
    return _with_ranges(pd.DataFrame(table).reindex(columns=COLUMNS))


def _errors(settings: Pca, models: PcaModels, count: int, mechanisms: Sequence[Row]) -> Array:
    """Error of each mechanism by draw of the data and trial, shape (draws, trials, M)."""
    model = "union-of-subspaces" if count else "product"
    found = np.empty((models.draws, models.trials, len(mechanisms)))
    with threadpool_limits(1):
        for draw in counted(range(models.draws), f"draws of {count or 'no'} subspaces"):
            scope = settings.seed, "dp-pca-draw", model, count, draw
            X = draw_samples(
                model, generator(*scope, "data"), samples=settings.samples,
                features=settings.features, rank=settings.rank, subspaces=count,
            )  # fmt: skip
            rng = generator(*scope, "noise")
            units = [unit_noise(rng, settings.features, (_NOISE,)) for _ in range(models.trials)]
            found[draw] = errors_of(X, settings.rank, mechanisms, units)[..., 0]
    return found


def _scatter(errors: Array) -> Array:
    """Standard deviation by the data alone of errors by draw and trial, 0 where noise covers it."""
    of_means, of_noise = (
        errors.mean(axis=1).var(axis=0, ddof=1),
        errors.var(axis=1, ddof=1).mean(axis=0),
    )
    return np.sqrt(np.maximum(of_means - of_noise / errors.shape[1], 0.0))


def _with_ranges(table: pd.DataFrame) -> pd.DataFrame:
    """Table with the models that i.i.d. noise contradicts, and the ends of p-values over others."""
    keys = ["model", "subspaces"]
    control = (table["reading"] == CONTROL[0]) & (table["scheme"] == CONTROL[1])
    contradicted = table[control].groupby(keys)["p_value"].first() < LEVEL
    table["contradicted"] = [int(contradicted[tuple(key)]) for key in table[keys].to_numpy()]
    used = table[table["contradicted"] == 0] if not contradicted.all() else table
    for end, name in (("min", "least"), ("max", "greatest")):
        ends = used.groupby(["reading", "scheme"])["p_value"].agg(end)
        whose = pd.MultiIndex.from_frame(table[["reading", "scheme"]])
        table[f"p_value_{name}"] = ends.loc[whose].to_numpy()
    return table

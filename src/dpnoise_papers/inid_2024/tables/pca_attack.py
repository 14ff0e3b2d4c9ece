"""An attack on DP-PCA as printed in inid-2024, which is run and counted.

Releases are drawn with a sample and without it, or with one sample in place of another. The
attacker knows the other samples, subtracts them, and says 'present' if the most powerful
statistic exceeds a threshold fixed beforehand: entry (1, 1) if e_1 may have been added, the
difference of entries (1, 1) and (2, 2) if it may have replaced e_2. No other entry depends on
the answer (see `dpnoise_papers.inid_2024.tables.pca_privacy`), so only these are drawn. By
Clopper & Pearson the counts bound, at a stated confidence, what any (epsilon, delta)-DP mechanism
must satisfy:

    P(detected) <= e^epsilon P(false alarm) + delta.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from dpnoise.learn.pca import NEIGHBOURING
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.profile import epsilon_at
from dpnoise_papers.inid_2024.tables.pca_variants import SCHEMES, rows
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.learning_settings import PcaAttack
    from dpnoise_papers.inid_2024.tables.pca_variants import Row

COLUMNS = (
    "scheme", "relation", "epsilon", "delta", "separation", "epsilon_exact", "draws", "threshold",
    "chosen", "false_alarm_exact", "false_alarm", "false_alarm_upper", "detection_exact",
    "detection", "detection_lower", "epsilon_lower",
)  # fmt: skip
_BLOCK = 2**20
_HALF = math.sqrt(0.5)
_LEVELS = 2.0, 5.0  # thresholds, in standard deviations: at lower ones delta is not seen


def _binomial_bounds(count: Array, draws: int, miss: float) -> tuple[Array, Array]:
    """Bounds of a probability by Clopper & Pearson, each of which fails with chance `miss`."""
    count = np.asarray(count, dtype=float)
    low = special.betaincinv(np.maximum(count, 1.0), draws - count + 1.0, miss)
    high = special.betaincinv(count + 1.0, np.maximum(draws - count, 1.0), 1.0 - miss)
    return np.where(count > 0, low, 0.0), np.where(count < draws, high, 1.0)


def _epsilon_bound(detection: Array, false_alarm: Array, delta: float) -> Array:
    """Minimum epsilon >= 0 with detection <= e^epsilon false_alarm + delta."""
    kept = np.maximum(detection - delta, np.finfo(float).tiny)
    return np.maximum(np.log(kept) - np.log(false_alarm), 0.0)


def _separation(row: Row, relation: str) -> float:
    """Distance of the two hypotheses, in standard deviations of the statistic."""
    return (1.0 if relation == "add-remove" else math.sqrt(2.0)) / row.diagonal


def _counts(
    rng: np.random.Generator, draws: int, thresholds: Array, relations: Sequence[str]
) -> NDArray[np.int64]:
    """How many unit statistics exceed rising thresholds, one row of them per relation.

    Under add-remove the statistic is one diagonal entry, else the difference of two, over sqrt 2.
    """
    counts = np.zeros(thresholds.shape, dtype=np.int64)
    for start in range(0, draws, _BLOCK):
        entries = rng.standard_normal((2, min(_BLOCK, draws - start)))
        statistics = {"add-remove": entries[0], "replace-one": (entries[0] - entries[1]) * _HALF}
        for place, (relation, levels) in enumerate(zip(relations, thresholds, strict=True)):
            values = statistics[relation]
            above = values[values > levels[0]]
            passed = np.searchsorted(levels, above, side="left")  # levels below the value
            reached = np.bincount(passed, minlength=len(levels) + 1)
            counts[place] += reached[:0:-1].cumsum()[::-1]
    return counts


def dp_pca_attack(settings: PcaAttack) -> pd.DataFrame:
    """Attack on single samples, by drawn releases of the printed DP-PCA.

    Columns `COLUMNS`, one row per scheme (iid, inid), relation and threshold: the exact separation
    of the hypotheses (mu) and the epsilon that it needs at delta; exact and drawn rates of false
    alarm and detection with one-sided bounds, and the epsilon that the bounds imply. One threshold
    per scheme and relation is `chosen` (1), by its expected outcome, before anything is drawn; the
    confidence holds for that one.
    """
    epsilon, delta, draws = settings.epsilon, settings.delta, settings.draws
    miss = 0.5 * (1.0 - settings.confidence)
    found = {
        row.scheme: row
        for row in rows("unclipped", features=settings.features, epsilon=epsilon, delta=delta)
        if row.noise == "gaussian"
    }
    levels = np.linspace(*_LEVELS, settings.thresholds)
    cases = [(scheme, relation) for scheme in SCHEMES for relation in NEIGHBOURING[::-1]]
    relations = [relation for _, relation in cases]
    apart = np.array([_separation(found[scheme], relation) for scheme, relation in cases])
    streams = (generator(settings.seed, "dp-pca-attack", name) for name in ("absent", "present"))
    both = [
        _counts(stream, draws, levels - shift, relations)
        for stream, shift in zip(streams, (0.0 * apart[:, None], apart[:, None]), strict=True)
    ]
    table = []
    for (scheme, relation), mu, absent, present in zip(cases, apart, *both, strict=True):
        exact = special.ndtr(-levels), special.ndtr(mu - levels)
        alarms, detections = (np.round(draws * rate) for rate in exact)
        expected = _bounds(alarms, detections, draws, miss, delta)
        upper, lower, implied = _bounds(absent, present, draws, miss, delta)
        kept = float(epsilon_at(Gaussian(1.0), mu, delta))
        chosen = np.arange(len(levels)) == int(np.argmax(expected[2]))
        for k, level in enumerate(levels):
            about = [scheme, relation, epsilon, delta, mu, kept, draws, level, int(chosen[k])]
            alarm = [exact[0][k], absent[k] / draws, upper[k]]
            detection = [exact[1][k], present[k] / draws, lower[k]]
            table.append([*about, *alarm, *detection, implied[k]])
    return pd.DataFrame(table, columns=list(COLUMNS))


def _bounds(
    alarms: Array, detections: Array, draws: int, miss: float, delta: float
) -> tuple[Array, Array, Array]:
    """Upper bound of false alarms, the lower one of detections, and their epsilon."""
    upper = _binomial_bounds(alarms, draws, miss)[1]
    lower = _binomial_bounds(detections, draws, miss)[0]
    return upper, lower, _epsilon_bound(lower, upper, delta)

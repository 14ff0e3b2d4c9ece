"""What DP-PCA of inid-2024 needs at single pairs of neighbours, and an attack on it as printed.

Section VI-B of Muthukrishnan & Kalyani (2024) gives the diagonal entries of sum x x' noise for
a sensitivity of 1/sqrt K. Unless entries are clipped at that, as the text states and the printed
errors rule out, a sample x = e_1 has all its weight in one diagonal entry and moves that
by 1, which the noise does not cover. The proof is one line: the releases with and without that
sample differ by N(0, sigma^2) against N(1, sigma^2) in one entry and in nothing else, so that
delta(epsilon) is that of Gaussian noise at mu = 1/sigma, whatever the other samples are.

`dp_pca_privacy` evaluates delta at such pairs: a lower bound of what the mechanism needs, so that
a value above the claimed delta refutes. A pair that is within the claim proves nothing.

`dp_pca_attack` is run and counted. Releases are drawn with a sample and without it, or with one
sample in place of another. The attacker knows the other samples, subtracts them, and says 'present'
if the most powerful statistic exceeds a threshold fixed beforehand: entry (1, 1) if e_1 may have
been added, the difference of entries (1, 1) and (2, 2) if it may have replaced e_2. No other entry
depends on the answer, so only these are drawn. By Clopper & Pearson the counts bound, at a stated
confidence, what any (epsilon, delta)-DP mechanism must satisfy:

    P(detected) <= e^epsilon P(false alarm) + delta.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from dpnoise.learn.pca import NEIGHBOURING
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.profile import epsilon_at
from dpnoise_papers.inid_2024.tables.pca import (
    SCHEMES,
    SPARSE,
    laplace_profile,
    printed_sensitivities,
    replaced_halves,
    row_loss,
    rows,
)
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.learning_settings import PcaAttack, PcaPrivacy, PcaSensitivities
    from dpnoise_papers.inid_2024.tables.pca import Row

PRIVACY_COLUMNS = (
    "reading", "noise", "scheme", "relation", "neighbour", "epsilon", "delta", "delta_lower",
    "delta_upper", "excess", "loss", "violated",
)  # fmt: skip
_ABOVE = 1.0 + 1e-9  # beyond rounding
_ERROR = 1e-11  # of the closed form
ATTACK_COLUMNS = (
    "scheme", "relation", "epsilon", "delta", "separation", "epsilon_exact", "draws", "threshold",
    "chosen", "false_alarm_exact", "false_alarm", "false_alarm_upper", "detection_exact",
    "detection", "detection_lower", "epsilon_lower",
)  # fmt: skip
_BLOCK = 2**20
_HALF = math.sqrt(0.5)
_LEVELS = 2.0, 5.0  # thresholds, in standard deviations: at lower ones delta is not seen


class Neighbour(NamedTuple):
    """A pair of neighbouring data sets, by how far apart their second moments are.

    Attributes
    ----------
    diagonal, off_diagonal : tuple of int and float
        How many entries of the upper triangle differ, and by how much each.
    """

    relation: str
    name: str
    diagonal: tuple[int, float]
    off_diagonal: tuple[int, float]


def _neighbours(features: int) -> Iterator[Neighbour]:
    """Pairs of neighbours at which delta is evaluated."""
    yield Neighbour("add-remove", "e_1 added", (1, 1.0), (0, 0.0))
    for k in sorted({min(k, features) for k in (*SPARSE, features)}):
        entries = (k, 1.0 / k), (k * (k - 1) // 2, 1.0 / k)
        yield Neighbour("add-remove", f"flat on {k} added", *entries)
    yield Neighbour("replace-one", "e_1 for e_2", (2, 1.0), (0, 0.0))
    yield Neighbour("replace-one", "(e_1 + e_2) for (e_1 - e_2)", (0, 0.0), (1, 1.0))
    on, off, size = replaced_halves(features)
    yield Neighbour("replace-one", "halves at 45 degrees", (on, size), (off, size))


def _needed(row: Row, neighbour: Neighbour) -> tuple[float, float, float]:
    """Bounds of delta and the loss that a mechanism needs at one pair of neighbours.

    A lower and an upper bound of delta at the row's epsilon, and the greatest privacy loss, which
    is epsilon at delta = 0 (infinite for Gaussian noise).
    """
    parts = [
        (count, size, scale)
        for (count, size), scale in (
            (neighbour.diagonal, row.diagonal),
            (neighbour.off_diagonal, row.off_diagonal),
        )
        if count
    ]
    if row.noise == "gaussian":
        mu = math.sqrt(sum(count * (size / scale) ** 2 for count, size, scale in parts))
        delta = math.exp(gaussian_log_delta(mu, row.epsilon))
        return delta * (1.0 - _ERROR), delta * (1.0 + _ERROR), math.inf
    profile = laplace_profile(parts, row.epsilon)
    loss = sum(count * size / scale for count, size, scale in parts)
    return float(profile.lower), float(profile.upper), loss


def dp_pca_privacy(settings: PcaPrivacy) -> pd.DataFrame:
    """Delta that each mechanism needs at single pairs of neighbours.

    Columns reading, noise, scheme, relation, neighbour, epsilon, delta (claimed), delta_lower and
    delta_upper (what these neighbours need), excess (delta_lower - delta), loss (the greatest
    privacy loss, inf for Gaussian noise) and violated: 'yes' if delta_lower exceeds the claimed
    delta, or the loss the epsilon where that is 0, by more than a relative 1e-9.
    """
    features, delta = settings.features, settings.delta
    table = []
    for variant in settings.variants:
        for epsilon in settings.epsilons:
            for row in rows(variant, features=features, epsilon=epsilon, delta=delta):
                for pair in _neighbours(features):
                    low, high, loss = _needed(row, pair)
                    seen = (
                        low > row.delta * _ABOVE if row.delta > 0.0 else loss > row.epsilon * _ABOVE
                    )
                    about = [variant, row.noise, row.scheme, pair.relation, pair.name]
                    bounds = [row.epsilon, row.delta, low, high, low - row.delta, loss]
                    table.append([*about, *bounds, "yes" if seen else "no"])
    return pd.DataFrame(table, columns=list(PRIVACY_COLUMNS))


def dp_pca_sensitivities(settings: PcaSensitivities) -> pd.DataFrame:
    """Sensitivity of sum x x' as Section VI-B has it, beside the true one.

    Columns quantity (diagonal, off-diagonal: of one entry; l1, l2: of the upper triangle; l2-twice:
    l2 of the whole matrix, where entries off the diagonal appear twice),
    relation, printed (1/sqrt K, 1/sqrt(2 K) and the norms that follow from these), exact (the
    largest reached by known neighbours), bound (proved; equal to exact but for l1 under
    replace-one) and departure (how far printed is from exact, relative to it).
    """
    features = settings.features
    sizes = printed_sensitivities(features)
    above = features * (features - 1) // 2
    printed = {
        "diagonal": sizes[0],
        "off-diagonal": sizes[1],
        "l1": features * sizes[0] + above * sizes[1],
        "l2": math.sqrt(features * sizes[0] ** 2 + above * sizes[1] ** 2),
        "l2-twice": math.sqrt(features * sizes[0] ** 2 + 2.0 * above * sizes[1] ** 2),
    }
    table = []
    for relation in NEIGHBOURING[::-1]:
        added = relation == "add-remove"
        norms = {
            name: row_loss(features, (1.0, 1.0), noise, relation)
            for name, noise in (("l1", "laplace"), ("l2", "gaussian"))
        }
        # x_i^2 <= 1 and |x_i x_j| <= 1/2, of both signs
        entry = {"diagonal": (1.0, 1.0), "off-diagonal": (0.5, 0.5) if added else (1.0, 1.0)}
        whole = _whole_norm(features, added=added)
        table += [
            [name, relation, printed[name], *bounds] for name, bounds in (entry | norms).items()
        ]
        bound = 1.0 if added else math.sqrt(2.0)  # ||x||^2, and orthogonal samples
        table.append(["l2-twice", relation, printed["l2-twice"], whole, bound])
    columns = ["quantity", "relation", "printed", "exact", "bound"]
    found = pd.DataFrame(table, columns=columns)
    return found.assign(departure=(found["printed"] / found["exact"] - 1.0).abs())


def _whole_norm(features: int, *, added: bool) -> float:
    """Largest Frobenius norm of x x', or of x x' - y y', over samples of norm 1 of a few shapes."""
    i = np.arange(1.0, features + 1.0)
    shapes = i == 1, i == features, np.ones(features), i, np.exp(-i)
    samples = [np.asarray(x, dtype=float) / np.linalg.norm(x) for x in shapes]
    moments = [np.outer(x, x) for x in samples]
    if added:
        return max(float(np.linalg.norm(r)) for r in moments)
    return max(float(np.linalg.norm(r - s)) for r in moments for s in moments)


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

    Columns `ATTACK_COLUMNS`, one row per scheme (iid, inid), relation and threshold: the exact
    separation of the hypotheses (mu) and the epsilon that it needs at delta; exact and drawn rates
    of false alarm and detection with one-sided bounds, and the epsilon that the bounds imply. One
    threshold per scheme and relation is `chosen` (1), by its expected outcome, before anything is
    drawn; the confidence holds for that one.
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
    return pd.DataFrame(table, columns=list(ATTACK_COLUMNS))


def _bounds(
    alarms: Array, detections: Array, draws: int, miss: float, delta: float
) -> tuple[Array, Array, Array]:
    """Upper bound of false alarms, the lower one of detections, and their epsilon."""
    upper = _binomial_bounds(alarms, draws, miss)[1]
    lower = _binomial_bounds(detections, draws, miss)[0]
    return upper, lower, _epsilon_bound(lower, upper, delta)

"""Private heat maps of taxi trips, raw and denoised (balle-wang-2018, Section 5.3, Appendix B.2).

Counts at the junctions of a city are released with Gaussian noise, then denoised without any
further look at the trips: every choice (the penalty of trend filtering, by SURE) is made from
the noisy counts and the known sigma, and costs no privacy. Figures 2 and 5 show one release of
one hour, Figure 6 the mean square error over epsilon.

The sensitivity is that of the preprocessing (`dpnoise_papers.data.city`): at most
`events_per_cab` events of a cab in an hour, added or removed. All methods denoise the same draw
of the noise. 'classical' at epsilon >= 1 is the formula's value, of which nothing says that it is
private.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise._validation import Problems
from dpnoise.denoise.graph import Graph
from dpnoise.denoise.shrinkage import james_stein, soft_threshold, universal_threshold
from dpnoise.denoise.trend_filtering import choose_by_sure
from dpnoise.denoise.wavelets import WaveletBasis, uniform_spanning_tree
from dpnoise.privacy.gaussian import classical_gaussian_sigma, gaussian_sigma
from dpnoise_papers.data.city import l2_sensitivity
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise._types import Array
    from dpnoise_papers.balle_wang_2018.settings import CityCounts, HeatMap, HeatMapErrors
    from dpnoise_papers.data.city import City

NEIGHBOURS = "add or remove a cab"
# Above the panels of Figure 6, and the same hours on a clock of 12 hours.
_LABELS = {
    "printed": ("8:00 am", "12:00 am", "16:00 am", "20:00 am"),
    "corrected": ("8:00 am", "12:00 pm", "4:00 pm", "8:00 pm"),
}
# The paper's methods by their role in its comparisons, and whether they use the roads; the others
# are added.
_ROLES = {
    "classical": "raw",
    "analytic": "raw",
    "james-stein": "denoised",
    "soft-threshold": "denoised",
    "wavelets": "denoised",
    "trend-filtering-0": "denoised",
}
_ON_ROADS = ("wavelets", "trend-filtering-0", "trend-filtering-1", "trend-filtering-2")
_NOTE = "substitute trips, since the paper's counts are not public"


class _Releases:
    """Releases of one hour, all denoised on the same graph and the same random spanning tree."""

    def __init__(
        self, city_settings: CityCounts, settings: HeatMap | HeatMapErrors, city: City, hour: int
    ) -> None:
        _check(city, hour)
        self.settings, self.hour, self.truth = settings, hour, city.counts[hour]
        self.sensitivity = l2_sensitivity(city_settings.events_per_cab)
        self.graph = Graph(len(city.x), city.sections)
        stream = generator(settings.seed, "heat-maps", "spanning tree")
        self.wavelets = WaveletBasis(uniform_spanning_tree(self.graph, stream))

    def sigma(self, method: str, epsilon: float) -> float:
        """Deviation of the noise that a method denoises."""
        budget = epsilon, self.settings.delta, self.sensitivity
        if method == "classical":
            return float(classical_gaussian_sigma(*budget, allow_large_epsilon=True))
        return float(gaussian_sigma(*budget))

    def estimates(self, method: str, epsilon: float) -> list[tuple[Array, float, float]]:
        """Estimate, penalty and degrees of freedom (NaN without) of each draw of the noise."""
        sigma, found = self.sigma(method, epsilon), []
        for k in range(self.settings.repetitions):
            stream = generator(self.settings.seed, "heat-maps", self.hour, epsilon, k)
            noisy = self.truth + sigma * stream.standard_normal(self.truth.size)
            found.append(self._estimate(method, noisy, sigma))
        return found

    def _estimate(self, method: str, y: Array, sigma: float) -> tuple[Array, float, float]:
        threshold = universal_threshold(sigma, y.size)
        if method.startswith("trend-filtering-"):
            fit = choose_by_sure(self.graph, y, sigma, order=int(method[-1])).fit
            return fit.fitted, fit.penalty, float(fit.degrees_of_freedom)
        if method == "wavelets":
            return self.wavelets.denoise(y, sigma), threshold, np.nan
        if method == "soft-threshold":
            return soft_threshold(y, threshold), threshold, np.nan
        if method == "flat":
            return np.full(y.size, np.mean(y)), np.nan, 1.0
        if method.startswith("james-stein"):
            return james_stein(y, sigma, positive_part=method.endswith("positive")), np.nan, np.nan
        return y, np.nan, np.nan


def heat_maps(
    city_settings: CityCounts, settings: HeatMap, city: City
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """One private map by every method, and its error over several draws of the noise.

    Errors: city, hour, source, data_note (which other data than the paper's), day, method, role
    ('raw' and 'denoised' for the paper's, or 'added'), smooths (the 'graph' or 'nothing'), epsilon,
    delta, sensitivity, neighbours, sigma, penalty and degrees_of_freedom (of the first draw),
    rmse_first (of the first draw), repetitions, rmse and rmse_se, the mean over all draws and its
    standard error, and saving and saving_se, the share by which that is below the analytic
    mechanism's, paired by draw (empty without the latter). Maps: junction, x, y (metres), truth,
    and one column for each method, counts of the first draw. Roads: u and v, the junctions that
    each road section joins, once.
    """
    hour, epsilon, repetitions = settings.hour, settings.epsilon, settings.repetitions
    releases, details = _Releases(city_settings, settings, city, hour), city.hours[hour]
    truth = releases.truth
    maps = {"junction": np.arange(truth.size), "x": city.x, "y": city.y, "truth": truth}
    rows: list[dict[str, object]] = []
    errors: dict[str, Array] = {}
    for method in settings.methods:
        found = releases.estimates(method, epsilon)
        maps[method], penalty, freedom = found[0]
        rmse = np.sqrt([np.mean((estimate - truth) ** 2) for estimate, _, _ in found])
        errors[method] = rmse
        rows.append({
            "city": city.name, "hour": hour, "source": details.source,
            "data_note": _NOTE, "day": details.day,
            "method": method, "role": _ROLES.get(method, "added"),
            "smooths": "graph" if method in _ON_ROADS else "nothing",
            "epsilon": epsilon, "delta": settings.delta,
            "sensitivity": releases.sensitivity, "neighbours": NEIGHBOURS,
            "sigma": releases.sigma(method, epsilon),
            "penalty": penalty, "degrees_of_freedom": freedom, "rmse_first": rmse[0],
            "repetitions": repetitions, "rmse": np.mean(rmse),
            "rmse_se": np.std(rmse, ddof=1) / np.sqrt(repetitions),
        })  # fmt: skip
    table = pd.DataFrame(rows)
    table["saving"], table["saving_se"] = _savings(errors, settings.methods)
    return table, pd.DataFrame(maps), pd.DataFrame(releases.graph.edges, columns=["u", "v"])


def heat_map_errors(
    city_settings: CityCounts, settings: HeatMapErrors, city: City, *, part: str
) -> pd.DataFrame:
    """Mean square error of every method against epsilon, for one hour.

    Columns city, hour, source, data_note, method, role, epsilon, delta, sensitivity, sigma,
    repetitions, mse (mean over repetitions) and mse_se (of that mean), and benefit and benefit_se,
    the analytic mechanism's error over that, paired by draw (empty without the latter); `part` is
    the hour.
    """
    hour, methods = int(part), settings.methods
    releases, source = _Releases(city_settings, settings, city, hour), city.hours[hour].source
    rows = []
    for epsilon in settings.epsilons:
        errors = {
            method: np.array([
                np.mean((estimate - releases.truth) ** 2)
                for estimate, _, _ in releases.estimates(method, epsilon)
            ])
            for method in methods
        }  # fmt: skip
        for method, own in errors.items():
            raw = errors.get("analytic", np.full(own.size, np.nan))
            error = float(np.std(own, ddof=1) / np.sqrt(own.size))
            rows.append((city.name, hour, source, _NOTE, method, _ROLES.get(method, "added"),
                         epsilon, settings.delta, releases.sensitivity,
                         releases.sigma(method, epsilon), own.size, float(np.mean(own)), error,
                         *_ratio(raw, own)))  # fmt: skip
    columns = ["city", "hour", "source", "data_note", "method", "role", "epsilon", "delta",
               "sensitivity", "sigma", "repetitions", "mse", "mse_se", "benefit",
               "benefit_se"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def map_noise(
    city_settings: CityCounts, figure_2: HeatMap, figure_5: HeatMap, settings: HeatMapErrors
) -> pd.DataFrame:
    """Noise of the maps, which is the whole error of a raw release, over epsilon; no data.

    Columns epsilon, delta, sensitivity, classical and analytic (standard deviations) and gain
    (classical over analytic mean square error); the epsilons are those of Figures 2, 5 and 6.
    """
    sensitivity = l2_sensitivity(city_settings.events_per_cab)
    budgets = {(one.epsilon, one.delta) for one in (figure_2, figure_5)}
    budgets |= {(epsilon, settings.delta) for epsilon in settings.epsilons}
    epsilon, delta = np.array(sorted(budgets)).T
    classical = classical_gaussian_sigma(epsilon, delta, sensitivity, allow_large_epsilon=True)
    analytic = gaussian_sigma(epsilon, delta, sensitivity)
    return pd.DataFrame({
        "epsilon": epsilon, "delta": delta, "sensitivity": sensitivity, "classical": classical,
        "analytic": analytic, "gain": (classical / analytic) ** 2,
    })  # fmt: skip


def panel_labels() -> pd.DataFrame:
    """Labels of the panels of Figure 6, as printed and corrected.

    Columns reading, label and is_time, 1 where the hour before am or pm is one of 1 to 12.
    """
    rows = [
        (variant, label, int(1 <= int(label.split(":")[0]) <= 12))
        for variant, labels in _LABELS.items()
        for label in labels
    ]
    return pd.DataFrame(rows, columns=["reading", "label", "is_time"])


def all_hours(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Errors of several hours, of `heat_map_errors`, as one table."""
    return pd.concat(tables.values(), ignore_index=True)


def _ratio(first: Array, second: Array) -> tuple[float, float]:
    """Return the ratio of two means of paired draws and its standard error."""
    ratio = float(np.mean(first) / np.mean(second))
    residual = (first - ratio * second) / np.mean(second)
    return ratio, float(np.std(residual, ddof=1) / np.sqrt(len(residual)))


def _savings(errors: Mapping[str, Array], methods: Sequence[str]) -> tuple[Array, Array]:
    """Return the share by which each method's error is below the analytic one's, and its error."""
    if "analytic" not in errors:
        return np.full(len(methods), np.nan), np.full(len(methods), np.nan)
    ratios = np.array([_ratio(errors[method], errors["analytic"]) for method in methods])
    return 1.0 - ratios[:, 0], ratios[:, 1]


def _check(city: City, hour: int) -> None:
    """Refuse counts that no map can have."""
    problems = Problems("heat maps")
    counts = city.counts[hour]
    bad = counts[~(np.isfinite(counts) & (counts >= 0.0))]
    problems.require(not bad.size, "counts", "non-negative numbers", bad[:3].tolist())
    same = counts.shape == city.x.shape == city.y.shape
    problems.require(same, "counts", "one for each junction", counts.shape)
    problems.raise_if_any()


def heat_map_data(settings: CityCounts, city: City) -> pd.DataFrame:
    """Trips of each hour, what was kept of them, and the sensitivity of their counts.

    Columns city, hour, source, day, scale, those of `dpnoise_papers.data.city.Tally`, total
    (the sum of the counts), largest, deviation (their root mean square about the mean: the RMSE of
    a flat map), junctions, sections, loops, parallels, edges, sensitivity (add or remove a cab),
    sensitivity_replace (replace one) and, if the limit is one on trips, both ends of which are
    counted, trips_sensitivity (all ends at one junction), with the range over what the paper leaves
    open in trips_sensitivity_least (pick-ups and drop-offs on maps of their own, or events spread
    by the kernel) and trips_sensitivity_greatest.
    """
    graph = Graph(len(city.x), city.sections)
    rows = []
    for hour in sorted(city.counts):
        counts, details = city.counts[hour], city.hours[hour]
        rows.append({
            "city": city.name, "hour": hour, "source": details.source, "day": details.day,
            "scale": details.scale, **vars(details.tally), "total": float(np.sum(counts)),
            "largest": float(np.max(counts)), "deviation": float(np.std(counts)),
            "junctions": graph.nodes, "sections": len(city.sections), "loops": graph.loops,
            "parallels": graph.parallels, "edges": len(graph.edges),
            "sensitivity": l2_sensitivity(settings.events_per_cab),
            "sensitivity_replace": l2_sensitivity(settings.events_per_cab, replace=True),
            "trips_sensitivity": l2_sensitivity(2 * settings.events_per_cab),
            "trips_sensitivity_least": l2_sensitivity(settings.events_per_cab),
            "trips_sensitivity_greatest": l2_sensitivity(2 * settings.events_per_cab),
        })  # fmt: skip
    return pd.DataFrame(rows)

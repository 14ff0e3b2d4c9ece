"""Counts behind the heat maps of balle-wang-2018: real where there are data, else synthetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.denoise.graph import Graph
from dpnoise_papers.balle_wang_2018.settings import named_hours
from dpnoise_papers.data.city.counts import l2_sensitivity
from dpnoise_papers.data.city.synthetic import complete_city

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise_papers.balle_wang_2018.settings import CityCounts, HeatMap, HeatMapErrors
    from dpnoise_papers.data.city.counts import City


def completed(city: City | None, hours: Sequence[int], settings: CityCounts) -> City:
    """City, if one could be had, with synthetic counts for every hour asked for that has none."""
    given = settings.model_dump(exclude={"passengers_per_trip"})
    return complete_city(city, hours, **given)


def heat_map_data(
    settings: CityCounts,
    figure_2: HeatMap,
    figure_5: HeatMap,
    figure_6: HeatMapErrors,
    city: City | None,
) -> pd.DataFrame:
    """Trips of each hour, what was kept of them, and the sensitivity of their counts.

    Columns city, hour, source, day, scale, those of `dpnoise_papers.data.city.counts.Tally`, total
    (the sum of the counts), largest, deviation (their root mean square about the mean: the RMSE of
    a flat map), junctions, sections, loops, parallels, edges, sensitivity (add or remove a cab),
    sensitivity_replace (replace one) and, if the limit is one on trips, both ends of which are
    counted, trips_sensitivity (all ends at one junction), with the range over what the paper leaves
    open in trips_sensitivity_least (pick-ups and drop-offs on maps of their own, or events spread
    by the kernel) and trips_sensitivity_greatest. The figures name the hours.
    """
    city = completed(city, named_hours(figure_2, figure_5, figure_6), settings)
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

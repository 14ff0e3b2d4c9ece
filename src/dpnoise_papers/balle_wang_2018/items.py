"""Items of balle-wang-2018: Balle & Wang, Improving the Gaussian mechanism (ICML 2018)."""

from __future__ import annotations

from dpnoise_papers.item import Figure, Item, Paper, Table

_CITY = "city/manhattan"

# What several panels share.
_GAIN = ".tables.gaussian_calibration.classical_against_analytic"
_MEANS = ".tables.releases.mean_estimation"
_HISTOGRAMS = ".tables.releases.histograms"
_HEAT_MAPS = ".tables.heat_maps.heat_maps"
_MEAN_CURVES = Figure(function=".figures.mean_curves")
_HISTOGRAM_CURVES = Figure(function=".figures.histogram_curves")
_DRAWN = ".figures.maps"

PAPER = Paper(
    id="balle-wang-2018",
    items=(
        Item(
            id="figure-1a",
            caption="Standard deviations of the classical and the analytic Gaussian mechanism as "
            "epsilon tends to 0. The analytic one has a limit there, a fifth below Theorem 2's; "
            "the classical one grows without bound.",
            table=Table(function=_GAIN),
            figure=Figure(function=".figures.deviations"),
        ),
        Item(
            id="figure-1b",
            caption="Variance of the classical over that of the analytic Gaussian mechanism "
            "against epsilon, for several delta. The dashed guides are the 1.4 of Section 5.1 and "
            "the third of the variance that the abstract names; on the right the same near them.",
            table=Table(function=_GAIN),
            figure=Figure(function=".figures.gain_by_epsilon", printed=("figure-1b",), bounds=True),
        ),
        Item(
            id="figure-1c",
            caption="Mean estimation at epsilon = 0.01: l2 error, raw and denoised, and the same "
            "over the error of the analytic mechanism. Bands are 99 % intervals; mechanisms "
            "with an asterisk are not in the paper; the legend says on which curve they lie (within 1 %), "
            "and where they end.",
            table=Table(function=_MEANS, alone=True),
            figure=_MEAN_CURVES,
        ),
        Item(
            id="figure-1d",
            caption="Mean estimation in high dimension: l2 error of the denoised estimators alone, "
            "beside the release of zeros, which uses no data. At epsilon = 0.1 and 1 the positive "
            "part lies on James-Stein's curve; soft thresholding is near the zeros at 0.01 and 0.1.",
            table=Table(function=_MEANS, alone=True),
            figure=Figure(function=".figures.denoised_means"),
        ),
        Item(
            id="figure-3a",
            caption="Variance of the classical over that of the analytic Gaussian mechanism "
            "against delta, for several epsilon. The dashed guides are the 1.4 of Section 5.1 and "
            "the third of the variance that the abstract names; on the right the same near them.",
            table=Table(function=_GAIN),
            figure=Figure(function=".figures.gain_by_delta", printed=("figure-1b",), bounds=True),
        ),
        Item(
            id="figure-3b",
            caption="Mean estimation at epsilon = 1, otherwise as Figure 1c.",
            table=Table(function=_MEANS, alone=True),
            figure=_MEAN_CURVES,
        ),
        Item(
            id="figure-3c",
            caption="Mean estimation at epsilon = 0.1, otherwise as Figure 1c.",
            table=Table(function=_MEANS, alone=True),
            figure=_MEAN_CURVES,
        ),
        Item(
            id="figure-4a",
            caption="Sparse histograms at epsilon = 1: l1 error, raw and denoised, and the same "
            "over the error of the analytic mechanism. Bands are 99 % intervals; mechanisms "
            "with an asterisk are not in the paper; the legend says on which curve they lie (within 1 %), "
            "and where they end.",
            table=Table(function=_HISTOGRAMS, alone=True),
            figure=_HISTOGRAM_CURVES,
        ),
        Item(
            id="figure-4b",
            caption="Sparse histograms at epsilon = 0.1, otherwise as Figure 4a.",
            table=Table(function=_HISTOGRAMS, alone=True),
            figure=_HISTOGRAM_CURVES,
        ),
        Item(
            id="figure-4c",
            caption="Sparse histograms at epsilon = 0.01, otherwise as Figure 4a.",
            table=Table(function=_HISTOGRAMS, alone=True),
            figure=_HISTOGRAM_CURVES,
        ),
        Item(
            id="figure-4d",
            caption="Sparse histograms with many bins: l1 error of the denoised estimators alone, "
            "beside the release of zeros, which uses no data. At epsilon = 1 the positive part lies "
            "on James-Stein's curve.",
            table=Table(function=_HISTOGRAMS, alone=True),
            figure=Figure(function=".figures.denoised_histograms"),
        ),
        Item(
            id="figure-4",
            table=Table(
                function=".tables.releases.histogram_panels",
                settings=(),
                reads=("figure-4a", "figure-4b", "figure-4c", "figure-4d"),
            ),
        ),
        Item(
            id="high-dimension",
            table=Table(
                function=".tables.releases.high_dimension",
                settings=(),
                reads=("figure-1d", "figure-4d"),
            ),
        ),
        Item(
            id="heat-map-data",
            table=Table(
                function=".tables.heat_maps.heat_map_data",
                settings=("city",),
                data=(_CITY,),
            ),
        ),
        Item(
            id="figure-2",
            caption="Private heat map of Manhattan's taxi events at midnight, raw and denoised, "
            "with the root mean square error below each map, in brackets as printed; darker is more. "
            "The original counts "
            "are not public: substitute trips, sampled on other days, are scaled to the real "
            "totals of the paper's day and hour. Epsilon = 0.5 is inferred from the printed error of the raw release, 40.29.",
            table=Table(
                function=_HEAT_MAPS,
                settings=("city", "figure_2"),
                data=(_CITY,),
                makes=("figure-2", "figure-2-maps", "figure-2-roads"),
                memory=2000,
            ),
            figure=Figure(function=_DRAWN, printed=("figure-2",), memory=1500),
        ),
        Item(
            id="figure-5",
            caption="Private heat map of Manhattan's taxi events at noon, otherwise as Figure 2.",
            table=Table(
                function=_HEAT_MAPS,
                settings=("city", "figure_5"),
                data=(_CITY,),
                makes=("figure-5", "figure-5-maps", "figure-5-roads"),
                memory=2000,
            ),
            figure=Figure(function=_DRAWN, printed=("figure-5",), memory=1500),
        ),
        Item(
            id="figure-6-hours",
            table=Table(
                function=".tables.heat_maps.heat_map_errors",
                settings=("city", "figure_6"),
                data=(_CITY,),
                parts="figure_6.hours",
                for_each=True,
                makes=("figure-6/hour-{part}",),
                memory=2000,
                minutes=20,
            ),
        ),
        Item(
            id="figure-6",
            caption="Mean square error of Manhattan's private heat maps against epsilon, raw and "
            "denoised, at four hours of the day. Bands are 99 % intervals; the counts are "
            "those of Figure 2, substitutes for counts that are not public.",
            table=Table(
                function=".tables.heat_maps.all_hours",
                settings=(),
                reads=("figure-6/hour-{part}",),
                parts="figure_6.hours",
            ),
            figure=Figure(function=".figures.errors"),
        ),
        Item(
            id="figure-6-labels",
            table=Table(function=".tables.heat_maps.panel_labels", settings=()),
        ),
        Item(
            id="map-noise",
            table=Table(
                function=".tables.heat_maps.map_noise",
                settings=("city", "figure_2", "figure_5", "figure_6"),
            ),
        ),
        Item(
            id="gain-crossings",
            table=Table(function=".tables.gaussian_calibration.gain_crossings"),
        ),
        Item(
            id="algorithm-1",
            caption="Algorithm 1 as published, by both of its stops: the delta that its sigma "
            "really gives, over the delta asked for. Above 1 it is not private.",
            table=Table(function=".tables.gaussian_calibration.published_algorithm"),
            figure=Figure(function=".figures.published_algorithm"),
        ),
        Item(
            id="algorithm-1-sizes",
            table=Table(
                function=".tables.gaussian_calibration.published_algorithm_sizes",
                settings=("algorithm_1", "algorithm_1_sizes"),
            ),
        ),
        Item(
            id="theory",
            table=Table(function=".theory.statements.statements", alone=True),
        ),
        Item(
            id="orders",
            table=Table(function=".theory.statements.orders", settings=("theory",)),
        ),
    ),
)

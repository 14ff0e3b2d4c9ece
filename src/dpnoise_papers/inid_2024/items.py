"""Items of inid-2024: Muthukrishnan & Kalyani, Differential Privacy with Higher Utility.

By Exploiting Coordinate-wise Disparity, as the title goes on (2024).
"""

from __future__ import annotations

from dpnoise_papers.item import Figure, Item, Page, Paper, Table

# What several items share.
_ERRORS = ".tables.profiles.error_curves"
_CURVES = ".figures.profiles.error_curves"
_PLANE = ".tables.profiles.two_dimensions"

PAPER = Paper(
    id="inid-2024",
    items=(
        Item(
            id="table-1",
            caption="The mean squared errors of Table I as formulas, and by how much the noise "
            "that is calibrated exceeds them: by rounding alone.",
            table=Table(function=".tables.profiles.table_1"),
            page=Page(function=".figures.pages.table_1", formats=("md", "tex")),
        ),
        Item(
            id="figure-1a",
            caption="Mean squared error of Gaussian noise for K = 20 coordinates against epsilon, "
            "delta = 1e-6, for profiles of sensitivities of one l2 norm. I.i.d. noise (black) has "
            "the same error for every profile, and so has SPR noise. Optimal noise (blue) gains "
            "more the more unequal the sensitivities are, by the same factor at every epsilon. "
            "Circles are the gains that the paper prints.",
            table=Table(function=_ERRORS),
            figure=Figure(function=_CURVES, printed=("figure-1a",)),
        ),
        Item(
            id="figure-1b",
            caption="Mean squared error of Gaussian noise at epsilon = 0.5, delta = 1e-6 against "
            "the number K of coordinates. Optimal noise for exponential sensitivities stays "
            "bounded; the circle is the level that the paper prints. Right: at K = 2 alone the "
            "quadratic profile has a lower error than the exponential one.",
            table=Table(function=_ERRORS),
            figure=Figure(function=_CURVES, printed=("figure-1b",)),
        ),
        Item(
            id="figure-2",
            caption="Gini coefficient of the sensitivities of each profile against the number K of "
            "coordinates: 0 for equal sensitivities, 1 - 1/K if only one is not 0. At K = 2 the "
            "quadratic profile is more unequal than the exponential one, as its errors show.",
            table=Table(function=".tables.profiles.dispersion"),
            figure=Figure(function=".figures.profiles.dispersion"),
        ),
        Item(
            id="dispersion-orders",
            table=Table(function=".tables.profiles.dispersion_orders", settings=("figure_2",)),
        ),
        Item(
            id="profile-steps",
            table=Table(function=".tables.profiles.profile_steps", settings=("figure_2",)),
        ),
        Item(
            id="figure-3a",
            caption="Mean squared error of epsilon-DP Laplace noise for K = 20 coordinates against "
            "epsilon, for profiles of one l1 norm. Optimal noise (orange) gains no more over "
            "i.i.d. noise (black) than Gaussian noise does for the same profile; SPR noise (grey) "
            "is worse than i.i.d. noise. Circles are the gains that the paper prints.",
            table=Table(function=_ERRORS),
            figure=Figure(function=_CURVES, printed=("figure-3a",)),
        ),
        Item(
            id="figure-3b",
            caption="Mean squared error of epsilon-DP Laplace noise at epsilon = 0.5 against the "
            "number K of coordinates. The circle is the level that the paper prints for "
            "exponential sensitivities, 14.243 dB, a misprint for 14.432. Right: at K = 2 the "
            "quadratic profile has a lower error than the exponential one.",
            table=Table(function=_ERRORS),
            figure=Figure(function=_CURVES, printed=("figure-3b",)),
        ),
        Item(
            id="figure-4",
            caption="Optimal Laplace noise (epsilon-DP) and optimal Gaussian noise (delta = 1e-6) "
            "at epsilon = 0.5 against the number K of coordinates, all profiles of l2 norm 1. Dots "
            "mark the first K at which Laplace noise has the greater error, the open circle the one "
            "that the paper prints. For exponential sensitivities it has the lower one for every K.",
            table=Table(function=_ERRORS),
            figure=Figure(
                function=".figures.profiles.laplace_and_gaussian", printed=("laplace-or-gaussian",)
            ),
        ),
        Item(
            id="laplace-or-gaussian",
            table=Table(function=".tables.profiles.laplace_against_gaussian"),
        ),
        Item(
            id="table-2",
            caption="Table II, mean absolute errors of epsilon-DP noise for two coordinates of "
            "sensitivities 0.85 and 0.15: ours, and in brackets what the paper prints. The last "
            "rows it leaves out; bold is the lowest error of each column. The staircase and i.i.d. "
            "Laplace noise are told the sum of the sensitivities alone, the others each of them.",
            table=Table(function=_PLANE),
            page=Page(function=".figures.pages.table_2", formats=("md", "tex"), claims=True),
        ),
        Item(
            id="table-2-curves",
            caption="Table II over a range of epsilon: mean absolute error times epsilon for two "
            "coordinates of sensitivities 0.85 and 0.15. What lowers the error is to use both "
            "sensitivities, not to add independent noise. A staircase in the norm of the box of "
            "neighbours (abs(d_i) <= lambda_i for both coordinates) has the lowest error throughout. "
            "Beyond epsilon = 3.2 even the staircase that is told their sum alone beats i.n.i.d. "
            "Laplace noise. Circles are the numbers of Table II.",
            table=Table(function=_PLANE),
            figure=Figure(function=".figures.profiles.curves", printed=("table-2",)),
        ),
        Item(
            id="table-2-crossings",
            table=Table(function=".tables.profiles.staircase_crossings"),
        ),
        Item(
            id="algorithm-1",
            table=Table(function=".tables.bisection.bisection"),
        ),
        Item(
            id="corollary-6",
            caption="Laplace noise with delta > 0: mean squared error over that of optimal "
            "Gaussian noise of the same epsilon = 0.5 and delta, against the number K of "
            "coordinates. Corollary 6 is within a line's width of the dashed curves, where delta "
            "is 0. By the exact account (solid) the error tends to twice the Gaussian's in many "
            "dimensions.",
            table=Table(function=".tables.profiles.approximate_laplace", alone=True),
            figure=Figure(function=".figures.profiles.approximate_laplace"),
        ),
        Item(
            id="theorem-7",
            caption="Mean squared error of optimal over that of i.i.d. noise against nu, the mean sensitivity "
            "over the largest. Theorem 7 says O(nu^2) (dashed). The ratio lies between nu and 1 "
            "(grey) for every profile: sensitivities that are equal or absent reach nu, one large "
            "and many small ones come near 1.",
            table=Table(function=".tables.profiles.theorem_7"),
            figure=Figure(function=".figures.profiles.theorem_7"),
        ),
        Item(
            id="theory",
            table=Table(function=".theory.statements.inid_theory", alone=True),
        ),
        Item(
            id="higher-accuracy",
            table=Table(function=".theory.gain.higher_accuracy", settings=("theory",)),
        ),
        Item(
            id="table-3",
            caption="Private principal components (Table III): subspace recovery error of each "
            "variant of the mechanism; grey bars are what the paper prints. The printed Gaussian "
            "i.n.i.d. errors are near those of the variant without clipping, which is not private "
            "(crosses), and of the noise that is private without it. The printed Laplace errors "
            "are out of reach of epsilon-DP Laplace noise. Below: the errors depend on the noise "
            "alone. Open circles are the printed errors at the noise that would give them.",
            table=Table(function=".tables.pca.dp_pca_over_models", alone=True),
            figure=Figure(function=".figures.pca.table_3", printed=("table-3",)),
            page=Page(function=".figures.pages.table_3", formats=("md", "tex"), claims=True),
        ),
        Item(
            id="table-3-models",
            caption="Gaussian noise of Table III by data model, the cited one first: unions of equal "
            "random subspaces that have the rank together, then the product of Gaussian matrices. "
            "If one data set serves all trials, its draw moves the errors by the scatter; the p-value "
            "says whether a printed row is one more draw. Models in brackets contradict the row of "
            "i.i.d. noise, which is the control.",
            table=Table(
                function=".tables.pca_models.dp_pca_models",
                settings=("table_3", "table_3_models"),
                claims=True,
                alone=True,
            ),
            page=Page(function=".figures.pages.table_3_models"),
        ),
        Item(
            id="dp-pca-sensitivities",
            table=Table(function=".tables.pca_privacy.dp_pca_sensitivities"),
        ),
        Item(
            id="table-4",
            table=Table(function=".table_4.noise.table_4", claims=True),
        ),
        Item(
            id="table-4-accounting",
            table=Table(
                function=".table_4.noise.table_4_accounting", settings=("table_4",), alone=True
            ),
        ),
        Item(  # one job for each cell of the table
            id="table-4-digits-runs",
            extra="deep",
            table=Table(
                function=".table_4.training.digits_cell",
                settings=("table_4_digits",),
                parts="table_4_digits.cells",
                for_each=True,
                makes=("table-4-digits-runs-{part}", "table-4-digits-groups-{part}"),
            ),
        ),
        Item(
            id="table-4-digits",
            extra="deep",
            caption="Table IV on digits instead of CIFAR-10: test accuracy of networks trained "
            "privately, by budget and scheme. Points are means over networks that differ in initial "
            "weights, batches and noise, bars 99 % intervals, small dots single networks. Lines are "
            "training without clipping and noise, and guessing; the panel of Laplace noise has an "
            "axis of its own. I.i.d. noise with global clipping, the others with clipping by layer.",
            table=Table(
                function=".table_4.training.table_4_trained",
                reads=("table-4-digits-runs-{part}",),
                parts="table_4_digits.cells",
            ),
            figure=Figure(
                function=".figures.table_4.accuracy_by_scheme",
                reads=("table-4-digits", "table-4-digits-runs-{part}"),
                parts="table_4_digits.cells",
            ),
            page=Page(function=".figures.table_4.accuracies"),
        ),
        Item(
            id="table-4-digits-groups",
            extra="deep",
            table=Table(
                function=".table_4.training.groups_of_cells",
                settings=(),
                reads=("table-4-digits-groups-{part}",),
                parts="table_4_digits.cells",
            ),
        ),
        Item(  # one job for each cell, on a GPU if the settings say so
            id="table-4-cifar10-runs",
            extra="deep",
            target="deep_cifar10",
            table=Table(
                function=".table_4.training.cifar10_cell",
                settings=("table_4_cifar10",),
                data=("images/cifar10",),
                parts="table_4_cifar10.cells",
                for_each=True,
                makes=("table-4-cifar10-runs-{part}", "table-4-cifar10-groups-{part}"),
                device="table_4_cifar10.device",
                memory=8000,
                minutes=720,
            ),
        ),
        Item(
            id="table-4-cifar10",
            extra="deep",
            target="deep_cifar10",
            caption="Table IV: test accuracy of ResNet-20 on CIFAR-10, trained privately, by budget and "
            "scheme. Points are means over networks, bars 99 % intervals, small dots single networks. "
            "Lines are training without clipping and noise, and guessing; the panel of Laplace noise "
            "has an axis of its own.",
            table=Table(
                function=".table_4.training.table_4_printed",
                reads=("table-4-cifar10-runs-{part}",),
                parts="table_4_cifar10.cells",
            ),
            figure=Figure(
                function=".figures.table_4.accuracy_by_scheme",
                reads=("table-4-cifar10", "table-4-cifar10-runs-{part}"),
                parts="table_4_cifar10.cells",
            ),
            page=Page(function=".figures.table_4.accuracies"),
        ),
        Item(
            id="figure-5",
            caption="Private coordinate descent on California (LASSO) with i.i.d., SPR and "
            "optimal noise: relative error of the objective against passes, of one run whose noise "
            "pays for all passes. The protocol is the printed one, the best mean of five trials. The "
            "columns stand in the order of scikit-learn's frame (strong lines, which are judged) or "
            "of the older cal_housing table; bands are random orders. Stars are printed, in the "
            "colour of their scheme; crosses are read off the figures of Mangold et al. On "
            "standardised features the three schemes are one.",
            table=Table(
                function=".tables.improved_descent.improved_descent",
                settings=("improved_descent",),
                data=("california",),
                threads=8,
                memory=2000,
                minutes=15,
            ),
            figure=Figure(
                function=".figures.improved_descent.descent_paths",
                reads=("figure-5", "descent-orders"),
                printed=("figure-5",),
            ),
        ),
        Item(
            id="figure-6",
            caption="Private coordinate descent on Electricity (logistic regression) with i.i.d., SPR "
            "and optimal noise: relative error of the objective against passes, as in Figure 5. The "
            "columns stand in the order of OpenML, which the paper cites.",
            table=Table(
                function=".tables.improved_descent.improved_descent",
                settings=("improved_descent",),
                data=("electricity",),
                threads=8,
                memory=2000,
                minutes=15,
            ),
            figure=Figure(
                function=".figures.improved_descent.descent_paths",
                reads=("figure-6", "descent-orders"),
                printed=("figure-6",),
            ),
        ),
        Item(  # orders of the columns: one job for each data set, then all together
            id="descent-orders-runs",
            table=Table(
                function=".tables.descent_orders.descent_orders",
                settings=("improved_descent", "descent_orders"),
                parts="improved_descent.tasks",
                for_each=True,
                data=("{part}",),
                makes=("descent/{part}-orders", "descent/{part}-orders-spread"),
                threads=8,
                memory=2000,
                minutes=15,
            ),
        ),
        Item(
            id="descent-orders",
            caption="Error after the last pass for documented and random orders of the columns, "
            "sorted by SPR's. The paper does not print its order; on raw features it moves the "
            "error of every scheme. Bars, 99 % intervals, may be cut at the lower edge. Lines are the "
            "printed numbers of Figures 5 and 6.",
            table=Table(
                function="dpnoise_papers.pages.together",
                settings=(),
                parts="improved_descent.tasks",
                reads=("descent/{part}-orders",),
            ),
            figure=Figure(
                function=".figures.improved_descent.descent_orders",
                printed=("figure-5", "figure-6"),
            ),
        ),
        Item(
            id="descent-orders-spread",
            table=Table(
                function="dpnoise_papers.pages.together",
                settings=(),
                parts="improved_descent.tasks",
                reads=("descent/{part}-orders-spread",),
            ),
        ),
    ),
)

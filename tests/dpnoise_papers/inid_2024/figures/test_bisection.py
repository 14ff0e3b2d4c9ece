"""The map of Algorithm 1 of inid-2024: both panels, and where nothing is drawn."""

import numpy as np
import pandas as pd

from dpnoise_papers.inid_2024.figures.profiles import bisection


def test_maps_show_the_counts_and_leave_out_what_has_no_answer():
    rows = [
        (e, d, "none" if d > 0.6 else "private", 0 if d > 0.6 else 30 + i, 20 + i)
        for i, (e, d) in enumerate((e, d) for d in (1e-6, 0.5, 0.9) for e in (0.1, 1.0))
    ]
    columns = ["epsilon", "delta", "outcome", "iterations", "repaired_iterations"]
    figure = bisection(pd.DataFrame(rows, columns=columns))
    printed, repaired = (axes.collections[0].get_array() for axes in figure.axes[:2])
    assert np.ma.filled(printed, -1).ravel().tolist() == [30, 31, 32, 33, -1, -1]
    assert np.ma.filled(repaired, -1).ravel().tolist() == [20, 21, 22, 23, 24, 25]
    assert figure.axes[0].get_xscale() == "log"

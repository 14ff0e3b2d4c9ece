"""The page on the time of a calibration: its table is that of the last run of benchmarks/over_k."""

import numpy as np
import pandas as pd

from document_pages import ROOT, loaded

OVER_K = ROOT / "benchmarks" / "over_k"
TABLE = pd.read_csv(OVER_K / "over_k.csv")


def test_the_page_says_what_the_run_said():
    module = loaded(OVER_K / "show.py")
    page = (module.DOCS / "peers.md").read_text(encoding="utf-8")
    assert module.filled(page, TABLE) == page
    assert set(TABLE["function"]) == {name for names in module.PANELS.values() for name in names}


def test_no_time_grows_by_more_than_the_page_says():
    times = TABLE.pivot_table(index=["function", "of"], columns="K", values="seconds")
    growth = (times[1000] / times[2]).drop("dp_accounting")
    assert np.all(growth.drop(("floor", "box")) < 20.0)
    assert 45.0 < growth["floor", "box"] < 55.0  # the page says 50

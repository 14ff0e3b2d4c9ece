"""Columns and frames of polars in and out; skipped where it is not installed."""

import datetime as dt
import subprocess
import sys

import numpy as np
import pytest

from dpnoise import AtMost, Budget, Counts, best, from_frame, release
from dpnoise._frames import kind_of, misfits
from exact_release import seeded

pl = pytest.importorskip("polars")

WHO = {"relation": "add-remove"}
SURE = {"epsilon": 500.0, **WHO}
ROWS = pl.DataFrame(
    {
        "who": [1, 2, 1, None, 2],
        "region": ["N", "N", "S", "N", "S"],
        "income": [3.0, 4.0, 5.0, None, 8.0],
        "visits": [1, 2, 3, 4, 5],
    }
)


def test_kinds_are_those_of_the_columns():
    day = dt.date(2026, 11, 28)
    kinds = {"numbers": [1], "text": ["a"], "dates": [day], "durations": [dt.timedelta(1)]}
    kinds["times"] = [dt.datetime(2026, 11, 28)]  # noqa: DTZ001
    for kind, values in kinds.items():
        assert kind_of(pl.Series(values)) == kind
    assert kind_of(pl.Series(["a"], dtype=pl.Enum(["a", "b"]))) == "text"
    assert kind_of(pl.Series([object()], dtype=pl.Object)) is None
    assert "got text" in misfits(["1"], ROWS["visits"])
    with pytest.raises(ValueError, match="expected labels that are numbers"):
        release.histogram(ROWS["visits"], categories=["1"], budget=Budget(1.0), **SURE)


def test_every_helper_takes_a_series_and_gives_one():
    counts = release.histogram(ROWS["region"], categories=["S", "N"], **SURE)
    assert isinstance(counts.value, pl.Series)
    assert (counts.value.name, counts.value.to_list()) == ("region", [2, 3])
    assert counts.to_frame()["cell"].to_list() == ["S", "N"]
    assert "S" in repr(counts)
    cells = release.histogram(ROWS["visits"], edges=[0, 3, 6], **SURE)
    assert cells.value.to_list() == [2, 3]
    assert isinstance(cells.interval()[0], pl.Series)
    assert release.count(ROWS["visits"] > 2, **SURE).value == 3
    assert round(seeded(1).sum(ROWS["income"], bounds=(0, 10), **SURE).value) == 20
    assert 3 <= seeded(1).quantile(ROWS["income"], 0.5, bounds=(0, 10), **SURE).value <= 5
    named = seeded(1).histogram(pl.Series("code", ["a"] * 99), epsilon=50.0, delta=1e-9, **WHO)
    assert named.value.to_list() == [99]
    by = {"by": ROWS["region"], "groups": ["S", "N", "W"], "person": ROWS["who"], "at_most": 2}
    sums = seeded(1).sum(ROWS["visits"], bounds=(0, 10), **by, **SURE)
    assert (sums.value.dtype, sums.value.to_list()) == (pl.Int64, [8, 3, 0])
    assert seeded(1).count(**by, **SURE).value.to_list() == [2, 2, 0]
    means = seeded(1).mean(ROWS["income"], bounds=(0, 10), **by, **SURE)
    np.testing.assert_allclose(np.asarray(means)[:2], [6.5, 3.5], atol=0.01)
    enum = pl.Series(["N"], dtype=pl.Enum(["S", "N"]))
    assert seeded(1).count(by=enum, **SURE).categories == ("S", "N")


def test_a_frame_is_counted_and_released():
    counts, ball = from_frame(ROWS, person="who", by="region", at_most=1, categories=["N", "S"])
    assert (counts.to_list(), ball) == ([2, 0], Counts(1, of=2, **WHO))
    released = seeded(1)(counts, best(ball, epsilon=500.0))
    assert isinstance(released.value, pl.Series)
    assert released.value.to_list() == [2, 0]
    sums, ball = from_frame(
        ROWS, person="who", by="region", at_most=2, categories=["N", "S"], values="income",
        bounds=(-1, 10),
    )  # fmt: skip
    assert (sums.to_list(), ball) == ([7.0, 13.0], AtMost(2, of=2, each=10, **WHO))
    row = pl.DataFrame({"a": [1], "b": [2]})
    both = seeded(1)(row, best(Counts(1, of=2, **WHO), epsilon=500.0))
    assert both.value.to_dict(as_series=False) == {"a": [1], "b": [2]}


def test_pandas_is_not_imported_for_polars():
    code = (
        "import sys, polars as pl; from dpnoise import release;"
        "s = pl.Series(['a']);"
        "release.histogram(s, categories=['a'], epsilon=1.0, relation='add-remove').to_frame();"
        "print('pandas' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"

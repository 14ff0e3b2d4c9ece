"""Every file of outside values: told in full, tested under its name, and a test that can fail."""

import math

import pytest

from outside_values import FOLDER, bounds, check, is_complete, rows

FILES = sorted(path.name for path in FOLDER.glob("*.csv"))


@pytest.mark.parametrize("name", FILES)
def test_every_row_is_told_in_full(name):
    found = rows(name)
    assert found
    assert all(is_complete(row) for row in found)
    assert (FOLDER / f"test_{name.removesuffix('.csv')}.py").is_file()
    assert name in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_a_value_beyond_its_tolerance_fails(name):
    for row in rows(name):
        for end, side in zip(bounds(row), (-math.inf, math.inf), strict=True):
            if math.isfinite(end):
                check(row, end)
                with pytest.raises(AssertionError, match="theirs"):
                    check(row, math.nextafter(end, side))

"""Figure of the noise of Table IV: every cell and every variant is on it."""

import pytest

from dpnoise_papers.inid_2024.figures.deep_noise import _VARIANTS, signal_and_noise
from dpnoise_papers.inid_2024.table_4.laplace import VARIANTS
from table_4_toys import cells, variants

SHOWN = [name for names in _VARIANTS.values() for name in names]


@pytest.fixture
def tables():
    return cells().copy(), variants().copy()


def heights(axes):
    return sorted(float(y) for line in axes.lines if line.get_marker() != "None"
                  for y in line.get_ydata())  # fmt: skip


def test_every_noise_of_the_tables_is_drawn(tables):
    noises, kinds = tables
    figure = signal_and_noise(noises, kinds)
    figure.draw_without_rendering()
    left, right = figure.axes
    assert heights(left) == pytest.approx(sorted(noises["noise_over_most"]))
    shown = kinds[kinds["variant"].isin(SHOWN)]
    drawn = sorted(float(x) for line in right.lines if line.get_marker() != "None"
                   for x in line.get_xdata())  # fmt: skip
    assert drawn == pytest.approx(sorted(shown["noise_over_gaussian"]))
    assert len(right.get_yticklabels()) == len(SHOWN)
    assert set(SHOWN) < set(VARIANTS)


def test_hollow_markers_are_what_the_printed_accuracies_exclude(tables):
    right = signal_and_noise(*tables).axes[1]
    lines = [line for line in right.lines if line.get_marker() != "None" and len(line.get_xdata())]
    hollow = sum(line.get_markerfacecolor() == "white" for line in lines)
    shown = tables[1][tables[1]["variant"].isin(SHOWN)]
    assert hollow == int((shown["excluded"] == 1).sum())
    assert 0 < hollow < len(lines)


def test_variants_stand_below_how_gradients_are_clipped():
    for norm, names in zip(("l1", "l2"), _VARIANTS.values(), strict=True):
        assert {VARIANTS[name].clipping for name in names} == {norm}

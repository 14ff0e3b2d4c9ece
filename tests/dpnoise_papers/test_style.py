"""One look: the width of the page, and a legend below the panels that is not cut off."""

import pytest

from dpnoise_papers.style import (
    PAGE,
    TEXT,
    house_style,
    legend_below,
    new_figure,
    page,
    power_of_ten,
    save,
)
from for_all import thinned


@house_style()
def drawn(labels, rows=1, columns=2):
    figure, panels = page(rows, columns, height=3.0, sharex=True)
    for panel in panels.flat:
        for label in labels:
            panel.plot([0, 1], [0, 1], label=label)
        panel.set_xlabel("x")
    legend_below(figure)
    figure.canvas.draw()
    return figure, panels


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 3)])
def test_panels_stand_in_a_figure_as_wide_as_the_page(rows, columns):
    figure, panels = drawn(["one"], rows, columns)
    assert figure.get_figwidth() == PAGE
    assert panels.shape == (rows, columns)


@pytest.mark.parametrize("count", thinned([12, 7, 4, 1]))
@pytest.mark.parametrize("label", ["short", "a label of more than half a line, as they come, {}"])
def test_a_legend_names_all_once_within_the_page_and_below_the_panels(count, label):
    labels = [f"{label} {place}" for place in range(count)]
    figure, panels = drawn(labels)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == labels
    assert {text.get_fontsize() for text in legend.get_texts()} == {TEXT}
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width
    assert all(box.y1 <= panel.get_tightbbox().y0 + 1 for panel in panels.flat)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-6, "10^{-6}"),
        (0.01, "0.01"),
        (2e-6, r"2 \cdot 10^{-6}"),
        (4e-10, r"4 \cdot 10^{-10}"),
        (2.5e-300, r"2.5 \cdot 10^{-300}"),
        (1.0, "1"),
    ],
)
def test_small_numbers_are_written_with_powers_of_ten(value, text):
    assert power_of_ten(value) == text


def test_a_figure_of_another_width_is_not_written(tmp_path):
    with pytest.raises(ValueError, match=r"expected a width of 7.16 in, got 3.5"):
        save(new_figure(3.5, 2.0), tmp_path / "narrow")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", thinned(["svg", "pdf", "png"], 3))
def test_a_format_alone_has_the_bytes_that_it_has_among_all(ending, tmp_path):
    told = {"title": "One", "description": "What is drawn"}
    (alone,) = save(drawn(["one"])[0], tmp_path / f"a.figure.{ending}", **told)
    among = save(drawn(["one"])[0], tmp_path / "b.figure", **told)
    assert alone == tmp_path / f"a.figure.{ending}"
    assert [path.name for path in among] == ["b.figure.svg", "b.figure.pdf", "b.figure.png"]
    (same,) = (path for path in among if path.suffix == alone.suffix)
    assert alone.read_bytes() == same.read_bytes()
    assert len(list(tmp_path.iterdir())) == 4


def test_one_layout_holds_in_all_formats(tmp_path):
    figure, panels = drawn(["one", "another"], rows=2)
    paths = save(figure, tmp_path / "layout")
    assert [path.suffix for path in paths] == [".svg", ".pdf", ".png"]
    for dpi in (72, 300):  # of vectors and of the PNG
        figure.dpi = dpi
        below, above = panels[1, 0].get_tightbbox(), panels[0, 0].get_tightbbox()
        legend = figure.legends[0].get_window_extent()
        assert 0 <= legend.y0 < legend.y1 <= below.y0 + dpi / 72
        assert below.y1 <= above.y0
        assert above.y1 <= figure.bbox.height
        assert above.x0 >= 0

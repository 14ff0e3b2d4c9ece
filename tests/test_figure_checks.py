"""The checks of figures find what they are for: defects are planted, and whole figures pass."""

import pytest

import caption_words
import figure_checks
from dpnoise_papers import style
from dpnoise_papers.config import load, sections, typed
from dpnoise_papers.item import papers
from dpnoise_papers.making import resolve

NAME = "flipped Huber"


def figure(change):
    with style.house_style():
        made, panels = style.page(1, 1, height=3.0)
        axes = panels[0, 0]
        axes.plot([0, 1], [0, 1], **style.look("flipped-huber"), label=NAME)
        change(axes)
        style.legend_below(made)
        return figure_checks.drawn(made)


CHECKS = [
    figure_checks.clipped_texts,
    figure_checks.overlapping_tick_labels,
    figure_checks.struck_texts,
    figure_checks.wrong_looks,
]
DEFECTS = {
    "clipped_texts": lambda axes: axes.figure.text(0.99, 0.5, "beyond the edge"),
    "overlapping_tick_labels": lambda axes: axes.set_xticks([0.5, 0.51], ["five", "more"]),
    "struck_texts": lambda axes: axes.text(0.4, 0.5, "through the middle", va="center"),
    "wrong_looks": lambda axes: axes.plot([0, 1], [1, 0], color="red", label=f"{NAME}, so*"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_found_by_its_check_alone(name):
    made = figure(DEFECTS[name])
    assert [check.__name__ for check in CHECKS if check(made)] == [name]


@pytest.mark.parametrize(
    "change",
    [
        lambda axes: axes.grid(),
        lambda axes: axes.text(0.4, 0.5, "on white ground", va="center", bbox=style.GROUND),
        lambda axes: axes.text(0.05, 0.8, "beside the line"),
        lambda axes: axes.set_xlim(0.1, 0.9),  # ticks outside the view are not drawn
    ],
)
def test_a_whole_figure_passes(change):
    assert [check.__name__ for check in CHECKS if check(figure(change))] == []


def test_a_mechanism_with_another_dash_is_found():
    looks = style.look("gaussian") | {"linestyle": "--"}
    made = figure(lambda axes: axes.plot([0, 1], [1, 0], **looks, label="Gaussian"))
    assert figure_checks.wrong_looks(made) == ["Gaussian"]


def test_points_lines_and_texts_are_shown_numbers():
    made = figure(lambda axes: axes.scatter([0.25], [0.75]))
    values, texts = figure_checks.shown_numbers(made)
    assert {0.25, 0.75, 0.0, 1.0} <= set(values)
    assert NAME in texts


def looks(axes):
    """Draw one of each kind beside the green dashes: a guide, open circles, squares and a band."""
    axes.axhline(0.2, color=style.GREY, label="affine bound")
    axes.plot([0.3], [0.9], "o", color="black", markerfacecolor="none", label="printed")
    axes.plot([0.5], [0.9], "s", color=style.COLOURS["gaussian"], label="ours")
    axes.fill_between([0, 1], 0.3, 0.4, color=style.COLOURS["laplace"], alpha=0.3)


@pytest.mark.parametrize(
    ("caption", "wrong"),
    [
        ("Open circles are printed, squares are ours.", []),
        ("The flipped Huber density (green, dashed) above the affine bound (solid grey).", []),
        ("An orange band. Blue squares. A black circle.", []),
        ("The band may be open; a cross would mark an error, of a mean square error.", []),
        ("The flipped Huber density (green) above the affine bound (dashed).", ["dashed"]),
        ("The flipped Huber density (solid) above the affine bound (grey).", ["solid"]),
        ("The affine bound (green).", ["green"]),
        ("The printed numbers (squares).", ["squares"]),
        ("Crosses are printed, dots are ours.", ["Crosses", "dots"]),
        ("Dotted curves, filled circles and hollow squares.",
         ["Dotted curves", "filled circles", "hollow squares"]),
        ("Triangles in the blue band, with stars and black squares.",
         ["Triangles", "blue band", "stars", "black squares"]),
        ("Open dots are the same line as a brown one.", ["brown"]),
    ],
)  # fmt: skip
def test_a_wrong_word_of_a_caption_is_found(caption, wrong):
    assert caption_words.wrong_words(caption, figure(looks)) == wrong


def test_what_is_labelled_and_not_drawn_is_missed():
    empty = figure(lambda axes: axes.plot([], [], "o", markerfacecolor="none", label="printed"))
    assert caption_words.wrong_words("Open circles are printed.", empty) == ["Open circles"]


# Items whose tables take no time on the small settings, need no data and print no numbers.
QUICK = {
    "flipped-huber-2023": ("figure-1", "figure-5"),
    "flipped-huber-slides": ("huber-density", "illustrative-values"),
    "inid-2024": ("theorem-7",),
}
SPEAKING = [
    (paper, item)
    for paper in papers()
    for item in paper.items
    if item.id in QUICK.get(paper.id, ())
]


@pytest.fixture(scope="module")
def quick():
    return load("config.yaml", "config.quick.yaml")


@pytest.mark.parametrize(("paper", "item"), SPEAKING, ids=lambda one: one.id)
def test_a_caption_says_what_is_drawn(paper, item, quick):
    settings = typed(paper.module, sections(quick, paper.module, item.table.settings))
    drawn = resolve(item.figure.function)(resolve(item.table.function)(*settings))
    assert caption_words.spoken_of(item.caption)
    assert caption_words.wrong_words(item.caption, drawn) == []

"""Colours of the figures: told apart by every kind of colour vision, one for each mechanism."""

import itertools

import numpy as np
from matplotlib.colors import to_rgb

from dpnoise_papers import style

# Machado, Oliveira and Fernandes (2009): what a dichromat sees, on linear RGB.
VISIONS = {
    "usual": np.eye(3),
    "no red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "no green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue cones": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]
    ),
}  # fmt: skip
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip
WHITE = XYZ.sum(axis=1)
# Mechanisms that share a figure somewhere.
TOGETHER = {
    "noise": ("gaussian", "laplace", "flipped-huber", "offset-symmetric-gaussian", "staircase",
              "truncated-laplace", "subbotin"),
    "huber": ("gaussian", "laplace", "huber"),
    "joint": ("gaussian", "laplace", "flipped-huber", "joint"),
    "two coordinates": ("laplace", "staircase", "k-norm"),
    "releases": ("gaussian", "classical-gaussian", "laplace", "james-stein", "soft-threshold",
                 "flipped-huber", "truncated-laplace"),
    "maps": ("gaussian", "classical-gaussian", "james-stein", "soft-threshold", "wavelets",
             "trend-filtering"),
}  # fmt: skip


def linear(colour):
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """Return lightness and the two opponent colours (CIE 1976) of linear RGB."""
    t = XYZ @ np.clip(rgb, 0, 1) / WHITE
    x, y, z = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


NOTICEABLE = 2.3  # the least difference that is seen, in units of `lab`


def difference(one, other):
    """Distance of two mechanisms' colours to those who tell them apart worst."""
    pairs = [
        [lab(seen @ linear(style.COLOURS[x])) for x in (one, other)] for seen in VISIONS.values()
    ]
    return min(np.linalg.norm(np.subtract(*pair)) for pair in pairs)


def contrast(colour):
    """Return the contrast of a colour with white, as the web's guidelines define it."""
    return 1.05 / (XYZ[1] @ linear(colour) + 0.05)


def test_each_mechanism_has_a_name_a_colour_and_a_dash_of_its_own():
    assert style.COLOURS.keys() == style.NAMES.keys() == style.DASHES.keys()
    for looks in (style.COLOURS, style.DASHES):
        assert len(set(map(str, looks.values()))) == len(looks)


def test_every_mechanism_is_drawn_beside_those_that_it_must_be_told_from():
    assert set(itertools.chain(*TOGETHER.values())) == set(style.COLOURS)


def test_mechanisms_of_one_figure_differ_for_every_vision():
    for group in TOGETHER.values():
        for pair in itertools.combinations(group, 2):
            assert difference(*pair) > 6.0 * NOTICEABLE, pair
    assert difference("flipped-huber", "offset-symmetric-gaussian") > 12.0 * NOTICEABLE
    assert difference("gaussian", "gaussian") == 0.0


def test_every_colour_is_seen_on_white_and_text_colours_are_read():
    assert min(map(contrast, style.COLOURS.values())) > 2
    assert contrast(style.GREY) > 4.5

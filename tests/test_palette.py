"""Colours of the figures: told apart by every kind of colour vision, one for each mechanism."""

import itertools

import numpy as np
import pytest
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


def ciede2000(one, other):
    """Perceived difference of two colours (Sharma, Wu and Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1 + 0.5 * (1 - np.sqrt(c7 / (c7 + 25.0**7)))
    c1, c2 = np.hypot(a1 * stretch, b1), np.hypot(a2 * stretch, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a * stretch)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 > 0 else 0.0
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    middle, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = h1 + turn / 2 if c1 * c2 > 0 else h1 + h2
    angles = (h - 30, 2 * h, 3 * h + 6, 4 * h - 63)
    t = 1 + np.dot([-0.17, 0.24, 0.32, -0.20], np.cos(np.radians(angles)))
    sl = 1 + 0.015 * (middle - 50) ** 2 / np.sqrt(20 + (middle - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    spread = np.exp(-((((h - 275 + 180) % 360 - 180) / 25) ** 2))
    rt = -2 * np.sqrt(c**7 / (c**7 + 25.0**7)) * np.sin(np.radians(60 * spread))
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, hue / sh
    return np.sqrt(dl**2 + dc**2 + dh**2 + rt * dc * dh)


def differences(one, other):
    """Return the difference of two hexadecimal colours for each vision."""
    return {
        name: ciede2000(lab(seen @ linear(one)), lab(seen @ linear(other)))
        for name, seen in VISIONS.items()
    }


def contrast(colour):
    """Return the contrast of a colour with white, as the web's guidelines define it."""
    return 1.05 / (XYZ[1] @ linear(colour) + 0.05)


@pytest.mark.parametrize(
    ("one", "other", "known"),  # from the test data of Sharma, Wu and Dalal
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ],
)
def test_the_measure_of_differences_is_the_standard_one(one, other, known):
    assert ciede2000(one, other) == pytest.approx(known, abs=1e-4)


def test_each_mechanism_has_a_name_a_colour_and_a_dash_of_its_own():
    assert style.COLOURS.keys() == style.NAMES.keys() == style.DASHES.keys()
    for looks in (style.COLOURS, style.DASHES):
        assert len(set(map(str, looks.values()))) == len(looks)


def test_every_mechanism_is_drawn_beside_those_that_it_must_be_told_from():
    assert set(itertools.chain(*TOGETHER.values())) == set(style.COLOURS)


@pytest.mark.parametrize("group", TOGETHER)
def test_mechanisms_of_one_figure_differ_for_every_vision(group):
    for one, other in itertools.combinations(TOGETHER[group], 2):
        found = differences(style.COLOURS[one], style.COLOURS[other])
        assert min(found.values()) > 12, (one, other, found)


def test_flipped_huber_is_clearly_apart_from_the_offset_symmetric_gaussian():
    found = differences(style.COLOURS["flipped-huber"], style.COLOURS["offset-symmetric-gaussian"])
    assert min(found.values()) > 30, found


def test_every_colour_is_seen_on_white_and_text_colours_are_read():
    assert min(map(contrast, style.COLOURS.values())) > 2
    assert contrast(style.GREY) > 4.5

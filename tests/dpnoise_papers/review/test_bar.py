"""The bar of a claim: places on its axis are in the order of the values."""

import math
import re

import pytest

from dpnoise_papers.claims.band import Band
from dpnoise_papers.review.bar import WIDTH, bar

INF = math.inf


def places(band):
    text = str(bar(band, "said < so"))
    spans = {name: (float(x), float(x) + float(w)) for name, x, w in re.findall(
        r'<rect class="(\w+)" x="([-\d.]+)" y="\d+" width="([-\d.]+)"', text)}  # fmt: skip
    printed = float(re.search(r'class="printed" x1="([-\d.]+)"', text)[1])
    ours = float(re.search(r'cx="([-\d.]+)"', text)[1])
    assert 'aria-label="said &lt; so"' in text
    return spans, printed, ours


@pytest.mark.parametrize(
    "band",
    [
        Band(22.21, 22.21, (22.205, 22.215), (22.205, 22.215)),
        Band(555.5, 502.0, (501.5, 502.5), (501.5, 502.5)),
        Band(1e-9, 3.0, (2.9, 3.1), (2.5, 3.5)),
        Band(-2.0, 0.0, (-INF, 0.0), (-INF, 0.5)),
        Band(0.3, 0.0, (0.1, INF), (-0.1, INF)),
        Band(0.0, 0.0, (-INF, 0.0), (-INF, 0.0)),
    ],
)
def test_the_picture_shows_whether_ours_is_inside(band):
    spans, printed, ours = places(band)
    low, high = spans["allowed"]
    assert all(-2 <= place <= WIDTH + 2 for place in (*spans["allowed"], *spans["clear"], ours))
    assert high - low >= 2.9
    if band.allowed[0] <= band.value <= band.allowed[1]:
        assert low - 0.1 <= ours <= high + 0.1
    else:
        assert not low + 1.6 < ours < high - 1.6
    assert (ours < printed) == (band.value < band.printed)
    assert spans["clear"][0] <= low + 0.1
    assert spans["clear"][1] >= high - 0.1


def test_decades_apart_the_axis_is_logarithmic():
    _, printed, ours = places(Band(1e-4, 1.0, (0.5, 1.5), (0.5, 1.5)))
    spans, printed_near, _ = places(Band(1e-2, 1.0, (0.1, 1.5), (0.1, 1.5)))
    assert printed - ours > 0.8 * (WIDTH - 20)
    middle = (
        printed_near - spans["allowed"][0]
    ) / WIDTH  # from 0.1 to 1 is nearly half of the axis
    assert 0.3 < middle < 0.6

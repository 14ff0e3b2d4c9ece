"""The page 'which noise?' holds the table and nothing from outside."""

import json
import re

from dpnoise_papers.beyond.which_noise_figures import data, less, more, render
from which_noise_toys import MECHANISMS, toy


def test_the_page_holds_every_point_of_the_table():
    table = toy()
    content = re.search(r'<script type="application/json" id="data">(.*?)</script>', render(table))
    held = json.loads(content[1])
    assert held == json.loads(json.dumps(data(table)))
    assert held["axes"] == {
        "dimension": ["1", "5", "12"], "epsilon": ["0.1", "1", "3"], "delta": ["0", "1e-06"],
    }  # fmt: skip
    assert len(held["points"]) == 2 * 3 * 3 * 2 - 6
    here = table[(table["set"] == "three") & (table["dimension"] == 12)]
    here = here[(here["epsilon"] == 3.0) & (here["delta"] == 1e-6)]
    rows = held["points"]["three 12 3 1e-06"]["rows"]
    assert [row[0] for row in rows] == here["mechanism"].tolist()
    assert [row[1] for row in rows] == here["variance"].tolist()
    assert set(held["colours"]) == set(MECHANISMS)


def test_bounds_are_rounded_to_the_safe_side():
    assert more(1.00001e-6) == "1.001e-06"
    assert less(9.9999e-7) == "9.999e-07"
    assert more(0.0) == less(0.0) == "0"


def test_nothing_comes_from_outside():
    text = render(toy())
    assert not re.findall(r"(?:src|href)=|url\(|https?:|@import", text)

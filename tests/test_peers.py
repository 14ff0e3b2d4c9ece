"""The page on other libraries: its table is that of the last run of benchmarks/peers."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from dpnoise import SampledGaussian, noise_multiplier

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"


def show():
    spec = importlib.util.spec_from_file_location("show_peers", PEERS / "show.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_says_what_the_run_said():
    module, table = show(), pd.read_csv(PEERS / "peers.csv")
    page = (module.DOCS / "peers.md").read_text(encoding="utf-8")
    assert module.filled(page, table) == page


def test_every_answer_is_counted_once():
    module, table = show(), pd.read_csv(PEERS / "peers.csv")
    columns = [name for names, _ in module.KINDS.values() for name in names]
    assert (table[columns].sum(axis=1) == table["asked"]).all()
    ours = table[table["library"] == "dpnoise"]
    assert len(ours) == len(module.TASKS)
    assert (ours[["unsafe", "short by rounding", "hang", "death"]] == 0).all(axis=None)


def tables_of_samples():
    return (pd.read_csv(PEERS / f"{name}.csv") for name in ("sampled", "sampled-named"))


def test_the_page_says_what_the_run_on_samples_said():
    module = show()
    page = (module.DOCS / "peers.md").read_text(encoding="utf-8")
    assert module.sampled(page, *tables_of_samples()) == page
    counts, _ = tables_of_samples()
    columns = [name for names in module.WORTH.values() for name in names]
    assert (counts[columns].sum(axis=1) == counts["asked"]).all()
    assert (counts["below"] == 0).all()


@pytest.mark.parametrize(
    ("place", "printed"),
    [  # upper bounds that other libraries print
        ((1.5, 0.04, 2250, 1e-5), (6.7774, 7.3291)),
        ((1.4520, 0.02, 5000, 1e-5), (5.0,)),
        ((1.0894, 0.02, 5000, 1e-5), (8.0,)),
        ((1.9192, 0.02, 5000, 4e-10), (5.0,)),
        ((1.3613, 0.02, 5000, 4e-10), (8.0,)),
        ((1.2, 0.2, 1, 0.08), (0.0,)),
    ],
)
def test_no_bound_that_others_print_is_below_our_lower_end(place, printed):
    sigma, rate, steps, delta = place
    low, high = SampledGaussian(sigma, rate).epsilon(delta, steps=steps)
    assert 0.0 <= low <= high <= min(printed)
    assert high >= 0.998 * min(printed)


def test_multipliers_that_others_print():
    assert 1.3455 < noise_multiplier(8.0, 1e-5, 0.04, 2250) <= 1.34766
    assert noise_multiplier(1.0, 1e-5, 0.01, 1) == pytest.approx(0.67379294682, rel=1e-6)


def test_recorded_answers_of_ours_are_its_answers_now():
    _, named = tables_of_samples()
    row = named[named["question"] == "Opacus's tests"].iloc[0]
    low, high = SampledGaussian(1.5, 0.04).epsilon(1e-5, steps=2250)
    assert float(row["lower"]) == pytest.approx(low, rel=1e-9)
    assert float(row["upper"]) == pytest.approx(high, rel=1e-9)

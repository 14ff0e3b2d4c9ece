"""The page on other libraries: its table is that of the last run of benchmarks/peers."""

import math

import pandas as pd
import pytest

from document_pages import ROOT, loaded
from dpnoise import SampledGaussian, noise_multiplier
from fuzz.sampled_references import log_lower
from sampled_tilted import log_delta

PEERS = ROOT / "benchmarks" / "peers"


def show():
    return loaded(PEERS / "show.py")


@pytest.fixture(scope="module")
def sampled():
    return loaded(PEERS / "sampled.py")


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


def test_recorded_answers_of_ours_are_its_answers_now():
    _, named = tables_of_samples()
    row = named[named["question"] == "Opacus's tests"].iloc[0]
    low, high = SampledGaussian(1.5, 0.04).epsilon(1e-5, steps=2250)
    assert float(row["lower"]) == pytest.approx(low, rel=1e-9)
    assert float(row["upper"]) == pytest.approx(high, rel=1e-9)


def said(value="", error=""):
    return {"value": value, "error": error}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (said(1.0), "within 1e-6"),
        (said(1.0 - 2e-6), "below"),
        (said(1.0009), "within 0.1 %"),
        (said(1.09), "within 10 %"),
        (said(1.2), "beyond"),
        (said("nan"), "not a number"),
        (said("inf"), "infinite"),
        (said(-0.03), "negative"),
        (said(error="hang"), "hang"),
        (said(error="memory"), "memory"),
        (said(error="ValueError"), "error"),
    ],
)
def test_answers_are_judged_by_both_ends(sampled, answer, kind):
    assert sampled.judge(answer, 1.0, 1.0 + 1e-9) == kind
    assert kind in sampled.KINDS


def test_what_lies_between_ends_that_are_far_apart_is_not_judged(sampled):
    assert sampled.judge(said(1.5), 1.0, 2.0) == "undecided"


def check_named(script, recorded, listed):
    """The tables of a script come from its list of answers, here for the named questions."""
    found = script.known(script.ANSWERS)
    counts, named = script.tables(found[found["group"] == "named"])
    columns = ["library", "account", *script.KINDS]
    mine = counts[counts["group"] == "named"][columns].reset_index(drop=True)
    theirs = recorded[recorded["group"] == "named"][columns].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, theirs)
    assert list(named["answer"].map(str)) == list(listed["answer"].map(str))


def test_named_answers_are_those_of_the_list(sampled):
    check_named(sampled, *tables_of_samples())


def is_too_low(sigma, rate, steps, delta, claimed):
    """By a test for the record, or by tilted losses: delta at the epsilon claimed is larger."""
    least = math.log(delta)
    if log_lower(sigma, rate, steps, claimed) > least + 1e-3:
        return True
    for size in (1 << 17, 1 << 20):
        found, error = log_delta((sigma, rate, steps, claimed), least, size)
        if found - least > 3.0 * error:
            return True
    return False


def test_answers_below_ours_are_seen_to_be_too_low_without_our_account(sampled):
    found, questions = sampled.known(sampled.ANSWERS), sampled.questions()
    places = zip(found["group"], found["place"], strict=True)
    rows = {place: [] for place in questions}
    for place, row in zip(places, found.to_dict("records"), strict=True):
        rows[place].append(row)
    below, wrong = 0, []
    for question, here in zip(questions.values(), rows.values(), strict=True):
        ends = [(float(a["lower"]), float(a["value"])) for a in here if a["library"] == "dpnoise"]
        some = [a for a in here if ends and sampled.judge(a, *ends[0]) == "below"]
        below += len(some)
        # Of several the largest: at a smaller epsilon delta is larger.
        if some and not is_too_low(*question, max(float(a["value"]) for a in some)):
            wrong.append((question, ends, some))
    assert not wrong
    counts, _ = tables_of_samples()
    assert counts["below"].sum() == below > 0


@pytest.mark.parametrize(
    ("question", "epsilon"), [((1.5, 0.04, 2250, 1e-5), 6.76878), ((2.0, 0.01, 500, 1e-12), 1.5)]
)
def test_tilted_losses_are_our_account_and_no_claim_above_it_is_too_low(question, epsilon):
    sigma, rate, steps, _ = question
    low, high = SampledGaussian(sigma, rate).delta(epsilon, steps=steps)
    found, error = log_delta((sigma, rate, steps, epsilon), math.log(low))
    assert math.log(low) - error <= found <= math.log(high) + error
    assert error < 2e-3
    assert not is_too_low(sigma, rate, steps, high * (1.0 + 1e-9), epsilon)
    assert is_too_low(sigma, rate, steps, low * 0.99, epsilon)


@pytest.fixture(scope="module")
def multiplier():
    return loaded(PEERS / "multiplier.py")


def tables_of_multipliers():
    return (pd.read_csv(PEERS / f"{name}.csv") for name in ("multiplier", "multiplier-named"))


def test_the_page_says_what_the_run_on_multipliers_said(multiplier):
    module = show()
    page = (module.DOCS / "peers.md").read_text(encoding="utf-8")
    assert module.multiplier(page, *tables_of_multipliers()) == page
    counts, _ = tables_of_multipliers()
    columns = [name for names in module.NOISE.values() for name in names]
    assert set(columns) == set(multiplier.KINDS)
    assert (counts[columns].sum(axis=1) == counts["asked"]).all()
    ours = counts[counts["library"] == "dpnoise"]
    assert (ours[list(multiplier.SHORT)] == 0).all(axis=None)
    assert list(ours["asked"]) == [6, 9, 25]


def test_named_multipliers_are_those_of_the_list(multiplier):
    check_named(multiplier, *tables_of_multipliers())


def test_multipliers_that_are_printed_are_met(multiplier):
    """By the library that prints each, as far as it prints, and by ours from below."""
    _, named = tables_of_multipliers()
    answers = named.set_index(["question", "library", "account"])["answer"]
    assert float(answers["Opacus's tests", "opacus", "losses"]) == pytest.approx(1.34766, abs=5e-6)
    theirs = float(answers["dp_accounting's tests", "dp-accounting", "losses"])
    assert theirs == pytest.approx(0.67379294682, abs=2e-6)
    for question, (_, printed) in multiplier.NAMED.items():
        ours = float(answers[question, "dpnoise", "losses"])
        assert ours == pytest.approx(printed, abs=2e-3)
        assert ours <= printed * (1.0 + 1e-6)


QUESTION, LEAST = (8.0, 1e-5, 0.04, 2250), 1.3458984  # to all digits that are given


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (said(LEAST * (1.0 + 5e-7)), "within 1e-6"),
        (said(LEAST * 1.0009), "within 0.1 %"),
        (said(LEAST * 1.009), "within 1 %"),
        (said(LEAST * 1.09), "within 10 %"),
        (said(LEAST * 1.11), "beyond"),
        (said(LEAST * (1.0 - 2e-6)), "too little by at most 0.1 %"),
        (said(LEAST * 0.998), "too little by more"),
        (said("nan"), "not a number"),
        (said("inf"), "infinite"),
        (said(-1.0), "negative"),
        (said(error="hang"), "hang"),
        (said(error="RuntimeError"), "error"),
    ],
)
def test_multipliers_are_judged_by_both_ends(multiplier, answer, kind):
    low = multiplier.too_little(QUESTION, noise_multiplier(*QUESTION))
    assert 0.0 < LEAST - low <= 1e-6 * LEAST
    assert multiplier.judge(answer, QUESTION, low) == kind
    assert kind in multiplier.KINDS
    if not answer["error"]:
        assert multiplier.judge(said(LEAST * 1.2), QUESTION, 0.0) == "undecided"

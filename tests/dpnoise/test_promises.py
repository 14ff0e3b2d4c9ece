"""What the first pages promise, audited on two data sets that are neighbours as the promise says.

The pages tell of people, not of sets: neighbours are made of people here, and the audit sees the
answers alone. So a set that does not fit its story is found, also where noise and set agree.
"""

import doctest
import re
import shlex
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

from document_pages import PROMISING as PAGES
from document_pages import ROOT, commands, name
from dpnoise import Certificate, Gaussian, audit_sampler
from dpnoise.cli.program import program
from dpnoise.learn.safeguards import SeededNoiseWarning
from dpnoise.mechanisms.noise import Mechanism
from dpnoise.sensitivity.relation import RELATIONS
from repeated_runs import audited_runs

SIZE = 40_000
CLINICS = {12: 3, 4: 2}  # clinics on the pages, and how many of them one person visits at most


def neighbours(relation, clinics, most):
    """Counts of visitors without and with one person more, or with one person or another."""
    first = np.bincount(range(most), minlength=clinics)
    other = np.bincount(range(clinics - most, clinics), minlength=clinics)
    before = np.full(clinics, 5)
    if relation == "add-remove":
        return before, before + first
    return before + first, before + other


def rounded(outputs):
    """Outputs on multiples of 2^-20.

    Answers plus noise in doubles show the answers in their last bits, which an audit finds; these
    are promises of the noise, and `release` rounds for the same reason.
    """
    return np.round(np.asarray(outputs) * 2.0**20) / 2.0**20


def audited(noise, pair, epsilon, delta):
    """The audit of noise on two answers, told apart by their densities, before any rounding."""
    one, two = (np.asarray(answer, dtype=float) for answer in pair)
    likely = getattr(noise, "logpmf", None) or getattr(noise, "real", noise).logpdf
    return audit_sampler(
        lambda size, rng: rounded(one + noise.rvs(size, random_state=rng)),
        lambda size, rng: rounded(two + noise.rvs(size, random_state=rng)),
        epsilon=epsilon,
        delta=delta,
        confidence=0.9999,
        size=SIZE,
        statistic=lambda x: likely(x - two) - likely(x - one),
    )


def shown(page):
    """What the examples of a page leave behind; all of them run as shown."""
    counts = {"counts": np.arange(12)}
    rng = np.random.default_rng(0)
    counts["X"] = rng.uniform(-1.0, 1.0, (200, 3))
    counts["y"] = np.where(counts["X"][:, 0] > 0.0, "yes", "no")
    text = re.sub("(?m)^```.*$", "", page.read_text(encoding="utf-8"))
    examples = doctest.DocTestParser().get_doctest(text, counts, name(page), name(page), 0)
    assert doctest.DocTestRunner().run(examples, clear_globs=False).failed == 0
    return examples.globs


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_noise_on_a_page_keeps_its_promise_for_the_people_of_the_page(page):
    for found in shown(page).values():
        if isinstance(found, Mechanism):
            assert found.relation in RELATIONS, found
            assert found.promise.startswith(RELATIONS[found.relation])
            pair = neighbours(found.relation, found.request.dimension, CLINICS[12])
            audit = audited(found.noise, pair, found.epsilon, found.delta)
            assert not audit.contradicted, audit


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_certificates_on_a_page_hold_for_the_people_of_the_page(page, tmp_path, monkeypatch):
    """The commands of the page are run; what each certificate says is audited."""
    monkeypatch.chdir(tmp_path)
    written = 0
    for command, printed in commands(page):
        words = shlex.split(command)
        if words[0] == "cat" and not (tmp_path / words[1]).exists():
            (tmp_path / words[1]).write_text(printed)
        if words[0] != "dpnoise" or "--certificate" not in words:
            continue
        done = CliRunner().invoke(program, words[1:])
        assert done.exit_code == 0, done.output
        found = Certificate.read(words[words.index("--certificate") + 1])
        assert found.promise in done.stdout
        assert found.relation == words[words.index("--relation") + 1]
        clinics = found.sensitivity.dimension
        pair = neighbours(found.relation, clinics, CLINICS[clinics])
        audit = audited(found.noise, pair, float(found.epsilon), float(found.upper))
        assert not audit.contradicted, audit
        written += 1
    assert written == sum("--certificate" in command for command, _ in commands(page))


def test_the_noise_of_the_first_page_is_refuted_for_two_people_who_replace_each_other():
    """It was certified so once: the audit can fail."""
    found = shown(PAGES[0])["found"]
    pair = neighbours("replace-one", 12, 3)
    audit = audited(found.noise, pair, found.epsilon, found.delta)
    assert audit.contradicted
    assert audit.epsilon > 1.3


@pytest.mark.parametrize("whole", [True, False])
def test_noise_for_people_in_one_of_twenty_regions_hides_them_and_nobody_in_two(whole):
    """The promise is for the true differences, and tight; the convex set is not what it hides."""
    from dpnoise import Counts, best

    found = best(Counts(1, of=20, whole=whole, relation="add-remove"), epsilon=2.0)
    one = audited(found.noise, neighbours("add-remove", 20, 1), 2.0, 0.0)
    assert not one.contradicted, one
    assert one.epsilon > 1.8
    two = audited(found.noise, neighbours("add-remove", 20, 2), 2.0, 0.0)
    assert two.contradicted


def test_allocated_scales_keep_the_promise_that_is_printed(tmp_path, monkeypatch):
    """One person is replaced: visits, minutes and spending move, each as far as it can."""
    monkeypatch.chdir(tmp_path)
    (show, table), (command, _) = commands(ROOT / "docs" / "how-to" / "csv-of-sensitivities.md")
    (tmp_path / shlex.split(show)[1]).write_text(table)
    done = CliRunner().invoke(program, shlex.split(command)[1:])
    assert RELATIONS["replace-one"] in done.stdout
    rows = np.genfromtxt("scales.csv", delimiter=",", skip_header=1, usecols=(1, 2))
    found = audit_sampler(
        lambda size, rng: rounded(rng.normal(0.0, rows[:, 1], (size, 3))),
        lambda size, rng: rounded(rows[:, 0] + rng.normal(0.0, rows[:, 1], (size, 3))),
        epsilon=1.0,
        delta=1e-6,
        confidence=0.9999,
        size=SIZE,
    )
    assert not found.contradicted, found


def test_five_queries_keep_the_epsilon_that_is_shown():
    """One person more moves all five by 1."""
    known = shown(ROOT / "docs" / "how-to" / "my-sigma.md")
    budget = known["budget"]
    assert budget.relation == "add-remove"
    noise = Gaussian(3.0)
    found = audit_sampler(
        lambda size, rng: rounded(noise.rvs((size, 5), random_state=rng)),
        lambda size, rng: rounded(1.0 + noise.rvs((size, 5), random_state=rng)),
        epsilon=budget.epsilon_of(),
        delta=budget.delta,
        confidence=0.9999,
        size=SIZE,
    )
    assert not found.contradicted, found
    assert found.epsilon > 0.3 * budget.epsilon_of()


def test_releases_on_the_page_keep_their_promises():
    """One person of four is replaced, by the one who moves the answer most."""
    known = shown(ROOT / "docs" / "release.md")
    answers = {
        "adults": lambda ages: [sum(age >= 18 for age in ages)],
        "cells": lambda ages: np.histogram(ages, [0, 30, 60, 90])[0],
        "sum_": lambda ages: [sum(ages)],
        "mean": lambda ages: [np.mean(ages)],
    }
    others = {"adults": 10.0, "cells": 71.0, "sum_": 100.0, "mean": 100.0}
    for one, answer in answers.items():
        released = known[one]
        assert released.promise.startswith(RELATIONS["replace-one"])
        ages = np.array([0.0 if one in ("sum_", "mean") else 34.0, 71.0, 45.0, 22.0])
        changed = np.append(others[one], ages[1:])
        pair = [np.asarray(answer(x), dtype=float) for x in (ages, changed)]
        assert np.any(pair[0] != pair[1])
        noise, shape = released.noise, (SIZE, pair[0].size)
        first, second = (x + noise.rvs(shape, random_state=k) for k, x in enumerate(pair))
        first, second = rounded(first), rounded(second)
        found = audit_sampler(first, second, epsilon=1.0, confidence=0.9999)
        assert not found.contradicted, (one, found)


def test_a_private_fit_keeps_the_promise_that_it_states():
    known = shown(ROOT / "docs" / "how-to" / "scikit-learn-pipeline.md")
    model, records, y = known["model"], known["records"], known["y"]
    promise = re.fullmatch(r"(.*), in one record: epsilon = (.*), delta = (.*)", model[-1].promise_)
    assert promise[1] == RELATIONS["replace-one"]

    def fitted(data, rng):
        seed = int(rng.integers(2**31))
        model.set_params(dplogisticregression__random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeededNoiseWarning)
            last = model.fit(*data)[-1]
        return np.append(last.coef_, last.intercept_)

    other, labels = records.copy(), y.copy()
    other[0], labels[0] = np.where(records[0] > 25.0, 0.0, 100.0), "no" if y[0] == "yes" else "yes"
    found = audited_runs(
        fitted, (records, y), (other, labels), epsilon=float(promise[2]), delta=float(promise[3]),
        runs=100,
    )  # fmt: skip
    assert not found.contradicted, found

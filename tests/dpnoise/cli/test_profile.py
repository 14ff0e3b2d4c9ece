"""`dpnoise calibrate` and `profile` give what the functions give."""

import json
import math

import pytest
from click.testing import CliRunner

from dpnoise import DiscreteStaircase, Gaussian, calibrate, privacy_profile, vector_profile
from dpnoise.cli.program import program


def data(text):
    done = CliRunner().invoke(program, [*text.split(), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_calibrate_in_json_is_exact():
    words = "--epsilon 0.3 --delta 1e-7 --sensitivity 2 --dimension 3 --relation add-remove"
    answer = data(f"calibrate gaussian {words}")
    found = calibrate("gaussian", epsilon=0.3, delta=1e-7, sensitivity=2.0, dimension=3)
    assert answer["noise"] == {"kind": "Gaussian", "sigma": found.noise.sigma}
    assert (answer["delta"], answer["variance"]) == (found.delta, found.variance)


def test_the_printed_noise_has_all_digits():
    words = "calibrate gaussian --epsilon 1 --delta 1e-6 --sensitivity 1 --relation add-remove"
    done = CliRunner().invoke(program, words.split())
    assert repr(calibrate("gaussian", epsilon=1.0, delta=1e-6).noise) in done.stdout


@pytest.mark.parametrize("copies", [1, 4])
def test_profile_holds_the_bounds(copies):
    answer = data(f"profile gaussian sigma=2 --sensitivity 1 --copies {copies} --epsilon 0,0.5,2")
    found = vector_profile(Gaussian(2.0), 1.0, [0.0, 0.5, 2.0], copies=copies)
    assert answer["delta"] == found.upper.tolist()
    exact = privacy_profile(Gaussian(2.0), math.sqrt(copies), answer["epsilon"])
    assert all(answer["delta_at_least"] <= exact)
    assert all(exact <= answer["delta"])


def test_copies_of_gaussian_noise_are_one_of_a_larger_sensitivity():
    several = data("profile gaussian sigma=4 --sensitivity 1 --copies 4 --delta 1e-6")
    one = data("profile gaussian sigma=4 --sensitivity 2 --delta 1e-6")
    assert several["epsilon"] == pytest.approx(one["epsilon"], rel=1e-8)
    for answer in (several, one):
        assert privacy_profile(Gaussian(4.0), 2.0, answer["epsilon"][0]) <= 1e-6 * (1 + 1e-12)


def test_noise_on_the_integers_has_whole_parameters():
    answer = data("profile discrete-staircase epsilon=1 sensitivity=3 r=2 --sensitivity 3")
    assert answer["request"]["noise"]["kind"] == "DiscreteStaircase"
    found = vector_profile(DiscreteStaircase(1.0, 3, 2), 3.0, answer["epsilon"])
    assert answer["delta"] == found.upper.tolist()


@pytest.mark.parametrize("noise", ["gaussian sigma=3", "laplace beta=1e5"])
def test_a_figure_is_written(tmp_path, noise):
    path = tmp_path / "profile.png"
    words = f"profile {noise} --sensitivity 1 --plot {path}"
    assert CliRunner().invoke(program, words.split()).exit_code == 0
    assert path.stat().st_size > 1000

"""What a training run depends on: settings, draws, the search of the learning rate, images.

A limit passes in time for one more piece of work; states on disk come back whole or not at all.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_digits

import deep_toys as toys
from dpnoise_papers.data.images import ImageSet
from dpnoise_papers.inid_2024.deep.noise import SCHEMES, flat_clips, group_scales, noise_unit
from dpnoise_papers.inid_2024.deep.run import (
    TimeLimit,
    best_rate,
    cifar10,
    digits,
    draw,
    read_state,
    report_trials,
    save_state,
    search_trials,
)


def test_every_digit_is_in_one_part_with_its_class():
    data = digits()
    pixels, labels = load_digits(return_X_y=True)
    images = np.concatenate([data.train, data.test]).reshape(-1, 64) * 16
    classes = np.concatenate([data.train_labels, data.test_labels])
    both = np.column_stack([images, classes])
    expected = np.column_stack([pixels, labels])
    order, other = np.lexsort(both.T), np.lexsort(expected.T)
    assert np.array_equal(both[order], expected[other])
    assert len(data.test) == 360


def test_each_class_is_in_both_parts():
    data = digits()
    assert np.bincount(data.train_labels).min() > 100
    assert np.bincount(data.test_labels).min() > 20


def test_pixels_of_cifar10_are_scaled_by_a_constant():
    draw = np.random.default_rng(3)
    parts = [
        array
        for count in (4, 2)
        for array in (
            draw.integers(0, 256, (count, 3, 32, 32), dtype=np.uint8),
            draw.integers(0, 10, count, dtype=np.uint8),
        )
    ]
    data = cifar10(ImageSet("cifar10", "lossy copy", *parts))
    assert (data.name, data.note) == ("cifar10", "lossy copy")
    for pixels, given in ((data.train, parts[0]), (data.test, parts[2])):
        assert pixels.dtype == np.float32
        assert np.array_equal(np.rint(pixels * 255), given)
        assert 0 <= pixels.min() <= pixels.max() <= 1
    assert np.array_equal(data.train_labels, parts[1])
    assert data.test_labels.dtype == np.int64


def drawn(count, samples, rate, *, seed=0, noise="gaussian", parameters=1):
    """Sizes, members and noise of many steps."""
    run = toys.run(rate=rate, noise=noise)
    rng = np.random.default_rng(seed)
    return [draw([rng], run, samples, parameters) for _ in range(count)]


@pytest.mark.parametrize("rate", [0.02, 0.3, 1.0])
def test_sizes_of_batches_are_binomial(rate):
    samples, count = 50, 4000
    sizes = np.array([step.present.sum() for step in drawn(count, samples, rate)])
    assert abs(sizes.mean() - rate * samples) <= 5 * math.sqrt(samples * rate / count)
    seen = np.bincount(sizes, minlength=samples + 1)
    expected = count * stats.binom.pmf(np.arange(samples + 1), samples, rate)
    common = expected >= 5
    statistic = np.sum((seen[common] - expected[common]) ** 2 / expected[common])
    assert stats.chi2.sf(statistic, common.sum()) > 1e-4
    assert seen[~common].sum() <= expected[~common].sum() + 10 * math.sqrt(count)


def test_each_sample_is_in_a_batch_with_the_same_chance_and_at_most_once():
    samples, count, rate = 20, 5000, 0.2
    steps = drawn(count, samples, rate, seed=1)
    members = [step.indices[step.present] for step in steps]
    assert all(len(set(one.tolist())) == len(one) for one in members)
    seen = np.bincount(np.concatenate(members), minlength=samples)
    assert np.all(np.abs(seen - count * rate) < 5 * math.sqrt(count * rate * (1 - rate)))
    both = np.mean([{3, 7} <= set(one.tolist()) for one in members])  # independent
    assert abs(both - rate**2) < 5 * math.sqrt(rate**2 / count)


def test_an_empty_batch_has_noise_all_the_same():
    steps = drawn(200, 2, 0.01, parameters=4)
    empty = [step for step in steps if not step.present.any()]
    assert len(empty) > 150
    assert all(step.indices.shape == (1, 0) for step in empty)
    assert all(np.all(step.noise != 0) for step in empty)


def test_a_batch_has_no_single_row():
    steps = drawn(300, 3, 0.2)
    assert {step.present.shape[1] for step in steps} == {0, 2, 3}


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_noise_has_the_distribution_of_scale_1(noise):
    [step] = drawn(1, 5, 0.5, seed=2, noise=noise, parameters=20_000)
    exact = stats.norm() if noise == "gaussian" else stats.laplace()
    assert stats.kstest(step.noise[0], exact.cdf).pvalue > 1e-3


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_amounts_to_the_noise_that_the_budget_asks_for(noise, scheme):
    """Never less: sum (C_m / s_m)^q is at most unit^-q."""
    delta = 1e-5 if noise == "gaussian" else 0.0
    unit = noise_unit(noise, 8.0, delta, 100, 0.05)
    clips = flat_clips(noise, 6, 1.0)
    scales = group_scales(scheme, noise, clips, [9, 40, 40, 80, 160, 5], unit)
    run = toys.run(noise=noise, clips=tuple(clips), scales=tuple(scales))
    found = toys.spent_unit(run)
    assert unit * (1 - 1e-15) <= found <= unit * (1 + 1e-12)


def test_steps_of_an_epoch():
    assert toys.run(rate=0.02).epoch_steps == 50
    assert toys.run(rate=1.0).epoch_steps == 1


def test_the_digest_depends_on_every_setting_on_the_data_and_on_the_device():
    data = toys.images()
    changes = {
        "rate": 0.5, "epochs": 4, "seed": 6, "scope": ("other",), "noise": "laplace",
        "scales": (0.1,) * 6, "clips": (0.5,) * 6, "chunk": 32, "trials": toys.TRIALS[:2],
        "precision": "tensorfloat32", "stop": False, "whole": True,
        "network": toys.Network(widths=(4,), blocks=1, stride=1, normalisation=1),
    }  # fmt: skip
    digests = {toys.run().digest(data, "cpu"), toys.run().digest(toys.images(seed=3), "cpu")}
    digests |= {toys.run().digest(data, "cuda")}
    digests |= {toys.run(**{name: value}).digest(data, "cpu") for name, value in changes.items()}
    assert len(digests) == len(changes) + 3
    assert toys.run().digest(toys.images(), "cpu") in digests


def records(**losses):
    """Two rates, a pair of epochs each; 1.0 has the higher accuracy in the last one."""
    return pd.DataFrame(
        {
            "learning_rate": [0.1, 0.1, 1.0, 1.0],
            "epoch": [1, 2, 1, 2],
            "samples": [10, 10, 10, 10],
            "train_loss": [2.0, 1.0, 1.0, 1.0],
            "accuracy": [95.0, 20.0, 30.0, 90.0],
        }
        | losses
    )


def test_the_highest_mean_of_the_last_epoch_is_kept():
    assert best_rate(records(), 2, "cell") == 1.0
    assert best_rate(records(), 1, "cell") == 0.1


def test_the_smallest_of_equal_rates_is_kept():
    assert best_rate(records(accuracy=[1.0, 90.0, 1.0, 90.0]), 2, "cell") == 0.1


def test_a_learning_rate_at_which_a_network_diverged_is_not_kept():
    found = records(train_loss=[2.0, 1.0, math.nan, 1.0])
    assert best_rate(found, 2, "cell") == 0.1
    empty = records(train_loss=[2.0, 1.0, math.nan, 1.0], samples=[10, 10, 0, 10])
    assert best_rate(empty, 2, "cell") == 1.0  # an epoch of empty batches has no loss
    with pytest.raises(RuntimeError, match=r"cell: expected .* got none of \[0.1, 1.0\]"):
        best_rate(records(train_loss=[math.inf] * 4), 2, "cell")


def test_what_is_reported_has_other_seeds_than_the_search():
    tried, kept = search_trials([0.1, 1.0], 3), report_trials(1.0, 3)
    assert [trial.learning_rate for trial in tried] == [0.1] * 3 + [1.0] * 3
    assert len({trial.stream for trial in tried}) == 3
    assert not {trial.stream for trial in tried} & {trial.stream for trial in kept}


@pytest.mark.parametrize("pieces", [[1.0] * 200, [0.5, 7.0, 0.1] * 30, [30.0, 20.0, 10.0, 40.0]])
def test_work_ends_before_the_limit(pieces):
    """With twice the longest piece to spare; the time before the first one counts as time alone."""
    now = [5.0]
    limit = TimeLimit(100.0, clock=lambda: now[0])
    now[0] += 3.0
    assert not limit.passed()
    longest, late = 0.0, False
    for piece in pieces:
        now[0] += piece
        longest = max(longest, piece)
        late = limit.passed()
        assert late == (now[0] + 2 * longest > 105.0)
        if late:
            break
    assert late
    assert now[0] + longest <= 105.0


def test_a_limit_that_is_over_has_passed():
    assert TimeLimit(0.0).passed()
    assert TimeLimit(-1.0).passed()


STATE = {"a": np.arange(6.0).reshape(2, 3), "b": np.float32([1e-45, np.nan, 3.4e38])}


def test_what_is_saved_comes_back(tmp_path):
    path = tmp_path / "folder" / "state.npz"
    assert read_state(path, "x") is None
    save_state(path, "x", STATE)
    found = read_state(path, "x")
    assert found.keys() == STATE.keys()
    for name, array in STATE.items():
        assert found[name].dtype == array.dtype
        assert found[name].tobytes() == array.tobytes()


def test_files_are_the_same_bytes(tmp_path):
    save_state(tmp_path / "one", "x", STATE)
    save_state(tmp_path / "two", "x", STATE)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_another_run_is_refused(tmp_path):
    save_state(tmp_path / "state", "x", STATE)
    with pytest.raises(
        ValueError, match=r"of these settings, data and device \(y\), got one of others"
    ):
        read_state(tmp_path / "state", "y")


@pytest.mark.parametrize("content", [b"", b"no archive", "half"])
def test_a_damaged_file_is_refused(content, tmp_path):
    path = tmp_path / "state"
    save_state(path, "x", STATE)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content == "half" else content)
    with pytest.raises(ValueError, match="got a damaged file"):
        read_state(path, "x")


def test_a_pickled_object_is_never_loaded(tmp_path):
    path = tmp_path / "state"
    with path.open("wb") as file:
        np.savez(file, digest=np.array("x"), a=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="got a damaged file"):
        read_state(path, "x")

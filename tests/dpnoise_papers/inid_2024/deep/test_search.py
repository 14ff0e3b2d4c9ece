"""Search of the learning rate: the best mean, none that diverged, seeds of its own."""

import math

import pandas as pd
import pytest

from dpnoise_papers.inid_2024.deep.search import best_rate, report_trials, search_trials


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

"""tensorflow/privacy: epsilon of training without sampling, as its statements print it.

Those of Renyi accounting are upper bounds. Samples are left out: ours asks dp_accounting there."""

from outside_values import check, epsilon_of, rows


def test_every_value():
    for row in rows("tensorflow_privacy.csv"):
        check(row, epsilon_of(row["releases"], row["delta"]))

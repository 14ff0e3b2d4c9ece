"""dp_accounting: epsilon of releases together, by its privacy loss distributions."""

from outside_values import check, epsilon_of, rows


def test_every_value():
    for row in rows("dp_accounting_epsilon.csv"):
        check(row, epsilon_of(row["releases"], row["delta"]))

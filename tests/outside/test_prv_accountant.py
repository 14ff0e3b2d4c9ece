"""prv_accountant: bounds on delta, and on epsilon, of many releases; they have to hold ours."""

from dpnoise import vector_profile
from outside_values import bounds, epsilon_of, releases, rows


def _ours(row):
    """Bounds on the exact value."""
    if row["delta"] != "":
        found = epsilon_of(row["releases"], row["delta"])
        return found - 1e-6, found
    parts = releases(row["releases"])
    if len(parts) == 1:
        [(times, noise)] = parts
        found = vector_profile(noise, 1.0, row["epsilon"], copies=times)
    else:
        noises = [noise for times, noise in parts for _ in range(times)]
        found = vector_profile(noises, [1.0] * len(noises), row["epsilon"])
    return float(found.lower), float(found.upper)


def test_every_bound():
    for row in rows("prv_accountant.csv"):
        low, high = bounds(row)
        below, above = _ours(row)
        assert low <= below <= above <= high, row

"""Checker of lower bounds on the cost of additive noise, in rational arithmetic.

It needs Python 3.8 or newer and nothing else: python check.py FILE... The exit code is 0 if every
bound of every file is proved, 1 if one is not, 2 if a file is not of this format.

Let noise T for one number of sensitivity 1 be (epsilon, delta)-DP, whatever its distribution, and
0 <= phi <= W. Integrating P(T in A) <= e^epsilon P(T + d in A) + delta for the events
A = {phi > u} over u from 0 to W gives

    E phi(T) <= e^epsilon E phi(T + d) + delta W,    for all |d| <= 1.                       (1)

Round T up or down to a multiple of 1 / n (n is "cells") such that the mean given T is T. Rounding
commutes with shifts by k / n, so that (1) holds for the rounded T and d = k / n, |k| <= n. It
leaves E|T| as it is and raises E T^2 by at most 1 / (4 n^2). The file has a function phi_k >= 0 on
the lattice, zero but for finitely many points, for some k in 1, ..., n, with maximum W_k. With
psi_k(j) = phi_k(j) + phi_k(-j) - e^epsilon (phi_k(j + k) + phi_k(-j + k)), let

    c = min over the lattice points j of  |j / n|^p + sum_k psi_k(j).

By (1) for phi_k with the shift k / n and for its mirror image with -k / n,

    c <= E |T|^p + sum_k E psi_k <= E |T|^p + 2 delta sum_k W_k

for the rounded T, so that no noise costs less than c - 2 delta sum_k W_k (less 1 / (4 n^2) for
p = 2). Any phi_k >= 0 prove something. Where they come from (a linear program) does not matter.
e^epsilon is replaced by a fraction above it, which lowers c; everything else is exact.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path

FORMAT = "lower bounds on the cost of additive noise, by test functions"
POWERS = {"E|T|": 1, "E T^2": 2}
_TERMS = 60


def exp_above(x: Fraction) -> Fraction:
    """Fraction above e^x, for 0 <= x <= 20, by its series and a bound on the rest."""
    if not 0 <= x <= 20:
        message = f"epsilon: expected 0 to 20, got {x}"
        raise ValueError(message)
    total, term = Fraction(0), Fraction(1)
    for i in range(_TERMS):
        total += term
        term *= x / (i + 1)
    return total + term / (1 - x / (_TERMS + 1))


def proved(record: dict) -> Fraction:
    """Lower bound that the test functions of one record prove."""
    epsilon, delta = Fraction(record["epsilon"]), Fraction(record["delta"])
    n, unit, power = record["cells"], record["unit"], POWERS[record["cost"]]
    tests = {
        int(k): {int(j): Fraction(value, unit) for j, value in points.items()}
        for k, points in record["tests"].items()
    }
    if n < 1 or unit < 1 or not 0 <= delta < 1 or not all(1 <= k <= n for k in tests):
        message = "expected cells and unit of at least 1, delta in [0, 1) and shifts of 1 to cells"
        raise ValueError(message)
    if any(value < 0 for points in tests.values() for value in points.values()):
        message = "expected test functions of at least 0"
        raise ValueError(message)
    growth = exp_above(epsilon)
    far = max((abs(j) for points in tests.values() for j in points), default=0) + n
    least = Fraction(far + 1, n) ** power  # beyond `far` all tests are 0 and the cost is larger
    for j in range(far + 1):  # the sum is even in j
        value = Fraction(j, n) ** power
        for k, points in tests.items():
            value += points.get(j, 0) + points.get(-j, 0)
            value -= growth * (points.get(j + k, 0) + points.get(k - j, 0))
        least = min(least, value)
    paid = 2 * delta * sum(max(points.values(), default=0) for points in tests.values())
    return least - paid - (Fraction(1, 4 * n * n) if power == 2 else 0)


def check(path: str) -> list[tuple[dict, Fraction]]:
    """Each record of a file with what it proves."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    if content["format"] != FORMAT:
        message = f"format: expected {FORMAT!r}, got {content['format']!r}"
        raise ValueError(message)
    return [(record, proved(record)) for record in content["bounds"]]


def main(paths: list[str]) -> int:
    """Check files; return the exit code."""
    code = 0
    for path in paths:
        try:
            rows = [(row, found, Fraction(row["bound"])) for row, found in check(path)]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
            sys.stdout.write(f"{path}: not checked: {error!r}\n")
            code = 2
            continue
        for row, found, bound in rows:
            good = found >= bound
            code = max(code, 0 if good else 1)
            words = "proved" if good else "REFUSED, it proves only"
            budget = f"epsilon = {row['epsilon']}, delta = {row['delta']}"
            claim = f"{row['cost']} >= {row['bound']}"
            sys.stdout.write(f"{budget}: {claim} ({words}: {float(found):.5f})\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

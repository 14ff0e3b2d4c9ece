"""A budget that is charged thousands of times, beside peers, in one run.

Each line charges releases one by one and then asks once for epsilon; the peers compose the same
releases. Run `python benchmarks/budget.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from time import perf_counter
from typing import TYPE_CHECKING

from dp_accounting import GaussianDpEvent, LaplaceDpEvent, PoissonSampledDpEvent
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant

from dpnoise import Budget, Gaussian, Laplace, SampledGaussian

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dp_accounting import DpEvent
    from dp_accounting.privacy_accountant import PrivacyAccountant

DELTA = 1e-6
_MOST_PEER = 400  # releases of a peer


def ours(what: str, releases: Sequence[tuple[object, float | None]]) -> None:
    """Charge releases one by one, and ask for epsilon."""
    budget = Budget(1e3, DELTA, relation="add-remove")
    start = perf_counter()
    for noise, size in releases:
        budget.spend(noise, size)
    charged = perf_counter() - start
    start = perf_counter()
    epsilon = budget.epsilon_of()
    asked = perf_counter() - start
    print(f"{what:<46} {charged:8.2f} s  {asked:8.2f} s   {epsilon:.6f}")


def peer(what: str, accountant: PrivacyAccountant, events: Sequence[DpEvent]) -> None:
    """Compose the same by a peer."""
    start = perf_counter()
    for event in events[:_MOST_PEER]:
        accountant.compose(event)
    charged = perf_counter() - start
    start = perf_counter()
    epsilon = accountant.get_epsilon(DELTA)
    asked = perf_counter() - start
    number = f"{what} ({min(len(events), _MOST_PEER)})"
    print(f"  {number:<44} {charged:8.2f} s  {asked:8.2f} s   {epsilon:.6f}")


def main() -> None:
    """Print all rows."""
    print(f"{'releases, one by one':<46} {'charge':>10}  {'epsilon_of':>10}   epsilon")
    for number in (400, 2000):
        ours(f"{number} Gaussian", [(Gaussian(1000.0 + i), 1.0) for i in range(number)])
        events = [GaussianDpEvent(1000.0 + i) for i in range(number)]
        peer("dp_accounting, PLD", PLDAccountant(), events)
        peer("dp_accounting, RDP", RdpAccountant(), events)
    ours("400 SampledGaussian", [(SampledGaussian(1 + i / 1000, 0.01), None) for i in range(400)])
    # A peer takes a third of a second for each.
    steps = [PoissonSampledDpEvent(0.01, GaussianDpEvent(1 + i / 1000)) for i in range(100)]
    peer("dp_accounting, PLD", PLDAccountant(), steps)
    peer("dp_accounting, RDP", RdpAccountant(), steps)
    for number in (100, 400):
        ours(f"{number} Laplace", [(Laplace(100.0 + i / 7), 1.0) for i in range(number)])
        peer(
            "dp_accounting, PLD",
            PLDAccountant(),
            [LaplaceDpEvent(100.0 + i / 7) for i in range(number)],
        )
    ours("100,000 equal Gaussian", [(Gaussian(1000.0), 1.0)] * 100_000)
    ours("100,000 equal Laplace", [(Laplace(1e4), 1.0)] * 100_000)


if __name__ == "__main__":
    main()

"""A budget that is charged thousands of times, beside peers, in one run.

Each line charges releases one by one and then asks once for epsilon, in processor seconds; the
peers compose the same. The odometer of OpenDP draws noise for each release, and it has no account
of Poisson samples. Run `python benchmarks/budget.py` where both peers are installed.
"""

from __future__ import annotations

import math
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from time import process_time
from typing import TYPE_CHECKING

import opendp.prelude as dp
from dp_accounting import GaussianDpEvent, LaplaceDpEvent, PoissonSampledDpEvent
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant

from dpnoise import Budget, Gaussian, Laplace, SampledGaussian

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dp_accounting import DpEvent
    from dp_accounting.privacy_accountant import PrivacyAccountant

dp.enable_features("contrib")
DELTA = 1e-6
_MOST_PEER = 400  # releases of a peer that takes longer
_SPACE = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


def ours(what: str, releases: Sequence[tuple[object, float | None]]) -> None:
    """Charge releases one by one, and ask for epsilon."""
    budget = Budget(1e3, DELTA, relation="add-remove")
    start = process_time()
    for noise, size in releases:
        budget.spend(noise, size)
    charged = process_time() - start
    start = process_time()
    epsilon = budget.epsilon_of()
    asked = process_time() - start
    print(f"{what:<46} {charged:8.2f} s  {asked:8.2f} s   {epsilon:.6f}")


def peer(what: str, accountant: PrivacyAccountant, events: Sequence[DpEvent]) -> None:
    """Compose the same by a peer."""
    start = process_time()
    for event in events[:_MOST_PEER]:
        accountant.compose(event)
    charged = process_time() - start
    start = process_time()
    epsilon = accountant.get_epsilon(DELTA)
    asked = process_time() - start
    number = f"{what} ({min(len(events), _MOST_PEER)})"
    print(f"  {number:<44} {charged:8.2f} s  {asked:8.2f} s   {epsilon:.6f}")


def opendp(scales: Sequence[float], *, pure: bool = False) -> None:
    """The same by the odometer of OpenDP: noise by its scale, drawn once for each."""
    make = dp.m.make_laplace if pure else dp.m.make_gaussian
    measure = dp.max_divergence() if pure else dp.zero_concentrated_divergence()
    odometer = dp.c.make_fully_adaptive_composition(*_SPACE, measure)(0.0)
    measured = [make(*_SPACE, scale=scale) for scale in scales]
    start = process_time()
    for one in measured:
        odometer(one)
    charged = process_time() - start
    start = process_time()
    loss = odometer.privacy_loss(1.0)
    if not pure:  # as of one Gaussian noise with this rho
        noise = dp.m.make_gaussian(*_SPACE, scale=math.sqrt(0.5 / loss))
        loss = dp.c.make_zCDP_to_approxDP(noise).map(1.0).epsilon(DELTA)
    asked = process_time() - start
    number = f"OpenDP, {'pure' if pure else 'zCDP'} ({len(measured)})"
    print(f"  {number:<44} {charged:8.2f} s  {asked:8.2f} s   {loss:.6f}")


def main() -> None:
    """Print all rows."""
    print(f"{'releases, one by one':<46} {'charge':>10}  {'epsilon_of':>10}   epsilon")
    for number in (400, 2000):
        ours(f"{number} Gaussian", [(Gaussian(1000.0 + i), 1.0) for i in range(number)])
        events = [GaussianDpEvent(1000.0 + i) for i in range(number)]
        peer("dp_accounting, PLD", PLDAccountant(), events)
        peer("dp_accounting, RDP", RdpAccountant(), events)
        opendp([1000.0 + i for i in range(number)])
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
        opendp([100.0 + i / 7 for i in range(number)], pure=True)
    ours("100,000 equal Gaussian", [(Gaussian(1000.0), 1.0)] * 100_000)
    peer("dp_accounting, PLD", PLDAccountant(), [GaussianDpEvent(1000.0)] * 100_000)
    opendp([1000.0] * 100_000)
    ours("100,000 equal Laplace", [(Laplace(1e4), 1.0)] * 100_000)
    opendp([1e4] * 100_000, pure=True)


if __name__ == "__main__":
    main()

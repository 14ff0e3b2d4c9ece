"""Exact privacy and calibration beside a peer, and beside the papers' way, in one run.

The peer for composed privacy is dp_accounting's privacy loss distributions; nothing public
has flipped Huber noise, where the yardstick is the papers' grid search or the target in
milliseconds. Run `python benchmarks/privacy.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import math
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld

from dpnoise import FlippedHuber, Gaussian, Laplace, calibrate, vector_profile
from dpnoise.privacy.gaussian import gaussian_log_delta

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7


def milliseconds(call: Callable[[], object]) -> float:
    """Return the median wall time of a call, the first left out."""
    call()
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return 1e3 * median(times)


def line(what: str, time: float, note: str = "") -> None:
    """Print one row."""
    print(f"{what:<58} {time:9.2f} ms   {note}")


def gap(bounds: object) -> str:
    """Return the relative gap between two bounds, as text."""
    return f"gap {float(bounds.upper / bounds.lower - 1):.1e}"


def profiles() -> None:
    """Time one value of the K-fold flipped Huber profile."""
    for copies, alpha, gamma, epsilon in (
        (20, 0.5, 9.0, 2.0), (20, 4.0, 6.0, 5.0), (20, 60.0, 40.0, 0.3),
        (1000, 3.0, 60.0, 2.0), (10_000, 3.0, 200.0, 2.0), (10_000, 50.0, 300.0, 2.0),
    ):  # fmt: skip
        noise = FlippedHuber(alpha, gamma)
        bounds = vector_profile(noise, 1.0, epsilon, copies=copies)
        time = milliseconds(
            lambda n=noise, e=epsilon, k=copies: vector_profile(n, 1.0, e, copies=k)
        )
        line(f"flipped Huber({alpha:g}, {gamma:g}), K = {copies}, epsilon = {epsilon:g}", time,
             f"delta {float(bounds.estimate):.3e}, {gap(bounds)}")  # fmt: skip


def laplace() -> None:
    """Time twenty-fold Laplace to a relative 1e-8, ours and dp_accounting's."""
    scale, epsilon, copies = 10.0, 1.0, 20
    ours = vector_profile(Laplace(scale), 1.0, epsilon, copies=copies, rtol=1e-8)
    exact = float(ours.estimate)
    line(f"{copies}-fold Laplace, ours at rtol 1e-8", milliseconds(
        lambda: vector_profile(Laplace(scale), 1.0, epsilon, copies=copies, rtol=1e-8)),
        gap(ours))  # fmt: skip
    for interval in (1e-3, 1e-4, 2e-5, 1e-5):

        def peer(interval: float = interval) -> float:
            one = pld.from_laplace_mechanism(
                scale, value_discretization_interval=interval, use_connect_dots=True
            )
            return one.self_compose(copies).get_delta_for_epsilon(epsilon)

        line(f"{copies}-fold Laplace, dp_accounting, interval {interval:g}", milliseconds(peer),
             f"off by {peer() / exact - 1:.1e}")  # fmt: skip


def gaussian() -> None:
    """Time a thousandfold Gaussian far in the tail, by the general path and dp_accounting."""
    copies, sigma = 1000, 120.0
    mu = math.sqrt(copies) / sigma
    grid = np.linspace(0.1, 4, 4000)
    epsilon = float(np.interp(-math.log(3.65e-15), -gaussian_log_delta(mu, grid), grid))
    exact = math.exp(gaussian_log_delta(mu, epsilon))
    # A whisper of Laplace centre, which keeps it off the Gaussian's closed form.
    noise = FlippedHuber(1e-9, sigma)
    bounds = vector_profile(noise, 1.0, epsilon, copies=copies)
    time = milliseconds(lambda: vector_profile(noise, 1.0, epsilon, copies=copies))
    line(f"{copies}-fold Gaussian, delta = {exact:.2e}, general path", time,
         f"{gap(bounds)}, off by {float(bounds.upper) / exact - 1:.1e}")  # fmt: skip

    def peer() -> float:
        one = pld.from_gaussian_mechanism(
            sigma, value_discretization_interval=1e-4, use_connect_dots=True
        )
        return one.self_compose(copies).get_delta_for_epsilon(epsilon)

    line(f"{copies}-fold Gaussian, dp_accounting, interval 1e-4", milliseconds(peer),
         f"off by {peer() / exact - 1:.1e}")  # fmt: skip
    line("the same, ours, Gaussian(120)", milliseconds(
        lambda: vector_profile(Gaussian(sigma), 1.0, epsilon, copies=copies)))  # fmt: skip


def calibrations() -> None:
    """Time the least flipped Huber noise, exactly and by the papers' grid."""
    budget = {"epsilon": 0.3, "delta": 1e-6}
    exact = calibrate("flipped-huber", **budget)
    time = milliseconds(lambda: calibrate("flipped-huber", **budget))
    line("one-dimensional calibration, exact", time, f"variance {exact.variance:.6g}")
    grid = calibrate("flipped-huber", **budget, method="grid")
    slow = milliseconds(lambda: calibrate("flipped-huber", **budget, method="grid"))
    line("one-dimensional calibration, grid", slow,
         f"variance {grid.variance:.6g}, {slow / time:.0f} times as long")  # fmt: skip
    for dimension, epsilon, delta in ((20, 2.2, 1e-8), (20, 0.2, 1e-8), (20, 5.0, 1e-6)):
        budget = {"epsilon": epsilon, "delta": delta, "dimension": dimension}
        found = calibrate("flipped-huber", **budget)
        line(f"K = {dimension}, epsilon = {epsilon:g}, delta = {delta:g}: exact calibration",
             milliseconds(lambda b=budget: calibrate("flipped-huber", **b)),
             f"variance {found.variance:.6g}")  # fmt: skip


if __name__ == "__main__":
    profiles()
    laplace()
    gaussian()
    calibrations()

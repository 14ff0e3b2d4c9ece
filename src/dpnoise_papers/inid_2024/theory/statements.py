"""Every statement of inid-2024 that can be checked, over random parameters.

Each theorem, lemma, remark and footnote, and each sentence between them that claims something,
has a row: how often it failed, how near it came to failing and what its proof is worth.

The proofs of Theorem 9 and Corollary 6 hold but for a sign or a power. Each such line is checked
as it stands, which fails, and as it should stand.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.allocation.allocate import allocate
from dpnoise.noise.exponential_power import Laplace
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.checks import Check, Outcome, equal, run_checks
from dpnoise_papers.inid_2024.theory import (
    bisection,
    dispersion,
    gain,
    optimum,
    privacy,
)
from dpnoise_papers.inid_2024.theory.tools import ROUNDING, budgets, draw_sensitivities, log_uniform

if TYPE_CHECKING:
    import pandas as pd
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.settings import Theory


def _norm_of_scales(rng: Generator, n: int, power: int) -> Outcome:
    """Error of ||sigma||_2^power = ||lambda||_1^2 / mu_0^2, relative."""
    drawn = budgets(rng, n) | {"K": rng.integers(1, 9, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        budget = {"epsilon": drawn["epsilon"][k], "delta": drawn["delta"][k]}
        profile = draw_sensitivities(rng, int(drawn["K"][k]))
        unit = allocate([1.0], scheme="iid", **budget)[0]  # 1 / mu_0
        right = (profile.sum() * unit) ** 2
        left = float(np.linalg.norm(allocate(profile, **budget))) ** power
        margin[k] = equal(left, right, right)
    return Outcome(margin, 1e-9, drawn)


def _spent(rng: Generator, n: int, above: float) -> dict[str, Array]:
    """Epsilon and sum lambda / beta, of which a part `above` exceeds epsilon."""
    epsilon = log_uniform(rng, 0.05, 5, n)
    over = rng.random(n) < above
    factor = np.where(over, rng.uniform(1.0, 2.0, n), rng.uniform(0.1, 1.0, n))
    return {"epsilon": epsilon, "spent": factor * epsilon}


def _dropped(rng: Generator, n: int, above: float) -> Outcome:
    """Error of dropping [.]_+ from the integral of the bracket over the densities.

    The bracket is exp(-|t|) (1 - exp(epsilon - spent)) at every t, with or without [.]_+.
    """
    drawn = _spent(rng, n, above)
    t = rng.laplace(size=(n, 3))
    inside = np.exp(-np.abs(t)) - np.exp((drawn["epsilon"] - drawn["spent"])[:, None] - np.abs(t))
    kept, dropped = np.maximum(inside, 0.0).sum(axis=1), inside.sum(axis=1)
    return Outcome(equal(dropped, kept), ROUNDING, drawn)


def _conditions(rng: Generator, n: int) -> tuple[dict[str, Array], NDArray[np.bool], Array]:
    """Parameters, whether 1 - exp(epsilon - spent) <= delta, and the limit of spent."""
    drawn = _spent(rng, n, 0.5) | {"delta": log_uniform(rng, 1e-3, 0.9, n)}
    holds = -np.expm1(drawn["epsilon"] - drawn["spent"]) <= drawn["delta"]
    return drawn, holds, drawn["epsilon"] - np.log1p(-drawn["delta"])


def _corollary_6_rearranged(rng: Generator, n: int) -> Outcome:
    """-1 where the condition holds without sum lambda/beta = epsilon - log(1 - delta)."""
    drawn, holds, limit = _conditions(rng, n)
    same = holds == np.isclose(drawn["spent"], limit, rtol=1e-9, atol=0.0)
    return Outcome(np.where(same, 1.0, -1.0), 0.0, drawn)


def _corollary_6_active(rng: Generator, n: int) -> Outcome:
    """Minus the error of the condition as an equality at the limit; -1 unless the sides differ.

    One in 1e6 below the limit the condition has to hold, one above it has to fail. Where it is an
    equality it has to be sufficient: delta at the worst neighbour of scales at random, by the
    exact account, counts as the slack below the delta of the condition, relative.
    """
    drawn, _, limit = _conditions(rng, n)
    values = [-np.expm1(drawn["epsilon"] - factor * limit) for factor in (1.0, 1 - 1e-6, 1 + 1e-6)]
    apart = (values[1] < drawn["delta"]) & (values[2] > drawn["delta"])
    margin = np.where(apart, equal(values[0], drawn["delta"], drawn["delta"]), -1.0)
    for k in range(n):
        s = draw_sensitivities(rng, int(rng.integers(1, 7)))
        beta = s / (limit[k] * rng.dirichlet(np.full(len(s), 2.0)))
        noise = [Laplace(float(b)) for b in beta]
        exact = vector_profile(noise, list(s), float(drawn["epsilon"][k])).estimate
        margin[k] = min(margin[k], 1.0 - float(exact) / drawn["delta"][k])
    return Outcome(margin, 1e-9, drawn)


_MISPRINTS = (
    Check("theorem-9-proof", "Theorem 9, last line of the proof",
          "||sigma||_2 = ||lambda||_1^2 / mu_0^2, as printed", "false: the square is missing",
          partial(_norm_of_scales, power=1), 0.1),
    Check("theorem-9-proof-corrected", "Theorem 9, last line of the proof, corrected",
          "||sigma||_2^2 = ||lambda||_1^2 / mu_0^2", "complete",
          partial(_norm_of_scales, power=2), 0.1),
    Check("corollary-6-dropped", "Corollary 6, proof in Appendix A",
          "when ||lambda / beta||_1 <= epsilon, [.]_+ can be dropped from the integrand (printed)",
          "false: the integrand is negative there, as the sentence before says",
          partial(_dropped, above=0.0)),
    Check("corollary-6-dropped-corrected", "Corollary 6, proof in Appendix A, corrected",
          "when ||lambda / beta||_1 >= epsilon, [.]_+ can be dropped from the integrand",
          "complete", partial(_dropped, above=1.0)),
    Check("corollary-6-rearranged", "Corollary 6, proof in Appendix A",
          "1 - exp(epsilon - ||lambda / beta||_1) <= delta can be re-expressed as "
          "sum lambda / beta = epsilon - log(1 - delta), as printed",
          "false if '=' is taken literally: it is where the constraint is active",
          _corollary_6_rearranged),
    Check("corollary-6-active", "Corollary 6, proof in Appendix A",
          "1 - exp(epsilon - ||lambda / beta||_1) <= delta is sufficient; it holds up to "
          "sum lambda / beta = epsilon - log(1 - delta), there as an equality, and fails beyond",
          "complete", _corollary_6_active, 0.1),
)  # fmt: skip

CHECKS = (
    *privacy.CHECKS,
    *bisection.CHECKS,
    *optimum.CHECKS,
    *gain.CHECKS,
    *dispersion.CHECKS,
    *_MISPRINTS,
    *privacy.COMPONENTS,
)


def inid_theory(settings: Theory) -> pd.DataFrame:
    """Verdicts on the statements of the paper, of `dpnoise_papers.checks.run_checks`.

    The status of a proof is complete, cited, none given or false, with the reason.
    """
    return run_checks(CHECKS, settings.seed, "inid-theory", settings.trials)

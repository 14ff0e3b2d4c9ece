"""What a noise distribution guarantees: privacy profiles and zero-concentrated bounds."""

from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.zcdp import (
    ZCDP,
    epsilon_from_zcdp,
    eta_from_dp,
    transition_cost,
    transition_for_cost,
    zcdp,
)

__all__ = [
    "ZCDP",
    "epsilon_from_zcdp",
    "eta_from_dp",
    "gaussian_log_delta",
    "transition_cost",
    "transition_for_cost",
    "zcdp",
]

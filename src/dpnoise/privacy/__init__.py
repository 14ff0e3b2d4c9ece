"""What a noise distribution guarantees: privacy profiles and zero-concentrated bounds."""

from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.profile import (
    epsilon_at,
    hockey_stick,
    log_privacy_profile,
    privacy_profile,
)
from dpnoise.privacy.vector import VectorProfile, vector_profile
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
    "VectorProfile",
    "epsilon_at",
    "epsilon_from_zcdp",
    "eta_from_dp",
    "gaussian_log_delta",
    "hockey_stick",
    "log_privacy_profile",
    "privacy_profile",
    "transition_cost",
    "transition_for_cost",
    "vector_profile",
    "zcdp",
]

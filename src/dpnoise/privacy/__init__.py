"""What a noise distribution guarantees: privacy profiles and zero-concentrated bounds."""

from dpnoise._lazy import lazy

_HOME = {
    "LatticeBounds": "lattice",
    "VectorProfile": "vector",
    "ZCDP": "zero_concentrated",
    "epsilon_at": "profile",
    "epsilon_from_zcdp": "zero_concentrated",
    "eta_from_dp": "zero_concentrated",
    "gaussian_log_delta": "gaussian",
    "hockey_stick": "profile",
    "lattice_bounds": "lattice",
    "log_privacy_profile": "profile",
    "privacy_profile": "profile",
    "transition_cost": "zero_concentrated",
    "transition_for_cost": "zero_concentrated",
    "vector_profile": "vector",
    "zcdp": "zero_concentrated",
}
__getattr__, __dir__ = lazy(__name__, _HOME)

__all__ = [  # noqa: PLE0604, RUF100
    "ZCDP",
    "LatticeBounds",
    "VectorProfile",
    "epsilon_at",
    "epsilon_from_zcdp",
    "eta_from_dp",
    "gaussian_log_delta",
    "hockey_stick",
    "lattice_bounds",
    "log_privacy_profile",
    "privacy_profile",
    "transition_cost",
    "transition_for_cost",
    "vector_profile",
    "zcdp",
]

"""One privacy budget spent on many coordinates, by sensitivity and by the error that counts."""

from dpnoise._lazy import lazy

_HOME = {
    "allocate": "scales",
    "corollary_6": "sufficient",
    "resources": "shares",
}
__getattr__, __dir__ = lazy(__name__, _HOME)

__all__ = [  # noqa: PLE0604, RUF100
    "allocate",
    "corollary_6",
    "resources",
]

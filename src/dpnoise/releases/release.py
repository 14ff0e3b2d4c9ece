"""Values with exact noise: the public `release`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpnoise.releases.entropy import Entropy
from dpnoise.releases.sums import noisy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Release:
    """Values plus noise, drawn exactly and from the operating system's entropy.

    Call it as `release(values, noise)`. What it returns is value + noise rounded to a grid that is
    chosen before the draw, for an exact draw of the noise: so the account of real-valued noise
    holds for the released doubles, with no allowance for floating point. There is no seed.

    Parameters
    ----------
    values : array_like
        Finite numbers; for vector noise of shape (..., K), for noise of one number of any
        shape, with independent noise for each. For noise on the integers, integers.
    noise : Noise, IntegerNoise, KNorm, Staircase2D, vector noise or sequence
        A family of `dpnoise.noise`, a list of one for each coordinate, or the noise that
        `best`, `compare` or `calibrate_joint` found.
    grid : float, optional
        A power of two, for noise with a density; never choose it from the data. By default,
        for each coordinate, 2^-10 times the largest power of two that is at most E|noise|.

    Returns
    -------
    numpy.ndarray or float
        Of the shape of `values`: multiples of the grid, or integers. Coordinates without noise
        are returned as they are.

    Raises
    ------
    ValueError
        If an argument is out of range or the noise has no exact sampler; the message names
        every problem. There is no fallback to `rvs`.
    ModuleNotFoundError
        If the noise has a density and python-flint is not installed.

    Notes
    -----
    Proved (docs/release.md): the released numbers are a rounding of value + noise, the value
    being the exact rational that its double is. Assumed: the operating system's random bits are
    independent and fair; the sensitivity holds for the values as doubles; nobody measures times.
    Noise with a density needs the extra `release` (python-flint).

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy" (CCS 2012).
    Haney, Desfontaines, Hartman, Shrestha & Hay, "Precision-based attacks and interval refining:
    how to break, then fix, differential privacy on finite computers" (2022).
    Canonne, Kamath & Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020).

    Examples
    --------
    >>> from dpnoise import DiscreteLaplace, Laplace, best, release
    >>> noisy = release([12.0, 7.5], Laplace(2.0))
    >>> bool((noisy * 2**9 == (noisy * 2**9).round()).all())       # multiples of the grid 2^-9
    True
    >>> release([12, 7], DiscreteLaplace(2.0)).dtype
    dtype('int64')
    >>> release([3, 1, 4], best([1, 1, 1], epsilon=1.0).noise).shape
    (3,)
    """

    def __init__(self, entropy: Entropy | None = None) -> None:
        self._entropy = entropy or Entropy()

    def __repr__(self) -> str:
        """Its name."""
        return "release"

    def __call__(self, values: ArrayLike, noise: Any, *, grid: float | None = None) -> Any:  # noqa: ANN401
        """Values plus noise, rounded to a grid: arguments as above."""
        return noisy(values, noise, grid, self._entropy)


release = Release()

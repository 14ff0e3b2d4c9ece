"""Images with classes, for training and for testing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import load_digits

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise_papers.data.images import ImageSet

_EVERY = 5  # of the digits is for testing


@dataclass(frozen=True)
class Images:
    """Labelled images.

    Attributes
    ----------
    train, test : numpy.ndarray of float32, shape (N, channels, height, width)
        Values from 0 to 1, before any scaling that depends on the data.
    train_labels, test_labels : numpy.ndarray of int64, shape (N,)
        Classes from 0.
    name, note : str
        Of the data, and what is not as in the original, or "".
    """

    train: Array
    train_labels: np.ndarray
    test: Array
    test_labels: np.ndarray
    name: str
    note: str = ""


def digits() -> Images:
    """Digits of scikit-learn, 8 by 8 pixels; every fifth is for testing.

    Returns
    -------
    Images
        1437 images for training and 360 for testing.

    Examples
    --------
    >>> from dpnoise_papers.inid_2024.deep.images import digits
    >>> digits().train.shape
    (1437, 1, 8, 8)
    """
    pixels, labels = load_digits(return_X_y=True)
    images = (pixels / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    classes = labels.astype(np.int64)
    tested = np.arange(len(images)) % _EVERY == 0
    return Images(
        images[~tested],
        classes[~tested],
        images[tested],
        classes[tested],
        "digits",
    )


def cifar10(images: ImageSet) -> Images:
    """CIFAR-10 with values from 0 to 1.

    They are pixels over 255: no mean and no deviation of the training data, which are private,
    enters.

    Parameters
    ----------
    images : ImageSet
        From `dpnoise_papers.data.images`.

    Returns
    -------
    Images
        50,000 images for training and 10,000 for testing, as the data set has them; the note says
        where they are not the original pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnoise_papers.data.images import ImageSet
    >>> from dpnoise_papers.inid_2024.deep.images import cifar10
    >>> pixels, labels = np.full((1, 3, 32, 32), 255, np.uint8), np.array([7], np.uint8)
    >>> cifar10(ImageSet("cifar10", "", pixels, labels, pixels, labels)).train.max()
    np.float32(1.0)
    """
    train, test = (
        np.divide(pixels, np.float32(255), dtype=np.float32)
        for pixels in (images.train, images.test)
    )
    labels = (images.train_labels.astype(np.int64), images.test_labels.astype(np.int64))
    return Images(train, labels[0], test, labels[1], images.name, images.note)

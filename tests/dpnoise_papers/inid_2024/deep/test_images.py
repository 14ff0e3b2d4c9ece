"""Digits: the split is fixed, whole and fair."""

import numpy as np
from sklearn.datasets import load_digits

from dpnoise_papers.data.images import ImageSet
from dpnoise_papers.inid_2024.deep.images import cifar10, digits


def test_every_digit_is_in_one_part_with_its_class():
    data = digits()
    pixels, labels = load_digits(return_X_y=True)
    images = np.concatenate([data.train, data.test]).reshape(-1, 64) * 16
    classes = np.concatenate([data.train_labels, data.test_labels])
    both = np.column_stack([images, classes])
    expected = np.column_stack([pixels, labels])
    order, other = np.lexsort(both.T), np.lexsort(expected.T)
    assert np.array_equal(both[order], expected[other])
    assert len(data.test) == 360


def test_each_class_is_in_both_parts():
    data = digits()
    assert np.bincount(data.train_labels).min() > 100
    assert np.bincount(data.test_labels).min() > 20


def test_pixels_of_cifar10_are_scaled_by_a_constant():
    draw = np.random.default_rng(3)
    parts = [
        array
        for count in (4, 2)
        for array in (
            draw.integers(0, 256, (count, 3, 32, 32), dtype=np.uint8),
            draw.integers(0, 10, count, dtype=np.uint8),
        )
    ]
    data = cifar10(ImageSet("cifar10", "lossy copy", *parts))
    assert (data.name, data.note) == ("cifar10", "lossy copy")
    for pixels, given in ((data.train, parts[0]), (data.test, parts[2])):
        assert pixels.dtype == np.float32
        assert np.array_equal(np.rint(pixels * 255), given)
        assert 0 <= pixels.min() <= pixels.max() <= 1
    assert np.array_equal(data.train_labels, parts[1])
    assert data.test_labels.dtype == np.int64

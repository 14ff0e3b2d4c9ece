"""Packages that resolve their names on first use: every public name is there, and no other."""

from importlib import import_module

import pytest

from dpnoise._lazy import lazy


@pytest.mark.parametrize(
    "package", ["dpnoise", "dpnoise.allocation", "dpnoise.calibration", "dpnoise.privacy"]
)
def test_every_public_name_resolves_and_is_listed(package):
    room = import_module(package)
    assert sorted(room.__all__) == sorted(room._HOME) == dir(room)
    for name in room.__all__:
        assert getattr(room, name).__name__ == name


def test_unknown_names_are_refused_by_name():
    resolve, names = lazy("dpnoise", {"seeds": "seeds"})
    assert names() == ["seeds"]
    with pytest.raises(AttributeError, match="'dpnoise' has no attribute 'nothing'"):
        resolve("nothing")

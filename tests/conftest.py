"""What all tests share: the folder, one BLAS thread; what pytest keeps is not seen as garbage."""

import gc
import os
import sys
from dataclasses import fields
from functools import cache, wraps
from importlib import import_module
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).parents[1]
# pytest keeps the tests with their asserts rewritten, where PYTHONDONTWRITEBYTECODE is set, too, as
# containers have it: else each worker rewrites them again, 8 of the 12 s that it collects.
sys.dont_write_bytecode = False
settings.register_profile("same", derandomize=True, deadline=None)  # examples of any @given
settings.load_profile("same")
# Tests of a run, not of the code: where DPNOISE_RESULTS says which (`make look`).
collect_ignore = [] if os.environ.get("DPNOISE_RESULTS") else ["of_run"]


@pytest.fixture(autouse=True, scope="session")
def _in_the_repository():
    """Every test starts in the repository, as the pipeline does, wherever pytest was called."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        yield


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread():
    """Workers that run side by side would wait for each other's threads, five times as long.

    What tests start as a process of its own keeps its threads.
    """
    with threadpool_limits(1):
        yield


# Functions of their arguments, of `best` and `compare`: some tests remember what they returned.
SEARCHES = {
    "dpnoise.mechanisms.compare": ("_compared",),
    "dpnoise.mechanisms.methods": ("calibrate_joint",),
    "dpnoise.calibration.calibrate": ("calibrate",),
    "dpnoise.mechanisms.request": ("floor", "integer_floor"),
    "dpnoise.mechanisms.integers": ("_estimated",),
    "dpnoise.releases.aggregates": ("calibrate",),
}
ASKING = (
    "mechanisms/", "dpnoise/cli/", "dpnoise/test_account", "test_front", "test_examples",
    "test_literature", "sensitivity/test_counts", "joint/test_vectors",
    "optimality/test_closed_forms", "optimality/test_error_floor", "optimality/test_rearrangement",
    "releases/test_groups", "releases/test_unknown", "releases/test_aggregates",
    "releases/test_linear",
)  # fmt: skip
_KNOWN = {}


def _key(x):
    if isinstance(x, np.ndarray):
        return x.shape, x.tobytes()
    if type(x).__name__ == "Request":
        return tuple(_key(getattr(x, field.name)) for field in fields(x))
    return type(x), x


def _kept(search):
    shape = signature(search)

    @wraps(search)  # a lazy import may keep it
    def remembered(*arguments, **named):
        asked = shape.bind(*arguments, **named)
        asked.apply_defaults()
        key = search.__name__, *map(_key, asked.arguments.values())
        if key not in _KNOWN:
            _KNOWN[key] = search(*arguments, **named)
        return _KNOWN[key]

    return remembered


@pytest.fixture(autouse=True)
def asked_once(request):
    if any(place in str(request.path) for place in ASKING):
        monkeypatch = request.getfixturevalue("monkeypatch")
        places = [import_module(module) for module in SEARCHES]  # none is made of what is patched
        for place, names in zip(places, SEARCHES.values(), strict=True):
            for name in names:
                monkeypatch.setattr(place, name, _kept(getattr(place, name)))
    return _KNOWN.clear


@pytest.fixture
def once(monkeypatch):
    """The checker computes the profile of Gaussian noise once for one question, of whoever asks."""
    checker = import_module("dpnoise.certificates.checker")
    interval, compute = checker.Interval, checker.gaussian
    kept = cache(lambda low, high, epsilon: compute(interval(low, high), epsilon))
    monkeypatch.setattr(checker, "gaussian", lambda square, x: kept(square.lo, square.hi, x))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect the tests, which stay until the end: looking through them takes a tenth of the time.

    The collector of garbage looks at what is made later only.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items):
    """Run the pipeline's tests first: the longest, by one worker, and not left over at the end."""
    items.sort(key=lambda item: item.path.name != "test_workflow.py")

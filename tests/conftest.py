"""Fixtures of all tests."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch):
    """Every test starts in the repository, as the pipeline does, wherever pytest was called."""
    monkeypatch.chdir(ROOT)

"""A SLURM cluster on this machine and a copy of the repository, for the tests in this folder."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # before the next import

from cluster import Cluster, UnavailableError

from pipeline_copy import copy_into


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Two nodes that live as long as the tests; `make slurm` asks for them."""
    if not os.environ.get("DPNOISE_SLURM"):
        pytest.skip("a SLURM cluster is started by make slurm")
    try:
        with Cluster(tmp_path_factory.mktemp("slurm")) as running:
            yield running
    except UnavailableError as reason:
        pytest.skip(f"no SLURM here: {reason}")


@pytest.fixture
def copy(tmp_path):
    """Copy of what a run needs, whose own package is the one that is imported."""
    return copy_into(tmp_path / "repository")

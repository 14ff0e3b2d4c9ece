"""Devices that training is tested on."""

import pytest


@pytest.fixture(params=["cpu", "cpu in chunks of one size", "cuda"])
def device(request, monkeypatch):
    """Each kind of device that is there, and a CPU that takes the steps as a GPU does."""
    torch = pytest.importorskip("torch")
    from dpnoise_papers.inid_2024.deep import training  # noqa: PLC0415 - needs torch

    kind = request.param.split()[0]
    if kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    if kind != request.param:
        monkeypatch.setattr(training, "_FIXED", {"cpu"})
    return kind

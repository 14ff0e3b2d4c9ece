"""Devices that training is tested on."""

import pytest


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    """Each kind of device that is there."""
    torch = pytest.importorskip("torch")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    return request.param

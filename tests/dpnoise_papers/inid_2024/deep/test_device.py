"""Device of a run: refusals, and settings of PyTorch that are as before."""

import pytest

import deep_toys as toys

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep.device import one_result  # noqa: E402
from dpnoise_papers.inid_2024.deep.training import train  # noqa: E402

DATA = toys.images()


def test_a_missing_gpu_is_told():
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(RuntimeError, match=r"expected a CUDA device, found none"):
        train(toys.run(), DATA, device="cuda")
    with pytest.raises(ValueError, match="device: expected 'cpu' or 'cuda', got 'tpu'"):
        train(toys.run(), DATA, device="tpu")


def test_deterministic_settings_are_restored():
    before = torch.get_num_threads()
    for _ in range(2):
        assert not torch.are_deterministic_algorithms_enabled()
        assert torch.get_num_threads() == before
        with one_result("cpu"):
            assert torch.are_deterministic_algorithms_enabled()
            assert torch.get_num_threads() == 1

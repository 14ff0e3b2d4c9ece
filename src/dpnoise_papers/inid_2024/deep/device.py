"""Processor of a training run, with algorithms that have one result."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dpnoise._imports import imports_of

with imports_of("deep"):
    import torch
    from torch.utils import deterministic

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def one_result(device: str) -> Iterator[torch.device]:
    """Device whose results do not vary between runs; settings are afterwards as before.

    One thread, and deterministic algorithms only.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        Where to compute.

    Yields
    ------
    torch.device
        The same.

    Raises
    ------
    ValueError
        If it is none of these.
    RuntimeError
        If there is no such device.
    """
    if device not in {"cpu", "cuda"}:
        raise ValueError(f"device: expected 'cpu' or 'cuda', got {device!r}")
    if device == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        if not torch.cuda.is_available():
            raise RuntimeError("device: expected a CUDA device, found none (or set device: cpu)")
    threads, before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    fill = deterministic.fill_uninitialized_memory
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    deterministic.fill_uninitialized_memory = False  # a quarter of the time; none is read here
    try:
        yield torch.device(device)
    finally:
        deterministic.fill_uninitialized_memory = fill
        torch.use_deterministic_algorithms(before)
        torch.set_num_threads(threads)

"""docs/inid-2024.md: its numbers are those of the network and the configuration."""

import re
from pathlib import Path

import pytest

from dpnoise_papers.config import load

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "inid-2024.md").read_text(encoding="utf-8")
CONFIG = load("config.yaml")


def test_the_products_of_an_image_are_those_of_the_network():
    """A convolution has a product for each weight and place; the first needs no input gradient."""
    torch = pytest.importorskip("torch")
    from dpnoise_papers.inid_2024.deep.network import residual_network

    model = residual_network(CONFIG.inid_2024.table_4_cifar10.network, 3, 10)
    products = []
    for part in model.modules():
        if isinstance(part, torch.nn.Conv2d):
            part.register_forward_hook(
                lambda part, _, made: products.append(part.weight.numel() * made[0, 0].numel())
            )
    model(torch.empty(1, 3, 32, 32, device="meta"))
    forward, inputs = sum(products), sum(products[1:])
    found = stated("forward # million products an image, as many for the gradients of weights, #")
    assert found == pytest.approx([forward / 1e6, inputs / 1e6], abs=0.05)
    batch = CONFIG.inid_2024.table_4_cifar10.rate * 50_000
    assert stated("of a step of # images") == [batch]
    [amount] = stated("those of inputs | # TFLOP")
    assert amount == pytest.approx(2 * batch * (2 * forward + inputs) / 1e12, abs=5e-4)


def stated(pattern):
    """Numbers in the one place of the document that a pattern with `#` for each of them fits."""
    expression = re.escape(pattern).replace(re.escape("#"), r"(-?[\d.]*\d)")
    [match] = re.finditer(expression, TEXT)
    return [float(one) for one in match.groups()]

"""Residual networks, gradients of samples beside autograd, what a sample adds to a clipped sum."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep.network import (  # noqa: E402
    clipped_sum,
    initial_parameters,
    parameter_groups,
    residual_network,
    sample_gradients,
)
from dpnoise_papers.inid_2024.settings import Network  # noqa: E402

RESNET_20 = Network(widths=(16, 32, 64), blocks=3, stride=1, normalisation=8)
SMALL = Network(widths=(4, 8), blocks=2, stride=2, normalisation=2)


def test_resnet_20_has_the_sizes_of_he_et_al():
    """269722 = 270K parameters of 20 layers, of which normalisation has 2 for each channel."""
    model = residual_network(RESNET_20, 3, 10)
    groups = parameter_groups(model)
    channels = 7 * [16] + 6 * [32] + 6 * [64]
    inputs = [3, *channels[:-1]]
    weights = [9 * i * o + 2 * o for i, o in zip(inputs, channels, strict=True)]
    assert [group.size for group in groups] == [*weights, 65 * 10]
    assert sum(group.size for group in groups) == 269722
    assert len(groups) == 20


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("network", [RESNET_20, SMALL])
def test_groups_cover_each_parameter_once_in_order(whole, network):
    model = residual_network(network, 1, 10)
    groups = parameter_groups(model, whole=whole)
    assert len(groups) == (1 if whole else 2 + 2 * network.blocks * len(network.widths))
    names = [name for group in groups for name in group.tensors]
    assert names == [name for name, _ in model.named_parameters()]
    assert len({group.name for group in groups}) == len(groups)
    sizes = dict(model.named_parameters())
    assert [g.size for g in groups] == [sum(sizes[n].numel() for n in g.tensors) for g in groups]


def test_a_block_with_zero_weights_is_its_shortcut():
    """A stage that halves keeps every second row and column, and adds channels of zeros."""
    network = Network(widths=(2, 4), blocks=1, stride=1, normalisation=1)
    model = residual_network(network, 1, 3)
    values = initial_parameters(model, np.random.default_rng(0))
    values |= {name: 0 * values[name] for name in values if name.startswith("blocks")}
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(1, 1, 6, 6)).astype("f4"))
    stem = {n.removeprefix("stem."): v for n, v in values.items() if n.startswith("stem")}
    y = torch.relu(torch.func.functional_call(model.stem, stem, (x,)))
    found = torch.func.functional_call(model, values, (x,))
    pooled = y[..., ::2, ::2].mean((-2, -1))
    expected = pooled @ values["classifier.weight"][:, :2].T
    assert torch.allclose(found, expected + values["classifier.bias"], atol=1e-6)


def test_initial_weights_have_the_variance_of_he_et_al():
    model = residual_network(RESNET_20, 3, 10)
    values = initial_parameters(model, np.random.default_rng(2))
    for name, value in values.items():
        if value.ndim > 1:
            scaled = value.double() * (value[0].numel() / 2.0) ** 0.5
            slack = 5.0 / value.numel() ** 0.5
            assert abs(float(scaled.mean())) < slack
            assert abs(float(scaled.var()) - 1.0) < 1.5 * slack
        else:
            expected = 1.0 if "norm.weight" in name else 0.0
            assert torch.all(value == expected)


def test_initial_weights_depend_on_the_generator_alone():
    model = residual_network(SMALL, 1, 10)
    torch.manual_seed(1)
    first = initial_parameters(model, np.random.default_rng(3))
    torch.manual_seed(2)
    second = initial_parameters(model, np.random.default_rng(3))
    assert all(torch.equal(first[name], second[name]) for name in first)


NETWORK = Network(widths=(4, 8), blocks=1, stride=2, normalisation=2)
MODEL = residual_network(NETWORK, 1, 10)
WHOLE = [False, True]


def problem(networks=3, samples=7, seed=0, scale=1.0, device="cpu"):
    rng = np.random.default_rng(seed)
    drawn = [initial_parameters(MODEL, rng) for _ in range(networks)]
    values = {name: torch.stack([one[name] for one in drawn]).to(device) for name in drawn[0]}
    shape = (networks, samples, 1, 8, 8)
    images = torch.from_numpy((scale * rng.normal(size=shape)).astype("f4"))
    labels = torch.from_numpy(rng.integers(10, size=shape[:2]))
    return values, images.to(device), labels.to(device)


def norms_of(vectors, groups, order):
    """Norms by group in exact-enough arithmetic: float64 of the entries that were returned."""
    parts = vectors.split([group.size for group in groups], dim=-1)
    return torch.stack([torch.linalg.vector_norm(part, order, -1) for part in parts], -1)


@pytest.mark.parametrize("networks", [1, 3])
def test_gradients_are_those_of_autograd_one_by_one(networks, device):
    values, images, labels = problem(networks, device=device)
    found, losses = sample_gradients(MODEL, values, images, labels)
    for r in range(networks):
        for b in range(images.shape[1]):
            own = {name: value[r].clone().requires_grad_() for name, value in values.items()}
            logits = torch.func.functional_call(MODEL, own, (images[r, b][None],))
            loss = torch.nn.functional.cross_entropy(logits, labels[r, b][None])
            expected = torch.autograd.grad(loss, list(own.values()))
            assert torch.allclose(losses[r, b], loss, rtol=1e-5)
            for name, gradient in zip(own, expected, strict=True):
                assert torch.allclose(found[name][r, b], gradient, rtol=1e-3, atol=1e-5)


def test_the_mean_of_gradients_is_the_gradient_of_the_mean(device):
    values, images, labels = problem(1, 12, device=device)
    found, _ = sample_gradients(MODEL, values, images, labels)
    own = {name: value[0].clone().requires_grad_() for name, value in values.items()}
    logits = torch.func.functional_call(MODEL, own, (images[0],))
    loss = torch.nn.functional.cross_entropy(logits, labels[0])
    for name, gradient in zip(own, torch.autograd.grad(loss, list(own.values())), strict=True):
        assert torch.allclose(found[name][0].mean(0), gradient, rtol=1e-3, atol=1e-5)


def test_a_gradient_does_not_depend_on_what_is_beside_it(device):
    """To the last bit on the machines seen, and to rounding on any."""
    values, images, labels = problem(4, 20, device=device)
    found, _ = sample_gradients(MODEL, values, images, labels)
    order = torch.from_numpy(np.random.default_rng(1).permutation(20)).to(device)
    fewer = {name: value[:2] for name, value in values.items()}
    mixed, _ = sample_gradients(MODEL, values, images[:, order], labels[:, order])
    some, _ = sample_gradients(MODEL, fewer, images[:2, :5], labels[:2, :5])
    for name, gradient in found.items():
        assert torch.allclose(mixed[name], gradient[:, order], rtol=1e-4, atol=1e-6)
        assert torch.allclose(some[name], gradient[:2, :5], rtol=1e-4, atol=1e-6)


CLIPS = [1.0, math.nextafter(1.0, 2.0), 1e-3, 0.3, 4095.9, 1e3]


def beside(clips, order, exponent, groups):
    """Gradients of single samples with norms next to thresholds, or 10^exponent times as large.

    Of entries of one size, of one entry and of random ones.
    """
    rng = np.random.default_rng(exponent + 40)
    factors = [1.0, 1 - 2.0**-20, 1 + 2.0**-20, 1 - 2.0**-24, 1 + 2.0**-23]
    shapes, drawn = {name: value.shape for name, value in MODEL.named_parameters()}, {}
    for group, clip in zip(groups, clips, strict=True):
        flat = rng.normal(size=(30, group.size))
        flat[:10] = np.sign(flat[:10])
        flat[10:20] *= np.arange(group.size) == rng.integers(group.size, size=(10, 1))
        flat *= clip * 10.0**exponent / np.linalg.norm(flat, order, axis=1, keepdims=True)
        flat *= rng.choice(factors, (30, 1))
        ends = np.cumsum([shapes[name].numel() for name in group.tensors])[:-1]
        parts = np.split(flat.astype("f4"), ends, axis=1)
        for name, part in zip(group.tensors, parts, strict=True):
            drawn[name] = torch.from_numpy(part.reshape(30, 1, *shapes[name]).copy())
    return drawn


def largest_norm(gradients, groups, order, device, sums=clipped_sum):
    """Largest norm of a clipped gradient over its threshold, to the power of the order.

    In whole numbers: no rounding enters.
    """
    clips, there = CLIPS, torch.ones(30, 1, dtype=torch.bool, device=device)
    moved = {name: gradient.to(device) for name, gradient in gradients.items()}
    parts = sums(moved, groups, clips, order, there).sums.cpu().split([g.size for g in groups], -1)
    most = Fraction(0)
    for part, clip in zip(parts, clips, strict=True):
        for sample in part.tolist():
            units = [int(entry * 2.0**60) for entry in sample]
            assert [unit / 2.0**60 for unit in units] == sample
            power = sum(abs(unit) ** order for unit in units)
            most = max(most, Fraction(power, 2 ** (60 * order)) / Fraction(clip) ** order)
    return most


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("exponent", [-30, -3, 0, 3, 30])
def test_no_rounding_takes_a_norm_above_its_threshold(order, exponent, device):
    groups = parameter_groups(MODEL)
    gradients = beside(CLIPS, order, exponent, groups)
    found = largest_norm(gradients, groups, order, device)
    assert found <= 1
    assert exponent < 0 or found > 1 - Fraction(1, 10**5)


@pytest.mark.parametrize("order", [1, 2])
def test_clipping_in_float32_alone_takes_a_norm_above_its_threshold(order, device):
    """As libraries clip: the norm, the factor and the product are rounded, with no margin."""

    def as_libraries(gradients, groups, clips, order, _):
        parts = []
        for group, clip in zip(groups, clips, strict=True):
            flat = torch.cat([gradients[name].flatten(2) for name in group.tensors], -1)
            norms = torch.linalg.vector_norm(flat, order, -1, keepdim=True)
            parts.append(flat * (clip / norms).clamp(max=1.0))
        return SimpleNamespace(sums=torch.cat(parts, -1)[:, 0].double())

    groups = parameter_groups(MODEL)
    gradients = beside(CLIPS, order, 3, groups)
    assert largest_norm(gradients, groups, order, device, as_libraries) > 1


@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_one_sample_adds_at_most_the_threshold(whole, order, scale):
    """In each group, with no tolerance; and nearly the threshold where it was clipped."""
    values, images, labels = problem(2, 1, scale=scale)
    gradients, _ = sample_gradients(MODEL, values, images, labels)
    gradients = {name: scale * gradient for name, gradient in gradients.items()}
    groups = parameter_groups(MODEL, whole=whole)
    clips = np.random.default_rng(2).uniform(0.01, 3.0, len(groups)).tolist()
    found = clipped_sum(gradients, groups, clips, order, torch.ones(2, 1, dtype=torch.bool))
    exact = torch.cat([gradient.flatten(2) for gradient in gradients.values()], -1)[:, 0].double()
    before = norms_of(exact, groups, order)
    after, most = norms_of(found.sums, groups, order), torch.tensor(clips, dtype=torch.float64)
    assert torch.all(after <= most)
    clipped = found.clipped[:, 0]
    assert torch.equal(clipped, before > most * (1 - 2.0**-20))
    slack = torch.tensor([group.size for group in groups]) * 2.0**-29
    assert torch.all((after >= most * (1 - 2e-6 - slack)) | ~clipped)
    parts = [g.size for g in groups]
    for m, (sums, own) in enumerate(
        zip(found.sums.split(parts, -1), exact.split(parts, -1), strict=True)
    ):
        unclipped = ~clipped[:, m]
        # rounded towards zero to a multiple of 2^-30 of the power of two above the threshold
        unit = 2.0 ** (np.ceil(np.log2(clips[m])) - 30)
        assert torch.all((sums - own)[unclipped].abs() <= unit)
        assert torch.all(sums[unclipped].abs() <= own[unclipped].abs())


EXTREMES = {
    "zero": 0.0,
    "denormal": 1e-45,
    "smallest normal": 1.2e-38,
    "tiny": 1e-30,
    "huge": 1e30,
    "largest": 3.4e38,
}


def constant(value, groups):
    tensors = dict(MODEL.named_parameters())
    names = [name for group in groups for name in group.tensors]
    return {name: torch.full((1, 1, *tensors[name].shape), value) for name in names}


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("clip", [1e-6, 0.3, 1.0, np.nextafter(2.0, 3.0), 1e6])
@pytest.mark.parametrize("value", EXTREMES.values(), ids=list(EXTREMES))
def test_extreme_gradients_keep_the_threshold(value, clip, order):
    groups = parameter_groups(MODEL)
    gradients = constant(value, groups)
    there = torch.ones(1, 1, dtype=torch.bool)
    found = clipped_sum(gradients, groups, [clip] * len(groups), order, there)
    after = norms_of(found.sums, groups, order)
    assert torch.all(after <= clip)
    assert bool(found.kept)
    if value >= 1e30:
        sizes = torch.tensor([group.size for group in groups])
        assert torch.all(after >= clip * (1 - 2e-6 - sizes * 2.0**-29))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("whole", WHOLE)
def test_a_gradient_that_is_not_finite_adds_nothing(value, whole, device):
    """One bad entry drops its sample, and no other."""
    values, images, labels = problem(2, 5, device=device)
    gradients, _ = sample_gradients(MODEL, values, images, labels)
    groups = parameter_groups(MODEL, whole=whole)
    clips = [0.5] * len(groups)
    there = torch.ones(2, 5, dtype=torch.bool, device=device)
    without = there.clone()
    without[1, 3] = False
    expected = clipped_sum(gradients, groups, clips, 2, without)
    gradients["blocks.0.first.norm.bias"][1, 3, 2] = value
    found = clipped_sum(gradients, groups, clips, 2, there)
    assert torch.equal(found.kept, without)
    assert torch.equal(found.sums, expected.sums)
    assert torch.all(torch.isfinite(found.sums))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("kind", ["random", "alike", "opposite"])
def test_sensitivity_by_adding_removing_and_replacing(whole, order, kind):
    """The sum of a batch changes by at most C_m in group m, exactly; replaced: by twice that."""
    rng = np.random.default_rng(4)
    groups = parameter_groups(MODEL, whole=whole)
    clips = rng.uniform(0.1, 2.0, len(groups)).tolist()
    most = torch.tensor(clips, dtype=torch.float64)
    tensors, batch = dict(MODEL.named_parameters()), 9
    sign = {"random": rng.normal(size=batch), "alike": np.ones(batch)}
    signs = sign.get(kind, np.where(np.arange(batch) == 4, -1.0, 1.0))
    gradients = {}
    for name, tensor in tensors.items():
        shape = (batch if kind == "random" else 1, *tensor.shape)
        drawn = 10.0 ** rng.uniform(-4, 4, (shape[0], *[1] * tensor.ndim)) * rng.normal(size=shape)
        signed = drawn * signs.reshape(-1, *[1] * tensor.ndim)
        gradients[name] = torch.from_numpy(signed.astype("f4"))[None]
    present = torch.ones(1, batch, dtype=torch.bool)
    removed = present.clone()
    removed[0, 4] = False
    both = [
        clipped_sum(gradients, groups, clips, order, there).sums for there in (present, removed)
    ]
    change = norms_of(both[0] - both[1], groups, order)
    assert torch.all(change <= most)
    own = {name: gradient[:, 4:5] for name, gradient in gradients.items()}
    alone = clipped_sum(own, groups, clips, order, torch.ones(1, 1, dtype=torch.bool))
    assert torch.equal(both[0] - both[1], alone.sums)  # nothing else changes
    other = {name: gradient.clone() for name, gradient in gradients.items()}
    for gradient in other.values():
        gradient[:, 4] *= -3.0
    replaced = clipped_sum(other, groups, clips, order, present).sums
    assert torch.all(norms_of(both[0] - replaced, groups, order) <= 2 * most)


@pytest.mark.parametrize("order", [1, 2])
def test_a_sum_does_not_depend_on_order_or_chunks(order, device):
    values, images, labels = problem(2, 16, device=device)
    gradients, _ = sample_gradients(MODEL, values, images, labels)
    groups = parameter_groups(MODEL)
    clips, there = [0.4] * len(groups), torch.ones(2, 16, dtype=torch.bool, device=device)
    together = clipped_sum(gradients, groups, clips, order, there).sums
    reverse = {name: gradient.flip(1) for name, gradient in gradients.items()}
    assert torch.equal(clipped_sum(reverse, groups, clips, order, there).sums, together)
    halves = [
        clipped_sum(
            {name: gradient[:, part] for name, gradient in gradients.items()},
            groups,
            clips,
            order,
            there[:, part],
        ).sums
        for part in (slice(0, 5), slice(5, 16))
    ]
    assert torch.equal(halves[0] + halves[1], together)

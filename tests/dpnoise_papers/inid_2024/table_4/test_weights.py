"""Thresholds and weights without private data: traces of untrained networks, and training."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from deep_toys import NETWORK, images  # noqa: E402
from dpnoise_papers.inid_2024.deep.network import (  # noqa: E402
    initial_parameters,
    parameter_groups,
    residual_network,
)
from dpnoise_papers.inid_2024.learning_settings import (  # noqa: E402
    Network,
    PrivateTraining,
    PublicWeights,
)
from dpnoise_papers.inid_2024.table_4.weights import (  # noqa: E402
    CHOICES,
    COLUMNS,
    _noise,
    curvature_table,
    fisher_traces,
    noise_losses,
    weights_table,
)
from dpnoise_papers.seeds import generator  # noqa: E402

TOY_NETWORK = Network(widths=(4, 8), blocks=1, stride=2, normalisation=2)
BUDGET = {"noise": "gaussian", "delta": 1e-5, "epsilon": 8.0}
SETTINGS = PrivateTraining(
    seed=1, network=NETWORK, groups="layer", clip=0.7, rate=0.25, epochs=1, budgets=[BUDGET],
    schemes=["iid"], learning_rates=[0.5], search=1, search_epochs=1, repetitions=2, chunk=64,
)  # fmt: skip
STUDY = PublicWeights(
    budget=BUDGET,
    learning_rates=[0.1, 0.5], search=1, repetitions=3, networks=1, images=4,
)  # fmt: skip


def test_the_classifier_has_the_trace_of_its_features():
    """For logits W z + b: E ||g||^2 = (1 + ||z||^2) sum_c p_c (1 - 2 p_c + sum p^2)."""
    images = 4000
    found = fisher_traces(TOY_NETWORK, "layer", (1, 6, 6), 3, networks=1, images=images, seed=4)
    model = residual_network(TOY_NETWORK, 1, 3)
    rng = generator(4, "public", 0)
    parameters = initial_parameters(model, rng)
    inputs = torch.from_numpy(rng.random((images, 1, 6, 6), dtype=np.float32))
    seen = {}

    def keep(_module, given, _):
        seen["z"] = given[0]

    model.classifier.register_forward_hook(keep)
    with torch.no_grad():
        logits = torch.func.functional_call(model, parameters, (inputs,))
    p = torch.softmax(logits.double(), -1)
    z = seen["z"].double()
    exact = (1 + (z**2).sum(-1)) * (1 - (p**2).sum(-1))
    assert found[-1] == pytest.approx(float(exact.mean()), rel=0.03)


def test_traces_add_up_over_groups_and_are_reproducible():
    given = {"networks": 2, "images": 8, "seed": 0}
    by_layer = fisher_traces(TOY_NETWORK, "layer", (1, 6, 6), 3, **given)
    by_tensor = fisher_traces(TOY_NETWORK, "tensor", (1, 6, 6), 3, **given)
    model = residual_network(TOY_NETWORK, 1, 3)
    assert len(by_layer) == len(parameter_groups(model, "layer"))
    assert by_layer.sum() == pytest.approx(by_tensor.sum(), rel=1e-9)
    assert np.all(by_layer > 0.0)
    again = fisher_traces(TOY_NETWORK, "layer", (1, 6, 6), 3, **given)
    assert again.tolist() == by_layer.tolist()


@pytest.mark.parametrize("name", CHOICES)
def test_all_choices_have_one_norm_and_one_budget(name):
    sizes, traces = np.array([4.0, 100.0, 9.0]), np.array([3.0, 1.0, 0.2])
    clips, scales = _noise(CHOICES[name], 0.7, sizes, traces, 1.3)
    assert np.linalg.norm(clips) == pytest.approx(0.7, rel=1e-12)
    assert 1.0 / np.linalg.norm(clips / scales) == pytest.approx(1.3, rel=1e-12)


def test_noise_is_the_optimum_for_its_weights():
    sizes, traces = np.array([4.0, 100.0, 9.0]), np.array([3.0, 1.0, 0.2])
    names = ("spr-group", "optimal", "spr", "inverse-size", "fisher-weights")
    scales = {name: _noise(CHOICES[name], 1.0, sizes, traces, 1.0)[1] for name in names}
    loss = {name: float(scales[name] ** 2 @ traces) for name in names}
    assert min(loss, key=loss.get) == "fisher-weights"
    # thresholds in the same proportion: equal noise is the optimum
    _, equal = _noise(CHOICES["fisher-thresholds"], 1.0, sizes, traces, 1.0)
    assert np.ptp(equal) <= 1e-12


def test_the_table_adds_up():
    table = weights_table(SETTINGS, STUDY, images())
    assert list(table.columns) == COLUMNS
    assert table["choice"].tolist() == list(CHOICES)
    assert (table["repetitions"] == 3).all()
    assert table["learning_rate"].isin([0.1, 0.5]).all()
    errors = table["accuracy_sd"] / math.sqrt(3)
    assert table["accuracy_se"].to_numpy() == pytest.approx(errors.to_numpy(), rel=1e-12)
    paper = table.set_index("choice").loc["optimal"]
    assert (paper["gain"], paper["gain_se"]) == (0.0, 0.0)
    assert (table["seeds_gain_5"] >= table["seeds_gain_8"]).all()


def test_slopes_of_curvature():
    table = curvature_table(SETTINGS, STUDY, (1, 6, 6), "toy")
    x, y = np.log(table["size"]), np.log(table["trace"])
    slope = np.cov(x, y)[0, 1] / np.var(x, ddof=1)
    assert table["size_exponent"].to_numpy() == pytest.approx(slope, rel=1e-9)
    assert table["noise_exponent"].to_numpy() == pytest.approx(slope / 4.0, rel=1e-9)


def test_loss_of_the_noise_is_least_for_its_weights_by_closed_form():
    table = curvature_table(SETTINGS, STUDY, (1, 6, 6), "toy")
    losses = dict(zip(CHOICES, noise_losses(table), strict=True))
    w, k = table["trace"].to_numpy(), table["size"].to_numpy()
    # thresholds C: (sum C sqrt(w))^2 is the minimum, sum w sum C^2 that of equal noise
    least = np.sqrt(w).sum() ** 2 / len(w)
    assert losses["fisher-weights"] == 1.0
    assert losses["iid"] == pytest.approx(w.sum() / least, rel=1e-9)
    assert losses["spr-group"] == pytest.approx(losses["iid"], rel=1e-9)
    assert losses["fisher-thresholds"] == pytest.approx(losses["iid"], rel=1e-9)
    assert losses["spr"] == pytest.approx((w / k).sum() * k.sum() / len(w) / least, rel=1e-9)
    equal = [losses[name] for name in ("spr-group", "optimal", "spr", "inverse-size")]
    assert min(equal) >= 1.0 - 1e-12

"""docs/deep-learning.md: its settings are the configuration's, its numbers the recorded run's."""

import re
from pathlib import Path

import pytest

from dpnoise_papers.claims.findings import TABLES
from dpnoise_papers.config import load
from dpnoise_papers.result_files import read_table
from dpnoise_papers.steps import Run

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "deep-learning.md").read_text(encoding="utf-8")
CONFIG = load("config.yaml")
SNAPSHOT = ROOT / "docs" / "snapshot"
# Rows of the document by choice: thresholds and noise.
TRIED = {
    "iid": ("whole gradient", "i.i.d."),
    "spr-group": ("equal", "equal (`spr-group`)"),
    "optimal": ("equal", "the paper's (`optimal`)"),
    "spr": ("equal", "SPR by parameter"),
    "inverse-size": ("equal", "larger on larger groups"),
    "fisher-weights": ("equal", "optimal for the Fisher weights"),
    "size-thresholds": ("by size", "equal"),
    "fisher-thresholds": ("by Fisher weights", "equal"),
}
# Rows of the document on variants of Laplace noise.
VARIANTS = {
    "stated": "as stated: l1 clipping, delta = 0",
    "partition": "batches as a partition of each epoch",
    "renyi": "l1, Renyi at delta = 1e-5 called 0",
    "renyi-small-delta": "l1, Renyi at delta = 4e-10",
    "one-step": "l1, eps = 8 for each step",
    "by-parameter": "l1, each parameter by itself",
    "l2-clipped-box": "l2 clipping, all parameters counted",
    "l2-clipped": "l2, threshold counted as if l1, delta = 0",
    "l2-clipped-renyi": "the same, Renyi at delta = 1e-5",
    "l2-clipped-renyi-small-delta": "the same, Renyi at delta = 4e-10",
    "l2-clipped-one-step": "l2, eps = 8 for each step",
    "l2-clipped-gaussian-multiplier": "l2, beta = sigma of the Gaussian row",
    "l2-clipped-gaussian-variance": "l2, the variance of the Gaussian row",
}
ADDED = {
    "fisher-weights": "| optimal for these weights | |",
    "spr-group": "| equal (`iid`, `spr-group`) | 0 |",
    "optimal": "| the paper's i.n.i.d. (`optimal`) | 1/4 |",
    "spr": "| SPR by parameter (`spr`) | 1/2 |",
    "inverse-size": "| the opposite, larger noise on larger groups | -1/4 |",
}


def of_run(name):
    """Table of the recorded run, made with the settings in force."""
    assert f"inid-2024/{name}" in TABLES
    run, path = Run(CONFIG), f"inid-2024/{name}.csv"
    run.results = str(SNAPSHOT)
    why = run.optional().get(path, "")
    if why and not (SNAPSHOT / path).is_file():
        pytest.skip(f"not in the recorded run: {why}, then `make readme`")
    assert why == ""
    return read_table(SNAPSHOT / "inid-2024" / f"{name}.csv")


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
    chunk = CONFIG.inid_2024.table_4_cifar10.chunk
    assert stated("padded to #") == [chunk]
    [amount] = stated("those of inputs | # TFLOP")
    assert amount == pytest.approx(2 * chunk * (2 * forward + inputs) / 1e12, abs=5e-4)


def test_the_settings_of_what_was_tried_are_those_of_the_config():
    training, study = CONFIG.inid_2024.table_4_digits, CONFIG.inid_2024.table_4_weights
    expected = (
        f"eps = {study.budget.epsilon:g}, delta = 1e-5 (rate {training.rate:g}, "
        f"{training.epochs} epochs) with each choice, under one search over "
        f"{len(study.learning_rates)} learning rates ({study.search} networks each) and on "
        f"{study.repetitions} networks of other seeds"
    )
    assert study.budget.delta == 1e-5
    assert expected in TEXT


def stated(pattern):
    """Numbers in the one place of the document that a pattern with `#` for each of them fits."""
    expression = re.escape(pattern).replace(re.escape("#"), r"(-?[\d.]*\d)")
    [match] = re.finditer(expression, TEXT)
    return [float(one) for one in match.groups()]


def test_variants_of_laplace_noise_are_those_of_the_run():
    table = of_run("table-4-laplace").set_index(["variant", "epsilon", "scheme"])
    assert list(dict.fromkeys(table.index.get_level_values("variant"))) == list(VARIANTS)
    for variant, head in VARIANTS.items():
        row = table.loc[(variant, 8.0, "iid")]
        [line] = [line for line in TEXT.splitlines() if line.startswith(f"| {head} |")]
        _, _, ratio, pure, bounds, outside, _ = (cell.strip() for cell in line.split("|"))
        ends = [float(one) for one in ratio.split(" to ")]
        found = [row[f"noise_over_gaussian_{end}"] for end in ("minimum", "maximum")]
        assert [ends[0], ends[-1]] == pytest.approx(found, rel=0.05)
        assert float(pure) == pytest.approx(row["epsilon_pure"], rel=0.05)
        assert {"yes": 1.0, "no": 0.0}[outside] == row["excluded"]
        found = row[["epsilon_lower", "epsilon_upper"]].tolist()
        if " to " in bounds:
            ends = [float(one) for one in bounds.split(" to ")]
            assert ends == pytest.approx(found, rel=0.05)
        elif bounds.startswith("above"):
            assert float(bounds.split()[1]) <= found[0]
        elif bounds.startswith("at most"):
            assert float(bounds.split()[2]) >= found[1]
        else:  # ends that meet
            assert found == pytest.approx([float(bounds)] * 2, rel=2e-3)


def test_what_was_tried_is_what_the_run_found():
    table = of_run("table-4-weights").set_index("choice")
    assert list(table.index) == list(TRIED)
    for choice, (thresholds, noise) in TRIED.items():
        row = table.loc[choice]
        accuracy, error = stated(f"| {thresholds} | {noise} | # | # |")
        assert accuracy == pytest.approx(row["accuracy"], abs=0.05 + row["accuracy_se"] / 2)
        assert error == pytest.approx(row["accuracy_se"], abs=0.2)


def test_the_loss_that_noise_adds_is_that_of_the_run():
    table = of_run("table-4-weights").set_index("choice")
    for choice, head in ADDED.items():
        row = table.loc[choice, ["noise_loss_resnet_20", "noise_loss"]]
        assert stated(f"{head} # | # |") == pytest.approx(row.tolist(), abs=0.006)


def test_measured_gradients_are_those_of_the_run():
    table = of_run("table-4-laplace-measured").set_index(["variant", "epsilon", "scheme"])
    for variant, words in (
        ("stated", "that of the Gaussian row as stated"),
        ("renyi", "by Renyi divergences"),
        ("one-step", "with eps = 8 for each step"),
    ):
        row = table.loc[(variant, 8.0, "iid")]
        ends = [row[f"noise_over_gaussian_{end}"] for end in ("minimum", "maximum")]
        assert stated(f"# to # times {words}") == pytest.approx(ends, rel=0.05)


def test_signal_and_noise_of_the_first_steps_are_those_of_the_run():
    table = of_run("table-4-gradients").set_index("cell")
    for cell, words in {
        "gaussian-1e-05-8-iid": "norm # in a step, beside a mean clipped gradient of # in the "
        "first two steps and # in the seventh and eighth",
        "gaussian-1e-05-8-optimal": "noise by layer has # beside # and #.",
    }.items():
        rows = table.loc[cell]
        found = [rows["noise_norm"].mean(), rows["signal"].iloc[0], rows["signal"].iloc[-1]]
        assert stated(words) == pytest.approx(found, abs=0.015)
        assert (rows["clipped"] == 1).all()
    losses = table.loc["none", "train_loss"]
    found = [losses.max(), losses.iloc[-1]]
    assert stated("rises to # before it falls to #,") == pytest.approx(found, rel=0.1)
